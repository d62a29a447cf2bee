//! What people do, read from what the platform says of it. Nothing is decided here.

use domain::time::Timestamp;
use ports::channel::{
    ButtonAction, DeliveryKey, Form, IncomingMessage, Nonce, Operator, Pointer, Press,
};
use serde_json::Value;

use super::settings::DingTalkSettings;

pub(super) const MESSAGE: &str = "/v1.0/im/bot/messages/get";
/// Before a nonce: the button leads to a second step. A template's buttons cannot say so themselves.
pub(super) const FIRST_STEP: char = '~';
pub(super) const PRESS: &str = "/v1.0/card/instances/callback";

/// `None`: not somebody's message to this robot.
pub(super) fn wrote(data: &Value, settings: &DingTalkSettings) -> Option<IncomingMessage> {
    let text = |key: &str| data[key].as_str().filter(|text| !text.is_empty());
    let ours = text("robotCode").is_none_or(|robot| robot == settings.robot_code);
    let corp = settings.corp_id.as_deref();
    if !ours || corp.is_some_and(|corp| data["senderCorpId"] != corp) {
        return None;
    }
    let id = text("msgId")?.to_owned();
    // Which of the two it is decides how it is answered, so it is never guessed.
    let direct = match text("conversationType")? {
        "1" => true,
        "2" => false,
        _ => return None,
    };
    let operator = operator(&data["senderStaffId"], text("senderNick"));
    // A chat with one person is written to by the person and not by the chat.
    let chat = match (&operator, direct) {
        (Some(operator), true) => operator.identity.clone(),
        _ => text("conversationId")?.to_owned(),
    };
    let said = message_text(data);
    let own = text("chatbotUserId");
    let others = data["atUsers"].as_array().into_iter().flatten();
    Some(IncomingMessage {
        event: format!("dingtalk:message:{id}"),
        message: id,
        operator,
        chat,
        thread: None,
        direct,
        attachment: said.is_none(),
        text: said.unwrap_or_default(),
        mentions_us: data["isInAtList"] == true,
        // They have taken our name out already.
        mentions: Vec::new(),
        mentions_others: others.into_iter().any(|user| user["dingtalkId"].as_str() != own),
        replies_to: None,
        from_a_person: true,
        edited: false,
        forwarded: data["msgtype"] == "chatRecord",
        // The platform tells nothing of the form of words.
        formatted: false,
        at: Timestamp::from_ms(written_at_ms(data)?),
    })
}

/// When, in milliseconds; some events have it as text.
pub(super) fn written_at_ms(data: &Value) -> Option<i64> {
    let at = &data["createAt"];
    at.as_i64().or_else(|| at.as_str()?.parse().ok())
}

/// The words of a message; `None` if there is something else in it.
fn message_text(data: &Value) -> Option<String> {
    match data["msgtype"].as_str()? {
        "text" => data["text"]["content"].as_str().map(str::to_owned),
        "richText" => {
            let pieces = data["content"]["richText"].as_array()?;
            // A piece without words is a picture.
            pieces.iter().map(|piece| piece["text"].as_str()).collect()
        }
        _ => None,
    }
}

/// `None`: not a button of ours. `event` names this press.
pub(super) fn press(
    data: &Value,
    event: String,
    settings: &DingTalkSettings,
    now: Timestamp,
) -> Option<Press> {
    let corp = settings.corp_id.as_deref();
    if corp.is_some_and(|corp| data["corpId"] != corp) {
        return None;
    }
    let message = data["outTrackId"].as_str().filter(|id| !id.is_empty())?.to_owned();
    // Templates differ in where they put it.
    let content = ["content", "value"].iter().find_map(|key| match &data[*key] {
        Value::String(text) => serde_json::from_str::<Value>(text).ok(),
        Value::Object(map) => Some(Value::Object(map.clone())),
        _ => None,
    })?;
    let own = &content["cardPrivateData"];
    let params = [&own["params"], &content["params"]].into_iter().find(|params| params.is_object());
    let params = params?;
    let text = |key: &str| params[key].as_str();
    let said = match text("o") {
        Some(said) => said.parse().ok()?,
        None => action(own["actionIds"][0].as_str()?)?,
    };
    let nonce = text("n")?;
    let (said, nonce) = match (said, nonce.strip_prefix(FIRST_STEP)) {
        (ButtonAction::Allow, Some(nonce)) => (ButtonAction::Arm, nonce),
        (said, Some(nonce)) => (said, nonce),
        (said, None) => (said, nonce),
    };
    let pointer =
        Pointer { key: DeliveryKey::new(text("r")?).ok()?, said, nonce: Nonce::new(nonce).ok()? };
    Some(Press {
        event,
        operator: operator(&data["userId"], None),
        // The platform names the card and not where it stands.
        chat: String::new(),
        message,
        pointer,
        is_on_it: false,
        form: Form::default(),
        at: now,
    })
}

/// The ids of the template's buttons.
fn action(id: &str) -> Option<ButtonAction> {
    match id {
        "allow" => Some(ButtonAction::Allow),
        "deny" => Some(ButtonAction::Deny),
        option => match option.strip_prefix("opt")?.parse().ok()? {
            ButtonAction::Option(number) => Some(ButtonAction::Option(number)),
            _ => None,
        },
    }
}

/// People from outside, and those whom an unpublished robot hears, have no id: they are nobody.
fn operator(id: &Value, display: Option<&str>) -> Option<Operator> {
    let identity = id.as_str().filter(|id| !id.is_empty())?.to_owned();
    Some(Operator { display: display.map(str::to_owned), ..Operator::named(identity) })
}

#[cfg(test)]
#[path = "gesture_tests.rs"]
mod tests;
