//! What the supervisor knows by itself: every promise that a client saw, kept in a process that is
//! never killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

/// Shared by all clients.
#[derive(Debug, Default)]
pub struct Oracle(Mutex<Known>);

#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Every session that was asked for, by the idempotency key, with its id once that was seen.
    pub sessions: BTreeMap<String, Option<String>>,
    /// What was said in each session, in order.
    pub said: BTreeMap<String, Vec<Said>>,
    /// What was answered, by hold. Noted before it is sent.
    pub answers: BTreeMap<String, Given>,
    /// Requests under way: the key, and what it is for.
    pub in_flight: BTreeMap<String, Errand>,
    /// Everything that should not have happened.
    pub wrong: Vec<String>,
    pub counts: Counts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub text: String,
    /// Once the message was acknowledged.
    pub run: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// As it was sent: `{"verdict":…}` or `{"settle":…}`.
    pub answer: Value,
    pub digest: String,
    /// A 2xx was seen.
    pub acked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Errand {
    Open,
    Say,
    /// A hold from outside.
    Ask,
    Answer,
    Claim,
}

impl Errand {
    pub fn name(self) -> &'static str {
        match self {
            Errand::Open => "session",
            Errand::Say => "message",
            Errand::Ask => "external hold",
            Errand::Answer => "answer",
            Errand::Claim => "claim",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// 2xx seen, by errand.
    pub sessions: u64,
    pub messages: u64,
    pub answers: u64,
    pub claims: u64,
    /// Connections that broke before an answer came.
    pub lost: u64,
    /// Answers that were sent again, and others that tried to change a decision.
    pub repeats: u64,
    pub contradictions: u64,
}

impl Oracle {
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn wrong(&self, what: impl Into<String>) {
        self.known().wrong.push(what.into());
    }

    pub fn sets_out(&self, key: &str, errand: Errand) {
        self.known().in_flight.insert(key.to_owned(), errand);
    }

    pub fn is_back(&self, key: &str, lost: bool) {
        let mut known = self.known();
        known.in_flight.remove(key);
        known.counts.lost += u64::from(lost);
    }

    /// Answers that nobody may lose any more.
    pub fn acked(&self) -> BTreeSet<String> {
        let known = self.known();
        known
            .answers
            .iter()
            .filter(|(_, given)| given.acked)
            .map(|(hold, _)| hold.clone())
            .collect()
    }
}

impl Given {
    /// The word that a decision repeats, and the state that a hold comes to by it.
    pub fn means(&self) -> (&'static str, &str, &'static str) {
        match self.answer["settle"].as_str() {
            Some(how) => ("settle", how, "answered"),
            None => {
                let verdict = self.answer["verdict"].as_str().unwrap_or_default();
                ("verdict", verdict, if verdict == "approve" { "approved" } else { "denied" })
            }
        }
    }
}
