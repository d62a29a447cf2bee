//! What people do, as the platform writes it, and its signatures over HTTP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::time::Timestamp;
use ring::hmac;
use serde_json::{Value, json};

use super::api::{CLIENT_ID, CLIENT_SECRET};

pub const CORP: &str = "corp1";

/// Ana mentions the robot in the group `cid1`.
pub fn message(id: &str, text: &str, at: Timestamp) -> Value {
    json!({
        "conversationId": "cid1", "conversationType": "2", "conversationTitle": "Ops",
        "msgId": id, "createAt": at.as_ms(), "senderId": "$:LWCP_v1:$ana", "senderStaffId": "u1",
        "senderNick": "Ana", "senderCorpId": CORP, "isAdmin": false, "isInAtList": true,
        "atUsers": [{"dingtalkId": "$:LWCP_v1:$bot"}], "chatbotUserId": "$:LWCP_v1:$bot",
        "chatbotCorpId": CORP, "robotCode": CLIENT_ID,
        "sessionWebhook": "https://oapi.dingtalk.com/robot/sendBySession?session=x",
        "sessionWebhookExpiredTime": at.as_ms() + 5_400_000,
        "msgtype": "text", "text": {"content": format!(" {text}")},
    })
}

/// Ana presses a button of this card.
pub fn press(card: &str, said: &str) -> Value {
    let content = json!({"cardPrivateData": {
        "actionIds": ["allow"], "params": {"r": "7Q2", "o": said, "n": "k3x9ab"},
    }});
    json!({
        "type": "actionCallback", "outTrackId": card, "corpId": CORP, "userId": "u1",
        "content": content.to_string(), "extension": "{}",
    })
}

/// The headers of a robot's message.
pub fn signed_robot(at: Timestamp) -> Vec<(String, String)> {
    let at = at.as_ms().to_string();
    let sign = sign(CLIENT_SECRET, &format!("{at}\n{CLIENT_SECRET}"));
    vec![("timestamp".into(), at), ("sign".into(), sign)]
}

/// The headers of a card's callback.
pub fn signed_card(at: Timestamp, secret: &str) -> Vec<(String, String)> {
    let at = at.as_ms().to_string();
    let sign = sign(secret, &at);
    vec![("x-ddpaas-signature-timestamp".into(), at), ("x-ddpaas-signature".into(), sign)]
}

fn sign(secret: &str, text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    STANDARD.encode(hmac::sign(&key, text.as_bytes()))
}
