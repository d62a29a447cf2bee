//! I-10: whoever was told that something was done finds it on disk, and it was there when they were
//! told. What was sent again under its key happened once.

use std::sync::Arc;

use domain::event::Event;
use domain::hold::{Hold, HoldChange, HoldState, Vote};
use domain::id::{HoldId, StreamId};
use ports::store::Entry;

use super::{Evidence, Verdict};
use crate::sim::crowd::Errand;
use crate::sim::records::{Told, Word};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    for told in &evidence.records.told {
        if !is_there(evidence, told) {
            return Err(format!(
                "{:?} was answered with {:?}, and is not among the {} commits that were on disk",
                told.errand, told.what, told.journal
            ));
        }
    }
    once_under_its_key(evidence)
}

fn is_there(evidence: &Evidence<'_>, told: &Told) -> bool {
    let on_disk = &evidence.journal[..told.journal.min(evidence.journal.len())];
    let any = |is: &dyn Fn(&Entry, &Event) -> bool| {
        on_disk.iter().any(|entry| entry.events.iter().any(|event| is(entry, event)))
    };
    match (&told.errand, &told.what) {
        (_, Word::Refused(_) | Word::TryLater) => true,
        (Errand::Open { .. }, Word::Session(id)) => {
            any(&|entry, event| is_opened(event) && entry.stream == StreamId::Session(*id))
        }
        (Errand::Open { .. }, Word::Again(id)) => {
            any(&|entry, event| is_opened(event) && entry.stream.to_string().as_bytes() == *id)
        }
        (Errand::Say { .. }, Word::Said(said)) => {
            any(&|_, event| event.message_id() == Some(said.message))
        }
        (Errand::Say { .. }, Word::Again(id)) => any(&|_, event| {
            event.message_id().is_some_and(|message| message.to_string().as_bytes() == *id)
        }),
        (Errand::Answer { who, hold, answer, .. }, Word::Hold(_)) => any(&|_, event| {
            votes(event, *hold)
                .iter()
                .any(|vote| vote.by.as_str() == *who && vote.answer.name() == answer.name())
        }),
        (Errand::CancelHold { hold, .. }, Word::Hold(_)) => {
            any(&|_, event| is_withdrawn(event, *hold)) || is_revoked(on_disk, *hold)
        }
        (Errand::Claim { hold, on, .. }, Word::Hold(_)) => {
            !*on || any(&|_, event| is_claimed(event, *hold))
        }
        (Errand::CancelRun { run: wanted, .. }, Word::Done) => {
            any(&|_, event| matches!(event, Event::RunStopping { run, .. } if run == wanted))
        }
        (Errand::RetryRun { run: wanted, .. }, Word::Done) => {
            any(&|_, event| matches!(event, Event::RunResumed { run } if run == wanted))
        }
        (Errand::RevokeGrant { grant: wanted }, Word::Done) => {
            any(&|_, event| matches!(event, Event::GrantRevoked { grant, .. } if grant == wanted))
        }
        (Errand::Freeze, Word::Done) => any(&|_, event| matches!(event, Event::Frozen { .. })),
        (Errand::Thaw, Word::Done) => true,
        (Errand::Ask { .. }, Word::Hold(hold)) => any(&|_, event| is_held(event, hold)),
        (Errand::Ask { .. }, Word::Again(id)) => {
            any(&|entry, _| entry.stream.to_string().as_bytes() == *id)
        }
        (Errand::Report { hold: wanted, .. }, Word::Hold(_)) => any(
            &|_, event| matches!(event, Event::HoldUpdated { hold, change: HoldChange::Outcome(_) } if hold == wanted),
        ),
        _ => false,
    }
}

fn is_opened(event: &Event) -> bool {
    matches!(event, Event::SessionOpened { .. })
}

fn is_held(event: &Event, hold: &Hold) -> bool {
    matches!(event, Event::HoldOpened { hold: opened } if opened.id == hold.id)
}

fn is_claimed(event: &Event, wanted: HoldId) -> bool {
    matches!(event, Event::HoldUpdated { hold, change: HoldChange::Claimed(_) } if *hold == wanted)
}

fn is_withdrawn(event: &Event, wanted: HoldId) -> bool {
    match event {
        Event::HoldDecided { hold, state: HoldState::Cancelled { .. } } => *hold == wanted,
        Event::HoldUpdated { hold, change: HoldChange::Outcome(_) } => *hold == wanted,
        _ => false,
    }
}

/// An approval that was taken back settles its call.
fn is_revoked(on_disk: &[Entry], wanted: HoldId) -> bool {
    let call = on_disk.iter().flat_map(|entry| &*entry.events).find_map(|event| match event {
        Event::HoldOpened { hold } if hold.id == wanted => hold.call_id(),
        _ => None,
    });
    let settles = |event: &Event| matches!(event, Event::CallSettled { call: settled, .. } if Some(*settled) == call);
    on_disk.iter().any(|entry| entry.events.iter().any(settles))
}

fn votes(event: &Event, wanted: HoldId) -> Vec<&Arc<Vote>> {
    match event {
        Event::HoldDecided { hold, state } if *hold == wanted => {
            state.decision().and_then(|decision| decision.vote()).into_iter().collect()
        }
        Event::HoldUpdated { hold, change } if *hold == wanted => match change {
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
            Event::SessionOpened { title: Some(title), .. } => {
                *titles.entry(title).or_default() += 1;
            }
            Event::MessageQueued { message, .. } | Event::MessageAdded { message }
                if message.role == domain::message::Role::User =>
            {
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
