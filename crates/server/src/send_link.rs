//! "Send me a link": a stranger names a person, and a login link goes to that person's own linked account
//! in a chat, and nowhere else. The reply is the same whether there is such a person or not, and it is
//! given before anybody looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use domain::person::PersonId;
use domain::time::Timestamp;
use futures_util::future::BoxFuture;

use crate::app::App;
use crate::asked::{json, parse, read_strangers};
use crate::attempts::Attempts;
use crate::limits::{LINK_PAUSE_MS, LINKS_PER_MINUTE, STRANGER_BYTES_MAX};
use crate::login::{is_local_path, link_to};
use crate::problem::{Problem, Reply};
use crate::wire::{LinkPromised, LinkWanted};
use crate::{auth, peer};

/// Whoever can write to people directly.
pub trait LinkSender: Send + Sync {
    /// The channel on which this person has a linked account that can be written to, if any.
    fn channel_of(&self, person: &PersonId) -> Option<String>;

    /// Writes a login link to the person's own account there. Nothing of it may be kept.
    fn send<'a>(
        &'a self,
        person: &'a PersonId,
        channel: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<(), String>>;
}

pub(crate) struct LinkRequests {
    sender: OnceLock<Arc<dyn LinkSender>>,
    per_address: Attempts,
    /// When a link was last sent to each person. Only people of the configuration are in it.
    sent: Mutex<HashMap<PersonId, Timestamp>>,
}

impl Default for LinkRequests {
    fn default() -> LinkRequests {
        LinkRequests {
            sender: OnceLock::new(),
            per_address: Attempts::new(LINKS_PER_MINUTE),
            sent: Mutex::default(),
        }
    }
}

impl LinkRequests {
    pub(crate) fn send_by(&self, sender: Arc<dyn LinkSender>) {
        let _ = self.sender.set(sender);
    }

    /// Whether this person was sent none for a while. Takes note if so.
    fn is_due(&self, person: &PersonId, now: Timestamp) -> bool {
        let mut sent = self.sent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match sent.get(person) {
            Some(at) if now.ms_since(*at) < LINK_PAUSE_MS => false,
            _ => {
                sent.insert(person.clone(), now);
                true
            }
        }
    }
}

pub(crate) async fn ask(State(app): State<App>, request: Request) -> Reply {
    let (parts, body) = request.into_parts();
    auth::must_come_from_us(&app, &parts)?;
    if app.links.sender.get().is_none() {
        let detail = "no channel here can carry a login link; ask an admin for one";
        return Err(Problem::not_found_as(detail).into());
    }
    let from = peer::address(&app, &parts.extensions, &parts.headers);
    if let Some(seconds) = app.links.per_address.failed(from, app.engine.now()) {
        let detail = "you ask for too many links; try again later";
        return Err(Problem::too_many(detail, seconds).into());
    }
    let wanted: LinkWanted = parse(&read_strangers(&app, body, STRANGER_BYTES_MAX).await?)?;
    if wanted.next.as_deref().is_some_and(|next| !is_local_path(next)) {
        return Err(
            Problem::invalid("next", "it is a path of this site, such as `/holds/…`").into()
        );
    }
    // All that depends on the person happens after the reply.
    let sending = app.clone();
    app.tasks.spawn(async move { send(&sending, wanted).await });
    Ok(json(StatusCode::ACCEPTED, &LinkPromised::new()))
}

async fn send(app: &App, wanted: LinkWanted) {
    let person = PersonId::new(&wanted.person);
    let (Some(sender), Some(_)) = (app.links.sender.get(), app.engine.people().get(&person)) else {
        return;
    };
    let Some(channel) = sender.channel_of(&person) else {
        tracing::info!(%person, "a login link was asked for, and the person has no linked account");
        return;
    };
    if !app.links.is_due(&person, app.engine.now()) {
        return;
    }
    let code = match app.engine.login_over_channel(&person, &channel).await {
        Ok(code) => code,
        Err(error) => {
            tracing::warn!(%person, %error, "a login link could not be made");
            return;
        }
    };
    let url = link_to(&app.origin, &code, wanted.next.as_deref());
    let sent = sender.send(&person, &channel, &url);
    match app.closing.run_until_cancelled(sent).await {
        Some(Ok(())) => tracing::info!(%person, %channel, "a login link was sent"),
        Some(Err(why)) => tracing::warn!(%person, %channel, %why, "a login link was not sent"),
        None => {}
    }
}
