//! A hold of an outside program is the register by itself, and a report of what came of it.

use std::sync::Arc;

use holdpoint_domain::digest::Digest;
use holdpoint_domain::external_hold::{ExternalHold, ExternalHoldCommand};
use holdpoint_domain::hold::{CancelReason, Hold, HoldCommand, HoldOrigin, HoldOutcome};
use holdpoint_domain::outcome::ToolResult;
use holdpoint_domain::person::{Actor, Audience, PersonId};
use holdpoint_domain::time::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::drive::{answer_of, name};
use super::register::{Register, read_refusal};
use super::session::ASK_MS;
use super::{Circle, OK, PEOPLE, Said, Shown, Told};
use crate::world::{World, logged_in};

#[derive(Clone, Debug)]
enum Step {
    Answer {
        who: usize,
        said: Said,
        shown: u8,
    },
    Cancel {
        who: usize,
    },
    Report {
        well: bool,
    },
    Start,
    /// To so many milliseconds before or after the deadline.
    Jump {
        off: i64,
    },
    Expire,
}

fn step() -> impl Strategy<Value = Step> {
    let said = prop_oneof![
        4 => (0u8..2).prop_map(Said::Approve),
        2 => (0u8..4).prop_map(Said::Edit),
        1 => Just(Said::ApproveForSession),
        1 => Just(Said::Deny),
        1 => Just(Said::Respond),
        1 => Just(Said::Succeeded),
    ];
    prop_oneof![
        8 => (0..PEOPLE.len(), said, 0u8..8)
            .prop_map(|(who, said, shown)| Step::Answer { who, said, shown }),
        2 => (0..PEOPLE.len()).prop_map(|who| Step::Cancel { who }),
        3 => any::<bool>().prop_map(|well| Step::Report { well }),
        3 => Just(Step::Start),
        3 => (-1i64..2).prop_map(|off| Step::Jump { off }),
        1 => Just(Step::Expire),
    ]
}

/// The session's world lends its people, its clock and one of its holds.
fn opened(quorum: u32, exclude_requester: bool) -> (World, ExternalHold, Register) {
    let mut world = World::new();
    world.say("begin").think("", &[("wipe", json!({"n": 1}))]);
    let mut hold: Hold = (*world.hold(0)).clone();
    hold.origin = HoldOrigin::Program { callback: None };
    hold.requester = Some(PersonId::new("ana"));
    hold.expires_at = Some(hold.opened_at.plus_ms(ASK_MS));
    let audience = Audience { quorum, exclude_requester, ..(*hold.audience).clone() };
    hold.audience = audience.into();
    let circle = if exclude_requester { Circle::DbasButNotTheRequester } else { Circle::Dbas };
    let model = Register {
        state: "pending",
        circle,
        quorum: quorum as usize,
        deadline: hold.expires_at.map(|at| at.as_ms() as u64),
        settles: false,
        no_call: false,
        revision: 0,
        argument: 1,
        votes: Vec::new(),
        voters: Vec::new(),
        cancelled_by: "",
        in_session: false,
    };
    (world, ExternalHold::begin(Arc::new(hold)), model)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn an_outside_hold_does_what_its_model_does(
        quorum in 1u32..3,
        exclude_requester in any::<bool>(),
        steps in prop::collection::vec(step(), 1..25),
    ) {
        // Ana, Bob: too few for two without Ana, and that too is the same in both.
        let dbas = ["ana", "bob"];
        let (mut world, mut outside, mut model) = opened(quorum, exclude_requester);
        let mut shown = vec![outside.hold.digest()];
        let mut outcome: Option<bool> = None;
        let mut started = false;
        for step in steps {
            let now = world.now.as_ms() as u64;
            if !matches!(step, Step::Jump { .. }) {
                model.pass(now);
            }
            let (command, expected): (ExternalHoldCommand, Told) = match step {
                Step::Jump { off } => {
                    let at = outside.hold.expires_at.expect("a deadline").as_ms() + off;
                    world.now = Timestamp::from_ms(at.max(world.now.as_ms()));
                    continue;
                }
                Step::Expire => (ExternalHoldCommand::Expire, OK),
                Step::Answer { who, said, shown: seen } => {
                    let (digest, seen) = match seen {
                        0 => (None, Shown::Nothing),
                        1 => (Some(Digest::of(b"another")), Shown::Another),
                        2 => (shown.first().copied(), Shown::Revision(0)),
                        _ => (shown.last().copied(), Shown::Revision(shown.len() - 1)),
                    };
                    let by = logged_in(PEOPLE[who]);
                    let answer = answer_of(said);
                    let edited = match &answer {
                        holdpoint_domain::answer::Answer::Approve { arguments: Some(arguments), .. } => {
                            let edited = world.edited(0, arguments.clone());
                            let call = outside.hold.call().expect("a call");
                            let call = call.revised(
                                arguments.clone(),
                                call.context.clone(),
                                call.definition,
                                call.policy,
                            );
                            let audience = outside.hold.audience.clone();
                            Some(holdpoint_domain::hold::Edited { call: Arc::new(call), audience, ..edited })
                        }
                        _ => None,
                    };
                    let (circle, quorum) = (model.circle, model.quorum);
                    let done =
                        model.answer(PEOPLE[who], said, seen, &dbas, |_| (circle, quorum));
                    (ExternalHoldCommand::Hold(HoldCommand::Answer { digest, answer, by, edited }), read_refusal(&done))
                }
                Step::Cancel { who } => {
                    let by = Actor::Person(PersonId::new(PEOPLE[who]));
                    let done = model.cancel(PEOPLE[who]);
                    (ExternalHoldCommand::Hold(HoldCommand::Cancel { by, reason: CancelReason::Unstated }), read_refusal(&done))
                }
                Step::Start => {
                    let expected = match (model.state, started || outcome.is_some()) {
                        ("approved", false) => {
                            started = true;
                            OK
                        }
                        ("approved", true) => "already decided",
                        _ => "answer invalid",
                    };
                    (ExternalHoldCommand::Report { outcome: HoldOutcome::Executing }, expected)
                }
                Step::Report { well } => {
                    let reported = match well {
                        true => HoldOutcome::Succeeded(ToolResult::output("yes")),
                        false => HoldOutcome::Failed(ToolResult::error("no")),
                    };
                    let expected = match (model.state, outcome) {
                        ("approved", None) => {
                            outcome = Some(well);
                            OK
                        }
                        ("approved", Some(earlier)) if earlier == well => OK,
                        ("approved", Some(_)) => "already decided",
                        _ => "answer invalid",
                    };
                    (ExternalHoldCommand::Report { outcome: reported }, expected)
                }
            };
            let (events, reply) = world.within(|_, context| outside.decide(&command, context));
            for event in &events {
                outside.apply(event);
            }
            if shown.last() != Some(&outside.hold.digest()) {
                shown.push(outside.hold.digest());
            }
            prop_assert_eq!(name(&reply), expected, "{:?}", command);
            let hold = &outside.hold;
            prop_assert_eq!((hold.state.name(), hold.votes.len()), (model.state, model.votes.len()));
            prop_assert_eq!(shown.len() - 1, model.revision);
            let ended = hold.outcome().filter(|outcome| outcome.is_final());
            prop_assert_eq!(ended.map(|o| o.name() == "succeeded"), outcome);
            prop_assert_eq!(hold.outcome().is_some(), started || outcome.is_some());
        }
    }
}
