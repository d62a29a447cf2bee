//! A call, to the byte, and why it may run.

use std::borrow::Cow;
use std::sync::Arc;

use domain::call::{Call, CallParts, Clearance, ExecutionContext};
use domain::grant::ClearedBy;
use domain::id::{CallId, GrantId, HoldId, SessionId};
use domain::json::Arguments;
use domain::phrase::{PhraseCode, RunDetail};
use domain::tool::{Confirm, Effects, Place};
use serde::{Deserialize, Serialize};

use super::sql_facts::StoredSqlFacts;
use super::{Broken, FIRST, Hex, Ms, RowContext, Text, damaged, is_false};

/// The record version that first tells which phrases of ours a call's context is made of.
const TELLS_PHRASES: u32 = 6;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredCall<'a> {
    id: Text<CallId>,
    /// This, the tool and the arguments are absent where they stand in the same row, in the message
    /// that carried the call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent: Cow<'a, str>,
    /// Absent: that of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<StoredSession>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    tool: Option<Cow<'a, str>>,
    /// The exact bytes, as a text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Cow<'a, str>>,
    #[serde(borrow)]
    effects: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "StoredPlace::is_server")]
    place: StoredPlace,
    #[serde(default, skip_serializing_if = "is_false")]
    two_phase: bool,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    context: Cow<'a, str>,
    /// Which lines of it are phrases of ours, by their numbers. Since version 6.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    context_phrases: Vec<(usize, Cow<'a, str>)>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    working_directory: Option<Cow<'a, str>>,
    /// Since version 4.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sql: Option<StoredSqlFacts<'a>>,
    #[serde(default = "first", skip_serializing_if = "is_first")]
    revision: u32,
    definition: Hex,
    policy: Hex,
    digest: Hex,
}

/// A session that is not the row's own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredSession {
    Of(Text<SessionId>),
    None,
}

impl StoredSession {
    pub(super) fn new(session: Option<SessionId>, frame: RowContext<'_>) -> Option<StoredSession> {
        match session {
            same if same == frame.session => None,
            Some(session) => Some(StoredSession::Of(Text(session))),
            None => Some(StoredSession::None),
        }
    }

    pub(super) fn session(
        stored: Option<StoredSession>,
        frame: RowContext<'_>,
    ) -> Option<SessionId> {
        match stored {
            None => frame.session,
            Some(StoredSession::Of(Text(session))) => Some(session),
            Some(StoredSession::None) => None,
        }
    }
}

/// A call as the message that carried it has it.
pub(super) struct Written<'a> {
    pub(super) tool_use_id: &'a str,
    pub(super) tool: &'a str,
    pub(super) input: &'a str,
}

fn first() -> u32 {
    1
}

fn is_first(revision: &u32) -> bool {
    *revision == 1
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPlace {
    #[default]
    Server,
    Client,
    Person,
}

impl StoredPlace {
    fn is_server(&self) -> bool {
        *self == StoredPlace::Server
    }
}

impl<'a> StoredCall<'a> {
    pub(super) fn new(
        call: &'a Call,
        frame: RowContext<'_>,
        written: Option<&Written<'_>>,
    ) -> StoredCall<'a> {
        let unless =
            |said: Option<&str>, text: Cow<'a, str>| (said != Some(text.as_ref())).then_some(text);
        StoredCall {
            id: Text(call.id),
            tool_use_id: unless(written.map(|w| w.tool_use_id), call.tool_use_id.as_str().into()),
            agent: call.agent.as_ref().into(),
            session: StoredSession::new(call.session, frame),
            tool: unless(written.map(|w| w.tool), call.tool.as_ref().into()),
            arguments: unless(written.map(|w| w.input), arguments_text(&call.arguments)),
            effects: call.effects.name().into(),
            place: match call.place {
                Place::Server => StoredPlace::Server,
                Place::Client => StoredPlace::Client,
                Place::Person => StoredPlace::Person,
            },
            two_phase: call.confirm == Confirm::TwoPhase,
            secrets: call.secrets.iter().map(Cow::from).collect(),
            context: (&*call.context.detail).into(),
            context_phrases: {
                let phrases = call.context.detail.phrases().iter();
                phrases.map(|(number, phrase)| (*number, phrase.code.name().into())).collect()
            },
            working_directory: call.context.working_directory.as_deref().map(Cow::from),
            sql: call.context.sql.as_ref().map(StoredSqlFacts::from),
            revision: call.revision,
            definition: Hex(call.definition),
            policy: Hex(call.policy),
            digest: Hex(call.digest()),
        }
    }

    pub(super) fn id(&self) -> CallId {
        self.id.0
    }

    /// Builds the call anew from its parts. What comes out must be what was approved.
    pub(super) fn call(
        self,
        frame: RowContext<'_>,
        written: Option<&Written<'_>>,
    ) -> Result<Arc<Call>, Broken> {
        let id = self.id.0;
        let said = |text: Option<Cow<'_, str>>, there: Option<&str>| match text {
            Some(text) => Ok(text.into_owned()),
            None => match there {
                Some(there) => Ok(there.to_owned()),
                None => damaged(format!("{id} is not in the message of its row")),
            },
        };
        let arguments = said(self.arguments, written.map(|w| w.input))?;
        let Some(effects) = Effects::parse(&self.effects) else {
            return damaged(format!("{id} has unknown effects"));
        };
        let call = Call::fixed(CallParts {
            id,
            tool_use_id: said(self.tool_use_id, written.map(|w| w.tool_use_id))?,
            agent: self.agent.into(),
            session: StoredSession::session(self.session, frame),
            tool: said(self.tool, written.map(|w| w.tool))?.into(),
            effects,
            place: match self.place {
                StoredPlace::Server => Place::Server,
                StoredPlace::Client => Place::Client,
                StoredPlace::Person => Place::Person,
            },
            confirm: if self.two_phase { Confirm::TwoPhase } else { Confirm::Held },
            definition: self.definition.0,
            arguments: read_arguments(&arguments)?,
            secrets: self.secrets.into_iter().map(Cow::into_owned).collect(),
            context: ExecutionContext {
                detail: read_detail(self.context, &self.context_phrases)?,
                working_directory: self.working_directory.map(Cow::into_owned),
                sql: self.sql.map(StoredSqlFacts::facts).transpose()?,
            },
            policy: self.policy.0,
            revision: self.revision,
        });
        // mutant: stored-digest-believed
        if call.digest() != self.digest.0 {
            return damaged(format!("{id} is not the call whose digest was written"));
        }
        Ok(Arc::new(call))
    }
}

/// The oldest record version whose readers know everything about a call.
pub(super) fn version_of_call(call: &Call) -> u32 {
    match (call.context.detail.phrases(), &call.context.sql) {
        ([_, ..], _) => TELLS_PHRASES,
        ([], Some(_)) => 4,
        ([], None) => FIRST,
    }
}

fn read_detail(text: Cow<'_, str>, phrases: &[(usize, Cow<'_, str>)]) -> Result<RunDetail, Broken> {
    let code = |(number, name): &(usize, Cow<'_, str>)| Some((*number, PhraseCode::parse(name)?));
    let codes: Option<Vec<_>> = phrases.iter().map(code).collect();
    let detail = codes.and_then(|codes| RunDetail::stored(text.into_owned(), codes));
    detail.map_or_else(|| damaged("a call's context is not made of the phrases that it names"), Ok)
}

/// Arguments were parsed strictly before they got here, so they are UTF-8.
pub(super) fn arguments_text(arguments: &Arguments) -> Cow<'_, str> {
    String::from_utf8_lossy(arguments.bytes())
}

pub(super) fn read_arguments(text: &str) -> Result<Arguments, Broken> {
    // The refusal itself may quote a key, so it is not repeated.
    Arguments::parse(text.as_bytes()).map_err(|_| Broken::Damaged("arguments are unsound".into()))
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredClearance<'a> {
    #[serde(borrow)]
    by: StoredClearedBy<'a>,
    at: Ms,
    execute_by: Ms,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredClearedBy<'a> {
    Rule(#[serde(borrow)] Cow<'a, str>),
    /// No rule: what the policy does by default.
    Default,
    Grant(Text<GrantId>),
    People(Text<HoldId>),
}

impl<'a> From<&'a Clearance> for StoredClearance<'a> {
    fn from(clearance: &'a Clearance) -> StoredClearance<'a> {
        StoredClearance {
            by: (&clearance.by).into(),
            at: clearance.at.into(),
            execute_by: clearance.execute_by.into(),
        }
    }
}

impl From<StoredClearance<'_>> for Clearance {
    fn from(stored: StoredClearance<'_>) -> Clearance {
        Clearance {
            by: stored.by.into(),
            at: stored.at.into(),
            execute_by: stored.execute_by.into(),
        }
    }
}

impl<'a> From<&'a ClearedBy> for StoredClearedBy<'a> {
    fn from(by: &'a ClearedBy) -> StoredClearedBy<'a> {
        match by {
            ClearedBy::Rule(Some(rule)) => StoredClearedBy::Rule(rule.into()),
            ClearedBy::Rule(None) => StoredClearedBy::Default,
            ClearedBy::Grant(id) => StoredClearedBy::Grant(Text(*id)),
            ClearedBy::People(id) => StoredClearedBy::People(Text(*id)),
        }
    }
}

impl From<StoredClearedBy<'_>> for ClearedBy {
    fn from(stored: StoredClearedBy<'_>) -> ClearedBy {
        match stored {
            StoredClearedBy::Rule(rule) => ClearedBy::Rule(Some(rule.into_owned())),
            StoredClearedBy::Default => ClearedBy::Rule(None),
            StoredClearedBy::Grant(Text(id)) => ClearedBy::Grant(id),
            StoredClearedBy::People(Text(id)) => ClearedBy::People(id),
        }
    }
}
