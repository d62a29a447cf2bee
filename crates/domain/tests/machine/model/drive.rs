//! Random commands through the session and through its model, compared after each.

use holdpoint_domain::answer::{Answer, ApprovalScope, GrantTerms, Settlement};
use holdpoint_domain::digest::Digest;
use holdpoint_domain::hold::{CancelReason, HoldCommand};
use holdpoint_domain::id::{CallId, GrantId, NodeId};
use holdpoint_domain::json::Arguments;
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, People, PersonId};
use holdpoint_domain::policy::{
    AskSpec, ConditionSpec, Conditions, MatchSpec, Op, Policy, PolicySpec, RuleSpec, Then,
};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{CallState, Command, Recovered, RuledTurn};
use holdpoint_domain::time::Timestamp;
use holdpoint_domain::tool::{Effects, Place};
use proptest::prelude::*;
use serde_json::json;

use super::session::{ASK_MS, DAY_MS, GRANT_MS, GRANT_USES, Reference, State, TURNS};
use super::steps::{Step, TOOLS, doubtful_step, standing_step, step};
use super::{OK, PEOPLE, Said, Shown, Told};
use crate::world::{HOUR_MS, World, person, tool};

struct Both {
    real: World,
    model: Reference,
    calls: Vec<CallId>,
    grants: Vec<GrantId>,
    /// What each hold was shown as, edit by edit.
    shown: Vec<Vec<Digest>>,
}

fn asks(name: &str, tool: &str, args: Vec<ConditionSpec>, ask: AskSpec) -> RuleSpec {
    RuleSpec {
        name: name.into(),
        line: 1,
        matcher: MatchSpec { tool: Some(tool.into()), args, ..MatchSpec::default() },
        then: Then::Ask,
        risk: None,
        ask: Some(AskSpec { expires_ms: Some(ASK_MS), ..ask }),
    }
}

fn people(dbas: &[&str]) -> People {
    People::new(PEOPLE.map(|who| {
        let roles: &[&str] = match who {
            "root" => &["admin"],
            who if dbas.contains(&who) => &["dba"],
            _ => &[],
        };
        person(who, roles)
    }))
}

impl Both {
    fn new() -> Both {
        let mut real = World::new();
        let dbas = || AskSpec { roles: vec!["dba".into()], ..AskSpec::default() };
        let at_n = |op| vec![ConditionSpec { pointer: "/n".into(), op }];
        let mut rules: Vec<RuleSpec> = ["look", "send"].map(allow).into();
        rules.push(RuleSpec { then: Then::Deny, ..allow("nuke") });
        rules.push(asks("small", "wipe", at_n(Op::NotEquals(json!(3))), dbas()));
        let admins = AskSpec { roles: vec!["admin".into()], ..AskSpec::default() };
        rules.push(asks("large", "wipe", at_n(Op::Equals(json!(3))), admins));
        rules.push(asks("two", "launch", Vec::new(), AskSpec { quorum: 2, ..dbas() }));
        let others = AskSpec { exclude_requester: true, ..dbas() };
        rules.push(asks("others", "pay", Vec::new(), others));
        let spec = PolicySpec { rules, default_expires_ms: ASK_MS, ..PolicySpec::default() };
        real.policy = Policy::compile(spec).expect("a sound policy");
        real.tools.insert("pay".into(), tool("pay", Effects::AtMostOnce, Place::Server));
        real.budgets.turns = TURNS;
        let model = Reference::new(ms(real.now));
        real.people = people(&model.dbas);
        Both { real, model, calls: Vec::new(), grants: Vec::new(), shown: Vec::new() }
    }

    /// The reply of both, or nothing if the step makes no sense now.
    fn take(&mut self, step: &Step) -> Option<(Told, Told)> {
        // Ids of one millisecond have no order, and the model has one.
        self.real.now = self.real.now.plus_ms(1);
        self.model.now += 1;
        let Both { real, model, .. } = self;
        Some(match step {
            Step::Say if !matches!(model.run, "running" | "paused") => {
                (name(&real.say_with("go", None)), model.step(Reference::say))
            }
            Step::Think(calls) if model.needs_model_call() => {
                let calls: Vec<_> = calls.iter().map(|(tool, n)| (TOOLS[*tool], *n)).collect();
                let written: Vec<_> =
                    calls.iter().map(|(tool, n)| (*tool, json!({ "n": n }))).collect();
                real.think("so", &written);
                (OK, model.step(|model| model.think(&calls)))
            }
            Step::ThinkFailed if model.needs_model_call() => {
                let seen = real.session.transcript.len();
                let failed = Command::ThinkFailed { seen, error: "away".into() };
                (name(&real.tell(&failed)), model.step(Reference::think_failed))
            }
            Step::ThinkLate => {
                let message =
                    holdpoint_domain::id::MessageId::new(ms(real.now) as i64, real.bits());
                let thought = RuledTurn {
                    message,
                    parts: Vec::new(),
                    calls: Vec::new(),
                    usage: Default::default(),
                };
                let seen = real.session.transcript.len() + 1;
                let late = Command::RecordTurn { seen, turn: thought };
                (name(&real.tell(&late)), model.step(|_| "overtaken"))
            }
            Step::Answer { hold, who, said, shown } => {
                return self.answer(*hold, PEOPLE[*who], *said, *shown);
            }
            Step::AnswerWell { hold, who, said } => {
                return self.answer(*hold, PEOPLE[*who], *said, u8::MAX);
            }
            Step::CancelHold { hold, who } => {
                let hold = newest(*hold, model.holds.len())?;
                let (id, who) = (real.hold(hold).id, PEOPLE[*who]);
                let command = Command::Hold {
                    id,
                    command: HoldCommand::Cancel { by: actor(who), reason: CancelReason::Unstated },
                };
                (name(&real.tell(&command)), model.step(|model| model.cancel_hold(hold, who)))
            }
            Step::CancelRun => {
                let run = real.session.run.as_ref()?.id;
                let command = Command::CancelRun { run, by: actor("ana"), reason: None };
                (name(&real.tell(&command)), model.step(|model| model.cancel_run("ana")))
            }
            Step::RetryRun => {
                let run = real.session.run.as_ref()?.id;
                (name(&real.tell(&Command::RetryRun { run })), model.step(Reference::retry_run))
            }
            Step::RevokeGrant { grant } => {
                let grant = grant % self.grants.len().max(1);
                let command =
                    Command::RevokeGrant { grant: *self.grants.get(grant)?, by: actor("root") };
                (name(&real.tell(&command)), model.step(|model| model.revoke_grant(grant)))
            }
            Step::Report { call, off, how } => {
                let (call, id) = chosen(*call, &self.calls, model)?;
                let attempt = model.calls[call].attempts.saturating_add_signed((*off).into());
                let (outcome, how) = outcome(*how);
                let command = Command::Report { call: id, attempt, outcome };
                (name(&real.tell(&command)), model.step(|model| model.report(call, attempt, how)))
            }
            Step::Crash => {
                real.node = NodeId::new(ms(real.now) as i64, real.bits());
                model.node += 1;
                return None;
            }
            Step::Recover { call, off, how } => {
                let (call, id) = chosen(*call, &self.calls, model)?;
                let attempt = model.calls[call].attempts.saturating_add_signed((*off).into());
                let (found, how) = match outcome(*how) {
                    _ if *how == 4 => (Recovered::Again, "again"),
                    (Outcome::Unknown { evidence }, how) => (Recovered::Unknown { evidence }, how),
                    (outcome, how) => (Recovered::Done(outcome), how),
                };
                let command = Command::Recover { call: id, attempt, found };
                (name(&real.tell(&command)), model.step(|model| model.recover(call, attempt, how)))
            }
            Step::Freeze(on) => {
                real.frozen = on.then(|| "drill".into());
                model.frozen = *on;
                (name(&real.tell(&Command::Wake)), model.step(|_| OK))
            }
            Step::Role { who, has } => {
                model.dbas.retain(|dba| dba != &PEOPLE[*who]);
                model.dbas.extend(has.then_some(PEOPLE[*who]));
                real.people = people(&model.dbas);
                return None;
            }
            Step::Jump { what, which, off } => {
                let at = model.end_of(*what, *which)?.saturating_add_signed((*off).into());
                model.now = model.now.max(at);
                real.now = Timestamp::from_ms(model.now as i64);
                return None;
            }
            Step::Wait { hours } => {
                model.now += hours * HOUR_MS;
                real.now = Timestamp::from_ms(model.now as i64);
                (name(&real.tell(&Command::Expire)), model.step(|_| OK))
            }
            Step::Look => (name(&real.tell(&Command::Wake)), model.step(|_| OK)),
            Step::Say | Step::Think(_) | Step::ThinkFailed => return None,
        })
    }

    fn answer(
        &mut self,
        hold: usize,
        who: &'static str,
        said: Said,
        shown: u8,
    ) -> Option<(Told, Told)> {
        let hold = newest(hold, self.model.holds.len())?;
        let known = self.shown.get(hold)?;
        let (digest, shown) = match shown {
            0 => (None, Shown::Nothing),
            1 => (Some(Digest::of(b"something else")), Shown::Another),
            2 => (known.first().copied(), Shown::Revision(0)),
            _ => (known.last().copied(), Shown::Revision(known.len() - 1)),
        };
        let answer = answer_of(said);
        let edited = match &answer {
            Answer::Approve { arguments: Some(arguments), .. }
                if self.real.hold(hold).is_pending() && !self.model.holds[hold].settles =>
            {
                // What gates no call cannot be edited: the engine refuses that.
                self.real.hold(hold).call()?;
                Some(self.real.edited(hold, arguments.clone()))
            }
            _ => None,
        };
        let real = self.real.answer_with(who, hold, digest, answer, edited);
        Some((name(&real), self.model.step(|model| model.answer(hold, who, said, shown))))
    }

    /// Takes note of what is new, and holds both states against each other.
    fn compare(&mut self) -> Result<(), TestCaseError> {
        let Both { real, model, calls, grants, shown } = self;
        let turn = real.session.run.iter().flat_map(|run| run.turn.iter());
        for call in turn.chain(real.session.calls.keys()) {
            if !calls.contains(call) {
                calls.push(*call);
            }
        }
        grants.extend(real.session.grants.keys().skip(grants.len()));
        for n in 0..real.count("hold.opened") {
            let digest = real.hold(n).digest();
            match shown.get_mut(n) {
                None => shown.push(vec![digest]),
                Some(known) if known.last() != Some(&digest) => known.push(digest),
                Some(_) => {}
            }
        }
        prop_assert_eq!(real.status(), model.run);
        prop_assert_eq!(real.session.needs_model_call(), model.needs_model_call());
        let holds = (0..shown.len()).map(|n| real.hold(n));
        let holds: Vec<_> =
            holds.map(|hold| (hold.state.name(), hold.votes.len(), hold.audience.quorum)).collect();
        let theirs = model.holds.iter();
        let theirs: Vec<_> =
            theirs.map(|hold| (hold.state, hold.votes.len(), hold.quorum as u32)).collect();
        prop_assert_eq!(holds, theirs);
        for (known, hold) in shown.iter().zip(&model.holds) {
            prop_assert_eq!(known.len() - 1, hold.revision, "every edit is another digest");
        }
        let states: Vec<String> = calls.iter().map(|call| state(real, *call)).collect();
        let theirs: Vec<String> =
            model.calls.iter().map(|call| model.describe_state(call)).collect();
        prop_assert_eq!(states, theirs);
        let left: Vec<_> =
            real.session.grants.values().map(|grant| (grant.uses_left, grant.revoked)).collect();
        let theirs: Vec<_> = model.grants.iter().map(|grant| (grant.uses, grant.revoked)).collect();
        prop_assert_eq!(left, theirs);
        let stranger = NodeId::new(7, 7);
        prop_assert!(calls.iter().all(|call| real.session.started(*call, stranger).is_none()));
        Ok(())
    }
}

impl Reference {
    /// When something ends: the deadline of a hold, the last moment to start, a grant's time.
    fn end_of(&self, what: u8, which: usize) -> Option<u64> {
        match what {
            0 => self.holds.get(which % self.holds.len().max(1))?.deadline,
            1 => match self.calls.get(which % self.calls.len().max(1))?.state {
                State::Cleared(_, at) | State::Running { at, .. } => Some(at + DAY_MS),
                _ => None,
            },
            _ => Some(self.grants.get(which % self.grants.len().max(1))?.ends),
        }
    }

    fn describe_state(&self, call: &super::session::Call) -> String {
        match call.state {
            State::Waiting(_) => "waiting".into(),
            State::Cleared(..) => "cleared".into(),
            State::Running { attempt, node, .. } => {
                format!("running {attempt} {}", node == self.node)
            }
            State::InDoubt(_) => "in doubt".into(),
            State::Settled(kind) => format!("settled {kind}"),
        }
    }
}

fn state(real: &World, call: CallId) -> String {
    match &real.session.calls[&call].state {
        CallState::Proposed => "proposed".into(),
        CallState::Waiting { .. } => "waiting".into(),
        CallState::Cleared { .. } => "cleared".into(),
        CallState::Running { attempt, node, .. } => {
            // Only the node that started it may have it.
            assert_eq!(real.session.started(call, real.node).is_some(), *node == real.node);
            format!("running {attempt} {}", *node == real.node)
        }
        CallState::InDoubt { .. } => "in doubt".into(),
        CallState::Settled { result } => format!("settled {}", result.kind.name()),
    }
}

/// One of the last few: the older ones have mostly come to their end.
fn newest(which: usize, count: usize) -> Option<usize> {
    count.checked_sub(1 + which % count.clamp(1, 6))
}

fn chosen(which: usize, calls: &[CallId], model: &Reference) -> Option<(usize, CallId)> {
    let call = newest(which, calls.len())?;
    (call < model.calls.len()).then(|| (call, calls[call]))
}

fn allow(tool: &str) -> RuleSpec {
    crate::world::rule(tool, tool, Then::Allow, None)
}

fn actor(who: &str) -> Actor {
    Actor::Person(PersonId::new(who))
}

fn ms(at: Timestamp) -> u64 {
    at.as_ms() as u64
}

fn outcome(how: u8) -> (Outcome, &'static str) {
    match how {
        0 => (Outcome::Failed(Output::text("no")), "error"),
        1 => (Outcome::Unknown { evidence: "?".into() }, "unknown"),
        _ => (Outcome::Succeeded(Output::text("yes")), "output"),
    }
}

pub(super) fn answer_of(said: Said) -> Answer {
    let approve = |scope, arguments, note| Answer::Approve { scope, arguments, note };
    let terms = |conditions| {
        let (expires_in_ms, uses) = (Some(GRANT_MS), Some(GRANT_USES));
        ApprovalScope::Session(GrantTerms { expires_in_ms, uses, conditions })
    };
    let settle = |how| Answer::Settle { how, content: None };
    match said {
        Said::Approve(note) => approve(ApprovalScope::Once, None, Some(format!("note {note}"))),
        Said::ApproveForSession => approve(terms(None), None, None),
        Said::ApproveForSessionIf(n) => {
            let spec = ConditionSpec { pointer: "/n".into(), op: Op::Equals(json!(n)) };
            approve(terms(Some(Conditions::compile(vec![spec]).expect("sound"))), None, None)
        }
        Said::Edit(n) => {
            let arguments = Arguments::from_value(json!({ "n": n })).expect("sound");
            approve(ApprovalScope::Once, Some(arguments), None)
        }
        Said::Deny => Answer::Deny { reason: None, stop: false },
        Said::DenyAndStop => Answer::Deny { reason: None, stop: true },
        Said::Respond => Answer::Respond { content: "instead".into() },
        Said::Succeeded => settle(Settlement::Succeeded),
        Said::Failed => settle(Settlement::Failed),
        Said::Retry => settle(Settlement::Retry),
    }
}

pub(super) fn name<T>(reply: &Result<T, Refusal>) -> Told {
    match reply {
        Ok(_) => OK,
        Err(Refusal::NotFound { .. }) => "not found",
        Err(Refusal::NotEntitled { .. }) => "not entitled",
        Err(Refusal::AlreadyDecided { .. }) => "already decided",
        Err(Refusal::AlreadyVoted { .. }) => "already voted",
        Err(Refusal::VersionConflict { .. }) => "version conflict",
        Err(Refusal::Expired { .. }) => "expired",
        Err(Refusal::AnswerInvalid { .. }) => "answer invalid",
        Err(Refusal::HoldsOpen { .. }) => "holds open",
        Err(Refusal::OutOfTurn { .. }) => "out of turn",
        Err(Refusal::Frozen { .. }) => "frozen",
        Err(Refusal::TooMany { .. }) => "too many",
        Err(Refusal::Overtaken) => "overtaken",
        Err(Refusal::OneOfSeveral { .. }) => "one of several",
    }
}

fn alike(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut both = Both::new();
    for step in steps {
        if let Some((real, model)) = both.take(step) {
            prop_assert_eq!(real, model, "{:?}", step);
            both.compare()?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_session_does_what_its_model_does(steps in prop::collection::vec(step(), 1..70)) {
        alike(&steps)?;
    }

    #[test]
    fn a_standing_grant_does_what_its_model_does(
        steps in prop::collection::vec(standing_step(), 1..60),
    ) {
        alike(&steps)?;
    }

    #[test]
    fn a_call_in_doubt_does_what_its_model_does(
        steps in prop::collection::vec(doubtful_step(), 1..60),
    ) {
        alike(&steps)?;
    }
}
