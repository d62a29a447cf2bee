//! What every tool host must do, as a suite that each of them passes.
//!
//! It is here, and not among the tests, so that hosts in other crates can pass it too. It takes the
//! making of a [`ClearedCall`] from its caller: nothing in this crate knows how to clear a call.

use std::time::Duration;

use domain::call::{Call, ExecutionContext, Proposal};
use domain::digest::Digest;
use domain::id::CallId;
use domain::json::Arguments;
use domain::outcome::Outcome;
use domain::tool::{Effects, Place};
use ports::durable::ClearedCall;
use ports::start_gate::{Start, StartGate};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::limits::{KILL_WITHIN, OUTPUT_BYTES_KEPT};

/// A host, and calls to try it with.
pub struct ConformanceCase<'a> {
    pub host: &'a dyn ToolHost,
    /// Arguments of a call that works.
    pub works: Value,
    /// How often the world was changed so far, told by the world and not by the host.
    pub effects: &'a (dyn Fn() -> u64 + Sync),
    /// How often `works` changes it.
    pub effects_each: u64,
    /// Arguments that can never work.
    pub unsound: Option<Value>,
    /// Arguments of a call that changes the world again and again until it is stopped.
    pub endless: Option<Value>,
    /// Arguments of a call that prints more than is kept.
    pub noisy: Option<Value>,
    /// Clears a call for its nth attempt, as the engine would.
    pub clear: &'a (dyn Fn(Call, u32) -> ClearedCall + Sync),
}

/// Panics with a sentence about the first thing that the host does wrong.
pub async fn check_host(case: ConformanceCase<'_>) {
    case.says_the_same_about_itself();
    case.prepares_without_effects().await;
    case.refuses_what_cannot_work().await;
    if case.host.tool().place != Place::Server {
        case.asks_and_does_not_run().await;
        return;
    }
    case.runs_once_and_remembers().await;
    case.begins_only_at_an_open_gate().await;
    case.gives_up_for_good().await;
    case.runs_only_what_was_approved().await;
    case.stops_everything().await;
    case.says_what_it_cuts().await;
}

impl ConformanceCase<'_> {
    fn says_the_same_about_itself(&self) {
        let tool = self.host.tool();
        assert_eq!(
            tool.definition(),
            self.host.tool().definition(),
            "the definition must be stable"
        );
        assert!(!tool.name.is_empty() && !tool.description.is_empty(), "a tool says what it is");
        assert_eq!(tool.input_schema["type"], "object", "arguments are always an object");
        assert!(
            tool.validator().check(&self.works).is_ok(),
            "its own schema must admit a good call"
        );
    }

    async fn prepares_without_effects(&self) {
        let before = (self.effects)();
        let first = self.prepare_call(&self.works).await;
        let second = self.prepare_call(&self.works).await;
        assert_eq!(first, second, "preparing twice must say the same");
        assert_eq!((self.effects)(), before, "preparing must have no effects");
    }

    async fn refuses_what_cannot_work(&self) {
        let Some(unsound) = &self.unsound else { return };
        let before = (self.effects)();
        match self.host.prepare(&parse_arguments(unsound)).await {
            Err(PrepareError::Unsound(why)) => {
                assert!(!why.is_empty(), "the model must be told why")
            }
            other => panic!("an unsound call must be refused as such, not {other:?}"),
        }
        assert_eq!((self.effects)(), before, "a refused call must have no effects");
    }

    async fn asks_and_does_not_run(&self) {
        assert!(
            self.prepare_call(&self.works).await.question.is_some(),
            "such a tool is a question"
        );
        let call = self.make_call(&self.works, 1).await;
        let outcome = self.run_call(call, 1).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "a question cannot be run");
    }

    async fn runs_once_and_remembers(&self) {
        let before = (self.effects)();
        let call = self.make_call(&self.works, 2).await;
        let outcome = self.run_call(call.clone(), 1).await;
        assert!(matches!(outcome, Outcome::Succeeded(_)), "a good call must succeed: {outcome:?}");
        assert_eq!((self.effects)(), before + self.effects_each, "one run, one effect");
        if !self.is_simply_run_again() {
            match self.host.recover(&call, 1).await {
                Recovery::Done(recovered) => {
                    assert_eq!(recovered, outcome, "recovery must tell the truth");
                }
                Recovery::Unknown { evidence } => {
                    assert!(!evidence.is_empty(), "a person needs evidence")
                }
                Recovery::NeverHappened => assert_eq!(self.effects_each, 0, "it did happen"),
            }
        }
        assert_eq!(
            (self.effects)(),
            before + self.effects_each,
            "looking back must have no effects"
        );
        self.host.forget(&call).await;
        self.host.forget(&call).await;
    }

    /// I-52: what a freeze refuses has had no effect, does not look as if it had begun, and can be started again.
    async fn begins_only_at_an_open_gate(&self) {
        let (before, stop) = ((self.effects)(), CancellationToken::new());
        let gate = StartGate::default();
        gate.close();
        let (thawed, gone) =
            (self.make_call(&self.works, 9).await, self.make_call(&self.works, 10).await);
        for call in [&thawed, &gone] {
            if let Err(why) = self.host.announce(call, 1).await {
                panic!("that a call has not begun must be written down: {why}");
            }
            let cleared = (self.clear)(call.clone(), 1);
            let refused = self.host.run(cleared, gate.start(stop.clone()), stop.clone()).await;
            assert!(refused.is_err(), "a closed gate lets no call begin: {refused:?}");
            gate.idle().await;
            assert_eq!((self.effects)(), before, "a call that was refused at the gate had effects");
        }
        if !self.is_simply_run_again() {
            let found = self.host.recover(&gone, 1).await;
            assert!(!matches!(found, Recovery::Done(_)), "it did not begin, and yet {found:?}");
        }
        gate.open();
        let again = self.run_call(thawed, 2).await;
        assert!(matches!(again, Outcome::Succeeded(_)), "the thaw lets it begin: {again:?}");
        assert_eq!((self.effects)(), before + self.effects_each, "one thaw, one effect");
    }

    async fn gives_up_for_good(&self) {
        if self.is_simply_run_again() {
            return;
        }
        let before = (self.effects)();
        let lost = self.make_call(&self.works, 8).await;
        let found = self.host.recover(&lost, 1).await;
        assert!(
            matches!(found, Recovery::Unknown { .. }),
            "what left no trace at all is in doubt: {found:?}"
        );
        let call = self.make_call(&self.works, 3).await;
        if let Err(why) = self.host.announce(&call, 1).await {
            panic!("that a call has not begun must be written down: {why}");
        }
        assert_eq!((self.effects)(), before, "announcing must have no effects");
        match self.host.recover(&call, 1).await {
            Recovery::Done(outcome) => panic!("nothing was run, and yet {outcome:?}"),
            Recovery::Unknown { evidence } => {
                assert!(!evidence.is_empty(), "a person needs evidence")
            }
            Recovery::NeverHappened => {
                let late = self.run_call(call.clone(), 1).await;
                assert!(
                    matches!(late, Outcome::Failed(_)),
                    "an attempt that was given up ran: {late:?}"
                );
                assert_eq!((self.effects)(), before, "an attempt that was given up had effects");
                let again = self.run_call(call, 2).await;
                assert!(
                    matches!(again, Outcome::Succeeded(_)),
                    "the next attempt must run: {again:?}"
                );
                assert_eq!((self.effects)(), before + self.effects_each);
            }
        }
    }

    async fn runs_only_what_was_approved(&self) {
        let prepared = self.prepare_call(&self.works).await;
        if prepared.context == ExecutionContext::default() {
            return;
        }
        if self.host.tool().effects == Effects::ReadOnly {
            return;
        }
        let before = (self.effects)();
        let other = ExecutionContext {
            detail: format!("another {}", prepared.context.detail).into(),
            working_directory: Some("/elsewhere".into()),
            sql: None,
        };
        let call = self.make_call(&self.works, 4).await;
        let call = call.revised(call.arguments.clone(), other, call.definition, call.policy);
        let outcome = self.run_call(call, 1).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "another context was approved: {outcome:?}");
        assert_eq!((self.effects)(), before, "another context was approved, and yet it ran");
    }

    async fn stops_everything(&self) {
        let Some(endless) = &self.endless else { return };
        let (before, stop) = ((self.effects)(), CancellationToken::new());
        let call = self.make_call(endless, 5).await;
        let stopping = async {
            while (self.effects)() == before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            stop.cancel();
        };
        let running = self.host.run((self.clear)(call, 1), open_gate(&stop), stop.clone());
        let both = async { tokio::join!(running, stopping).0 };
        let Ok(outcome) = tokio::time::timeout(Duration::from_secs(30) + KILL_WITHIN, both).await
        else {
            panic!("a stopped call must end");
        };
        let Ok(outcome) = outcome else { panic!("it had begun before it was stopped") };
        assert!(!matches!(outcome, Outcome::Succeeded(_)), "a stopped call did not succeed");
        let after = (self.effects)();
        // Long against the pace at which an endless call has effects.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!((self.effects)(), after, "a stopped call must have no further effects");

        let call = self.make_call(endless, 6).await;
        let outcome = self.host.run((self.clear)(call, 1), open_gate(&stop), stop).await;
        assert!(!matches!(outcome, Ok(Outcome::Succeeded(_))), "stopped before it started");
        assert_eq!((self.effects)(), after, "a call that was stopped before it started ran");
    }

    async fn says_what_it_cuts(&self) {
        let Some(noisy) = &self.noisy else { return };
        let call = self.make_call(noisy, 7).await;
        let outcome = self.run_call(call, 1).await;
        let Outcome::Succeeded(output) = outcome else {
            panic!("a noisy call still works: {outcome:?}")
        };
        assert!(output.text.len() < 2 * OUTPUT_BYTES_KEPT, "{} bytes were kept", output.text.len());
        let says = output.text.contains("\"truncated\":true");
        assert!(output.cut.is_some() || says, "what is missing must be said");
    }

    fn is_simply_run_again(&self) -> bool {
        matches!(self.host.tool().effects, Effects::ReadOnly | Effects::Idempotent)
    }

    /// Runs a call that nothing keeps from beginning.
    async fn run_call(&self, call: Call, attempt: u32) -> Outcome {
        let stop = CancellationToken::new();
        let start = open_gate(&stop);
        let Ok(outcome) = self.host.run((self.clear)(call, attempt), start.clone(), stop).await
        else {
            panic!("an open gate lets every call begin");
        };
        let is_success = matches!(outcome, Outcome::Succeeded(_));
        assert!(start.has_begun() || !is_success, "it succeeded past the start gate");
        outcome
    }

    async fn prepare_call(&self, value: &Value) -> Prepared {
        match self.host.prepare(&parse_arguments(value)).await {
            Ok(prepared) => prepared,
            Err(error) => panic!("a good call must be prepared: {error}"),
        }
    }

    async fn make_call(&self, value: &Value, number: u128) -> Call {
        let proposal = Proposal {
            // Apart from those of other suites that share a database or a spool.
            id: CallId::new(1, number << 40),
            tool_use_id: format!("toolu_{number}"),
            agent: "conformance".into(),
            session: None,
            arguments: parse_arguments(value),
            context: self.prepare_call(value).await.context,
            policy: Digest::of(b"policy"),
        };
        Call::propose(proposal, self.host.tool())
    }
}

fn open_gate(stop: &CancellationToken) -> Start {
    StartGate::default().start(stop.clone())
}

fn parse_arguments(value: &Value) -> Arguments {
    match Arguments::from_value(value.clone()) {
        Ok(arguments) => arguments,
        Err(error) => panic!("the case's arguments are no good: {error}"),
    }
}

#[cfg(test)]
mod tests;
