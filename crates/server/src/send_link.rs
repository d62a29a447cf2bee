//! "Send me a link": a stranger names a person, and a login link goes to that person's own linked account
//! in a chat, and nowhere else. The reply is the same whether there is such a person or not, and it is
//! given before anybody looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use domain::person::{People, PersonId};
use domain::time::Timestamp;
use futures_util::future::BoxFuture;
use ports::unpoisoned::Unpoisoned as _;

use crate::app::App;
use crate::asked::{json, parse, read_strangers};
use crate::attempts::Attempts;
use crate::limits::{LINK_PAUSE_MS, LINKS_PER_MINUTE, STRANGER_BYTES_MAX};
use crate::login::{is_local_path, link_to};
use crate::problem::{Problem, Reply};
use crate::wire::{LinkPromised, LinkWanted};
use crate::{auth, peer};

/// Sends a login link to a person directly.
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
        let mut sent = self.sent.lock().unpoisoned();
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
    let body = read_strangers(&app, from, body, STRANGER_BYTES_MAX).await?;
    let wanted: LinkWanted = parse(&body)?;
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

/// By id, or by a name that only one person has.
fn found_person(people: &People, wanted: &str) -> Option<PersonId> {
    let wanted = wanted.trim();
    let id = PersonId::new(wanted);
    if people.get(&id).is_some() {
        return Some(id);
    }
    let lower = wanted.to_lowercase();
    let mut named = people.iter().filter(|person| person.name.to_lowercase() == lower);
    match (named.next(), named.next()) {
        (Some(person), None) => Some(person.id.clone()),
        _ => None,
    }
}

async fn send(app: &App, wanted: LinkWanted) {
    let found = found_person(app.engine.people(), &wanted.person);
    let (Some(sender), Some(person)) = (app.links.sender.get(), found) else { return };
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::person::Person;

    use super::*;

    #[test]
    fn a_person_is_found_by_id_and_by_a_name_of_their_own() {
        let all = [("ana", "Ana García"), ("bob", "Bob"), ("bob2", "bob"), ("eve", "ana")];
        let people = People::new(all.map(|(id, name)| Person {
            id: PersonId::new(id),
            name: name.into(),
            roles: Default::default(),
            identities: BTreeMap::new(),
        }));
        let found = |wanted: &str| found_person(&people, wanted).map(|id| id.to_string());
        assert_eq!(found("ana").as_deref(), Some("ana"), "an id is before a name");
        assert_eq!(found(" ana garcía ").as_deref(), Some("ana"));
        assert_eq!(found("bob").as_deref(), Some("bob"));
        assert_eq!(found("BOB"), None, "two have this name");
        assert_eq!(found("nobody"), None);
    }
}
