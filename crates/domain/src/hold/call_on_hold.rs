//! The call that a hold stops. Only a call can have an outcome, so the two are one.

use std::sync::Arc;

use super::{Hold, HoldOutcome};
use crate::call::Call;

/// A call that waits for the answer, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOnHold {
    /// As it would run. An edit puts its next revision here.
    pub call: Arc<Call>,
    /// What became of it once it was approved. `None` before it started.
    pub outcome: Option<HoldOutcome>,
}

impl CallOnHold {
    /// One that has not started.
    pub fn new(call: impl Into<Arc<Call>>) -> CallOnHold {
        CallOnHold { call: call.into(), outcome: None }
    }
}

impl Hold {
    /// The call that waits. `None` for a bare question.
    pub fn call(&self) -> Option<&Arc<Call>> {
        self.call_on_hold.as_ref().map(|on_hold| &on_hold.call)
    }

    /// What became of the approved call. `None` before it started, and for a bare question.
    pub fn outcome(&self) -> Option<&HoldOutcome> {
        self.call_on_hold.as_ref().and_then(|on_hold| on_hold.outcome.as_ref())
    }

    /// What is known of an outcome stays known: an edit changes the call alone.
    pub(super) fn put_call(&mut self, call: Arc<Call>) {
        match &mut self.call_on_hold {
            Some(on_hold) => on_hold.call = call,
            None => self.call_on_hold = Some(CallOnHold::new(call)),
        }
    }

    /// Nothing changes about a bare question, as nothing can become of it.
    pub(super) fn set_outcome(&mut self, outcome: Option<HoldOutcome>) {
        if let Some(on_hold) = &mut self.call_on_hold {
            on_hold.outcome = outcome;
        }
    }
}
