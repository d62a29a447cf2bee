//! Whether something stands in a channel already. Slack sends whatever it is asked to send, twice if it
//! is asked twice; but it keeps with a message what we wrote about it.

use domain::time::Timestamp;
use ports::channel::{ChannelError, Showing};
use serde_json::{Value, json};

use super::api::SlackFailure;
use super::channel::{SlackApp, SlackTarget};
use crate::limits::SLACK_NEW_MS;

/// What we write about a message of ours.
pub(super) struct Mark<'a> {
    kind: &'static str,
    key: &'a str,
    /// For words nobody knows.
    since: Option<Timestamp>,
}

impl<'a> Mark<'a> {
    pub(super) fn of_hold(showing: &Showing<'a>) -> Mark<'a> {
        let since = Some(showing.hold.opened_at);
        Mark { kind: "holdpoint", key: showing.key.as_str(), since }
    }

    pub(super) fn of_words(key: &'a str) -> Mark<'a> {
        Mark { kind: "holdpoint_said", key, since: None }
    }

    pub(super) fn metadata(&self) -> Value {
        json!({"event_type": self.kind, "event_payload": {"r": self.key}})
    }
}

impl SlackApp {
    /// The message that was sent before, if it can have been. To look each time would cost a request
    /// for every prompt, so what is certainly new is not looked for: it was asked a moment ago, by this
    /// process, which has not tried it yet.
    pub(super) async fn find(
        &self,
        to: &SlackTarget,
        mark: &Mark<'_>,
    ) -> Result<Option<Value>, ChannelError> {
        let untried = self.tried.insert(&format!("{}:{}:{}", mark.kind, to.channel, mark.key));
        let new = mark.since.is_none_or(|since| {
            since > self.started_at && self.clock.now().ms_since(since) < SLACK_NEW_MS
        });
        if untried && new {
            return Ok(None);
        }
        match self.look(to, mark).await {
            Ok(found) => Ok(found),
            Err(SlackFailure::Refused(refusal)) => {
                // Without the permission to read nobody can say. A prompt that stands there twice is
                // better than one that stands there never.
                tracing::warn!(
                    channel = self.settings.name,
                    "it cannot be seen whether a message was sent before: {refusal}"
                );
                Ok(None)
            }
            Err(failed) => Err(failed.painting()),
        }
    }

    async fn look(&self, to: &SlackTarget, mark: &Mark<'_>) -> Result<Option<Value>, SlackFailure> {
        let me = self.me().await?;
        let token = &self.settings.bot_token;
        // A person is no conversation; the one with them has a name of its own.
        let channel = match to.channel.starts_with(['U', 'W']) {
            false => to.channel.clone(),
            true => {
                let body = json!({"users": to.channel});
                let opened = self.call("conversations.open", &body).await?;
                opened["channel"]["id"].as_str().unwrap_or_default().to_owned()
            }
        };
        // A minute of grace for clocks that differ.
        let since = mark.since.map(|since| since.as_ms().div_euclid(1000).saturating_sub(60));
        let since = since.unwrap_or_default().to_string();
        let mut query = vec![
            ("channel", channel.as_str()),
            ("oldest", since.as_str()),
            ("include_all_metadata", "true"),
            ("limit", "100"),
        ];
        let method = match &to.thread {
            Some(thread) => {
                query.push(("ts", thread));
                "conversations.replies"
            }
            None => "conversations.history",
        };
        let told = self.api.look(token, method, &query).await?;
        let ours = |message: &&Value| {
            let metadata = &message["metadata"];
            metadata["event_type"] == mark.kind
                && metadata["event_payload"]["r"] == mark.key
                // Anybody's app can write the same about its own.
                && (message["user"] == *me.user || message["bot_id"] == *me.bot)
        };
        let messages = told["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let found = messages.iter().find(ours);
        Ok(found.map(|message| json!({"channel": channel, "ts": message["ts"]})))
    }
}
