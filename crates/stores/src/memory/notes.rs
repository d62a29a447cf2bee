//! Notes: small records of doors and channels beside the journal.

use std::collections::BTreeMap;

use domain::time::Timestamp;
use ports::store::{Note, PutNote};

#[derive(Clone, Default)]
pub(super) struct Notes(BTreeMap<(String, String), Note>);

impl Notes {
    pub(super) fn one(&self, shelf: &str, key: &str) -> Option<Note> {
        self.0.get(&(shelf.to_owned(), key.to_owned())).cloned()
    }

    pub(super) fn some(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Vec<Note> {
        let after = after.unwrap_or_default();
        self.of(shelf)
            .filter(|note| note.key.starts_with(prefix) && note.key.as_str() > after)
            .take(limit)
            .cloned()
            .collect()
    }

    pub(super) fn due(&self, shelf: &str, now: Timestamp, limit: usize) -> Vec<Note> {
        let due = self.of(shelf).filter(|note| note.due_at.is_some_and(|at| at <= now));
        let mut due: Vec<Note> = due.cloned().collect();
        due.sort_by_key(|note| note.due_at);
        due.truncate(limit);
        due
    }

    pub(super) fn next_due(&self, shelf: &str) -> Option<Timestamp> {
        self.of(shelf).filter_map(|note| note.due_at).min()
    }

    /// Whether they were written: all, or none because one was not as expected.
    pub(super) fn put(&mut self, puts: Vec<PutNote>) -> bool {
        let version = |put: &PutNote| self.one(&put.shelf, &put.key).map_or(0, |note| note.version);
        // mutant: notes-check-then-act-in-memory
        if puts.iter().any(|put| put.expected.is_some_and(|expected| expected != version(put))) {
            return false;
        }
        for put in puts {
            let version = self.one(&put.shelf, &put.key).map_or(0, |note| note.version) + 1;
            let at = (put.shelf.clone(), put.key.clone());
            match put.value {
                None => drop(self.0.remove(&at)),
                Some(value) => {
                    let PutNote { shelf, key, due_at, forget_at, .. } = put;
                    self.0.insert(at, Note { shelf, key, value, version, due_at, forget_at });
                }
            }
        }
        true
    }

    pub(super) fn forget(&mut self, now: Timestamp) {
        self.0.retain(|_, note| note.forget_at.is_none_or(|at| at > now));
    }

    fn of<'a>(&'a self, shelf: &'a str) -> impl Iterator<Item = &'a Note> {
        self.0.values().filter(move |note| note.shelf == shelf)
    }
}
