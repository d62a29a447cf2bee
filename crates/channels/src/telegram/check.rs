//! What `channels check` says about a bot.

use ports::channel::Checked;
use serde_json::{Value, json};

use super::api::read_reply;
use super::channel::Bot;
use super::poll::UPDATES;
use super::settings::TelegramMode;
use crate::wire::clock;

impl Bot {
    pub(super) async fn check(&self) -> Vec<Checked> {
        let checked = |what: &str, wrong: Option<String>| Checked { what: what.into(), wrong };
        let answer = match self.api.raw("getMe", &json!({})).await {
            Ok(answer) => answer,
            Err(failed) => return vec![checked("connection", Some(failed.to_string()))],
        };
        let time = clock(&answer, self.clock.now());
        let me = match read_reply(&answer) {
            Ok(me) => me,
            Err(failed) => {
                let remedy = "open @BotFather, choose /mybots, the bot, API Token, and put the token \
                              where `token_env` or `token_file` points";
                return vec![checked("token", Some(format!("{failed}; {remedy}"))), time];
            }
        };
        let name = me["username"].as_str().unwrap_or_default();
        let groups = (me["can_join_groups"] == false).then(|| {
            "the bot may not join groups: @BotFather, /mybots, Bot Settings, Allow Groups"
                .to_owned()
        });
        let heard = match me["can_read_all_group_messages"] == true {
            true => "groups: every message is heard",
            false => "groups: commands, mentions and replies to the bot are heard (privacy mode)",
        };
        let webhook = match self.api.call("getWebhookInfo", &json!({})).await {
            Ok(info) => self.webhook(&info),
            Err(failed) => Some(failed.to_string()),
        };
        let mode = match self.settings.mode {
            TelegramMode::Polling => "updates by polling",
            TelegramMode::Webhook { .. } => "updates by webhook",
        };
        vec![
            checked(&format!("token: @{name}"), None),
            checked(heard, groups),
            checked(mode, webhook),
            time,
        ]
    }

    fn webhook(&self, info: &Value) -> Option<String> {
        let set = info["url"].as_str().unwrap_or_default();
        match &self.settings.mode {
            TelegramMode::Polling if set.is_empty() => None,
            // The address may hold somebody's secret.
            TelegramMode::Polling => Some(
                "a webhook is set, and polling does not work beside it; it is taken away when the \
                 server starts"
                    .into(),
            ),
            TelegramMode::Webhook { .. } if set.is_empty() => Some(
                "no webhook is set; give the server's public address as `webhook_url`, and it is set \
                 when the server starts"
                    .into(),
            ),
            TelegramMode::Webhook { address, .. } => {
                if address.as_ref().is_some_and(|address| address.as_str() != set) {
                    return Some("the webhook that is set points somewhere else than `webhook_url`".into());
                }
                let heard = |kind: &&str| {
                    let allowed = info["allowed_updates"].as_array();
                    allowed.is_none_or(|allowed| allowed.iter().any(|is| *is == **kind))
                };
                if let Some(deaf) = UPDATES.iter().find(|kind| !heard(kind)) {
                    return Some(format!("the webhook that is set does not bring `{deaf}`"));
                }
                let told = info["last_error_message"].as_str();
                told.map(|told| format!("Telegram could not deliver the last update: {told}"))
            }
        }
    }
}
