//! One event, as far as every event is alike.

use serde_json::Value;

/// Something that happened, whichever way it came: by webhook or by long connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FeishuEvent {
    id: String,
    pub kind: String,
    pub content: Value,
}

impl FeishuEvent {
    pub(super) fn read(mut envelope: Value) -> Option<FeishuEvent> {
        let text = |key: &str| envelope["header"][key].as_str().map(str::to_owned);
        let (id, kind) = (text("event_id")?, text("event_type")?);
        (!id.is_empty()).then(|| FeishuEvent { id, kind, content: envelope["event"].take() })
    }

    /// The name under which a repeat is recognised. A message has the same id in every delivery and a
    /// new event id in some, so for it the message counts.
    pub fn key(&self) -> String {
        match (self.kind.as_str(), self.content["message"]["message_id"].as_str()) {
            ("im.message.receive_v1", Some(message)) => format!("feishu:message:{message}"),
            _ => format!("feishu:event:{}", self.id),
        }
    }
}
