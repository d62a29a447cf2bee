//! Who sees what, in the domain's own words.

use std::sync::Arc;

use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::SessionId;
use ports::store::{HoldQuery, SessionQuery, SessionRow, Viewer};

use super::data::Data;
use crate::wish::{Wish, is_wanted, names};

impl Data {
    pub(super) fn list_holds(&self, query: &HoldQuery) -> Vec<Arc<Hold>> {
        let wish = Wish::new(query);
        let is_wanted = |hold: &&Arc<Hold>| {
            wish.is_for(hold, |actor| {
                let session = hold.session().and_then(|id| self.sessions.get(&id));
                session.is_some_and(|session| session.creator.is_same(actor))
            })
        };
        let mut found: Vec<Arc<Hold>> = self.holds.values().filter(is_wanted).cloned().collect();
        found.sort_by(|one, other| query.order.compare(one, other));
        found
    }

    fn sees_session(&self, viewer: &Viewer, id: SessionId) -> bool {
        let Viewer::Caller { actor, person } = viewer else { return true };
        let is_creator = self.sessions.get(&id).is_some_and(|row| row.creator.is_same(actor));
        let is_asked =
            |who| self.holds.values().any(|hold| hold.session() == Some(id) && names(hold, who));
        is_creator || person.as_ref().is_some_and(is_asked)
    }

    pub(super) fn list_sessions(&self, query: &SessionQuery) -> Vec<SessionRow> {
        let newest_first = self.sessions.values().rev();
        let seen = newest_first.filter(|row| {
            query.after.is_none_or(|after| row.id < after)
                && is_wanted(query.agent.as_deref(), Some(&row.agent))
                && query.home.as_ref().is_none_or(|(door, place)| {
                    row.home.as_ref().is_some_and(|home| {
                        home.door == *door
                            && place.as_ref().is_none_or(|place| *place == home.place)
                    })
                })
                && self.sees_session(&query.viewer, row.id)
        });
        seen.take(query.limit).cloned().collect()
    }

    pub(super) fn list_grants(&self, viewer: &Viewer) -> Vec<Arc<Grant>> {
        let newest_first = self.grants.values().rev();
        let seen = newest_first.filter(|grant| {
            let gave_it = match viewer {
                Viewer::Caller { person: Some((person, _)), .. } => grant.by == *person,
                _ => false,
            };
            gave_it || self.sees_session(viewer, grant.session)
        });
        seen.cloned().collect()
    }
}
