//! The holds of a session. One that has gone on for long has many, of which few still wait: what is
//! asked of them at every step is kept at hand, so that a step costs the same however many there are.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use crate::answer::Answer;
use crate::hold::Hold;
use crate::id::HoldId;
use crate::secret::referred;
use crate::shared_map::SharedMap;

/// To be read like the map that it is, and changed only so that what is at hand stays true.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Holds {
    all: SharedMap<HoldId, Arc<Hold>>,
    /// Those that wait for an answer, in the order of all.
    open: Vec<HoldId>,
    has_secrets: bool,
}

impl Holds {
    /// Without any holds.
    pub(super) const fn new() -> Holds {
        Holds { all: SharedMap::new(), open: Vec::new(), has_secrets: false }
    }

    /// Those that wait for an answer, in the order of their opening.
    pub fn open(&self) -> impl Iterator<Item = &Arc<Hold>> {
        self.open.iter().filter_map(|id| self.all.get(id))
    }

    /// Whether one of them ever had a secret in it.
    pub fn has_secrets(&self) -> bool {
        self.has_secrets
    }

    pub(super) fn insert(&mut self, hold: Arc<Hold>) {
        self.note(&hold);
        self.all.insert(hold.id, hold);
    }

    pub(super) fn change(&mut self, id: HoldId, change: impl FnOnce(&mut Hold)) {
        let Some(hold) = self.all.get_mut(&id) else { return };
        change(Arc::make_mut(hold));
        let hold = hold.clone();
        self.note(&hold);
    }

    fn note(&mut self, hold: &Hold) {
        match (self.open.binary_search(&hold.id), hold.is_pending()) {
            (Err(at), true) => self.open.insert(at, hold.id),
            (Ok(at), false) => drop(self.open.remove(at)),
            _ => {}
        }
        self.has_secrets |= has_secret(hold);
    }
}

impl Deref for Holds {
    type Target = SharedMap<HoldId, Arc<Hold>>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl IntoIterator for Holds {
    type Item = (HoldId, Arc<Hold>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

fn has_secret(hold: &Hold) -> bool {
    // An edit whose editor may not approve it leaves no vote, only the call.
    let called = hold
        .call()
        .is_some_and(|call| !call.secrets.is_empty() && mentions_secret(call.arguments.value()));
    called
        || hold.votes.iter().any(|vote| match &vote.answer {
            Answer::Fill(form) => mentions_secret(form),
            Answer::Approve { arguments: Some(arguments), .. } => {
                mentions_secret(arguments.value())
            }
            Answer::Perform { content, .. } => {
                serde_json::from_str(content).is_ok_and(|value| mentions_secret(&value))
            }
            _ => false,
        })
}

fn mentions_secret(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(mentions_secret),
        Value::Object(map) => map.values().any(mentions_secret),
        value => referred(value).is_some(),
    }
}
