//! Which holds a list is to have, in the domain's own words and not in SQL's.

use domain::hold::Hold;
use domain::person::{Actor, PersonId};
use ports::store::{HoldQuery, Viewer};

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
        query.after.is_none_or(|after| hold.id < after)
            && query.state.is_none_or(|state| hold.state.state_name() == state)
            && is_wanted(query.agent.as_deref(), hold.agent())
            && query.session.is_none_or(|session| hold.session() == Some(session))
            && query.kind.is_none_or(|kind| hold.question.kind() == kind)
            && query.risk.is_none_or(|risk| hold.risk == risk)
            && query.audience.as_ref().is_none_or(|who| may_answer(hold, who))
            && self.text.as_deref().is_none_or(|text| crate::mentions(hold, text))
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

/// Whether the audience has this person in it, by name or role.
pub(crate) fn names(hold: &Hold, (person, roles): &(PersonId, Vec<String>)) -> bool {
    hold.audience.people.contains(person)
        || roles.iter().any(|role| hold.audience.roles.contains(role))
}

fn may_answer(hold: &Hold, who: &(PersonId, Vec<String>)) -> bool {
    let is_excluded = hold.audience.excludes(&who.0, hold.requester.as_ref());
    names(hold, who) && !is_excluded
}

pub(crate) fn is_wanted(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}
