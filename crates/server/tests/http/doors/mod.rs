//! Doors for clients of other systems, over real connections.

mod ai_sdk;
mod confirm;
mod edits;
mod hostile;
mod identity;
mod several;
mod too_many;
mod two_phase;

use domain::person::PersonId;
use holdpoint_server::{AiSdk, DoorSetup, DoorWords, NamedAgent, ToolWords, Ui, Wire};
use reqwest::Response;
use serde_json::{Value, json};

use crate::world::{Plan, World, planned};

pub(crate) const FRONT_END: &str = "http://localhost:5173";

pub(crate) fn ai_sdk(act_as: Option<&str>) -> DoorSetup {
    DoorSetup {
        act_as: act_as.map(PersonId::new),
        origins: vec![FRONT_END.into()],
        wire: Wire::AiSdk(AiSdk {
            prefix: "/api".into(),
            agents: vec![NamedAgent { name: "clerk".into(), agent: "ops".into() }],
            ui: Ui::Six,
        }),
    }
}

fn words() -> DoorWords {
    let deploy = ToolWords {
        approve_text: Some("Yes, please proceed with deploying \"{projectName}\".".into()),
        deny_text: Some("No, I don't want to deploy right now.".into()),
        approve_value: Some("Do it".into()),
        deny_value: Some("Leave it".into()),
    };
    DoorWords::from([("deploy".to_owned(), deploy)])
}

pub(crate) async fn opened(act_as: Option<&str>) -> World {
    let doors = vec![ai_sdk(act_as)];
    planned(Plan { doors, words: words(), ..Plan::default() }).await
}

/// A stream of this wire, read to its end.
pub(crate) struct Read {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) chunks: Vec<Value>,
}

impl Read {
    pub(crate) async fn of(reply: Response) -> Read {
        let status = reply.status().as_u16();
        let text = reply.text().await.expect("a body");
        let chunk = |frame: &str| serde_json::from_str(frame.strip_prefix("data: ")?).ok();
        let chunks = match status {
            200 => text.split("\n\n").filter_map(chunk).collect(),
            _ => Vec::new(),
        };
        Read { status, text, chunks }
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.chunks.iter().any(|chunk| chunk["type"] == kind)
    }

    pub(crate) fn one(&self, kind: &str) -> &Value {
        let found = self.chunks.iter().find(|chunk| chunk["type"] == kind);
        found.unwrap_or_else(|| panic!("no {kind} in {}", self.text))
    }

    pub(crate) fn words(&self) -> String {
        self.chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
    }

    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.chunks.iter().filter_map(|chunk| chunk["type"].as_str()).collect()
    }
}

impl World {
    pub(crate) async fn chat(&self, who: &str, ui: u8, body: &Value) -> Read {
        let path = format!("/api/chat?ui={ui}");
        let request = self.request(who, reqwest::Method::POST, &path).json(body);
        Read::of(request.send().await.expect("a reply")).await
    }

    /// Says something in a chat.
    pub(crate) async fn tell(&self, who: &str, chat: &str, say: &str) -> Read {
        self.chat(who, 6, &user(chat, &format!("m-{say}"), say)).await
    }
}

pub(crate) fn user(chat: &str, id: &str, text: &str) -> Value {
    let message = json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    json!({"id": chat, "trigger": "submit-message", "messages": [message]})
}

pub(crate) fn assistant(chat: &str, parts: Value) -> Value {
    json!({"id": chat, "trigger": "submit-message", "messageId": "run", "messages": [
        {"id": "run", "role": "assistant", "parts": parts}]})
}

/// The part that answers an approval which a stream asked for.
pub(crate) fn answered(asked: &Read, approved: bool) -> Value {
    let request = asked.one("tool-approval-request");
    let is_its = |chunk: &&Value| {
        chunk["type"] == "tool-input-available" && chunk["toolCallId"] == request["toolCallId"]
    };
    let input = asked.chunks.iter().find(is_its).expect("its input");
    json!({
        "type": format!("tool-{}", input["toolName"].as_str().unwrap_or_default()),
        "toolCallId": request["toolCallId"], "state": "approval-responded", "input": input["input"],
        "approval": {"id": request["approvalId"], "approved": approved},
    })
}
