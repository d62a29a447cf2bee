//! What the world is furnished with.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::hold::Hold;
use domain::message::Part;
use domain::outcome::{Outcome, Output};
use domain::person::{People, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, PolicySpec, RuleSpec, Then};
use domain::tool::{Confirm, Effects, Place, Tool};
use holdpoint_server::{DoorWords, ToolWords};
use ports::callback::{CallbackError, CallbackSender};
use ports::model::{
    Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn, WrittenCall,
};
use ports::tool_host::ToolHost;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tools::client::ClientTool;
use tools::closure::FnTool;

/// Ana asks and answers, Dan and Dora are DBAs, Eve is a stranger.
pub(crate) fn people() -> People {
    let all =
        [("root", "admin"), ("ana", "user"), ("dan", "dba"), ("dora", "dba"), ("eve", "guest")];
    People::new(all.map(|(id, role)| Person {
        id: PersonId::new(id),
        name: id.to_uppercase(),
        roles: [role.to_owned()].into(),
        identities: BTreeMap::new(),
    }))
}

/// `wipe` and `deploy` ask the requester, `drop` a DBA, `both` two of them, `hurry` waits for a moment only; the rest is allowed.
pub(crate) fn policy() -> PolicySpec {
    let rule = |tool: &str, then, ask| RuleSpec {
        name: format!("about {tool}"),
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then,
        ask,
        ..RuleSpec::default()
    };
    let dbas = |quorum| AskSpec { roles: vec!["dba".into()], quorum, ..AskSpec::default() };
    let soon = AskSpec { expires_ms: Some(700), ..AskSpec::default() };
    PolicySpec {
        default: Then::Allow,
        rules: vec![
            rule("wipe", Then::Ask, Some(AskSpec::default())),
            rule("deploy", Then::Ask, Some(AskSpec::default())),
            rule("drop", Then::Ask, Some(dbas(1))),
            rule("both", Then::Ask, Some(dbas(2))),
            rule("hurry", Then::Ask, Some(soon)),
        ],
        ..PolicySpec::default()
    }
}

/// How often each tool ran.
#[derive(Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<BTreeMap<&'static str, Arc<AtomicUsize>>>>);

impl Ran {
    pub(crate) fn times(&self, tool: &str) -> usize {
        let ran = self.0.lock().expect("sound");
        ran.get(tool).map_or(0, |count| count.load(Ordering::SeqCst))
    }

    fn counter(&self, tool: &'static str) -> Arc<AtomicUsize> {
        self.0.lock().expect("sound").entry(tool).or_default().clone()
    }
}

pub(crate) fn tools(ran: &Ran) -> Vec<Arc<dyn ToolHost>> {
    let mut all: Vec<Arc<dyn ToolHost>> = Vec::new();
    for (name, effects) in [
        ("wipe", Effects::AtMostOnce),
        ("drop", Effects::AtMostOnce),
        ("deploy", Effects::AtMostOnce),
        ("both", Effects::AtMostOnce),
        ("write", Effects::AtMostOnce),
        ("look", Effects::ReadOnly),
    ] {
        let schema = json!({"type": "object"});
        let tool = Tool::new(name, "a tool of the test", schema, effects, Place::Server, "test");
        let mut tool = tool.expect("a tool");
        if name == "deploy" {
            tool.confirm = Confirm::TwoPhase;
        }
        let count = ran.counter(name);
        all.push(Arc::new(FnTool::new(tool, move |call| {
            count.fetch_add(1, Ordering::SeqCst);
            // Says back what it was given, so that hostile output can be made.
            let says = call.arguments.value().get("says").and_then(Value::as_str);
            let says = says.unwrap_or("done").to_owned();
            async move { Outcome::Succeeded(Output::text(says)) }
        })));
    }
    for (name, deny) in [
        ("user_confirm", vec!["no".to_owned()]),
        ("pick", vec![]),
        ("hurry", vec![]),
        ("requestApiKeys", vec![]),
    ] {
        let schema = json!({"type": "object"});
        let tool = ClientTool::new(name, "for the browser", schema, Effects::AtMostOnce, deny);
        all.push(Arc::new(tool.expect("a tool")));
    }
    all
}

/// Plays the turns that the prompt lists, as JSON; any other prompt is said back. After the last turn
/// it says `Finished.`.
#[derive(Clone)]
pub(crate) struct Puppet {
    pub(crate) asked: Arc<Mutex<Vec<ModelRequest<'static>>>>,
    /// A turn with `"wait": true` takes one of these.
    pub(crate) gate: Arc<Semaphore>,
}

impl Puppet {
    pub(crate) fn new() -> Puppet {
        Puppet { asked: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }
}

#[async_trait]
impl Model for Puppet {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        _: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        self.asked.lock().expect("sound").push(request.clone().into_owned());
        let last = request.messages.iter().rposition(|it| matches!(it, ModelMessage::User { .. }));
        let ModelMessage::User { text } = &request.messages[last.expect("somebody spoke")] else {
            return Err(ModelError::Malformed("nobody spoke".into()));
        };
        let since = &request.messages[last.expect("somebody spoke")..];
        let number = since.iter().filter(|it| matches!(it, ModelMessage::Assistant { .. })).count();
        let script: Value = match serde_json::from_str(text) {
            Ok(script @ Value::Object(_)) => script,
            _ if text.starts_with("The person approved deploy") => {
                json!({"turns": [{"calls": [["deploy", {"app": "x", "confirmed": true}]]}]})
            }
            _ => json!({"turns": [{"say": [text]}]}),
        };
        let turn = script["turns"].get(number).cloned();
        let turn = turn.unwrap_or_else(|| json!({"say": ["Finished."]}));
        if turn["fail"] == true {
            return Err(ModelError::Unavailable("told to".into()));
        }
        let mut parts = Vec::new();
        if let Some(thought) = turn["think"].as_str() {
            deltas(Delta::Reasoning(thought.to_owned()));
            parts.push(Part::Reasoning { text: thought.to_owned(), opaque: None });
        }
        let said: Vec<&str> =
            turn["say"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for piece in &said {
            deltas(Delta::Text((*piece).to_owned()));
        }
        if !said.is_empty() {
            parts.push(Part::Text(said.concat()));
        }
        if turn["wait"] == true {
            self.gate.acquire().await.expect("open").forget();
        }
        let calls = turn["calls"].as_array().into_iter().flatten().enumerate();
        let calls = calls.map(|(index, call)| WrittenCall {
            tool_use_id: format!("toolu_{}_{index}", request.messages.len()).into(),
            tool: call[0].as_str().expect("a tool").to_owned().into(),
            input: call[1].to_string().into(),
        });
        Ok(ModelTurn { parts, calls: calls.collect(), ..ModelTurn::default() })
    }
}

/// `Yes, wipe sda.` and the like.
pub(crate) fn words() -> DoorWords {
    let yes = |tool: &str, argument: &str| {
        let approve_text = Some(format!("Yes, {tool} {{{argument}}}."));
        (tool.to_owned(), ToolWords { approve_text, ..ToolWords::default() })
    };
    DoorWords::from([yes("wipe", "disk"), yes("drop", "table"), yes("deploy", "app")])
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
