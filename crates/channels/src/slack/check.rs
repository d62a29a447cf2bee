//! What `channels check` says about an app.

use ports::channel::Checked;
use serde_json::{Value, json};

use super::api::{SlackFailure, read_reply};
use super::channel::SlackApp;
use super::settings::SlackMode;
use crate::wire::clock;

/// And what we could not do without each.
const NEEDED: [(&str, &str); 3] = [
    ("chat:write", "to post and change prompts"),
    ("app_mentions:read", "to hear who mentions the app"),
    ("im:history", "to hear what people write to the app directly"),
];
const HELPFUL: [&str; 2] = ["channels:history", "groups:history"];

impl SlackApp {
    pub(super) async fn check(&self) -> Vec<Checked> {
        let settings = &self.settings;
        let checked = |what: &str, wrong: Option<String>| Checked { what: what.into(), wrong };
        let answer = match self.api.raw(&settings.bot_token, "auth.test", &json!({})).await {
            Ok(answer) => answer,
            Err(failed) => return vec![checked("connection", Some(failed.to_string()))],
        };
        let time = clock(&answer, self.clock.now());
        let me = match read_reply(&answer) {
            Ok(me) => me,
            Err(failed) => {
                let remedy = format!(
                    "open https://api.slack.com/apps/{}/oauth and copy the Bot User OAuth Token \
                     (xoxb-…)",
                    settings.app_id
                );
                return vec![checked("bot token", Some(format!("{failed}; {remedy}"))), time];
            }
        };
        let text = |name: &str| me[name].as_str().unwrap_or_default();
        let team = (text("team_id") != settings.team_id).then(|| {
            format!(
                "the token is for the workspace {}, and `team_id` is {}",
                text("team_id"),
                settings.team_id
            )
        });
        let granted = answer.header("x-oauth-scopes").map(|scopes| {
            scopes.split(',').map(|scope| scope.trim().to_owned()).collect::<Vec<_>>()
        });
        let mut found = vec![
            checked(&format!("bot token: {} in {}", text("user"), text("team")), team),
            self.scopes(granted.as_deref()),
        ];
        found.extend(granted.map(|granted| {
            let replies = HELPFUL.iter().all(|scope| granted.iter().any(|has| has == scope));
            let what = match replies {
                true => "replies in a prompt's thread are heard",
                false => {
                    "replies in channels are heard when they mention the app (for others: the scopes \
                     channels:history and groups:history)"
                }
            };
            checked(what, None)
        }));
        found.push(self.way_in().await);
        found.push(time);
        found
    }

    fn scopes(&self, granted: Option<&[String]>) -> Checked {
        let missing: Vec<String> = NEEDED
            .iter()
            .filter(|(scope, _)| granted.is_some_and(|has| !has.iter().any(|one| one == scope)))
            .map(|(scope, why)| format!("`{scope}` ({why})"))
            .collect();
        let wrong = (!missing.is_empty()).then(|| {
            format!(
                "missing: {}; add them at https://api.slack.com/apps/{}/oauth under Bot Token Scopes, \
                 and press Reinstall to Workspace",
                missing.join(", "),
                self.settings.app_id
            )
        });
        Checked { what: "scopes".into(), wrong }
    }

    async fn way_in(&self) -> Checked {
        let app = &self.settings.app_id;
        match &self.settings.mode {
            SlackMode::Socket { app_token } => {
                let told = self.api.call(app_token, "apps.connections.open", &json!({})).await;
                let wrong = match told {
                    Ok(told) if told["url"] != Value::Null => None,
                    Ok(_) => Some("Slack does not say where to connect".to_owned()),
                    Err(failed @ SlackFailure::Refused(_)) => Some(format!(
                        "{failed}; switch it on at https://api.slack.com/apps/{app}/socket-mode, and \
                         make an app-level token (xapp-…) with connections:write under Basic Information"
                    )),
                    Err(failed) => Some(failed.to_string()),
                };
                Checked { what: "Socket Mode".into(), wrong }
            }
            SlackMode::Http { .. } => Checked {
                what: format!(
                    "events and interactions over HTTP: the addresses are at \
                     https://api.slack.com/apps/{app}/event-subscriptions and …/interactive-messages"
                ),
                wrong: None,
            },
        }
    }
}
