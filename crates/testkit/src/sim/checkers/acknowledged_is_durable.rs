//! I-10: whoever was told that something was done finds it on disk, and it was there when they were
//! told. What was sent again under its key happened once.

use std::sync::Arc;

use domain::answer::Answer;
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::hold::{Hold, HoldChange, HoldOutcome, HoldState, Vote};
use domain::id::{HoldId, MessageId, StreamId};
use domain::outcome::ToolResult;
use ports::store::Entry;

use super::{Evidence, Verdict};
use crate::sim::crowd::Errand;
use crate::sim::records::{Told, Word};

/// What is said of a call whose approval was taken back.
const TAKEN_BACK: &str = "took the approval back";

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    for told in &evidence.records.told {
        if !is_there(evidence, told) {
            return Err(format!(
                "{:?} was answered with {:?}, and is not among the {} commits that were on disk ({} of them when it was asked for)",
                told.errand, told.what, told.journal, told.asked
            ));
        }
    }
    once_under_its_key(evidence)
}

fn is_there(evidence: &Evidence<'_>, told: &Told) -> bool {
    let on_disk = &evidence.journal[..told.journal.min(evidence.journal.len())];
    // What can be asked for twice may have been there before; what cannot was written for this request.
    let since = &on_disk[told.asked.min(on_disk.len())..];
    match (&told.errand, &told.what) {
        (_, Word::Refused(_) | Word::TryLater) => true,
        (Errand::Open { key, .. }, Word::Session(id)) => any(on_disk, |entry, event| {
            is_opened(event, key) && entry.stream == StreamId::Session(*id)
        }),
        (Errand::Open { key, .. }, Word::Again(id)) => any(on_disk, |entry, event| {
            is_opened(event, key) && entry.stream.to_string().as_bytes() == *id
        }),
        (Errand::Say { session, text, .. }, Word::Said(said)) => any(on_disk, |entry, event| {
            entry.stream == StreamId::Session(*session)
                && message_id(event) == Some(said.message)
                && is_said(event, text)
        }),
        (Errand::Say { session, text, .. }, Word::Again(id)) => any(on_disk, |entry, event| {
            entry.stream == StreamId::Session(*session)
                && message_id(event).is_some_and(|message| message.to_string().as_bytes() == *id)
                && is_said(event, text)
        }),
        (Errand::Answer { who, hold, digest, answer }, Word::Hold(_)) => {
            any(on_disk, |_, event| {
                // Whoever edits has seen what was there before, and votes for what they made of it.
                let edits = matches!(answer, Answer::Approve { arguments: Some(_), .. });
                let theirs = |vote: &&Arc<Vote>| {
                    let is_seen = edits || digest.is_none_or(|seen| seen == vote.digest);
                    vote.by.as_str() == *who && vote.answer == *answer && is_seen
                };
                votes(event, *hold).iter().any(theirs)
            })
        }
        (Errand::CancelHold { who, hold }, Word::Hold(_)) => {
            any(on_disk, |_, event| is_withdrawn(event, *hold, who))
                || is_taken_back(on_disk, since, *hold)
        }
        (Errand::Claim { who, hold, on }, Word::Hold(_)) => {
            let wanted = on.then_some(*who);
            let mut holder = None;
            at_some_moment(on_disk, told.asked, |event| {
                claims(event, *hold, &mut holder);
                holder.as_deref() == wanted
            })
        }
        (Errand::CancelRun { run: wanted, .. }, Word::Done) => any(
            on_disk,
            |_, event| matches!(event, Event::Session(SessionEvent::RunStopping { run, .. } | SessionEvent::RunCancelled { run }) if run == wanted),
        ),
        (Errand::RetryRun { run: wanted, .. }, Word::Done) => any(
            since,
            |_, event| matches!(event, Event::Session(SessionEvent::RunResumed { run }) if run == wanted),
        ),
        (Errand::RevokeGrant { grant: wanted }, Word::Done) => any(
            on_disk,
            |_, event| matches!(event, Event::Session(SessionEvent::GrantRevoked { grant, .. }) if grant == wanted),
        ),
        (Errand::Freeze | Errand::Thaw, Word::Done) => {
            let wanted = matches!(told.errand, Errand::Freeze);
            let mut frozen = false;
            at_some_moment(on_disk, told.asked, |event| {
                match event {
                    Some(Event::Global(GlobalEvent::Frozen { .. })) => frozen = true,
                    Some(Event::Global(GlobalEvent::Thawed { .. })) => frozen = false,
                    _ => {}
                }
                frozen == wanted
            })
        }
        (Errand::Ask { .. }, Word::Hold(hold)) => any(on_disk, |_, event| is_held(event, hold)),
        (Errand::Ask { .. }, Word::Again(id)) => any(on_disk, |entry, event| {
            matches!(event.hold_event(), Some(HoldEvent::Opened { .. }))
                && entry.stream.to_string().as_bytes() == *id
        }),
        (Errand::Begin { hold }, Word::Hold(_)) => {
            let begun = HoldChange::Outcome(HoldOutcome::Executing);
            any(
                on_disk,
                |_, event| matches!(event.hold_event(), Some(HoldEvent::Updated { hold: of, change }) if of == hold && *change == begun),
            )
        }
        (Errand::Report { hold, succeeded }, Word::Hold(_)) => {
            any(on_disk, |_, event| is_reported(event, *hold, *succeeded))
        }
        _ => false,
    }
}

fn any(entries: &[Entry], is: impl Fn(&Entry, &Event) -> bool) -> bool {
    entries.iter().any(|entry| entry.events.iter().any(|event| is(entry, event)))
}

/// Whether it was so when it was asked for, or became so before the answer. `is` hears every event, to
/// keep up with what is so, and `None` at the beginning.
fn at_some_moment(
    on_disk: &[Entry],
    asked: usize,
    mut is: impl FnMut(Option<&Event>) -> bool,
) -> bool {
    let mut now = is(None);
    for event in on_disk.iter().take(asked).flat_map(|entry| &*entry.events) {
        now = is(Some(event));
    }
    let later = on_disk.iter().skip(asked).flat_map(|entry| &*entry.events);
    later.fold(now, |was, event| is(Some(event)) || was)
}

fn is_opened(event: &Event, key: &str) -> bool {
    matches!(event, Event::Session(SessionEvent::SessionOpened { title, .. }) if title.as_deref() == Some(key))
}

fn message_id(event: &Event) -> Option<MessageId> {
    event.session_event()?.message_id()
}

fn is_said(event: &Event, said: &str) -> bool {
    matches!(
        event,
        Event::Session(SessionEvent::MessageQueued { message, .. } | SessionEvent::MessageAdded { message }) if message.text() == said
    )
}

fn is_held(event: &Event, hold: &Hold) -> bool {
    matches!(event.hold_event(), Some(HoldEvent::Opened { hold: opened }) if opened.id == hold.id)
}

fn claims(event: Option<&Event>, wanted: HoldId, holder: &mut Option<String>) {
    match event.and_then(Event::hold_event) {
        Some(HoldEvent::Updated { hold, change }) if *hold == wanted => match change {
            HoldChange::Claimed(who) => *holder = Some(who.to_string()),
            HoldChange::Unclaimed => *holder = None,
            _ => {}
        },
        _ => {}
    }
}

fn is_withdrawn(event: &Event, wanted: HoldId, who: &str) -> bool {
    matches!(
        event.hold_event(),
        Some(HoldEvent::Decided { hold, state: HoldState::Cancelled { by, .. } })
            if *hold == wanted && by.as_str() == who
    )
}

/// An approval that was taken back settles its call, or closes the way to a second phase.
fn is_taken_back(on_disk: &[Entry], since: &[Entry], wanted: HoldId) -> bool {
    let call = on_disk.iter().flat_map(|entry| &*entry.events).find_map(|event| {
        match event.hold_event() {
            Some(HoldEvent::Opened { hold }) if hold.id == wanted => hold.call_id(),
            _ => None,
        }
    });
    let says_so = |result: &ToolResult| result.content.contains(TAKEN_BACK);
    any(since, |_, event| match event {
        Event::Session(SessionEvent::CallSettled { call: settled, result }) => {
            Some(*settled) == call && says_so(result)
        }
        Event::Session(SessionEvent::Hold(HoldEvent::Updated {
            hold,
            change: HoldChange::Outcome(HoldOutcome::Failed(result)),
        }))
        | Event::ExternalHold(HoldEvent::Updated {
            hold,
            change: HoldChange::Outcome(HoldOutcome::Failed(result)),
        }) => *hold == wanted && says_so(result),
        _ => false,
    })
}

fn is_reported(event: &Event, wanted: HoldId, succeeded: bool) -> bool {
    let Some(HoldEvent::Updated { hold, change: HoldChange::Outcome(outcome) }) =
        event.hold_event()
    else {
        return false;
    };
    *hold == wanted
        && matches!(outcome, HoldOutcome::Succeeded(_)) == succeeded
        && outcome.is_final()
}

fn votes(event: &Event, wanted: HoldId) -> Vec<&Arc<Vote>> {
    match event.hold_event() {
        Some(HoldEvent::Decided { hold, state }) if *hold == wanted => {
            state.decision().and_then(|decision| decision.vote()).into_iter().collect()
        }
        Some(HoldEvent::Updated { hold, change }) if *hold == wanted => match change {
            HoldChange::Voted(vote) => vec![vote],
            HoldChange::Revised { votes, .. } => votes.iter().collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn once_under_its_key(evidence: &Evidence<'_>) -> Verdict {
    let mut titles = std::collections::BTreeMap::<&str, u32>::new();
    let mut texts = std::collections::BTreeMap::<String, std::collections::BTreeSet<_>>::new();
    for (_, _, event) in evidence.events() {
        match event {
            Event::Session(SessionEvent::SessionOpened { title: Some(title), .. }) => {
                *titles.entry(title).or_default() += 1;
            }
            Event::Session(
                SessionEvent::MessageQueued { message, .. }
                | SessionEvent::MessageAdded { message },
            ) if message.role == domain::message::Role::User => {
                let text = message.text().into_owned();
                if text.starts_with("message ") {
                    texts.entry(text).or_default().insert(message.id);
                }
            }
            _ => {}
        }
    }
    if let Some((title, count)) = titles.iter().find(|(_, count)| **count > 1) {
        return Err(format!("`{title}` was opened {count} times"));
    }
    match texts.iter().find(|(_, ids)| ids.len() > 1) {
        Some((text, ids)) => Err(format!("`{text}` became {} messages", ids.len())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
