//! A question that the program itself puts to people, without an agent.

use std::time::Duration;

use domain::hold::{Question, Risk};
use domain::json::Arguments;
use domain::refusal::Refusal;
use engine::{NewAudience, NewHold};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// To be asked with [`crate::Holdpoint::ask`]. Policy decides what becomes of a question about a call: it
/// may be allowed or denied at once.
///
/// ```
/// use std::time::Duration;
///
/// use holdpoint::prelude::*;
/// use serde_json::json;
///
/// Ask::approve("Deploy 4.2 to production")
///     .about("deploy", &json!({"version": "4.2"}))
///     .role("sre")
///     .expires(Duration::from_secs(900));
/// Ask::choose("Which strategy?", ["Blue-Green", "Canary"]);
/// Ask::text("Why was the invoice changed?");
/// ```
#[derive(Clone, Debug)]
pub struct Ask(Result<NewHold, Refusal>);

impl Ask {
    fn new(title: impl Into<String>, question: Question) -> Ask {
        Ask(Ok(NewHold {
            diff: None,
            question,
            title: title.into(),
            call: None,
            context: Value::Null,
            audience: None,
            risk: None,
            expires_in_ms: None,
            callback: None,
        }))
    }

    /// Yes or no.
    pub fn approve(title: impl Into<String>) -> Ask {
        Ask::new(title, Question::Approve)
    }

    /// One of these.
    pub fn choose<T: Into<String>>(
        title: impl Into<String>,
        options: impl IntoIterator<Item = T>,
    ) -> Ask {
        let labels: Vec<(String, Option<String>)> =
            options.into_iter().map(|label| (label.into(), None)).collect();
        match Question::choose(labels, false, false) {
            Ok(question) => Ask::new(title, question),
            Err(bad) => Ask(Err(Refusal::AnswerInvalid { field: bad.field, why: bad.why })),
        }
    }

    /// A form by a Rust type.
    pub fn form<A: JsonSchema>(title: impl Into<String>) -> Ask {
        Ask::new(title, Question::Fill { schema: Some(tools::typed::schema_of::<A>()) })
    }

    /// An answer in the person's own words.
    pub fn text(title: impl Into<String>) -> Ask {
        Ask::new(title, Question::Fill { schema: None })
    }

    /// The call that the program wants to make itself. An approval is bound to exactly these arguments.
    #[must_use]
    pub fn about<A: Serialize + ?Sized>(self, tool: impl Into<String>, arguments: &A) -> Ask {
        let written = serde_json::to_value(arguments)
            .map_err(|error| error.to_string())
            .and_then(|value| Arguments::from_value(value).map_err(|error| error.to_string()))
            .map_err(|why| Refusal::AnswerInvalid { field: "arguments".into(), why: why.into() });
        Ask(self.0.and_then(|new| Ok(NewHold { call: Some((tool.into(), written?)), ..new })))
    }

    /// Shown beside the question.
    #[must_use]
    pub fn context(self, context: Value) -> Ask {
        self.with(|new| new.context = context)
    }

    /// Asks everybody with this role; together with policy's own wish, the narrower circle.
    #[must_use]
    pub fn role(self, role: impl Into<String>) -> Ask {
        self.with(|new| new.audience.get_or_insert_default().roles.push(role.into()))
    }

    /// Asks this person.
    #[must_use]
    pub fn person(self, id: impl Into<String>) -> Ask {
        self.with(|new| new.audience.get_or_insert_default().people.push(id.into()))
    }

    /// So many different people must agree.
    #[must_use]
    pub fn quorum(self, people: u32) -> Ask {
        self.with(|new| {
            let audience: &mut NewAudience = new.audience.get_or_insert_default();
            audience.quorum = Some(people);
        })
    }

    /// How carefully people should look.
    #[must_use]
    pub fn risk(self, risk: Risk) -> Ask {
        self.with(|new| new.risk = Some(risk))
    }

    /// How long the question waits. Silence then means no.
    #[must_use]
    pub fn expires(self, after: Duration) -> Ask {
        let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        self.with(|new| new.expires_in_ms = Some(ms))
    }

    fn with(mut self, change: impl FnOnce(&mut NewHold)) -> Ask {
        if let Ok(new) = &mut self.0 {
            change(new);
        }
        self
    }

    pub(super) fn new_hold(self) -> Result<NewHold, Refusal> {
        self.0
    }
}
