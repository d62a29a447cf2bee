//! The connector: shows and repaints cards, says things, and hands what people do to the inbox.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::hold::Risk;
use domain::visible::visible_multiline;
use ports::channel::{
    Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    PressReply, Showing, Shown, TextProgress, WebhookRequest,
};
use ports::clock::{Clock, Rng};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::DingTalkApi;
use super::gesture;
use super::session::Sessions;
use super::settings::{DingTalkMode, DingTalkSettings};
use super::{card, markdown, press_reply};
use crate::card::{Card, CardQuestion};
use crate::limits::DINGTALK_PARAM_BYTES_MAX;
use crate::wire::nth;

/// In front of what the platform calls a message that is no card.
const NO_CARD: &str = "query:";

pub struct Dingtalk {
    pub(super) settings: Arc<DingTalkSettings>,
    pub(super) api: DingTalkApi,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rng: Arc<dyn Rng>,
    sessions: Sessions,
}

/// What became of something that came.
pub(super) enum DingtalkEventOutcome {
    Ack,
    /// What the card is to look like.
    Reply(Value),
    /// It should come again.
    Redeliver,
}

impl Dingtalk {
    pub fn new(settings: DingTalkSettings, clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Dingtalk {
        let settings = Arc::new(settings);
        let api = DingTalkApi::new(&settings, clock.clone());
        Dingtalk { api, settings, clock, rng, sessions: Sessions::default() }
    }

    pub(super) async fn message(&self, data: &Value, inbox: &dyn Inbox) -> DingtalkEventOutcome {
        let Some(wrote) = gesture::wrote(data, &self.settings) else {
            return DingtalkEventOutcome::Ack;
        };
        self.sessions.keep(data, &wrote, &self.settings, self.clock.now());
        match inbox.wrote(&self.settings.name, wrote).await {
            Ok(()) => DingtalkEventOutcome::Ack,
            Err(_) => DingtalkEventOutcome::Redeliver,
        }
    }

    pub(super) async fn press(
        &self,
        data: &Value,
        event: String,
        inbox: &dyn Inbox,
    ) -> DingtalkEventOutcome {
        let now = self.clock.now();
        let told = match gesture::press(data, event, &self.settings, now) {
            Some(press) => inbox.pressed(&self.settings.name, press).await,
            None => Ok(PressReply::NotHere),
        };
        DingtalkEventOutcome::Reply(press_reply::reply(&told, &self.settings))
    }

    fn drawn(&self, showing: &Showing<'_>, mention: bool) -> Card {
        let card = Card::showing(showing, self.settings.language, &self.settings.zone, mention);
        self.settings.bounded(card, showing)
    }

    async fn deliver(
        &self,
        to: DingTalkTarget<'_>,
        template: &str,
        key: &str,
        drawn: &Card,
    ) -> Result<bool, ChannelError> {
        let rendered = card::variables(drawn);
        let robot = &self.settings.robot_code;
        let mut body = json!({
            "cardTemplateId": template,
            "outTrackId": key,
            "cardData": {"cardParamMap": rendered.value},
            "userIdType": 1,
        });
        match &self.settings.mode {
            DingTalkMode::Stream => body["callbackType"] = "STREAM".into(),
            DingTalkMode::Webhook(webhook) => {
                body["callbackType"] = "HTTP".into();
                body["callbackRouteKey"] = webhook.card_route.clone().into();
            }
        }
        // A phone shows this line and no more: what is asked, and about what.
        let notice = drawn.notice();
        match to {
            DingTalkTarget::Group(chat) => {
                body["openSpaceId"] = format!("dtv1.card//IM_GROUP.{chat}").into();
                body["imGroupOpenSpaceModel"] = json!({
                    "supportForward": false,
                    "lastMessageI18n": {"ZH_CN": notice},
                    "notification": {"alertContent": notice},
                });
                body["imGroupOpenDeliverModel"] = json!({"robotCode": robot});
            }
            DingTalkTarget::Person(user) => {
                body["openSpaceId"] = format!("dtv1.card//IM_ROBOT.{user}").into();
                body["imRobotOpenSpaceModel"] = json!({
                    "supportForward": false,
                    "lastMessageI18n": {"ZH_CN": notice},
                    "notification": {"alertContent": notice},
                });
                body["imRobotOpenDeliverModel"] =
                    json!({"spaceType": "IM_ROBOT", "robotCode": robot});
            }
        }
        let path = "/v1.0/card/instances/createAndDeliver";
        let answer = self.api.call(Method::POST, path, &body).await?;
        // That it was understood does not mean that it was done.
        let results = answer["result"]["deliverResults"].as_array();
        let Some(results) = results.filter(|results| !results.is_empty()) else {
            return Err(ChannelError::Unknown(
                "DingTalk does not say whether the card stands".into(),
            ));
        };
        match results.iter().find(|result| result["success"] != true) {
            None => Ok(rendered.accepts_approval),
            Some(failed) => {
                let why = failed["errorMsg"].as_str().unwrap_or("no reason is given");
                let why = domain::visible::visible(why);
                Err(ChannelError::Never(format!("DingTalk did not deliver the card: {why}")))
            }
        }
    }

    /// A message cannot be changed and has no buttons that could look alive. What is asked otherwise is
    /// asked in another one, and how it ended is said once.
    async fn followed(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
        drawn: &Card,
    ) -> Result<bool, ChannelError> {
        let rendered = markdown::message(drawn);
        let pending = showing.hold.is_pending();
        // A vote or a longer time is nothing that must be read anew.
        if showing.hold.is_finished() || pending && !showing.stands {
            let to = if posted.direct {
                DingTalkTarget::Person(&posted.chat)
            } else {
                DingTalkTarget::Group(&posted.chat)
            };
            self.send(&to, "sampleMarkdown", &rendered.value, None).await?;
        }
        Ok(pending && rendered.accepts_approval)
    }

    /// Returns what the platform calls it. While a conversation can be answered over an address that came
    /// with a message of it, that is the way: it costs none of the calls that an organisation has.
    async fn send(
        &self,
        to: &DingTalkTarget<'_>,
        message_key: &str,
        param: &Value,
        reply_to: Option<&str>,
    ) -> Result<String, ChannelError> {
        let (DingTalkTarget::Group(chat) | DingTalkTarget::Person(chat)) = to;
        if let Some(session) = self.sessions.live(chat, self.clock.now()) {
            let body = session.body(message_key, param, reply_to);
            match self.api.post(session.url, &body).await {
                Ok(()) => return Ok(String::new()),
                // Perhaps it stands there. Whatever comes next goes over the API.
                Err(error @ ChannelError::Unknown(_)) => {
                    self.sessions.forget(chat);
                    return Err(error);
                }
                Err(error) => {
                    let name = &self.settings.name;
                    tracing::info!(channel = name, "not over the conversation's address: {error}");
                    self.sessions.forget(chat);
                }
            }
        }
        let mut body = json!({
            "robotCode": self.settings.robot_code,
            "msgKey": message_key,
            "msgParam": param.to_string(),
        });
        let path = match to {
            DingTalkTarget::Group(chat) => {
                body["openConversationId"] = (*chat).into();
                "/v1.0/robot/groupMessages/send"
            }
            DingTalkTarget::Person(user) => {
                body["userIds"] = json!([user]);
                "/v1.0/robot/oToMessages/batchSend"
            }
        };
        let answer = self.api.call(Method::POST, path, &body).await?;
        let listed = |key: &str| answer[key].as_array().is_some_and(|list| !list.is_empty());
        if listed("invalidStaffIdList") {
            return Err(ChannelError::Never(
                "DingTalk does not know this person; an identity is the user id that the \
                 organisation's address book shows"
                    .into(),
            ));
        }
        if listed("flowControlledStaffIdList") {
            let why = "DingTalk takes no more messages for this person now".into();
            return Err(ChannelError::Again { after: None, why });
        }
        Ok(answer["processQueryKey"].as_str().unwrap_or_default().to_owned())
    }
}

/// Groups and people have ways of their own; which it is is known and never guessed.
enum DingTalkTarget<'a> {
    Group(&'a str),
    Person(&'a str),
}

fn to(place: &Destination) -> DingTalkTarget<'_> {
    match place {
        Destination::Person(user) => DingTalkTarget::Person(user),
        // A chat with one person is known by that person.
        Destination::Chat { chat, direct: true, .. } => DingTalkTarget::Person(chat),
        Destination::Chat { chat, direct: false, .. } => DingTalkTarget::Group(chat),
    }
}

fn message_ref(place: &Destination, message: String) -> MessageRef {
    let (chat, direct) = match to(place) {
        DingTalkTarget::Group(chat) => (chat, false),
        DingTalkTarget::Person(user) => (user, true),
    };
    MessageRef { chat: chat.to_owned(), thread: None, direct, message, at: None }
}

impl DingTalkSettings {
    /// Over HTTP nothing proves who wrote a body, so there a yes to more than a low risk is not taken:
    /// the card leads to the page.
    pub(super) fn bounded(&self, card: Card, showing: &Showing<'_>) -> Card {
        match &self.mode {
            DingTalkMode::Webhook(_) if showing.hold.risk > Risk::Low => card.elsewhere(),
            _ => card,
        }
    }
}

/// Pieces that a message can carry.
fn pieces(text: &str) -> Vec<String> {
    // A character may take six bytes in JSON, and is in a string in a string.
    let most = DINGTALK_PARAM_BYTES_MAX / 12;
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters.chunks(most).map(|piece| piece.iter().collect::<String>());
    pieces.filter(|piece| !piece.trim().is_empty()).collect()
}

#[async_trait]
impl Channel for Dingtalk {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn platform(&self) -> &'static str {
        "dingtalk"
    }

    fn account(&self) -> &str {
        &self.settings.client_id
    }

    /// Of a press it tells the card, whose name is ours and good for one place.
    fn names_chats(&self) -> bool {
        false
    }

    /// A template has its buttons in the same places for both steps, and no way back.
    fn second_press_after(&self) -> Duration {
        Duration::from_secs(2)
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let mention = matches!(place, Destination::Chat { direct: false, .. });
        let drawn = self.drawn(showing, mention);
        let key = showing.key.as_str();
        // A variable of a card has a kilobyte, a message fifteen: a call that only fits there is shown there,
        // and answered in words.
        let as_message = || {
            let asks = matches!(drawn.asks, CardQuestion::Decide { allow: Some(_), .. });
            asks && showing.words_answer
                && !card::variables(&drawn).accepts_approval
                && markdown::message(&drawn).accepts_approval
        };
        match self.settings.card_template.as_ref().filter(|_| !as_message()) {
            Some(template) => {
                let accepts_approval = self.deliver(to(place), template, key, &drawn).await?;
                Ok(Shown { posted: message_ref(place, key.to_owned()), accepts_approval })
            }
            None => {
                let rendered = markdown::message(&drawn);
                let sent = self.send(&to(place), "sampleMarkdown", &rendered.value, None).await?;
                let posted = message_ref(place, format!("{NO_CARD}{sent}"));
                Ok(Shown { posted, accepts_approval: rendered.accepts_approval })
            }
        }
    }

    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        let drawn = self.drawn(showing, !posted.direct);
        if posted.message.starts_with(NO_CARD) {
            return self.followed(posted, showing, &drawn).await;
        }
        let rendered = card::variables(&drawn);
        let body = json!({
            "outTrackId": posted.message,
            "cardData": {"cardParamMap": rendered.value},
            "cardUpdateOptions": press_reply::options(),
            "userIdType": 1,
        });
        self.api.call(Method::PUT, "/v1.0/card/instances", &body).await?;
        Ok(rendered.accepts_approval)
    }

    async fn say_piece(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
        index: usize,
    ) -> Result<TextProgress, ChannelError> {
        let to = match saying.whisper_to {
            Some(user) => DingTalkTarget::Person(user),
            None => to(place),
        };
        let Some((piece, spoken)) = nth(pieces(saying.text), index) else {
            return Ok(TextProgress::All);
        };
        let param = json!({"content": visible_multiline(&piece)});
        self.send(&to, "sampleText", &param, saying.reply_to).await?;
        Ok(spoken)
    }

    async fn listen(&self, inbox: Arc<dyn Inbox>, stop: CancellationToken) {
        match self.settings.mode {
            DingTalkMode::Stream => super::connection::listen(self, &*inbox, &stop).await,
            DingTalkMode::Webhook(_) => stop.cancelled().await,
        }
    }

    async fn hook(&self, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply {
        super::hook::hook(self, request, inbox).await
    }

    async fn check(&self) -> Vec<Checked> {
        super::check::check(self).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_people_are_told_apart() {
        let told = |place: &Destination| match to(place) {
            DingTalkTarget::Group(chat) => format!("group {chat}"),
            DingTalkTarget::Person(user) => format!("person {user}"),
        };
        let chat = |direct| Destination::Chat { chat: "x".into(), thread: None, direct };
        assert_eq!(told(&chat(false)), "group x");
        assert_eq!(told(&chat(true)), "person x");
        assert_eq!(told(&Destination::Person("u1".into())), "person u1");
    }

    #[test]
    fn a_long_text_is_said_in_pieces_and_nothing_is_lost() {
        let long = "确".repeat(10_000);
        let pieces = pieces(&long);
        assert_eq!(pieces.concat(), long);
        for piece in pieces {
            let param = json!({"content": piece}).to_string();
            assert!(Value::String(param).to_string().len() <= DINGTALK_PARAM_BYTES_MAX);
        }
    }
}
