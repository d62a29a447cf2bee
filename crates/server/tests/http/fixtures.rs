//! What the world is furnished with: people, policy, tools, a model that does what it is told.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::hold::Hold;
use domain::message::Part;
use domain::outcome::{Outcome, Output};
use domain::person::{People, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, PolicySpec, RuleSpec, Then};
use domain::tool::{Confirm, Effects, Place, Tool};
use futures_util::future::BoxFuture;
use holdpoint_server::{AuditLines, AuditVerdict, ChannelBoard, ChannelInfo, TestNotSent};
use ports::callback::{CallbackError, CallbackSender};
use ports::model::{
    Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn, TurnUsage,
    WrittenCall,
};
use ports::store::AuditEntry;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::client::ClientTool;
use tools::closure::FnTool;

pub(crate) fn people() -> People {
    let all = [("ana", "admin"), ("bob", "dba"), ("dan", "dba"), ("eve", "guest")];
    People::new(all.map(|(id, role)| Person {
        id: PersonId::new(id),
        name: id.to_uppercase(),
        roles: [role.to_owned()].into(),
        identities: BTreeMap::new(),
    }))
}

/// `look` and `free` are allowed, `never` is denied, `both` needs two DBAs, `wipe` any DBA.
pub(crate) fn policy() -> PolicySpec {
    let rule = |tool: &str, then, ask| RuleSpec {
        name: format!("about {tool}"),
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then,
        ask,
        ..RuleSpec::default()
    };
    let dbas = |quorum| AskSpec { roles: vec!["dba".into()], quorum, ..AskSpec::default() };
    PolicySpec {
        rules: vec![
            rule("look", Then::Allow, None),
            rule("free", Then::Allow, None),
            rule("never", Then::Deny, None),
            rule("both", Then::Ask, Some(dbas(2))),
            rule("wipe", Then::Ask, Some(dbas(1))),
        ],
        ..PolicySpec::default()
    }
}

fn tool(name: &str, effects: Effects, schema: Value) -> Tool {
    Tool::new(name, "a tool of the test", schema, effects, Place::Server, "test").expect("a tool")
}

pub(crate) fn wipe(wiped: Arc<AtomicUsize>) -> FnTool {
    FnTool::new(tool("wipe", Effects::AtMostOnce, json!({"type": "object"})), move |_| {
        let count = wiped.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Outcome::Succeeded(Output::text(format!("wiped {count}"))) }
    })
}

pub(crate) fn look() -> FnTool {
    FnTool::new(tool("look", Effects::ReadOnly, json!({"type": "object"})), |_| async {
        Outcome::Succeeded(Output::text("seen"))
    })
}

/// Needs two.
pub(crate) fn both() -> FnTool {
    FnTool::new(tool("both", Effects::AtMostOnce, json!({"type": "object"})), |_| async {
        Outcome::Succeeded(Output::text("both did"))
    })
}

/// Done by whoever answers.
pub(crate) fn locate(name: &str) -> ClientTool {
    let schema = json!({"type": "object"});
    ClientTool::new(name, "what only the client knows", schema, Effects::ReadOnly, vec![])
        .expect("a tool")
}

/// Asks first and acts when it is called again.
pub(crate) fn deploy(wiped: Arc<AtomicUsize>) -> FnTool {
    let mut tool = tool("deploy", Effects::AtMostOnce, json!({"type": "object"}));
    tool.confirm = Confirm::TwoPhase;
    FnTool::new(tool, move |_| {
        wiped.fetch_add(1, Ordering::SeqCst);
        async { Outcome::Succeeded(Output::text(r#"{"url": "https://x"}"#)) }
    })
}

/// Takes a secret.
pub(crate) fn connect() -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"host": {"type": "string"}, "password": {"type": "string", "writeOnly": true}},
    });
    FnTool::new(tool("connect", Effects::AtMostOnce, schema), |_| async {
        Outcome::Succeeded(Output::text("connected"))
    })
}

/// Does what the last message says: `call TOOL JSON` (one a line), `fail`, `loop` (looks again and
/// again, for tokens), or says it back.
pub(crate) struct Obedient;

#[async_trait]
impl Model for Obedient {
    fn takes_images(&self) -> bool {
        true
    }

    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        cancelled: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let said = match request.messages.last() {
            Some(ModelMessage::User { text }) => text.clone().into_owned(),
            _ => "Done with it.".into(),
        };
        if said == "think for ever" {
            cancelled.cancelled().await;
        }
        if said.starts_with("fail") {
            return Err(ModelError::Unavailable("told to".into()));
        }
        let asked = request.messages.iter().rev().find_map(|message| match message {
            ModelMessage::User { text } => Some(&**text),
            _ => None,
        });
        if asked == Some("loop") {
            let tool_use_id = format!("toolu_{}", request.messages.len());
            let look = WrittenCall {
                tool_use_id: tool_use_id.into(),
                tool: "look".into(),
                input: "{}".into(),
            };
            let usage = TurnUsage { input_tokens: 100, cached_tokens: 0, output_tokens: 10 };
            return Ok(ModelTurn { parts: Vec::new(), calls: vec![look], usage });
        }
        let said = match said.strip_prefix("The person approved deploy") {
            Some(_) => r#"call deploy {"projectName": "my-app", "confirmed": true}"#.into(),
            None => said,
        };
        let pictures = request.messages.iter().filter_map(|message| match message {
            ModelMessage::Image { label, media_type, bytes } => {
                Some(format!("\nsaw {label}: {media_type}, {} bytes", bytes.len()))
            }
            _ => None,
        });
        let said = pictures.fold(said, |said, picture| said + &picture);
        let calls: Vec<_> = said
            .lines()
            .filter_map(|line| line.strip_prefix("call ")?.split_once(' '))
            .zip(request.messages.len()..)
            .map(|((tool, input), number)| WrittenCall {
                tool_use_id: format!("toolu_{number}").into(),
                tool: tool.into(),
                input: input.into(),
            })
            .map(WrittenCall::into_owned)
            .collect();
        let mut parts = Vec::new();
        if calls.is_empty() {
            let middle = said.char_indices().nth(said.chars().count() / 2).map_or(0, |(at, _)| at);
            deltas(Delta::Text(said[..middle].to_owned()));
            deltas(Delta::Text(said[middle..].to_owned()));
            parts.push(Part::Text(said));
        }
        Ok(ModelTurn { parts, calls, ..ModelTurn::default() })
    }
}

pub(crate) struct NoCallbacks;

#[async_trait]
impl CallbackSender for NoCallbacks {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Err("there are no callbacks in this test".into())
    }

    async fn deliver(&self, _: &str, _: &Hold) -> Result<(), CallbackError> {
        Err(CallbackError::Never("there are no callbacks in this test".into()))
    }
}

pub(crate) struct Lines;

impl AuditLines for Lines {
    fn header(&self, public_key: &[u8]) -> Option<String> {
        Some(audit::header_line(&std::str::from_utf8(public_key).ok()?.parse().ok()?))
    }

    fn entry(&self, entry: &AuditEntry) -> String {
        audit::entry_line(entry.seq, audit::Hash::from_bytes(entry.hash), &entry.bytes)
    }

    fn checkpoint(&self, stored: &[u8]) -> Option<(u64, String)> {
        let checkpoint: audit::Checkpoint = std::str::from_utf8(stored).ok()?.parse().ok()?;
        Some((checkpoint.count, audit::checkpoint_line(&checkpoint)))
    }

    fn verify(&self, export: &mut dyn BufRead, public_key: &[u8]) -> Option<AuditVerdict> {
        let key: audit::PublicKey = std::str::from_utf8(public_key).ok()?.parse().ok()?;
        Some(match audit::verify(export, Some(key), None) {
            Ok(report) => AuditVerdict::Sound {
                entries: report.entries,
                checkpoints: report.checkpoints,
                head: report.head.to_string(),
            },
            Err(audit::VerifyError::Tampered(tampered)) => {
                AuditVerdict::Tampered { entry: tampered.index, why: tampered.to_string() }
            }
            Err(_) => AuditVerdict::Unreadable,
        })
    }
}

/// One channel, on which Ana alone has an account.
pub(crate) struct Desk;

impl ChannelBoard for Desk {
    fn channels(&self) -> Vec<ChannelInfo> {
        vec![ChannelInfo { name: "desk".into(), platform: "paper".into(), talks: true }]
    }

    fn send_test<'a>(
        &'a self,
        person: &'a PersonId,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), TestNotSent>> {
        let sent = match person.as_str() {
            "ana" => Ok(()),
            _ => Err(TestNotSent::SetUp("no linked account".into())),
        };
        Box::pin(async { sent })
    }
}
