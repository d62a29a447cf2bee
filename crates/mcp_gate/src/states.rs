//! What a modern client sends back to us with a call that it repeats: names of things that only we know.
//!
//! A name is random, is good for one call and once, and means nothing to another process. So there is nothing to seal
//! and nothing to forge.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use domain::digest::Digest;
use domain::id::HoldId;
use domain::json::Arguments;
use ports::unpoisoned::Unpoisoned as _;

use crate::gate_hold::GateHold;
use crate::limits::{CONTINUATIONS_MAX, OPEN_STATES_MAX};
use crate::question_waiters::QuestionWaiter;

/// A form that the client's user has before them.
pub(crate) struct OpenForm {
    /// The call that it is about.
    pub(crate) key: Digest,
    /// As it was shown.
    pub(crate) hold: GateHold,
    /// Whoever has the form waits for the question, too.
    pub(crate) _waiter: QuestionWaiter,
}

/// A call that was let through, and whose upstream wants to know more before it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenContinuation {
    pub(crate) hold: HoldId,
    /// What a person made of the arguments: each round is sent with these.
    pub(crate) edited: Option<Arguments>,
    rounds: usize,
}

impl OpenContinuation {
    /// The next round of a call; `before` is the last one.
    pub(crate) fn next(
        hold: HoldId,
        edited: Option<Arguments>,
        before: Option<&OpenContinuation>,
    ) -> OpenContinuation {
        OpenContinuation { hold, edited, rounds: before.map_or(0, |before| before.rounds) + 1 }
    }
}

#[derive(Default)]
pub(crate) struct RequestStates {
    forms: Mutex<HashMap<String, OpenForm>>,
    /// By call, and by what the upstream wants to get back.
    continuations: Mutex<HashMap<(Digest, String), OpenContinuation>>,
}

impl RequestStates {
    fn lock_forms(&self) -> MutexGuard<'_, HashMap<String, OpenForm>> {
        self.forms.lock().unpoisoned()
    }

    /// `false`: there are too many.
    pub(crate) fn keep_form(&self, state: String, form: OpenForm) -> bool {
        let mut forms = self.lock_forms();
        let has_room = forms.len() < OPEN_STATES_MAX;
        if has_room {
            forms.insert(state, form);
        }
        has_room
    }

    /// Once, and only for the call that it is about.
    pub(crate) fn take_form(&self, state: &str, key: Digest) -> Option<OpenForm> {
        // mutant: mcp-a-form-answers-any-call
        self.lock_forms().remove(state).filter(|form| form.key == key)
    }

    /// The upstream asked something: the answer comes with the same call again, which is covered already.
    pub(crate) fn keep_continuation(&self, key: Digest, state: &str, next: OpenContinuation) {
        let mut open = self.continuations.lock().unpoisoned();
        if next.rounds <= CONTINUATIONS_MAX && open.len() < OPEN_STATES_MAX {
            open.insert((key, state.to_owned()), next);
        }
    }

    pub(crate) fn take_continuation(&self, key: Digest, state: &str) -> Option<OpenContinuation> {
        self.continuations.lock().unpoisoned().remove(&(key, state.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::gate_hold::tests::hold as held;
    use crate::question_waiters::QuestionWaiters;

    const HOLD: &str = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";

    #[test]
    fn a_form_is_good_once_and_for_its_call() {
        let states = RequestStates::default();
        let (mine, other) = (Digest::of(b"a"), Digest::of(b"b"));
        let form = || OpenForm {
            key: mine,
            hold: held(&json!({"id": HOLD})),
            _waiter: Arc::new(QuestionWaiters::default()).join(HOLD.parse().unwrap()),
        };
        assert!(states.keep_form("x".into(), form()));
        assert!(states.take_form("y", mine).is_none());
        assert!(states.take_form("x", mine).is_some());
        assert!(states.take_form("x", mine).is_none(), "replayed");
        assert!(states.keep_form("x".into(), form()));
        assert!(states.take_form("x", other).is_none(), "another call");
        assert!(states.take_form("x", mine).is_none(), "used up by the attempt");
    }

    #[test]
    fn a_call_goes_on_as_often_as_its_upstream_asked() {
        let states = RequestStates::default();
        let key = Digest::of(b"a");
        let hold = HOLD.parse().unwrap();
        let edited = Arguments::parse(br#"{"a": 1}"#).ok();
        let mut before: Option<OpenContinuation> = None;
        for round in 0..CONTINUATIONS_MAX {
            let next = OpenContinuation::next(hold, edited.clone(), before.as_ref());
            states.keep_continuation(key, "s", next);
            before = states.take_continuation(key, "s");
            assert!(before.as_ref().is_some_and(|open| open.edited == edited), "{round}");
            assert!(states.take_continuation(key, "s").is_none());
        }
        let next = OpenContinuation::next(hold, edited, before.as_ref());
        states.keep_continuation(key, "s", next);
        assert_eq!(states.take_continuation(key, "s"), None);
    }
}
