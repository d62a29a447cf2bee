//! Frames of the stream mode: JSON in text, acknowledged one by one.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::signed::{SignatureRefusal, within_size};

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DingTalkFrame {
    #[serde(rename = "type")]
    pub kind: FrameKind,
    headers: Headers,
    /// JSON in a string.
    #[serde(default)]
    data: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FrameKind {
    System,
    Event,
    Callback,
    /// To be acknowledged as unknown, and nothing more.
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Headers {
    #[serde(rename = "messageId")]
    message_id: String,
    #[serde(default)]
    topic: String,
}

/// How a frame was taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Ack {
    /// What a card is to look like, or nothing.
    Response(Value),
    Done,
    /// Send it again later.
    Later,
    NoHandler,
    Failed,
}

impl DingTalkFrame {
    pub fn read(text: &str) -> Result<DingTalkFrame, SignatureRefusal> {
        within_size(text.as_bytes())?;
        let frame: DingTalkFrame =
            serde_json::from_str(text).map_err(|_| SignatureRefusal::Garbled)?;
        if frame.headers.message_id.is_empty() { Err(SignatureRefusal::Garbled) } else { Ok(frame) }
    }

    pub fn topic(&self) -> &str {
        &self.headers.topic
    }

    pub fn data(&self) -> Result<Value, SignatureRefusal> {
        serde_json::from_str(&self.data).map_err(|_| SignatureRefusal::Garbled)
    }

    /// The names under which a repeat is recognised. A robot's message has one of its own, which is
    /// the same when the frame is new.
    pub fn keys(&self) -> Vec<String> {
        let data = self.data().unwrap_or_default();
        let own = data["msgId"].as_str().map(|id| format!("dingtalk:message:{id}"));
        let frame = format!("dingtalk:frame:{}", self.headers.message_id);
        own.into_iter().chain([frame]).collect()
    }

    /// The frame that goes back. A ping gets its own data.
    pub fn ack(&self, ack: &Ack) -> String {
        let (code, message) = match ack {
            Ack::Response(_) | Ack::Done | Ack::Later => (200, "OK"),
            Ack::NoHandler => (404, "not handled here"),
            Ack::Failed => (500, "failed"),
        };
        let data = match (self.kind, ack) {
            (FrameKind::System, _) => self.data.clone(),
            (FrameKind::Event, Ack::Later) => json!({"status": "LATER", "message": ""}).to_string(),
            (FrameKind::Event, _) => json!({"status": "SUCCESS", "message": ""}).to_string(),
            (_, Ack::Response(response)) => json!({"response": response}).to_string(),
            (_, _) => json!({"response": "OK"}).to_string(),
        };
        let headers =
            json!({"contentType": "application/json", "messageId": self.headers.message_id});
        json!({"code": code, "headers": headers, "message": message, "data": data}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: &str, topic: &str, data: Value) -> DingTalkFrame {
        let text = json!({
            "specVersion": "1.0", "type": kind, "data": data.to_string(),
            "headers": {"appId": "a", "messageId": "m1", "topic": topic, "time": "1"},
        });
        DingTalkFrame::read(&text.to_string()).unwrap()
    }

    fn answered(frame: &DingTalkFrame, ack: &Ack) -> (Value, Value) {
        let whole: Value = serde_json::from_str(&frame.ack(ack)).unwrap();
        assert_eq!(whole["headers"]["messageId"], "m1");
        let data = serde_json::from_str(whole["data"].as_str().unwrap()).unwrap();
        (whole["code"].clone(), data)
    }

    #[test]
    fn every_kind_is_acknowledged_in_its_own_way() {
        let ping = frame("SYSTEM", "ping", json!({"opaque": "x"}));
        assert_eq!(answered(&ping, &Ack::Done), (json!(200), json!({"opaque": "x"})));
        let event = frame("EVENT", "*", json!({}));
        let told = |status| json!({"status": status, "message": ""});
        assert_eq!(answered(&event, &Ack::Done), (json!(200), told("SUCCESS")));
        assert_eq!(answered(&event, &Ack::Later), (json!(200), told("LATER")));
        let click =
            frame("CALLBACK", "/v1.0/card/instances/callback", json!({"outTrackId": "7Q2.1"}));
        let card = json!({"cardData": {"cardParamMap": {}}});
        assert_eq!(
            answered(&click, &Ack::Response(card.clone())),
            (json!(200), json!({"response": card}))
        );
        assert_eq!(answered(&click, &Ack::NoHandler).0, json!(404));
    }

    #[test]
    fn a_message_is_recognised_in_a_new_frame() {
        let message = frame("CALLBACK", "/v1.0/im/bot/messages/get", json!({"msgId": "x"}));
        assert_eq!(message.keys(), ["dingtalk:message:x", "dingtalk:frame:m1"]);
        assert_eq!(frame("CALLBACK", "t", json!({})).keys(), ["dingtalk:frame:m1"]);
    }

    #[test]
    fn what_is_no_frame_is_refused_and_a_new_kind_is_not() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"type":"EVENT","headers":{}}"#,
            r#"{"type":"EVENT","headers":{"messageId":""}}"#,
        ] {
            assert_eq!(DingTalkFrame::read(text), Err(SignatureRefusal::Garbled), "{text}");
        }
        assert_eq!(frame("TOMORROW", "t", json!({})).kind, FrameKind::Other);
        let no_json = r#"{"type":"EVENT","headers":{"messageId":"m"},"data":"{"}"#;
        assert_eq!(DingTalkFrame::read(no_json).unwrap().data(), Err(SignatureRefusal::Garbled));
    }
}
