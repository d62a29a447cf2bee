//! Which steps the product took: for each call, hold and run, from one event to the next.

use std::collections::BTreeMap;

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::hold::{HoldChange, HoldOutcome};
use domain::id::StreamId;
use domain::outcome::ToolResult;
use ports::store::{Entry, Store as _};

use super::chat::NAME;
use super::world::{World, at_once};

/// Steps without which a report has proved nothing. What is not here may keep away from many stories.
pub const TRANSITIONS: &[&str] = &[
    "call.proposed → call.started",
    "call.proposed → call.settled (cancelled)",
    "call.proposed → call.settled (denied)",
    "call.proposed → call.settled (error)",
    "call.proposed → call.settled (expired)",
    "call.proposed → call.settled (output)",
    "call.proposed → call.settled (pending)",
    "call.proposed → call.settled (taken back)",
    "call.started → call.in_doubt",
    "call.started → call.settled (cancelled)",
    "call.started → call.settled (error)",
    "call.started → call.settled (output)",
    "call.started → call.started again",
    "call.started again → call.started again",
    "call.started again → call.in_doubt",
    "call.started again → call.settled (output)",
    "call.in_doubt → call.proposed",
    "call.in_doubt → call.settled (error)",
    "call.in_doubt → call.settled (output)",
    "hold.opened (approve) → hold.decided (approved)",
    "hold.opened (approve) → hold.decided (denied)",
    "hold.opened (approve) → hold.decided (answered)",
    "hold.opened (approve) → hold.decided (expired)",
    "hold.opened (approve) → hold.decided (cancelled)",
    "hold.opened (approve) → hold.updated (vote)",
    "hold.opened (approve) → hold.updated (edit)",
    "hold.opened (approve) → hold.updated (claim)",
    "hold.updated (vote) → hold.decided (approved)",
    "hold.updated (vote) → hold.decided (denied)",
    "hold.updated (vote) → hold.decided (expired)",
    "hold.updated (vote) → hold.updated (edit)",
    "hold.updated (edit) → hold.decided (approved)",
    "hold.updated (edit) → hold.decided (denied)",
    "hold.opened (approve) → hold.updated (report: succeeded)",
    "hold.decided (approved) → hold.updated (report: executing)",
    "hold.decided (approved) → hold.updated (report: succeeded)",
    "hold.decided (approved) → hold.updated (report: failed)",
    "hold.decided (approved) → hold.updated (succeeded)",
    "hold.decided (approved) → hold.updated (failed)",
    "hold.decided (approved) → hold.updated (taken back)",
    "hold.opened (choose) → hold.decided (answered)",
    "hold.opened (choose) → hold.decided (denied)",
    "hold.opened (fill) → hold.decided (answered)",
    "hold.opened (fill) → hold.decided (denied)",
    "hold.opened (fill) → hold.decided (expired)",
    "hold.opened (perform) → hold.decided (answered)",
    "hold.opened (settle) → hold.decided (answered)",
    "hold.opened (settle) → hold.decided (denied)",
    "pressed in a chat → approve",
    "pressed in a chat → deny",
    "run.started → run.paused",
    "run.paused → run.resumed",
    "run.resumed → run.completed",
    "run.started → run.failed",
    "run.failed → run.resumed",
    "run.stopping → run.cancelled",
    "budget.used_up → run.paused",
    "budget.used_up → run.stopping",
    "hold.opened (approve, no call) → hold.decided (approved)",
    "hold.opened (approve, no call) → hold.decided (denied)",
    "hold.opened (approve, no call) → hold.decided (expired)",
    "grant.made → grant.used",
    "grant.made → grant.revoked",
    "house.frozen → house.thawed",
    "house.thawed → house.frozen",
];

pub(super) fn count(world: &World) -> BTreeMap<String, u64> {
    let journal = at_once(world.disk.entries(None, 0, usize::MAX)).expect("the disk is there");
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let events = journal.iter().flat_map(|entry| entry.events.iter().map(move |it| (entry, it)));
    for (entry, event) in events {
        let Some(about) = about(event) else { continue };
        let step = name(entry, event);
        let before = last.insert(about, step.clone()).unwrap_or_else(|| "·".into());
        *counts.entry(format!("{before} → {step}")).or_default() += 1;
        if let Some(HoldEvent::Decided { state, .. }) = event.hold_event()
            && let Some(vote) = state.decision().and_then(|decision| decision.vote())
            && vote.via == NAME
        {
            *counts.entry(format!("pressed in a chat → {}", vote.answer.name())).or_default() += 1;
        }
    }
    counts
}

fn about(event: &Event) -> Option<String> {
    Some(match event {
        Event::Session(SessionEvent::CallProposed { id, .. }) => id.to_string(),
        Event::Session(
            SessionEvent::CallMalformed { call, .. }
            | SessionEvent::CallStarted { call, .. }
            | SessionEvent::CallInDoubt { call, .. }
            | SessionEvent::CallSettled { call, .. },
        ) => call.to_string(),
        Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => {
            event.hold_id().to_string()
        }
        Event::Session(
            SessionEvent::BudgetUsedUp { run, .. }
            | SessionEvent::RunStarted { run }
            | SessionEvent::RunPaused { run }
            | SessionEvent::RunResumed { run }
            | SessionEvent::RunCompleted { run }
            | SessionEvent::RunFailed { run, .. }
            | SessionEvent::RunStopping { run, .. }
            | SessionEvent::RunCancelled { run },
        ) => run.to_string(),
        Event::Session(SessionEvent::GrantMade { grant }) => grant.id.to_string(),
        Event::Session(
            SessionEvent::GrantUsed { grant, .. } | SessionEvent::GrantRevoked { grant, .. },
        ) => grant.to_string(),
        Event::Global(GlobalEvent::Frozen { .. } | GlobalEvent::Thawed { .. }) => "house".into(),
        _ => return None,
    })
}

/// With what was decided or changed, and with whether a start was the first.
fn name(entry: &Entry, event: &Event) -> String {
    let with = |detail: &dyn std::fmt::Display| format!("{} ({detail})", event.name());
    match event {
        Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => match event {
            HoldEvent::Updated { change, .. } => {
                let is_outside = matches!(entry.stream, StreamId::ExternalHold(_));
                with(&change_of(change, is_outside))
            }
            HoldEvent::Decided { state, .. } => with(&state.name()),
            HoldEvent::Opened { hold } if hold.asks_to_go_on() => with(&"approve, no call"),
            HoldEvent::Opened { hold } => with(&hold.question.kind()),
        },
        Event::Session(SessionEvent::CallSettled { result, .. }) => with(&end_of(result)),
        Event::Session(SessionEvent::CallStarted { attempt, .. }) if *attempt > 1 => {
            format!("{} again", event.name())
        }
        _ => event.name().to_owned(),
    }
}

fn change_of(change: &HoldChange, is_outside: bool) -> String {
    match change {
        HoldChange::Voted(_) => "vote".into(),
        HoldChange::Revised { .. } => "edit".into(),
        HoldChange::Claimed(_) => "claim".into(),
        HoldChange::Unclaimed => "let go".into(),
        HoldChange::Revealed(_) => "look at secrets".into(),
        HoldChange::Commented(_) => "comment".into(),
        HoldChange::Outcome(outcome) if is_outside => format!("report: {}", outcome.name()),
        HoldChange::Outcome(HoldOutcome::Failed(result)) if is_taken_back(result) => {
            "taken back".into()
        }
        HoldChange::Outcome(outcome) => outcome.name().into(),
    }
}

fn end_of(result: &ToolResult) -> &'static str {
    if is_taken_back(result) { "taken back" } else { result.kind.name() }
}

fn is_taken_back(result: &ToolResult) -> bool {
    result.content.contains("took the approval back")
}
