//! Who sees what, in the domain's own words.

use std::sync::Arc;

use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::SessionId;
use domain::person::PersonId;
use ports::store::{HoldQuery, SessionQuery, SessionRow, Viewer};

use super::data::Data;

/// Whether the audience has this person in it, by name or role.
fn names(hold: &Hold, (person, roles): &(PersonId, Vec<String>)) -> bool {
    hold.audience.people.contains(person)
        || roles.iter().any(|role| hold.audience.roles.contains(role))
}

impl Data {
    pub(super) fn list_holds<'a>(
        &'a self,
        query: &'a HoldQuery,
    ) -> impl Iterator<Item = &'a Arc<Hold>> {
        let text = query.text.as_deref().map(str::to_lowercase);
        let newest_first = self.holds.values().rev();
        newest_first.filter(move |hold| {
            query.after.is_none_or(|after| hold.id < after)
                && query.state.as_deref().is_none_or(|state| hold.state.name() == state)
                && is_wanted(query.agent.as_deref(), hold.agent.as_deref())
                && query.session.is_none_or(|session| hold.session == Some(session))
                && query.kind.as_deref().is_none_or(|kind| hold.question.kind() == kind)
                && query.risk.is_none_or(|risk| hold.risk == risk)
                && query.audience.as_ref().is_none_or(|who| may_answer(hold, who))
                && text.as_deref().is_none_or(|text| crate::mentions(hold, text))
                && self.sees_hold(&query.viewer, hold)
        })
    }

    fn sees_hold(&self, viewer: &Viewer, hold: &Hold) -> bool {
        let Viewer::Caller { actor, person } = viewer else { return true };
        let session = hold.session.and_then(|id| self.sessions.get(&id));
        hold.opener.is_same(actor)
            || session.is_some_and(|session| session.creator.is_same(actor))
            || person.as_ref().is_some_and(|who| names(hold, who))
    }

    fn sees_session(&self, viewer: &Viewer, id: SessionId) -> bool {
        let Viewer::Caller { actor, person } = viewer else { return true };
        let is_creator = self.sessions.get(&id).is_some_and(|row| row.creator.is_same(actor));
        let is_asked =
            |who| self.holds.values().any(|hold| hold.session == Some(id) && names(hold, who));
        is_creator || person.as_ref().is_some_and(is_asked)
    }

    pub(super) fn list_sessions(&self, query: &SessionQuery) -> Vec<SessionRow> {
        let newest_first = self.sessions.values().rev();
        let seen = newest_first.filter(|row| {
            query.after.is_none_or(|after| row.id < after)
                && is_wanted(query.agent.as_deref(), Some(&row.agent))
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

fn may_answer(hold: &Hold, who: &(PersonId, Vec<String>)) -> bool {
    let is_excluded = hold.audience.exclude_requester && hold.requester.as_ref() == Some(&who.0);
    names(hold, who) && !is_excluded
}

fn is_wanted(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}
