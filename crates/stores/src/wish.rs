//! Which holds a list is to have, in the domain's own words and not in SQL's.

use std::cmp::Ordering;

use domain::hold::Hold;
use domain::person::{Actor, PersonId};
use ports::store::{HoldFacts, HoldQuery, Viewer, deciders};

pub(crate) struct Wish<'a> {
    query: &'a HoldQuery,
    text: Option<String>,
}

impl Wish<'_> {
    pub(crate) fn new(query: &HoldQuery) -> Wish<'_> {
        Wish { query, text: query.text.as_deref().map(str::to_lowercase) }
    }

    /// `is_creator` says whether somebody opened the hold's session.
    pub(crate) fn is_for(&self, hold: &Hold, is_creator: impl Fn(&Actor) -> bool) -> bool {
        let query = self.query;
        let (state, call) = (hold.state.state_name(), hold.call().map(|call| &**call));
        self.is_after_cursor(hold)
            && query.from.is_none_or(|from| hold.id >= from)
            && query.state.is_none_or(|wanted| state == wanted)
            && !(query.decided && hold.is_pending())
            && is_wanted(query.agent.as_deref(), hold.agent())
            && is_wanted(query.tool.as_deref(), call.map(|call| &*call.tool))
            && is_wanted(query.source.as_deref(), call.map(|call| &*call.agent))
            && query.requester.as_ref().is_none_or(|who| hold.requester.as_ref() == Some(who))
            && query.decided_by.as_ref().is_none_or(|who| deciders(&hold.state).contains(who))
            && query.session.is_none_or(|session| hold.session() == Some(session))
            && query.kind.is_none_or(|kind| hold.question.kind() == kind)
            && query.risk.is_none_or(|risk| hold.risk == risk)
            && query.risk_below.is_none_or(|risk| hold.risk < risk)
            && query.audience.as_ref().is_none_or(|who| may_answer(hold, who))
            && query.not_for.as_ref().is_none_or(|who| !may_answer(hold, who))
            && self.is_in_time(hold)
            && self.text.as_deref().is_none_or(|text| crate::search_text(hold).contains(text))
            && match &query.viewer {
                Viewer::Everything => true,
                Viewer::Caller { actor, person } => {
                    hold.opener.is_same(actor)
                        || is_creator(actor)
                        || person.as_ref().is_some_and(|who| names(hold, who))
                }
            }
    }
}

impl Wish<'_> {
    fn is_after_cursor(&self, hold: &Hold) -> bool {
        let query = self.query;
        query.after.is_none_or(|after| {
            let cursor = (query.after_expires_at, after);
            query.order.compare_places(cursor, (hold.expires_at, hold.id)) == Ordering::Less
        })
    }

    fn is_in_time(&self, hold: &Hold) -> bool {
        let query = self.query;
        let is_decided = |since| HoldFacts::of(hold).decided_at.is_some_and(|at| at >= since);
        query.expires_by.is_none_or(|by| hold.expires_at.is_some_and(|at| at <= by))
            && query.expires_after.is_none_or(|time| hold.expires_at.is_none_or(|at| at > time))
            && query.decided_since.is_none_or(is_decided)
    }
}

/// Whether the audience has this person in it, by name or role.
pub(crate) fn names(hold: &Hold, (person, roles): &(PersonId, Vec<String>)) -> bool {
    hold.audience.people.contains(person)
        || roles.iter().any(|role| hold.audience.roles.contains(role))
}

fn may_answer(hold: &Hold, who: &(PersonId, Vec<String>)) -> bool {
    let is_excluded = hold.audience.excludes(&who.0, hold.requester.as_ref());
    let has_answered = hold.is_pending() && hold.votes.iter().any(|vote| vote.by == who.0);
    names(hold, who) && !is_excluded && !has_answered
}

pub(crate) fn is_wanted(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}
