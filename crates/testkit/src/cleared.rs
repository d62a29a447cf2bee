//! Clears a call the way the engine does, by the events that lead to it: for tests of tool hosts by
//! themselves.

use std::sync::Arc;

use domain::call::{Call, Clearance};
use domain::event::SessionEvent;
use domain::grant::ClearedBy;
use domain::id::{MessageId, NodeId, RunId, SessionId};
use domain::message::{Message, Origin, Part, Role};
use domain::person::Actor;
use domain::session::Session;
use domain::time::Timestamp;
use ports::durable::{ClearedCall, Durable};
use ports::start_gate::{Start, StartGate};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub fn cleared(call: Call, attempt: u32) -> ClearedCall {
    let (at, node, run) = (Timestamp::from_ms(1), NodeId::new(1, 1), RunId::new(1, 1));
    let id = call.id;
    let asked = Message {
        id: MessageId::new(1, 1),
        role: Role::Assistant,
        origin: Origin::Own,
        by: None,
        login_makers: Default::default(),
        parts: vec![Part::ToolCall {
            call: id,
            tool_use_id: call.tool_use_id.clone(),
            tool: call.tool.clone(),
            input: String::from_utf8_lossy(call.arguments.bytes()).into_owned(),
        }],
        at,
    };
    let clearance = Clearance { by: ClearedBy::Rule(None), at, execute_by: at.plus_ms(1_000) };
    let mut session = Session::begin(SessionId::new(1, 1));
    for event in [
        SessionEvent::SessionOpened {
            agent: call.agent.clone(),
            creator: Actor::Runtime,
            title: None,
            metadata: Value::Null,
            home: None,
        },
        SessionEvent::RunStarted { run },
        SessionEvent::MessageAdded { message: Arc::new(asked) },
        SessionEvent::CallProposed { id, call: Arc::new(call), clearance: Some(clearance) },
        SessionEvent::CallStarted { call: id, attempt, node },
    ] {
        session.apply(&event, at);
    }
    Durable::assumed(session).cleared(id, node).expect("a started call is cleared")
}

/// A gate that nobody closes.
pub fn open() -> Start {
    StartGate::default().start(CancellationToken::new())
}
