//! Our own API and the three doors, each as its clients use it.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::served::{Caller, Heard};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Native,
    FrontendTools,
    Worlds,
    AiSdk,
}

pub(crate) const SURFACES: [Surface; 4] =
    [Surface::Native, Surface::FrontendTools, Surface::Worlds, Surface::AiSdk];

const WORLD: &str = "/api/worlds/my-world";

/// The text of a stream or a reply, or the status of a refusal.
type Answered = Result<String, u16>;

impl Surface {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Surface::Native => "native",
            Surface::FrontendTools => "frontend_tools",
            Surface::Worlds => "worlds",
            Surface::AiSdk => "ai_sdk",
        }
    }

    /// How its answers are recorded.
    pub(crate) fn via(self) -> &'static str {
        match self {
            Surface::Native => "api",
            Surface::FrontendTools => "frontend",
            Surface::Worlds => "worlds",
            Surface::AiSdk => "ai_sdk",
        }
    }

    /// Says something that makes the model ask, waits for the prompt, and returns what the conversation
    /// is called.
    pub(crate) async fn asks(self, who: &Caller, note: &str) -> String {
        let text = format!("work {note}");
        match self {
            Surface::Native => {
                let session = who.session("worker").await;
                who.say(&session, &text).await;
                who.held(&session, 1).await;
                session
            }
            Surface::FrontendTools => {
                let body = json!({"user_prompt": text, "agent_type": "worker"});
                let stream = stream(who.post("/agent/run", &body).await).expect("a run");
                assert!(stream.contains("user_confirm"), "{stream}");
                between(&stream, "\"agent\":\"", "\"").to_owned()
            }
            Surface::Worlds => {
                let chat = who.post(&format!("{WORLD}/chats"), &json!({})).await.must(200);
                let chat = chat["chatId"].as_str().expect("a chat").to_owned();
                // The new chat is the current one: this generation of clients names none.
                let body = json!({"message": text, "sender": "human"});
                let heard = who.post(&format!("{WORLD}/messages"), &body).await;
                let stream = stream(heard).expect("a message");
                assert!(stream.contains("client.requestApproval"), "{stream}");
                chat
            }
            Surface::AiSdk => {
                let chat = format!("chat-{note}");
                let parts = json!([{"type": "text", "text": text}]);
                let message = json!({"id": format!("m-{note}"), "role": "user", "parts": parts});
                let body = json!({"id": chat, "messages": [message], "trigger": "submit-message"});
                let stream = stream(who.post("/api/chat", &body).await).expect("a chat");
                assert!(stream.contains("tool-approval-request"), "{stream}");
                chat
            }
        }
    }

    /// Approves as its clients do. `place` is the conversation.
    pub(crate) async fn approves(self, who: &Caller, place: &str, hold: &Value) -> Answered {
        let id = hold["id"].as_str().expect("an id");
        let (call, tool) = (&hold["call"]["tool_use_id"], &hold["call"]["tool"]);
        let input = &hold["call"]["arguments"];
        match self {
            Surface::Native => {
                let heard = who.answer(hold, json!({"verdict": "approve"})).await;
                let status = heard.status;
                if status != 200 {
                    return Err(status);
                }
                let session = hold["session"].as_str().expect("a session");
                let read = who.run_is(session, "completed").await;
                Ok(read.to_string())
            }
            Surface::FrontendTools => {
                let results = json!([{"tool_use_id": call, "content": "yes"}]);
                let body = json!({"agent_uuid": place, "tool_results": results});
                stream(who.post("/agent/tool_results", &body).await)
            }
            Surface::Worlds => {
                let prompt = format!("approval_{}", id.trim_start_matches("hold_"));
                let body = json!({
                    "tool_call_id": prompt, "agentId": "worker", "toolName": tool,
                    "toolArgs": input, "decision": "approve", "scope": "once", "stream": true,
                });
                stream(who.post(&format!("{WORLD}/tool-results"), &body).await)
            }
            Surface::AiSdk => {
                let part = json!({
                    "type": format!("tool-{}", tool.as_str().unwrap_or_default()),
                    "toolCallId": call, "input": input, "state": "approval-responded",
                    "approval": {"id": id, "approved": true},
                });
                let message = json!({"id": hold["run"], "role": "assistant", "parts": [part]});
                let body = json!({
                    "id": place, "messages": [message], "trigger": "submit-message",
                    "messageId": hold["run"],
                });
                stream(who.post("/api/chat", &body).await)
            }
        }
    }

    /// What its front end is told when it comes back later.
    pub(crate) async fn comes_back(self, who: &Caller, place: &str) -> String {
        let path = match self {
            Surface::Native => format!("/v1/sessions/{place}"),
            Surface::FrontendTools => format!("/agent/{place}/conversations"),
            Surface::Worlds => {
                let path = format!("{WORLD}/setChat/{place}");
                return whole(who.post(&path, &json!({})).await);
            }
            Surface::AiSdk => {
                // An answer that was given elsewhere is told once, to whoever comes back first.
                let chat = who.request(Method::GET, &format!("/api/chat/{place}/stream"));
                let heard = who.send(chat).await;
                if heard.status == 200 {
                    return heard.text;
                }
                assert_eq!(heard.status, 204, "{}", heard.text);
                format!("/api/chat/{place}/messages")
            }
        };
        whole(who.get(&path).await)
    }
}

fn whole(heard: Heard) -> String {
    assert_eq!(heard.status, 200, "{}", heard.text);
    heard.text
}

fn stream(heard: Heard) -> Answered {
    match heard.status {
        200 => Ok(heard.text),
        status => Err(status),
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let from = text.find(before).unwrap_or_else(|| panic!("{before} in {text}")) + before.len();
    let end = text[from..].find(after).expect("an end");
    &text[from..from + end]
}
