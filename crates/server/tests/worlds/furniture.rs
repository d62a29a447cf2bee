//! People, tools, and a model that plays what it was told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::call::ExecutionContext;
use domain::hold::Hold;
use domain::message::Part;
use domain::outcome::{Outcome, Output};
use domain::person::{People, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, PolicySpec, RuleSpec, Then};
use domain::tool::{Effects, Place, Tool};
use ports::callback::{CallbackError, CallbackSender};
use ports::model::{
    CallResult, Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn,
    WrittenCall,
};
use ports::tool_host::{Prepared, ToolHost};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tools::closure::FnTool;
use tools::human::{HumanTool, HumanToolKind};
use tools::questionnaire::QuestionnaireTool;

pub(crate) fn people() -> People {
    let all = [("ana", "admin"), ("bob", "dba"), ("dan", "dba"), ("eve", "guest")];
    People::new(all.map(|(id, role)| Person {
        id: PersonId::new(id),
        name: id.to_uppercase(),
        roles: [role.to_owned()].into(),
        identities: BTreeMap::new(),
    }))
}

/// `free` is allowed, `both` needs two DBAs, everything else asks whoever requested it.
pub(crate) fn policy() -> PolicySpec {
    let rule = |tool: &str, then, ask| RuleSpec {
        name: format!("about {tool}"),
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then,
        ask,
        ..RuleSpec::default()
    };
    let two = AskSpec { roles: vec!["dba".into()], quorum: 2, ..AskSpec::default() };
    PolicySpec {
        rules: vec![rule("free", Then::Allow, None), rule("both", Then::Ask, Some(two))],
        ..PolicySpec::default()
    }
}

/// What really ran, in order, and where commands run at present.
#[derive(Clone, Default)]
pub(crate) struct Witness {
    ran: Arc<Mutex<Vec<String>>>,
    pub(crate) directory: Arc<Mutex<String>>,
}

impl Witness {
    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().expect("sound").clone()
    }

    fn tool(&self, name: &str) -> FnTool {
        let schema = json!({"type": "object", "properties": {
            "password": {"type": "string", "writeOnly": true},
        }});
        let tool = Tool::new(
            name,
            "a tool of the test",
            schema,
            Effects::AtMostOnce,
            Place::Server,
            "test",
        );
        let ran = self.ran.clone();
        let run = FnTool::new(tool.expect("a tool"), move |call| {
            let input = String::from_utf8_lossy(call.arguments.bytes()).into_owned();
            ran.lock().expect("sound").push(format!("{} {input}", call.tool));
            let (fails, vanishes) = (input.contains("fail"), input.contains("vanish"));
            let text = format!("did {} {input}", call.tool);
            async move {
                match (fails, vanishes) {
                    (true, _) => {
                        Outcome::Failed(Output::text("Command failed (exit code 3):\nno such file"))
                    }
                    (_, true) => Outcome::Unknown { evidence: "its process is gone".into() },
                    _ => Outcome::Succeeded(Output::text(text)),
                }
            }
        });
        let directory = self.directory.clone();
        run.preparing(move |_| {
            let directory = directory.lock().expect("sound").clone();
            let directory = (!directory.is_empty()).then_some(directory);
            let context =
                ExecutionContext { working_directory: directory, ..ExecutionContext::default() };
            Ok(Prepared { context, ..Prepared::default() })
        })
    }

    pub(crate) fn tools(&self) -> Vec<Arc<dyn ToolHost>> {
        let named = ["shell_cmd", "write_file", "both", "free"];
        let mut tools: Vec<Arc<dyn ToolHost>> =
            named.iter().map(|name| Arc::new(self.tool(name)) as Arc<dyn ToolHost>).collect();
        for name in ["human_intervention.request", "human_intervention_request"] {
            tools.push(Arc::new(HumanTool::new(name, HumanToolKind::Options).expect("a tool")));
        }
        tools.push(Arc::new(QuestionnaireTool::new("ask_user_input").expect("a tool")));
        tools.push(Arc::new(
            HumanTool::new("ask_anything", HumanToolKind::Anything).expect("a tool"),
        ));
        tools
    }
}

pub(crate) const TOOLS: [&str; 8] = [
    "shell_cmd",
    "write_file",
    "both",
    "free",
    "human_intervention.request",
    "human_intervention_request",
    "ask_user_input",
    "ask_anything",
];

/// Plays the turns that the latest message of a person describes, parted by lines with `---`: in each
/// `call TOOL JSON` (one a line), or words. Keeps what it was asked.
#[derive(Clone, Default)]
pub(crate) struct Player {
    asked: Arc<Mutex<Vec<ModelRequest<'static>>>>,
}

impl Player {
    pub(crate) fn asked(&self) -> Vec<ModelRequest<'static>> {
        self.asked.lock().expect("sound").clone()
    }

    /// All results that it was given in its latest request, with their ids.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let asked = self.asked();
        let messages = asked.last().map(|request| request.messages.clone()).unwrap_or_default();
        let results = messages.into_iter().filter_map(|message| match message {
            ModelMessage::Results { results } => Some(results),
            _ => None,
        });
        let owned =
            |result: CallResult<'_>| (result.tool_use_id.into_owned(), result.content.into_owned());
        results.flatten().map(owned).collect()
    }
}

#[async_trait]
impl Model for Player {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        self.asked.lock().expect("sound").push(request.clone().into_owned());
        let last = request
            .messages
            .iter()
            .rposition(|message| matches!(message, ModelMessage::User { .. }));
        let at = last.unwrap_or_default();
        let Some(ModelMessage::User { text }) = request.messages.get(at) else {
            return Err(ModelError::Malformed("nobody said anything".into()));
        };
        let played = request.messages[at..]
            .iter()
            .filter(|message| matches!(message, ModelMessage::Results { .. }))
            .count();
        let turn = text.split("\n---\n").nth(played).unwrap_or("Done.");
        if turn.ends_with("fall over") {
            return Err(ModelError::Declined("told to".into()));
        }
        if turn.ends_with("hang") {
            stop.cancelled().await;
            return Err(ModelError::Stopped);
        }
        let calls: Vec<_> = turn
            .lines()
            .filter_map(|line| {
                let (before, call) = line.split_once("call ")?;
                Some((before.trim().strip_prefix("as "), call.split_once(' ')?))
            })
            .enumerate()
            .map(|(index, (named, (tool, input)))| WrittenCall {
                tool_use_id: named
                    .map_or_else(
                        || format!("call_{}_{index}", request.messages.len()),
                        str::to_owned,
                    )
                    .into(),
                tool: tool.into(),
                input: input.into(),
            })
            .map(WrittenCall::into_owned)
            .collect();
        let mut parts = Vec::new();
        if calls.is_empty() {
            let middle = turn.floor_char_boundary(turn.len() / 2);
            deltas(Delta::Text(turn[..middle].to_owned()));
            deltas(Delta::Text(turn[middle..].to_owned()));
            parts.push(Part::Text(turn.to_owned()));
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
