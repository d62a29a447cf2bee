//! Views of the inbox that a person keeps under a name. They are their own, on every device, and change nothing about
//! any hold.

use domain::refusal::Refusal;
use domain::visible::visible;
use ports::store::PutNote;

use crate::accounts::Caller;
use crate::limits::{VIEW_NAME_BYTES_MAX, VIEW_QUERY_BYTES_MAX, VIEWS_MAX};
use crate::records::own_notes::prefix_of_own;
use crate::{Engine, Error};

const SHELF: &str = "views";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedView {
    pub name: String,
    /// As it stands in the address of the page, with its question mark.
    pub query: String,
}

impl Engine {
    /// Keeps it under its name, in the place of one with this name. `was`: the name that it had until now.
    pub async fn save_view(
        &self,
        caller: &Caller,
        view: SavedView,
        was: Option<&str>,
    ) -> Result<SavedView, Error> {
        let prefix = prefix_of_own(caller.must_be_person()?.id());
        let invalid = |field: &str, why: &str| Refusal::AnswerInvalid {
            field: field.to_owned(),
            why: why.to_owned().into(),
        };
        let name = view.name.trim().to_owned();
        if name.is_empty() || name.len() > VIEW_NAME_BYTES_MAX || visible(&name) != name {
            return Err(invalid("name", "give it a short name of ordinary letters").into());
        }
        let is_query = view
            .query
            .strip_prefix('?')
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'));
        if !is_query || view.query.len() > VIEW_QUERY_BYTES_MAX {
            return Err(invalid("query", "send what stands behind the path, from `?` on").into());
        }
        let known = self.saved_views(caller).await?;
        let is_more = |kept: &SavedView| kept.name != name && Some(kept.name.as_str()) != was;
        if known.iter().filter(|kept| is_more(kept)).count() >= VIEWS_MAX {
            let what = "views that you keep: remove one first";
            return Err(Refusal::TooMany { what, limit: VIEWS_MAX }.into());
        }
        let mut puts = Vec::new();
        if let Some(was) = was.filter(|was| *was != name) {
            puts.push(put(format!("{prefix}{was}"), None));
        }
        puts.push(put(format!("{prefix}{name}"), Some(view.query.clone())));
        self.0.store.put_notes(puts).await?;
        Ok(SavedView { name, query: view.query })
    }

    /// The caller's own, by name.
    pub async fn saved_views(&self, caller: &Caller) -> Result<Vec<SavedView>, Error> {
        let prefix = prefix_of_own(caller.must_be_person()?.id());
        let notes = self.0.store.notes(SHELF, &prefix, None, VIEWS_MAX * 2).await?;
        let read = notes.into_iter().filter_map(|note| {
            let name = note.key.strip_prefix(&prefix)?.to_owned();
            Some(SavedView { name, query: String::from_utf8(note.value).ok()? })
        });
        Ok(read.collect())
    }

    /// One that is not there is gone already.
    pub async fn forget_view(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        let prefix = prefix_of_own(caller.must_be_person()?.id());
        self.0.store.put_notes(vec![put(format!("{prefix}{name}"), None)]).await?;
        Ok(())
    }
}

fn put(key: String, query: Option<String>) -> PutNote {
    PutNote {
        shelf: SHELF.into(),
        key,
        value: query.map(String::into_bytes),
        expected: None,
        due_at: None,
        forget_at: None,
    }
}
