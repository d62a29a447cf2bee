//! What a decision made of a state. Its events and the state that they lead to belong together, so nobody
//! has to work that state out a second time to be sure of it.

use std::sync::Arc;

use crate::time::Timestamp;

/// Events to write, the state that they were decided on, and the state that they lead to. Only the decisions of this
/// crate make one, so the second state follows from the first by these events.
///
/// ```compile_fail,E0451
/// use std::sync::Arc;
/// use holdpoint_domain::{decided::Decided, global_state::GlobalState, time::Timestamp};
///
/// fn forge(next: GlobalState) -> Decided<GlobalState, ()> {
///     Decided { before: None, events: Vec::new(), next: Arc::new(next), at: Timestamp::from_ms(0) }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Decided<S, E> {
    before: Option<Arc<S>>,
    events: Vec<E>,
    next: Arc<S>,
    at: Timestamp,
}

impl<S, E> Decided<S, E> {
    pub(crate) fn new(
        before: Option<Arc<S>>,
        events: Vec<E>,
        next: impl Into<Arc<S>>,
        at: Timestamp,
    ) -> Decided<S, E> {
        Decided { before, events, next: next.into(), at }
    }

    /// The very state that it was decided on. `None`: the stream begins.
    pub fn before(&self) -> Option<&Arc<S>> {
        self.before.as_ref()
    }

    /// In order. Empty: nothing is to be written, and the next state is the one before.
    pub fn events(&self) -> &[E] {
        &self.events
    }

    /// The state after the events. Until they are on record it proves nothing.
    pub fn next(&self) -> &Arc<S> {
        &self.next
    }

    /// The time of the decision, which is the time of the events.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The events, and the state that they lead to.
    pub fn into_parts(self) -> (Vec<E>, Arc<S>) {
        (self.events, self.next)
    }
}
