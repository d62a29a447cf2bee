//! What can happen to a session, and how often it does in the random orders.

use proptest::prelude::*;

use super::{PEOPLE, Said};

pub(super) const TOOLS: [&str; 6] = ["look", "send", "wipe", "launch", "pay", "nuke"];

/// One thing that happens. Numbers choose among what there is at the time.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Say,
    Think(Vec<(usize, u8)>),
    ThinkFailed,
    /// A turn made from a transcript that has moved on.
    ThinkLate,
    Answer {
        hold: usize,
        who: usize,
        said: Said,
        shown: u8,
    },
    /// By somebody who was shown the hold as it is.
    AnswerWell {
        hold: usize,
        who: usize,
        said: Said,
    },
    CancelHold {
        hold: usize,
        who: usize,
    },
    CancelRun,
    RetryRun,
    RevokeGrant {
        grant: usize,
    },
    Report {
        call: usize,
        off: i8,
        how: u8,
    },
    Crash,
    Recover {
        call: usize,
        off: i8,
        how: u8,
    },
    Freeze(bool),
    /// Someone loses the role, or gets it back.
    Role {
        who: usize,
        has: bool,
    },
    /// To about when something ends: a hold, a clearance, a grant.
    Jump {
        what: u8,
        which: usize,
        off: i8,
    },
    Wait {
        hours: u64,
    },
    Look,
}

fn generate_word() -> impl Strategy<Value = Said> {
    prop_oneof![
        6 => (0u8..2).prop_map(Said::Approve),
        2 => Just(Said::ApproveForSession),
        1 => (0u8..4).prop_map(Said::ApproveForSessionIf),
        2 => (0u8..4).prop_map(Said::Edit),
        2 => Just(Said::Deny),
        1 => Just(Said::DenyAndStop),
        1 => Just(Said::Respond),
        2 => Just(Said::Succeeded),
        1 => Just(Said::Failed),
        2 => Just(Said::Retry),
    ]
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let some = || 0usize..8;
    prop_oneof![
        4 => Just(Step::Say),
        8 => prop::collection::vec((0..TOOLS.len(), 0u8..4), 0..4).prop_map(Step::Think),
        1 => Just(Step::ThinkFailed),
        1 => Just(Step::ThinkLate),
        14 => (some(), 0..PEOPLE.len(), generate_word(), 0u8..8)
            .prop_map(|(hold, who, said, shown)| Step::Answer { hold, who, said, shown }),
        2 => (some(), 0..PEOPLE.len()).prop_map(|(hold, who)| Step::CancelHold { hold, who }),
        1 => Just(Step::CancelRun),
        1 => Just(Step::RetryRun),
        1 => some().prop_map(|grant| Step::RevokeGrant { grant }),
        6 => (some(), -1i8..2, 0u8..4).prop_map(|(call, off, how)| Step::Report { call, off, how }),
        2 => Just(Step::Crash),
        4 => (some(), -1i8..2, 0u8..5).prop_map(|(call, off, how)| Step::Recover { call, off, how }),
        2 => prop::bool::weighted(0.3).prop_map(Step::Freeze),
        2 => (1usize..3, prop::bool::weighted(0.7)).prop_map(|(who, has)| Step::Role { who, has }),
        4 => (0u8..3, some(), -3i8..2).prop_map(|(what, which, off)| Step::Jump { what, which, off }),
        1 => (0u64..30).prop_map(|hours| Step::Wait { hours }),
        2 => Just(Step::Look),
    ]
}

/// Much that stands: the same few calls again and again, approved for the session by people who may.
pub(super) fn standing_step() -> impl Strategy<Value = Step> {
    let said = prop_oneof![
        3 => Just(Said::ApproveForSession),
        3 => (1u8..3).prop_map(Said::ApproveForSessionIf),
        1 => Just(Said::Approve(0)),
    ];
    let call = || (prop_oneof![Just(2usize), Just(4)], 1u8..3);
    prop_oneof![
        4 => Just(Step::Say),
        8 => prop::collection::vec(call(), 1..3).prop_map(Step::Think),
        10 => (0usize..4, prop_oneof![3 => Just(1usize), 1 => Just(0)], said)
            .prop_map(|(hold, who, said)| Step::AnswerWell { hold, who, said }),
        6 => (0usize..2).prop_map(|call| Step::Report { call, off: 0, how: 2 }),
        1 => (0usize..4).prop_map(|grant| Step::RevokeGrant { grant }),
        2 => (0usize..4, -3i8..2).prop_map(|(which, off)| Step::Jump { what: 2, which, off }),
        1 => prop::bool::weighted(0.3).prop_map(Step::Freeze),
        1 => prop::bool::weighted(0.7).prop_map(|has| Step::Role { who: 1, has }),
    ]
}

/// Much doubt: calls that two people must approve, of which nobody knows what became, and people who say
/// different things about it.
pub(super) fn doubtful_step() -> impl Strategy<Value = Step> {
    let said = prop_oneof![
        4 => Just(Said::Approve(0)),
        2 => Just(Said::Succeeded),
        2 => Just(Said::Failed),
        2 => Just(Said::Retry),
    ];
    prop_oneof![
        2 => Just(Step::Say),
        4 => (0u8..2).prop_map(|n| Step::Think(vec![(3, n)])),
        16 => (0usize..2, 0usize..3, said)
            .prop_map(|(hold, who, said)| Step::AnswerWell { hold, who, said }),
        4 => Just(Step::Report { call: 0, off: 0, how: 1 }),
        1 => (1usize..3, prop::bool::weighted(0.5)).prop_map(|(who, has)| Step::Role { who, has }),
    ]
}
