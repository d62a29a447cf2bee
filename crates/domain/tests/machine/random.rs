//! Whatever happens, in whatever order: after every step the transcript is valid and only approved
//! bytes run (the world checks that), and once people answer, everything comes to an end.

use holdpoint_domain::answer::{Answer, Settlement};
use holdpoint_domain::context::WhilePending;
use holdpoint_domain::hold::{CancelReason, HoldCommand, Question};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, PersonId};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{CallState, Command, PendingWork, Recovered, RunStatus};
use proptest::prelude::*;
use serde_json::json;

use crate::world::{HOUR_MS, World, approve, approve_for_session, deny, perform};

const TOOLS: [&str; 8] = ["look", "send", "wipe", "launch", "nuke", "deploy", "confirm", "unknown"];
const PEOPLE: [&str; 4] = ["ana", "bob", "eve", "root"];

/// One step, chosen by three bytes. Steps that make no sense at the time are refused, which is fine.
fn step(world: &mut World, what: u8, which: u8, how: u8) {
    let who = PEOPLE[usize::from(how) % 4];
    let holds = world.count("hold.opened");
    let nth = if holds == 0 { 0 } else { usize::from(which) % holds };
    match what % 14 {
        0 => {
            let way = [
                WhilePending::Queue,
                WhilePending::Supersede,
                WhilePending::Refuse,
                WhilePending::Deliver,
            ][usize::from(how) % 4];
            let _ = world.say_with("hello", Some(way));
        }
        1..=3 => think(world, which, how),
        4 if holds > 0 => drop(world.answer_as(who, nth, approve())),
        5 if holds > 0 => drop(world.answer_as(who, nth, deny("no"))),
        6 if holds > 0 => drop(world.answer_as(who, nth, fitting(world, nth, how))),
        7 if holds > 0
            && world.hold(nth).question == Question::Approve
            && world.hold(nth).call().is_some() =>
        {
            drop(world.edit(who, nth, json!({"n": how % 4})));
        }
        8 => drop(world.tell(&Command::CancelRun {
            run: match &world.session.run {
                Some(run) => run.id,
                None => return,
            },
            by: Actor::Person(PersonId::new("ana")),
            reason: None,
        })),
        9 => {
            let found = match how % 3 {
                0 => Recovered::Again,
                1 => Recovered::Done(Outcome::Failed(Output::text("it failed"))),
                _ => Recovered::Unknown { evidence: "?".into() },
            };
            world.crash(&found);
        }
        10 => drop(world.later(u64::from(how) * HOUR_MS / 8)),
        11 => {
            world.frozen = how.is_multiple_of(2).then(|| "drill".into());
            let _ = world.tell(&Command::Wake);
        }
        12 if holds > 0 => {
            let (hold, by) = (world.hold(nth).id, Actor::Person(PersonId::new(who)));
            drop(world.tell(&Command::Hold {
                id: hold,
                command: HoldCommand::Cancel { by, reason: CancelReason::Unstated },
            }));
        }
        _ => finish_one(world, which, how),
    }
}

fn think(world: &mut World, which: u8, how: u8) {
    if !world.session.needs_model_call() {
        return;
    }
    let calls: Vec<_> = (0..which % 4)
        .map(|n| {
            let arguments = json!({"n": how % 3, "confirmed": how.is_multiple_of(2)});
            (TOOLS[usize::from(how.wrapping_add(n * 3)) % TOOLS.len()], arguments)
        })
        .collect();
    match world.try_think("so", &calls) {
        Err(Refusal::Frozen { .. }) => assert!(world.frozen.is_some()),
        taken => drop(taken.expect("the turn is taken")),
    }
}

/// An answer of the kind that the hold asks for.
fn fitting(world: &World, nth: usize, how: u8) -> Answer {
    match &world.hold(nth).question {
        Question::Perform { .. } => perform(if how.is_multiple_of(2) { "yes" } else { "no" }),
        Question::Settle => Answer::Settle {
            how: [Settlement::Succeeded, Settlement::Failed, Settlement::Retry]
                [usize::from(how) % 3],
            content: None,
        },
        _ if how.is_multiple_of(3) => approve_for_session(),
        _ => Answer::Respond { content: "instead".into() },
    }
}

fn finish_one(world: &mut World, which: u8, how: u8) {
    let running: Vec<_> = world
        .session
        .pending_work()
        .into_iter()
        .filter_map(|owed| match owed {
            PendingWork::Execute { call, .. } | PendingWork::Stop { call, .. } => Some(call),
            _ => None,
        })
        .collect();
    let Some(call) = running.get(usize::from(which) % running.len().max(1)) else { return };
    let outcome = match how % 4 {
        0 => Outcome::Failed(Output::text("no")),
        1 => Outcome::Unknown { evidence: "?".into() },
        _ => Outcome::Succeeded(Output::text("yes")),
    };
    world.report(*call, outcome).expect("a running call reports");
}

/// People come back: everything is answered, everything that runs ends, the model has nothing more
/// to ask for.
fn bring_to_an_end(world: &mut World) {
    world.frozen = None;
    for _ in 0..400 {
        // A node that died while frozen left calls behind.
        world.crash(&Recovered::Unknown { evidence: "?".into() });
        world.finish();
        let open: Vec<_> = world.session.open_holds().map(|hold| hold.id).collect();
        for id in open {
            let nth =
                (0..world.count("hold.opened")).find(|n| world.hold(*n).id == id).expect("known");
            let answer = match world.hold(nth).question {
                Question::Settle => Answer::Settle { how: Settlement::Failed, content: None },
                _ => deny("closing time"),
            };
            for who in PEOPLE {
                let _ = world.answer_as(who, nth, answer.clone());
            }
        }
        if world.session.needs_model_call() {
            world.think("done", &[]);
        }
        if let Some(run) =
            world.session.run.as_ref().filter(|run| run.status() == RunStatus::Failed)
        {
            let run = run.id;
            world.tell(&Command::RetryRun { run }).expect("a failed run can be retried");
        }
        let over = world.session.run.as_ref().is_none_or(|run| run.is_over());
        if over
            && world.session.open_holds().next().is_none()
            && world.session.pending_work().is_empty()
        {
            return;
        }
    }
    panic!("the session never ends: {:?} {:?}", world.session.run, world.session.queue);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn i22_i25_no_order_of_events_bricks_a_session(steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..80)) {
        let mut world = World::new();
        world.budgets.turns = 3;
        world.budgets.time_ms = Some(HOUR_MS);
        world.say("begin");
        for (what, which, how) in steps {
            step(&mut world, what, which, how);
        }
        bring_to_an_end(&mut world);
        for record in world.session.calls.values() {
            prop_assert!(matches!(record.state, CallState::Settled { .. }), "{:?}", record.state);
        }
    }

    #[test]
    fn i15_i08_at_most_one_start_per_approval_unless_it_may_be_repeated(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..80),
    ) {
        let mut world = World::new();
        world.say("begin");
        for (what, which, how) in steps {
            step(&mut world, what, which, how);
        }
        // Every start of a call that people approved used up one approval of its own; only a
        // recovery that was told "again" may have started it a second time.
        let mut starts = std::collections::HashMap::new();
        for event in &world.events {
            if let holdpoint_domain::event::SessionEvent::CallStarted { call, attempt, .. } = event {
                let before = starts.insert(*call, *attempt);
                prop_assert!(before.is_none_or(|before| before < *attempt), "attempts only rise");
            }
        }
        for hold in world.session.holds.values() {
            let used = world.session.calls.values().filter(|record| {
                matches!(&record.state,
                    CallState::Cleared { clearance } | CallState::Running { clearance, .. } | CallState::InDoubt { clearance, .. }
                        if clearance.by == holdpoint_domain::grant::ClearedBy::People(hold.id))
            });
            prop_assert!(used.count() <= 1, "one approval, one execution");
        }
    }
}
