//! Updates by long polling: the platform keeps them until they are confirmed, and they are confirmed
//! when they are on disk. So no position is stored: what was not confirmed comes again.

use std::sync::Arc;

use ports::backoff::Backoff;
use ports::channel::{Busy, Inbox};
use reqwest::Url;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::TelegramFailure;
use super::channel::Bot;
use super::settings::TelegramMode;
use super::update::Update;
use crate::limits::{
    PAUSE_MAX, RECONNECT_FIRST, RECONNECT_MOST, TELEGRAM_POLL_S, TELEGRAM_UPDATES_MAX,
};
use crate::wire::Lanes;

pub(super) const UPDATES: [&str; 2] = ["message", "callback_query"];

impl Bot {
    pub(super) async fn listen(self: Arc<Self>, inbox: Arc<dyn Inbox>, stop: CancellationToken) {
        let work = async {
            match &self.settings.mode {
                TelegramMode::Polling => self.poll(&inbox).await,
                TelegramMode::Webhook { address: Some(address), .. } => {
                    self.announce(address).await
                }
                TelegramMode::Webhook { address: None, .. } => {}
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = work => {}
        }
        stop.cancelled().await;
    }

    /// For ever. Dropped between two steps it loses nothing: what is not confirmed comes again.
    async fn poll(self: &Arc<Self>, inbox: &Arc<dyn Inbox>) {
        let mut backoff = Backoff::new(RECONNECT_FIRST, RECONNECT_MOST);
        let mut offset = None;
        loop {
            let wait = match self.round(offset, inbox).await {
                Ok(next) => {
                    backoff.reset();
                    offset = next.or(offset);
                    continue;
                }
                Err(Trouble::Busy) => backoff.wait(self.rng.bits()),
                Err(Trouble::Failed(failed)) => {
                    tracing::warn!(channel = self.settings.name, "no updates: {failed}");
                    self.mend(&failed).await;
                    let wait = backoff.wait(self.rng.bits());
                    match failed {
                        TelegramFailure::Wait { after: Some(after), .. } => {
                            after.min(PAUSE_MAX).max(wait)
                        }
                        _ => wait,
                    }
                }
            };
            self.clock.sleep(wait).await;
        }
    }

    async fn round(
        self: &Arc<Self>,
        offset: Option<i64>,
        inbox: &Arc<dyn Inbox>,
    ) -> Result<Option<i64>, Trouble> {
        let me = self.me().await.map_err(Trouble::Failed)?;
        let mut body = json!({
            "timeout": TELEGRAM_POLL_S, "limit": TELEGRAM_UPDATES_MAX, "allowed_updates": UPDATES,
        });
        if let Some(offset) = offset {
            body["offset"] = offset.into();
        }
        let updates = self.api.wait_for("getUpdates", &body).await.map_err(Trouble::Failed)?;
        let mut lanes = Lanes::new();
        let mut last = None;
        for update in updates.as_array().map_or(&[][..], Vec::as_slice) {
            last = last.max(update["update_id"].as_i64());
            let read = Update::read(update, me, self.clock.now());
            let (bot, inbox, chat) = (self.clone(), inbox.clone(), read.chat().to_owned());
            lanes.push(&chat, async move { bot.deliver(read, &*inbox).await });
        }
        let mut busy = false;
        while let Some(done) = lanes.next().await {
            busy |= done.is_err();
        }
        // All of them again: those that were written down are recognised.
        if busy { Err(Trouble::Busy) } else { Ok(last.map(|last| last.saturating_add(1))) }
    }

    async fn deliver(self: Arc<Self>, update: Update, inbox: &dyn Inbox) -> Result<(), Busy> {
        if let Some(answer) = self.take(update, inbox).await? {
            let bot = self.clone();
            self.errands.run(async move { bot.answer_query(&answer).await });
        }
        Ok(())
    }

    /// Once more only if the first certainly did not count.
    async fn answer_query(&self, answer: &Value) {
        for _ in 0..2 {
            match self.api.call("answerCallbackQuery", answer).await {
                Ok(_) => return,
                Err(TelegramFailure::Wait { after: Some(after), .. }) if after.as_secs() < 10 => {
                    self.clock.sleep(after).await;
                }
                // The person who pressed has waited for too long; the message shows them the truth.
                Err(TelegramFailure::Refused(refusal)) if refusal.says("query is too old") => {
                    return;
                }
                Err(failed) => {
                    let name = &self.settings.name;
                    tracing::warn!(channel = name, "a pressed key got no reply: {failed}");
                    return;
                }
            }
        }
    }

    /// Polling and a webhook exclude each other. The one that the configuration names wins.
    async fn mend(&self, failed: &TelegramFailure) {
        if let TelegramFailure::Refused(refusal) = failed
            && refusal.code == 409
            && refusal.says("webhook")
        {
            let _ = self.api.call("deleteWebhook", &json!({"drop_pending_updates": false})).await;
        }
    }

    /// Until the platform knows where we are.
    async fn announce(&self, address: &Url) {
        let TelegramMode::Webhook { secret, .. } = &self.settings.mode else { return };
        let body = json!({
            "url": address.as_str(), "secret_token": secret.expose(), "allowed_updates": UPDATES,
            "drop_pending_updates": false,
        });
        let mut backoff = Backoff::new(RECONNECT_FIRST, RECONNECT_MOST);
        while let Err(failed) = self.api.call("setWebhook", &body).await {
            tracing::warn!(channel = self.settings.name, "the webhook is not set: {failed}");
            self.clock.sleep(backoff.wait(self.rng.bits())).await;
        }
    }
}

enum Trouble {
    Busy,
    Failed(TelegramFailure),
}
