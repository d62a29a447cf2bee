//! What is said on this wire, whatever the format.

use serde_json::{Value, json};

use crate::doors::Format;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StreamItem {
    /// The first item of a run's stream: by its format the client chooses how to read on.
    Opened(Meta),
    Text(String),
    Thinking(String),
    /// A call of the model. The input is JSON.
    Called {
        id: String,
        name: String,
        input: String,
    },
    /// A block of text or thinking ends.
    Closed,
    /// The model's message is complete.
    TurnEnded {
        calls: bool,
    },
    /// What was said of this message is void; it is said anew.
    Withdrawn,
    Result {
        id: String,
        name: String,
        text: String,
    },
    /// The pause. Made from open holds, and from nothing else.
    Awaiting(Vec<Awaited>),
    Failed {
        code: String,
        message: String,
    },
    /// The whole history, for agents that send it.
    Final(Value),
    Done,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) format: Format,
    pub(crate) user_query: String,
    pub(crate) agent_uuid: String,
    pub(crate) model: String,
    pub(crate) history: Option<Vec<Value>>,
}

impl Meta {
    pub(super) fn object(&self) -> Value {
        let mut object = json!({
            "format": self.format.name(),
            "user_query": self.user_query,
            "agent_uuid": self.agent_uuid,
            "model": self.model,
        });
        if let Some(history) = &self.history {
            object["message_history"] = Value::from(history.clone());
        }
        object
    }
}

/// One prompt of a pause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Awaited {
    pub(crate) tool_use_id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

impl Awaited {
    pub(crate) fn object(&self) -> Value {
        json!({"tool_use_id": self.tool_use_id, "name": self.name, "input": self.input})
    }

    pub(crate) fn array(awaited: &[Awaited]) -> Value {
        awaited.iter().map(Awaited::object).collect()
    }
}

/// Without line breaks, which some formats show as they are written.
pub(super) fn error(code: &str, message: &str) -> Value {
    json!({"error": code, "message": message.replace(['\r', '\n'], " ")})
}
