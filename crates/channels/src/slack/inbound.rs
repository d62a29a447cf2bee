//! What comes from Slack, over whichever way, on its way to the inbox.

use std::sync::Arc;

use ports::channel::{ButtonAction, Inbox, Opened, Press, PressReply};
use serde_json::{Value, json};

use super::blocks::plain;
use super::channel::SlackApp;
use super::event::wrote;
use super::modal::{modal, reason};
use super::press::{self, Pressed, Spot};
use super::settings::SlackSettings;
use crate::card::{Card, Word};
use crate::limits::REFUSAL_CHARACTERS_MAX;

pub(super) enum SlackAck {
    Quietly,
    /// In the acknowledgement itself.
    Payload(Value),
    /// It should come again.
    NotNow,
    /// For another app or workspace.
    Wrong,
}

impl SlackApp {
    /// One `event_callback`. Events that we do not know are taken and left alone.
    pub(super) async fn event(&self, callback: &Value, inbox: &dyn Inbox) -> SlackAck {
        if !self.is_ours(callback, &callback["team_id"]) {
            return SlackAck::Wrong;
        }
        let me = match self.me().await {
            Ok(me) => me,
            // Without our name nobody could say whether we are meant.
            Err(failed) => {
                tracing::warn!(channel = self.settings.name, "who we are is not known: {failed}");
                return SlackAck::NotNow;
            }
        };
        let Some(wrote) = wrote(callback, me) else { return SlackAck::Quietly };
        match inbox.wrote(&self.settings.name, wrote).await {
            Ok(()) => SlackAck::Quietly,
            Err(_) => SlackAck::NotNow,
        }
    }

    /// One interaction. It does not come again, so the person who made it is told when it got lost.
    pub(super) async fn interaction(
        self: &Arc<Self>,
        payload: &Value,
        inbox: &dyn Inbox,
    ) -> SlackAck {
        if !self.is_ours(payload, &payload["team"]["id"]) {
            return SlackAck::Wrong;
        }
        let name = &self.settings.name;
        match press::read_press(payload, self.clock.now()) {
            Pressed::Ignored => SlackAck::Quietly,
            Pressed::Strange { spot } => {
                if let Some(spot) = spot {
                    self.whisper(spot, &self.word(&PressReply::NotHere));
                }
                SlackAck::Quietly
            }
            Pressed::Button { mut press, spot, trigger }
                if matches!(press.pointer.said, ButtonAction::Form | ButtonAction::Explain) =>
            {
                match inbox.opens(name, &press).await {
                    Ok(Opened::Form(redraw)) => {
                        let SlackSettings { language, zone, .. } = &self.settings;
                        let card = Card::showing(&redraw.showing(), *language, zone, false);
                        let view = match press.pointer.said {
                            ButtonAction::Explain => {
                                press.pointer.said = ButtonAction::Deny;
                                Some(reason(&card, &press.pointer))
                            }
                            _ => modal(&card),
                        };
                        match view {
                            Some(view) => self.open(view, &press, trigger),
                            None => self.whisper(spot, &self.word(&PressReply::NotHere)),
                        }
                    }
                    Ok(Opened::Refused(told)) => self.whisper(spot, &self.word(&told)),
                    Err(_) => self.whisper(spot, &self.busy()),
                }
                SlackAck::Quietly
            }
            Pressed::Button { press, spot, .. } => {
                match inbox.pressed(name, *press).await {
                    // The card itself shows it.
                    Ok(PressReply::Taken(_)) => {}
                    Ok(told) => self.whisper(spot, &self.word(&told)),
                    Err(_) => self.whisper(spot, &self.busy()),
                }
                SlackAck::Quietly
            }
            Pressed::Form { press, place } => {
                let word = match inbox.pressed(name, *press).await {
                    Ok(told) => self.word(&told),
                    Err(_) => self.busy(),
                };
                match (word.refusal, place) {
                    (true, Some(place)) => SlackAck::Payload(
                        json!({"response_action": "errors", "errors": {place: word.text}}),
                    ),
                    // The modal closes.
                    _ => SlackAck::Quietly,
                }
            }
        }
    }

    fn is_ours(&self, payload: &Value, team: &Value) -> bool {
        let ours =
            payload["api_app_id"] == *self.settings.app_id && *team == *self.settings.team_id;
        if !ours {
            tracing::warn!(
                channel = self.settings.name,
                "something for another app or workspace was refused; see `app_id` and `team_id`"
            );
        }
        ours
    }

    fn word(&self, told: &PressReply) -> Word {
        Word::of(told, self.settings.language, &self.settings.zone)
    }

    fn busy(&self) -> Word {
        Word::busy(self.settings.language)
    }

    /// Only the person who pressed sees it.
    fn whisper(self: &Arc<Self>, spot: Spot, word: &Word) {
        let (app, text) = (self.clone(), word.text.clone());
        self.errands.run(async move {
            let mut body = json!({
                "channel": spot.chat, "user": spot.user, "text": text,
                "blocks": [{"type": "section", "text": plain(&text, REFUSAL_CHARACTERS_MAX)}],
            });
            if let Some(thread) = spot.thread {
                body["thread_ts"] = thread.into();
            }
            if let Err(failed) = app.call("chat.postEphemeral", &body).await {
                let name = &app.settings.name;
                tracing::warn!(channel = name, "a pressed button got no reply: {failed}");
            }
        });
    }

    fn open(self: &Arc<Self>, mut view: Value, press: &Press, trigger: Option<String>) {
        view["private_metadata"] = press::metadata(press).into();
        let app = self.clone();
        self.errands.run(async move {
            let body = json!({"trigger_id": trigger, "view": view});
            if let Err(failed) = app.call("views.open", &body).await {
                tracing::warn!(channel = app.settings.name, "a form did not open: {failed}");
            }
        });
    }
}
