//! What has become of a hold since it was opened. The journal has the rest of it, in the commit that
//! opened it, and a row need not say that again.

use std::borrow::Cow;
use std::sync::Arc;

use domain::call::Call;
use domain::hold::{CallOnHold, Hold};
use domain::person::PersonId;
use serde::{Deserialize, Serialize};

use super::answer::StoredVote;
use super::comment::StoredComment;
use super::credential::version_of_hold;
use super::state::{StoredOutcome, StoredState};
use super::{Broken, damaged};

/// Each of these as it is now, and not only where it differs from what was opened.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Since<'a> {
    v: u32,
    version: u32,
    #[serde(borrow, default, skip_serializing_if = "StoredState::is_pending")]
    state: StoredState<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    claimed_by: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    votes: Vec<StoredVote<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    comments: Vec<StoredComment<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    outcome: Option<StoredOutcome<'a>>,
}

/// `None` if anything else has changed: then the whole hold has to be written.
pub(crate) fn write_since(opened: &Hold, hold: &Hold) -> Option<Vec<u8>> {
    // mutant: anything-may-have-changed-since
    is_the_same_question(opened, hold).then(|| {
        super::write_record(&Since {
            v: version_of_hold(hold),
            version: hold.version,
            state: StoredState::new(&hold.state, &hold.votes),
            claimed_by: hold.claimed_by.as_ref().map(|id| id.as_str().into()),
            votes: hold.votes.iter().map(StoredVote::from).collect(),
            comments: hold.comments.iter().map(StoredComment::from).collect(),
            outcome: hold.outcome().map(StoredOutcome::from),
        })
    })
}

/// The hold that was opened so, as it is now.
pub(crate) fn read_since(bytes: &[u8], opened: &Hold) -> Result<Arc<Hold>, Broken> {
    let since = super::read_record::<Since<'_>>(bytes, |since| since.v)?;
    let votes = since.votes.into_iter().map(StoredVote::vote).collect::<Result<Vec<_>, _>>()?;
    let outcome = since.outcome.map(StoredOutcome::into);
    let call_on_hold = match (opened.call(), outcome) {
        (Some(call), outcome) => Some(CallOnHold { call: call.clone(), outcome }),
        (None, None) => None,
        (None, Some(_)) => return damaged(format!("{} has an outcome and no call", opened.id)),
    };
    Ok(Arc::new(Hold {
        version: since.version,
        state: since.state.state(&votes)?,
        claimed_by: since.claimed_by.map(|id| PersonId::new(&id)),
        votes,
        comments: since.comments.into_iter().map(StoredComment::comment).collect(),
        call_on_hold,
        ..opened.clone()
    }))
}

/// Whether two states of a hold differ in nothing but what [`Since`] says. Every field is named, so
/// that a new one is thought of here.
fn is_the_same_question(opened: &Hold, hold: &Hold) -> bool {
    let Hold {
        id,
        version: _,
        question,
        state: _,
        risk,
        tag,
        title,
        origin,
        parent,
        opener,
        requester,
        call_on_hold: _,
        preview,
        context,
        rationale,
        audience,
        rule,
        policy,
        opened_at,
        expires_at,
        claimed_by: _,
        votes: _,
        comments: _,
        two_phase,
    } = opened;
    *id == hold.id
        && is_the_same_call(opened.call(), hold.call())
        && *question == hold.question
        && *risk == hold.risk
        && *tag == hold.tag
        && *title == hold.title
        && *origin == hold.origin
        && *parent == hold.parent
        && *opener == hold.opener
        && *requester == hold.requester
        && *preview == hold.preview
        && *context == hold.context
        && *rationale == hold.rationale
        && *audience == hold.audience
        && *rule == hold.rule
        && *policy == hold.policy
        && *opened_at == hold.opened_at
        && *expires_at == hold.expires_at
        && *two_phase == hold.two_phase
}

/// Mostly it is one and the same, and need not be compared.
fn is_the_same_call(one: Option<&Arc<Call>>, other: Option<&Arc<Call>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use domain::event::HoldEvent;
    use domain::hold::{HoldChange, HoldOrigin, HoldState};
    use domain::id::{RunId, SessionId};
    use proptest::prelude::*;

    use super::super::samples;
    use super::*;

    fn opened() -> Hold {
        samples::holds().remove(0).1
    }

    fn decided() -> Hold {
        samples::holds().remove(1).1
    }

    fn change_session(hold: &mut Hold, change: fn(&mut SessionId, &mut RunId, &mut Arc<str>)) {
        if let HoldOrigin::Session { session, run, agent } = &mut hold.origin {
            change(session, run, agent);
        }
    }

    /// Everything that can become of a hold.
    fn changing() -> Vec<HoldEvent> {
        let is_change = |event: &HoldEvent| !matches!(event, HoldEvent::Opened { .. });
        let events = samples::rows().into_iter().flat_map(|(_, commit)| commit.events.to_vec());
        events.filter_map(|event| event.hold_event().cloned()).filter(is_change).collect()
    }

    proptest! {
        /// Whatever may have been opened, and whatever has become of it.
        #[test]
        fn any_hold_after_any_changes_is_read_again(
            question in 0usize..60,
            changes in prop::collection::vec(0usize..60, 0..6),
        ) {
            let holds = samples::holds();
            let opened = &holds[question % holds.len()].1;
            let events = changing();
            let mut hold = opened.clone();
            let mut is_revised = false;
            for change in changes {
                match &events[change % events.len()] {
                    HoldEvent::Updated { change, .. } => {
                        is_revised |= matches!(change, HoldChange::Revised { .. });
                        hold.changed(change);
                    }
                    HoldEvent::Decided { state, .. } => hold.decided(state.clone()),
                    HoldEvent::Opened { .. } => {}
                }
            }
            match write_since(opened, &hold) {
                Some(since) => prop_assert_eq!(&*read_since(&since, opened).unwrap(), &hold),
                None => prop_assert!(is_revised, "only that changes what is asked"),
            }
        }
    }

    #[test]
    fn whatever_else_has_changed_is_not_left_out() {
        let (opened, now) = (opened(), decided());
        assert!(write_since(&opened, &now).is_some());
        let other = samples::holds().remove(2).1;
        let changes: [fn(&mut Hold, &Hold); 22] = [
            |hold, _| hold.id = domain::id::HoldId::new(1, 1),
            |hold, other| hold.question = other.question.clone(),
            |hold, other| hold.risk = other.risk,
            |hold, other| hold.tag = other.tag.clone(),
            |hold, _| hold.title = format!("{}!", hold.title).into(),
            |hold, other| hold.origin = other.origin.clone(),
            |hold, _| change_session(hold, |_, _, agent| *agent = "other".into()),
            |hold, _| change_session(hold, |session, _, _| *session = SessionId::new(1, 1)),
            |hold, _| change_session(hold, |_, run, _| *run = RunId::new(1, 1)),
            |hold, other| hold.parent = other.parent,
            |hold, other| hold.opener = other.opener.clone(),
            |hold, other| hold.requester = other.requester.clone(),
            |hold, other| hold.call_on_hold = other.call_on_hold.clone(),
            |hold, other| hold.preview = other.preview.clone(),
            |hold, other| hold.context = other.context.clone(),
            |hold, other| hold.rationale = other.rationale.clone(),
            |hold, other| hold.audience = other.audience.clone(),
            |hold, other| hold.rule = other.rule.clone(),
            |hold, _| hold.policy = domain::digest::Digest::of(b"another"),
            |hold, _| hold.opened_at = domain::time::Timestamp::from_ms(1),
            |hold, other| hold.expires_at = other.expires_at,
            |hold, other| hold.two_phase = other.two_phase,
        ];
        for (nth, change) in changes.iter().enumerate() {
            let mut changed = now.clone();
            change(&mut changed, &other);
            assert_ne!(changed, now, "{nth}");
            assert_eq!(write_since(&opened, &changed), None, "{nth}");
        }
        let elsewhere = HoldOrigin::Program { callback: None };
        assert_ne!(other.origin, elsewhere, "it has a callback");
        let not_called_back = Hold { origin: elsewhere, ..other.clone() };
        assert!(write_since(&other, &other).is_some());
        assert_eq!(write_since(&other, &not_called_back), None);
    }

    #[test]
    fn what_is_damaged_strange_or_of_another_kind_is_not_read() {
        let (opened, now) = (opened(), decided());
        let written = write_since(&opened, &now).unwrap();
        for at in 0..written.len() {
            assert!(read_since(&written[..at], &opened).is_err());
        }
        let text = String::from_utf8(written).unwrap();
        let with = |from: &str, to: &str| {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            read_since(changed.as_bytes(), &opened)
        };
        assert_eq!(with("\"v\":1", "\"v\":9"), Err(Broken::Newer(9)));
        assert!(matches!(with("\"v\":1", "\"v\":0"), Err(Broken::Damaged(_))));
        assert!(matches!(with("\"v\":1", "\"v\":1,\"title\":\"x\""), Err(Broken::Damaged(_))));
        assert!(matches!(with("\"nth\":1", "\"nth\":7"), Err(Broken::Damaged(_))));
        assert!(read_since(&super::super::write_hold(&now), &opened).is_err());
        assert!(super::super::read_hold(text.as_bytes()).is_err());
    }

    #[test]
    fn what_is_taken_back_is_gone() {
        let mut opened = opened();
        opened.claimed_by = Some(PersonId::new("ana"));
        let mut now = opened.clone();
        now.changed(&HoldChange::Unclaimed);
        let since = write_since(&opened, &now).unwrap();
        let read = read_since(&since, &opened).unwrap();
        assert_eq!((read.claimed_by.as_ref(), &read.state), (None, &HoldState::Pending));
    }
}
