//! A two-phase approval is a ticket for exactly one run of exactly one call. What the model is told
//! each time follows from the ticket alone.

use holdpoint_domain::answer::Answer;
use holdpoint_domain::context::WhilePending;
use holdpoint_domain::hold::{CancelReason, HoldCommand};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, PersonId};
use holdpoint_domain::policy::{Policy, PolicySpec};
use holdpoint_domain::session::{Command, PendingWork};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::session::DAY_MS;
use crate::world::{HOUR_MS, World, approve, deny};

/// What became of the latest request with one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ticket {
    None,
    Asked {
        ends: u64,
    },
    Approved {
        at: u64,
    },
    Denied,
    Expired,
    Cancelled,
    Used {
        well: bool,
    },
    /// Approved, and taken back before it was used.
    TakenBack,
}

#[derive(Clone, Debug)]
enum Step {
    Call { n: usize, confirmed: bool, well: bool },
    Answer { n: usize, yes: bool },
    Cancel { n: usize },
    Wait { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let n = || 0usize..2;
    prop_oneof![
        6 => (n(), any::<bool>(), any::<bool>())
            .prop_map(|(n, confirmed, well)| Step::Call { n, confirmed, well }),
        4 => (n(), prop::bool::weighted(0.8)).prop_map(|(n, yes)| Step::Answer { n, yes }),
        1 => n().prop_map(|n| Step::Cancel { n }),
        2 => prop_oneof![Just(1), Just(HOUR_MS), Just(DAY_MS - 1), Just(DAY_MS)]
            .prop_map(|ms| Step::Wait { ms }),
    ]
}

struct Both {
    world: World,
    tickets: [Ticket; 2],
    /// The hold of each ticket.
    holds: [usize; 2],
    runs: u32,
}

impl Both {
    fn now(&self) -> u64 {
        self.world.now.as_ms() as u64
    }

    fn pass(&mut self) {
        let now = self.now();
        for ticket in &mut self.tickets {
            if matches!(ticket, Ticket::Asked { ends } if *ends <= now) {
                *ticket = Ticket::Expired;
            }
        }
    }

    /// What the model is told, and whether anything runs.
    fn expected(&mut self, n: usize, confirmed: bool, well: bool) -> (&'static str, bool) {
        let now = self.now();
        let after = |well| if well { "success" } else { "error" };
        match (self.tickets[n], confirmed) {
            (Ticket::Asked { .. }, _) => ("pending_confirmation", false),
            (Ticket::None, _) | (_, false) => {
                self.holds[n] = self.world.count("hold.opened");
                self.tickets[n] = Ticket::Asked { ends: now + HOUR_MS };
                ("pending_confirmation", false)
            }
            (Ticket::Approved { at }, true) if now >= at + DAY_MS => ("expired", false),
            (Ticket::Approved { .. }, true) => {
                self.tickets[n] = Ticket::Used { well };
                (after(well), true)
            }
            (Ticket::Denied | Ticket::TakenBack, true) => ("denied", false),
            (Ticket::Expired, true) => ("expired", false),
            (Ticket::Cancelled, true) => ("cancelled", false),
            (Ticket::Used { well }, true) => (after(well), false),
        }
    }

    fn call(&mut self, n: usize, confirmed: bool, well: bool) -> Result<(), TestCaseError> {
        if !self.world.session.needs_model_call() {
            let _ = self.world.say_with("well?", Some(WhilePending::Deliver));
        }
        self.pass();
        prop_assert!(self.world.session.needs_model_call(), "{:?}", self.world.session.run);
        let (status, runs) = self.expected(n, confirmed, well);
        self.world.think("", &[("deploy", json!({"n": n, "confirmed": confirmed}))]);
        let executes = |owed| match owed {
            PendingWork::Execute { call, .. } => Some(call),
            _ => None,
        };
        let executing: Vec<_> =
            self.world.session.pending_work().into_iter().filter_map(executes).collect();
        prop_assert_eq!(executing.len(), usize::from(runs));
        for call in executing {
            self.runs += 1;
            let output = Output::text("so it went");
            let outcome = if well { Outcome::Succeeded(output) } else { Outcome::Failed(output) };
            self.world.report(call, outcome).expect("the report is taken");
        }
        let results = self.world.results();
        let told: Value = results
            .last()
            .and_then(|result| serde_json::from_str(result.trim_start_matches("! ")).ok())
            .unwrap_or_default();
        prop_assert_eq!(told["status"].as_str(), Some(status));
        Ok(())
    }

    fn answer(&mut self, n: usize, yes: bool) -> Result<(), TestCaseError> {
        if self.tickets[n] == Ticket::None {
            return Ok(());
        }
        self.pass();
        let answer: Answer = if yes { approve() } else { deny("no") };
        let told = self.world.answer_as("root", self.holds[n], answer).is_ok();
        let counts = matches!(self.tickets[n], Ticket::Asked { .. });
        let said_before = match self.tickets[n] {
            Ticket::Approved { .. } | Ticket::Used { .. } | Ticket::TakenBack => yes,
            Ticket::Denied => !yes,
            _ => false,
        };
        prop_assert_eq!(told, counts || said_before, "{:?}", self.tickets[n]);
        if counts {
            self.tickets[n] =
                if yes { Ticket::Approved { at: self.now() } } else { Ticket::Denied };
        }
        Ok(())
    }

    fn cancel(&mut self, n: usize) -> Result<(), TestCaseError> {
        if self.tickets[n] == Ticket::None {
            return Ok(());
        }
        self.pass();
        let by = Actor::Person(PersonId::new("root"));
        let hold = self.world.hold(self.holds[n]).id;
        let told = self
            .world
            .tell(&Command::Hold {
                id: hold,
                command: HoldCommand::Cancel { by, reason: CancelReason::Unstated },
            })
            .is_ok();
        let (may, next) = match self.tickets[n] {
            Ticket::Asked { .. } | Ticket::Cancelled => (true, Ticket::Cancelled),
            Ticket::Approved { .. } => (true, Ticket::TakenBack),
            other => (false, other),
        };
        prop_assert_eq!(told, may, "{:?}", self.tickets[n]);
        self.tickets[n] = next;
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_approval_is_a_ticket_for_one_run(steps in prop::collection::vec(step(), 1..30)) {
        let mut world = World::new();
        let spec = PolicySpec { default_expires_ms: HOUR_MS, ..PolicySpec::default() };
        world.policy = Policy::compile(spec).expect("a sound policy");
        world.say("begin");
        let mut both = Both { world, tickets: [Ticket::None; 2], holds: [0; 2], runs: 0 };
        let mut approvals = 0;
        for step in steps {
            match step {
                Step::Call { n, confirmed, well } => both.call(n, confirmed, well)?,
                Step::Answer { n, yes } => {
                    both.answer(n, yes)?;
                    approvals += u32::from(yes);
                }
                Step::Cancel { n } => both.cancel(n)?,
                Step::Wait { ms } => {
                    both.world.now = both.world.now.plus_ms(ms);
                }
            }
        }
        prop_assert!(both.runs <= approvals);
    }
}
