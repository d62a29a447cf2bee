//! A tool call that somebody proposed, fixed to the byte.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::digest::{Digest, Framed};
use crate::grant::ClearedBy;
use crate::id::{CallId, SessionId, StreamId};
use crate::json::Arguments;
use crate::phrase::RunDetail;
use crate::secret::{NotUnsealed, Sealed, unsealed};
use crate::sql_facts::SqlFacts;
use crate::time::Timestamp;
use crate::tool::{Confirm, Effects, Place, Tool};

/// Where and how a tool host will run a call, as the host itself states it before anybody is
/// asked. It is part of what is approved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionContext {
    /// What distinguishes this execution: environment, target, credential reference, time limit.
    pub detail: RunDetail,
    /// As the host resolved it. `None` for a call that runs in no directory.
    pub working_directory: Option<String>,
    /// What an SQL tool knows about its statement; rules may ask for it.
    pub sql: Option<SqlFacts>,
}

/// One call: tool, exact argument bytes, and the digest that binds every approval to them. What it
/// is made of can be read, and not be changed: the digest is of exactly these parts.
///
/// ```
/// use holdpoint_domain::call::{Call, ExecutionContext, Proposal};
/// use holdpoint_domain::digest::Digest;
/// use holdpoint_domain::id::CallId;
/// use holdpoint_domain::json::Arguments;
/// use holdpoint_domain::tool::{Effects, Place, Tool};
///
/// let schema = serde_json::json!({"type": "object"});
/// let tool = Tool::new("mail", "Sends mail", schema, Effects::AtMostOnce, Place::Server, "smtp")?;
/// let proposal = Proposal {
///     id: CallId::new(1, 1),
///     tool_use_id: "toolu_1".into(),
///     agent: "ops".into(),
///     session: None,
///     arguments: Arguments::parse(br#"{"to": "ana"}"#)?,
///     context: ExecutionContext::default(),
///     policy: Digest::of(b"the rules"),
/// };
/// let call = Call::propose(proposal, &tool);
/// // An edit is another call, with another digest: no approval carries over.
/// let to_eve = Arguments::parse(br#"{"to": "eve"}"#)?;
/// let edited = call.revised(to_eve, ExecutionContext::default(), call.definition, call.policy);
/// assert!(edited.revision == 2 && edited.digest() != call.digest());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Call {
    parts: CallParts,
    digest: Digest,
    /// Made when somebody asks for it: most calls are never compared with another.
    match_key: OnceLock<Digest>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        self.digest == other.digest && self.parts == other.parts
    }
}

impl Deref for Call {
    type Target = CallParts;

    fn deref(&self) -> &CallParts {
        &self.parts
    }
}

/// What a call is made of, before its digest exists.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The id under which the call will be kept.
    pub id: CallId,
    /// The model's own name for the call.
    pub tool_use_id: String,
    /// The agent that makes the call; for an external hold, the program that asks.
    pub agent: Arc<str>,
    /// `None` for a call that belongs to no session.
    pub session: Option<SessionId>,
    /// Checked against the schema of the tool already.
    pub arguments: Arguments,
    /// As the tool's host stated it.
    pub context: ExecutionContext,
    /// Version of the policy by which the call was ruled on.
    pub policy: Digest,
}

impl Call {
    /// The first revision of a call to `tool`, with the definition that the tool has now.
    pub fn propose(proposal: Proposal, tool: &Tool) -> Call {
        Call::fixed(CallParts {
            id: proposal.id,
            tool_use_id: proposal.tool_use_id,
            agent: proposal.agent,
            session: proposal.session,
            tool: tool.name.clone(),
            effects: tool.effects,
            place: tool.place,
            confirm: tool.confirm,
            definition: tool.definition(),
            arguments: proposal.arguments,
            secrets: tool.secrets().to_vec(),
            context: proposal.context,
            policy: proposal.policy,
            revision: 1,
        })
    }

    /// Computes the digest. The only way to a `Call`, also for one read from disk, so that no stored
    /// digest is ever believed.
    pub fn fixed(parts: CallParts) -> Call {
        let digest = digest(&parts);
        Call { parts, digest, match_key: OnceLock::new() }
    }

    /// A copy to make another call of.
    pub fn parts(&self) -> CallParts {
        self.parts.clone()
    }

    /// The same call with other arguments (or for another definition of its tool): a new revision,
    /// which nobody has approved yet.
    pub fn revised(
        &self,
        arguments: Arguments,
        context: ExecutionContext,
        definition: Digest,
        policy: Digest,
    ) -> Call {
        let mut parts = self.parts();
        parts.arguments = arguments;
        parts.context = context;
        parts.definition = definition;
        parts.policy = policy;
        parts.revision += 1;
        Call::fixed(parts)
    }

    /// Binds an approval to exactly this call.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Finds an earlier decision about the same thing; never binds one.
    pub fn match_key(&self) -> Digest {
        *self.match_key.get_or_init(|| match_key(&self.parts))
    }

    /// One key for every attempt at this call, another for any other call.
    pub fn idempotency_key(&self) -> String {
        // mutant: same-key-for-every-call
        format!("{}-{}", self.id, self.revision)
    }
}

impl fmt::Debug for Call {
    // Arguments may hold secrets, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({} {} {})", self.id, self.tool, self.digest)
    }
}

/// What a call is made of, and what its digest covers. Changing a copy makes another call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallParts {
    /// The same over all revisions.
    pub id: CallId,
    /// The model's own name for the call; the compatibility doors speak it.
    pub tool_use_id: String,
    /// The agent that made the call; for an external hold, the program that asks.
    pub agent: Arc<str>,
    /// `None` for a call that belongs to no session.
    pub session: Option<SessionId>,
    /// The tool's name, as the model calls it.
    pub tool: Arc<str>,
    /// Of the tool when the call was proposed. A crash is handled by it.
    pub effects: Effects,
    /// Who carries the call out.
    pub place: Place,
    /// How a confirmation is put to the model.
    pub confirm: Confirm,
    /// Digest of the tool's definition: another definition is another call.
    pub definition: Digest,
    /// The exact bytes that run.
    pub arguments: Arguments,
    /// JSON pointers of argument values that no surface, log or model may show.
    pub secrets: Vec<String>,
    /// Where and how the host will run the call.
    pub context: ExecutionContext,
    /// Version of the policy by which this revision was ruled on.
    pub policy: Digest,
    /// Rises with every edit: an approval of one revision says nothing about the next.
    pub revision: u32,
}

fn digest(parts: &CallParts) -> Digest {
    let framed = Framed::new("holdpoint.call.v1").field("agent", parts.agent.as_bytes());
    let framed = match &parts.session {
        Some(session) => framed.spelled("session", session),
        None => framed.field("session", b""),
    };
    let framed = framed
        .field("tool_use_id", parts.tool_use_id.as_bytes())
        .field("tool", parts.tool.as_bytes())
        // mutant: definition-not-in-digest
        .field("definition", parts.definition.as_bytes())
        .field("arguments", parts.arguments.bytes())
        .field("context", parts.context.detail.as_bytes())
        .field(
            "working_directory",
            parts.context.working_directory.as_deref().unwrap_or_default().as_bytes(),
        )
        .field("policy", parts.policy.as_bytes())
        .field("revision", &parts.revision.to_le_bytes());
    match &parts.context.sql {
        // Calls without facts keep the digest that they had before there were any.
        None => framed,
        Some(facts) => facts.frame(framed),
    }
    .finish()
}

fn match_key(parts: &CallParts) -> Digest {
    Framed::new("holdpoint.match.v1")
        .field("source", parts.agent.as_bytes())
        .field("tool", parts.tool.as_bytes())
        .field("arguments", &crate::json::canonical(parts.arguments.value()))
        .field(
            "working_directory",
            parts.context.working_directory.as_deref().unwrap_or_default().as_bytes(),
        )
        .finish()
}

/// Why a call may run, and until when it may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clearance {
    /// The person, the rule or the grant that allowed it.
    pub by: ClearedBy,
    /// When the call was cleared.
    pub at: Timestamp,
    /// From this moment on the call is not started any more, and expires.
    pub execute_by: Timestamp,
}

/// A call whose start by one node is part of a session's state, and which attempt of it that is. It gives no
/// leave: a tool host takes a `ports::durable::ClearedCall`, which is made of one that a store has on record.
#[derive(Debug)]
pub struct StartedCall {
    call: Arc<Call>,
    attempt: u32,
}

impl StartedCall {
    pub(crate) fn new(call: Arc<Call>, attempt: u32) -> StartedCall {
        StartedCall { call, attempt }
    }

    /// The call as it was approved: references in place of secrets, until `unsealed` replaces them.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The call as its tool gets it: with true values in place of references to secrets of its
    /// session, at the places that its schema marks. Nothing else can be changed, and digest, match
    /// key and idempotency key stay those of what was approved.
    pub fn unsealed(self, known: &[Sealed]) -> Result<StartedCall, NotUnsealed> {
        let scope = self.call.session.map(StreamId::Session);
        let arguments = unsealed(&self.call.arguments, &self.call.secrets, scope, known)?;
        if arguments.bytes() == self.call.arguments.bytes() {
            return Ok(self);
        }
        let mut call = (*self.call).clone();
        call.parts.arguments = arguments;
        Ok(StartedCall { call: Arc::new(call), attempt: self.attempt })
    }

    /// The call itself, for cleaning up after it. It clears nothing.
    pub fn shared(&self) -> Arc<Call> {
        self.call.clone()
    }

    /// The number of the attempt, from 1. A report counts only for the attempt that is on record.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }
}
