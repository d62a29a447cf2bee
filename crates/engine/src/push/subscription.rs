//! Browsers that are told: subscribed, listed and let go by the person whose they are, and by nobody else.

use domain::digest::Framed;
use domain::person::PersonId;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use ports::push::{PushLanguage, PushTarget};
use ports::store::{Note, PutNote};
use serde_json::{Value, json};

use super::{OWNERS, SUBSCRIPTIONS};
use crate::accounts::Caller;
use crate::limits::{PUSH_KEPT_MS, PUSH_NAME_BYTES_MAX, PUSH_SUBSCRIPTIONS_MAX};
use crate::records::own_notes::prefix_of_own;
use crate::{Engine, Error};

/// A browser that is to be told.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    pub target: PushTarget,
    pub language: PushLanguage,
    /// What its owner tells it by.
    pub name: Option<String>,
}

/// A browser that is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscription {
    /// Says nothing of the endpoint, which is as good as a key to the browser.
    pub id: String,
    pub person: PersonId,
    pub target: PushTarget,
    pub language: PushLanguage,
    pub name: Option<String>,
    pub at: Timestamp,
}

impl Subscription {
    pub(super) fn key(&self) -> String {
        format!("{}{}", prefix_of_own(&self.person), self.id)
    }

    /// `None` for a record that this version cannot read: it is told nothing, and subscribes anew.
    pub(super) fn read(note: &Note) -> Option<Subscription> {
        let value: Value = serde_json::from_slice(&note.value).ok()?;
        let word = |name: &str| value[name].as_str().map(str::to_owned);
        let (_, id) = note.key.rsplit_once('/')?;
        Some(Subscription {
            id: id.to_owned(),
            person: PersonId::new(value["person"].as_str()?),
            target: PushTarget {
                endpoint: word("endpoint")?,
                p256dh: word("p256dh")?,
                auth: word("auth")?,
            },
            language: PushLanguage::parse(value["language"].as_str()?)?,
            name: word("name"),
            at: Timestamp::from_ms(value["at"].as_i64()?),
        })
    }

    fn put(&self, now: Timestamp) -> PutNote {
        let value = json!({
            "person": self.person.as_str(),
            "endpoint": self.target.endpoint,
            "p256dh": self.target.p256dh,
            "auth": self.target.auth,
            "language": self.language.name(),
            "name": self.name,
            "at": self.at.as_ms(),
        });
        put(SUBSCRIPTIONS, self.key(), value.to_string().into_bytes(), now)
    }
}

fn put(shelf: &str, key: String, value: Vec<u8>, now: Timestamp) -> PutNote {
    PutNote {
        shelf: shelf.into(),
        key,
        value: Some(value),
        expected: None,
        due_at: None,
        // A browser that nobody opens any more is told no more.
        forget_at: Some(now.plus_ms(PUSH_KEPT_MS)),
    }
}

pub(super) fn remove(shelf: &str, key: String) -> PutNote {
    PutNote { shelf: shelf.into(), key, value: None, expected: None, due_at: None, forget_at: None }
}

fn id_of(endpoint: &str) -> String {
    let digest = Framed::new("holdpoint.push.v1").field("endpoint", endpoint.as_bytes()).finish();
    digest.digits(&mut [0; 64])[..32].to_owned()
}

impl Engine {
    /// The same browser again is the same subscription, kept for longer. One that another person used before is theirs no more: who
    /// can name the endpoint sits before that browser.
    pub async fn subscribe_browser(
        &self,
        caller: &Caller,
        new: NewSubscription,
    ) -> Result<Subscription, Error> {
        let person = caller.must_be_person()?.id().clone();
        let Some(pusher) = self.0.push.pusher() else {
            return Err(
                Refusal::NotFound { what: "push service here: notices are switched off" }.into()
            );
        };
        let invalid = |field: &str, why: String| Refusal::AnswerInvalid {
            field: field.to_owned(),
            why: why.into(),
        };
        pusher.accepts(&new.target).map_err(|bad| invalid(bad.field, bad.why))?;
        if new.name.as_ref().is_some_and(|name| name.len() > PUSH_NAME_BYTES_MAX) {
            let why = format!("is longer than {PUSH_NAME_BYTES_MAX} bytes");
            return Err(invalid("name", why).into());
        }
        let mine = self.subscriptions_of(&person).await?;
        let id = id_of(&new.target.endpoint);
        let known = mine.iter().find(|one| one.id == id);
        if known.is_none() && mine.len() >= PUSH_SUBSCRIPTIONS_MAX {
            let what = "browsers of yours that are told: remove one first";
            return Err(Refusal::TooMany { what, limit: PUSH_SUBSCRIPTIONS_MAX }.into());
        }
        let now = self.now();
        let subscription = Subscription {
            at: known.map_or(now, |known| known.at),
            id,
            person,
            target: new.target,
            language: new.language,
            name: new.name,
        };
        let mut puts = Vec::new();
        if let Some(owner) = self.0.store.note(OWNERS, &subscription.id).await? {
            let owner = String::from_utf8_lossy(&owner.value).into_owned();
            if owner != subscription.person.as_str() {
                let theirs =
                    format!("{}{}", prefix_of_own(&PersonId::new(&owner)), subscription.id);
                puts.push(remove(SUBSCRIPTIONS, theirs));
            }
        }
        let owner = subscription.person.as_str().as_bytes().to_vec();
        puts.push(put(OWNERS, subscription.id.clone(), owner, now));
        puts.push(subscription.put(now));
        self.0.store.put_notes(puts).await?;
        self.0.push.want();
        Ok(subscription)
    }

    /// The caller's own.
    pub async fn subscriptions(&self, caller: &Caller) -> Result<Vec<Subscription>, Error> {
        let person = caller.must_be_person()?.id().clone();
        self.subscriptions_of(&person).await
    }

    /// One of the caller's own. One that is not there is gone already.
    pub async fn unsubscribe_browser(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        let person = caller.must_be_person()?.id().clone();
        let mine = self.subscriptions_of(&person).await?;
        match mine.into_iter().find(|one| one.id == id) {
            Some(found) => self.forget_subscription(&found).await,
            None => Ok(()),
        }
    }

    pub(super) async fn forget_subscription(&self, gone: &Subscription) -> Result<(), Error> {
        let puts = vec![remove(SUBSCRIPTIONS, gone.key()), remove(OWNERS, gone.id.clone())];
        self.0.store.put_notes(puts).await?;
        Ok(())
    }

    pub(super) async fn subscriptions_of(
        &self,
        person: &PersonId,
    ) -> Result<Vec<Subscription>, Error> {
        let prefix = prefix_of_own(person);
        let notes =
            self.0.store.notes(SUBSCRIPTIONS, &prefix, None, PUSH_SUBSCRIPTIONS_MAX * 2).await?;
        let now = self.now();
        let kept = notes.iter().filter(|note| note.forget_at.is_none_or(|at| at > now));
        Ok(kept.filter_map(Subscription::read).collect())
    }
}
