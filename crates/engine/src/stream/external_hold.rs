//! The stream of a hold that a program opened, or a call while it ran.

use std::iter;
use std::sync::Arc;

use domain::context::Context;
use domain::event::HoldEvent;
use domain::external_hold::{ExternalHold, ExternalHoldCommand};
use domain::hold::{Hold, HoldChange, HoldOutcome};
use domain::id::{HoldId, StreamId};
use domain::refusal::Refusal;
use ports::durable::Durable;
use ports::store::{Entry, StreamRows};

use super::{DecisionBasis, Rows, Stream, StreamDecision};
use crate::Engine;
use crate::effects::callback_item;
use crate::lane::lanes::Lanes;

pub(crate) enum ExternalHoldInput<'a> {
    Open(&'a Arc<Hold>),
    Do(&'a ExternalHoldCommand),
}

impl Stream for ExternalHold {
    type Id = HoldId;
    type Command<'a> = ExternalHoldInput<'a>;
    type Reply = ();

    fn lanes(engine: &Engine) -> &Arc<Lanes<ExternalHold>> {
        &engine.0.external_holds
    }

    fn stream_id(id: HoldId) -> StreamId {
        StreamId::ExternalHold(id)
    }

    fn hold_ids(&self, known: usize) -> impl Iterator<Item = HoldId> {
        iter::once(self.id).skip(known)
    }

    fn hold_count(&self) -> usize {
        1
    }

    fn hold(&self, id: HoldId) -> Option<&Arc<Hold>> {
        (id == self.id).then_some(&self.hold)
    }

    fn decide(
        engine: &Engine,
        _: HoldId,
        before: Option<&Arc<ExternalHold>>,
        command: &ExternalHoldInput<'_>,
        basis: &DecisionBasis,
    ) -> StreamDecision<ExternalHold> {
        match (command, before) {
            (ExternalHoldInput::Open(hold), None) => {
                // A rule may allow it at once, and then its program goes on.
                if let (true, Some(freeze)) = (hold.state.releases(), &basis.global.frozen) {
                    return StreamDecision::refused(Refusal::Frozen {
                        reason: freeze.reason.clone(),
                    });
                }
                let decided = Some(ExternalHold::open(hold, basis.now));
                StreamDecision { decided, reply: Ok(()) }
            }
            (ExternalHoldInput::Open(_), Some(_)) => StreamDecision::refused(Refusal::Overtaken),
            (ExternalHoldInput::Do(_), None) => {
                StreamDecision::refused(Refusal::NotFound { what: "hold" })
            }
            (ExternalHoldInput::Do(command), Some(outside)) => {
                engine.decide_external(outside, command, basis)
            }
        }
    }

    fn rows(
        engine: &Engine,
        before: Option<&ExternalHold>,
        events: &[HoldEvent],
        next: &Arc<ExternalHold>,
        basis: &DecisionBasis,
    ) -> Rows {
        let hold = &next.hold;
        let was_pending = before.is_none_or(|before| before.hold.is_pending());
        let has_ended = was_pending && !hold.is_pending();
        let waits_for_thaw = before.is_some() && basis.global.frozen.is_some();
        let begins = events.iter().any(|event| {
            let HoldEvent::Updated { change, .. } = event else { return false };
            matches!(change, HoldChange::Outcome(HoldOutcome::Executing))
        });
        Rows {
            // What waits for a thaw must not be written after it, nor what lets a program go on after a freeze.
            // mutant: allowed-before-a-freeze-and-written-after-it, approved-before-a-freeze-and-written-after-it
            relies_on_global: waits_for_thaw || begins || (has_ended && hold.state.releases()),
            stream: StreamRows::ExternalHold(hold.clone()),
            outbox: match (hold.callback(), has_ended) {
                (Some(callback), true) => vec![callback_item(hold, &callback.url, basis.now)],
                _ => Vec::new(),
            },
            write_before: before.and_then(|before| engine.write_hold_before(&before.hold, events)),
        }
    }

    fn tell_story(&self, entry: &Entry) {
        crate::lane::story::tell_hold(entry, &self.hold);
    }

    fn follow_up(engine: &Engine, next: &Durable<ExternalHold>, _: &Entry) {
        engine.0.timers.note(next.hold.expires_at.filter(|_| next.hold.is_pending()));
        engine.0.timers.note_delivery();
    }
}

impl Engine {
    fn decide_external(
        &self,
        outside: &Arc<ExternalHold>,
        command: &ExternalHoldCommand,
        basis: &DecisionBasis,
    ) -> StreamDecision<ExternalHold> {
        let tool_of = |_: &str| None;
        let rng = || self.0.rng.bits();
        let context = Context {
            now: basis.now,
            node: self.0.node,
            frozen: basis.global.frozen.as_ref().map(|freeze| freeze.reason.as_str()),
            people: &self.0.people,
            policy: &self.0.policy,
            closing: false,
            tool_of: &tool_of,
            renewals: &Default::default(),
            run_as_decided: false,
            budgets: Default::default(),
            while_pending: Default::default(),
            expires_ms: self.0.policy.default_expires_ms(),
            rng: &rng,
        };
        let (decided, reply) = outside.decide_shared(command, &context);
        StreamDecision { decided: Some(decided), reply }
    }
}
