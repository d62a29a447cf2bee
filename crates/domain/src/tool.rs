//! What a tool says about itself. The definition is part of what people approve.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::digest::{Digest, Framed};
use crate::schema::{Validator, write_only_pointers};

/// What a tool does to the world when it runs twice, which decides what a crash may do about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effects {
    /// It changes nothing. After a crash it is run again.
    ReadOnly,
    /// Twice is as good as once. After a crash it is run again, with the same key.
    Idempotent,
    /// All of it happens or nothing, and it leaves a proof. After a crash the proof is looked for.
    Transactional,
    /// Twice may be worse than once. After a crash a person is asked, unless there is proof.
    #[default]
    AtMostOnce,
}

impl Effects {
    /// All of them, the most harmless first.
    pub const ALL: [Effects; 4] =
        [Effects::ReadOnly, Effects::Idempotent, Effects::Transactional, Effects::AtMostOnce];

    /// The word by which configurations, records and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            Effects::ReadOnly => "read_only",
            Effects::Idempotent => "idempotent",
            Effects::Transactional => "transactional",
            Effects::AtMostOnce => "at_most_once",
        }
    }

    /// The effects of this name. `None`: there are none.
    pub fn parse(text: &str) -> Option<Effects> {
        Effects::ALL.into_iter().find(|effects| effects.name() == text)
    }
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a call is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By one of our tool hosts, once it is cleared.
    Server,
    /// By the browser or person that answers the `perform` hold.
    Client,
    /// In a person's head: the call is a question (`choose` or `fill`) and the answer its result.
    Person,
}

/// How a confirmation is put to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// The call waits until somebody decides.
    #[default]
    Held,
    /// The call is answered at once with `pending_confirmation`, and made again later.
    TwoPhase,
}

/// A tool as it is offered to a model.
///
/// ```
/// use holdpoint_domain::tool::{Effects, Place, Tool};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"pin": {"type": "string", "writeOnly": true}}});
/// let tool = |says: &str| {
///     Tool::new("unlock", says, schema.clone(), Effects::AtMostOnce, Place::Server, "door 7")
/// };
/// let door = tool("Opens the door.")?;
/// assert_eq!(door.secrets(), ["/pin"]);
/// // A tool that says something else of itself is not the one that was approved.
/// assert_ne!(door.definition(), tool("Opens the door, and pays for it.")?.definition());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct Tool {
    /// As the model calls it.
    pub name: Arc<str>,
    /// For the model. It is part of the definition.
    pub description: String,
    /// What the arguments must satisfy.
    pub input_schema: Value,
    /// As its owner declares them; they decide what a crash does.
    pub effects: Effects,
    /// Who carries its calls out.
    pub place: Place,
    /// How a confirmation is put to the model.
    pub confirm: Confirm,
    /// Results of a client tool that mean "no": effectful calls of the same turn then do not run.
    pub deny_values: Vec<String>,
    /// Where and with what identity it runs: part of what is approved.
    pub origin: String,
    definition: Digest,
    validator: Arc<Validator>,
    secrets: Arc<[String]>,
}

impl Tool {
    /// Fails for a schema that cannot be used; the text says why. `origin` says where and with what identity it runs.
    pub fn new(
        name: &str,
        description: &str,
        input_schema: Value,
        effects: Effects,
        place: Place,
        origin: &str,
    ) -> Result<Tool, String> {
        let validator = Validator::new(&input_schema)?;
        let secrets = write_only_pointers(&input_schema);
        let definition = Framed::new("holdpoint.tool.v1")
            .field("name", name.as_bytes())
            .field("description", description.as_bytes())
            .field("schema", &crate::json::canonical(&input_schema))
            .field("effects", effects.name().as_bytes())
            .field("origin", origin.as_bytes())
            .finish();
        Ok(Tool {
            name: name.into(),
            description: description.into(),
            input_schema,
            effects,
            place,
            confirm: Confirm::Held,
            deny_values: Vec::new(),
            origin: origin.into(),
            definition,
            validator: Arc::new(validator),
            secrets: secrets.into(),
        })
    }

    /// Covers schema, description, effects and where it runs: a tool that changed any of these
    /// after an approval is not the tool that was approved.
    pub fn definition(&self) -> Digest {
        self.definition
    }

    /// The schema made ready.
    pub fn validator(&self) -> &Validator {
        &self.validator
    }

    /// JSON pointers of the arguments that nobody may see, by the schema.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("effects", &self.effects).finish()
    }
}
