//! I-2, I-9, I-31, I-34 in chats: an answer that came over a chat is somebody's own press, of the button
//! that they pressed, on what they had before their eyes; it counts once, however often it was
//! delivered; and whoever was told that it counts finds it on disk.

use std::collections::BTreeMap;

use domain::answer::Answer;
use domain::digest::Digest;
use domain::event::Event;
use domain::hold::{HoldChange, HoldState, Vote};
use domain::id::HoldId;
use domain::person::{PersonId, Proof};
use ports::channel::Said;

use super::{Evidence, Verdict};
use crate::sim::chat::{NAME, Pressed, Word};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let inside = evidence.world.inside();
    let pressed = &inside.platform.pressed;
    if let Some(record) = inside.platform.unwritten.first() {
        return Err(format!("{record} was sent, and nothing on disk says that it may have been"));
    }
    let mut counted: BTreeMap<(HoldId, &PersonId, Digest), usize> = BTreeMap::new();
    let mut decided: BTreeMap<HoldId, &HoldState> = BTreeMap::new();
    for (index, _, event) in evidence.events() {
        if let Event::HoldDecided { hold, state } = event {
            decided.insert(*hold, state);
        }
        let Some((hold, vote)) = vote(event).filter(|(_, vote)| vote.via == NAME) else { continue };
        if !pressed.iter().any(|press| is_from(press, hold, vote)) {
            return Err(format!(
                "{} answered {hold} in a chat, and pressed no such button: {vote:?}",
                vote.by
            ));
        }
        if let Some(earlier) = counted.insert((hold, &vote.by, vote.digest), index) {
            return Err(format!(
                "{} counts twice for {hold}: in commits {earlier} and {index}",
                vote.by
            ));
        }
    }
    for press in pressed {
        for (word, journal) in &press.told {
            match word {
                Word::Counts(_) => {
                    let id = PersonId::new(press.who);
                    let on_disk = evidence.events().take_while(|(index, ..)| index < journal);
                    let mut votes = on_disk.filter_map(|(_, _, event)| vote(event));
                    let theirs = |(hold, vote): (HoldId, &Vote)| {
                        hold == press.hold
                            && vote.by == id
                            && vote.digest == press.seen
                            && is_meant(press, &vote.answer)
                    };
                    if press.forged || !votes.any(theirs) {
                        return Err(format!("{press:?} was told that it counts, and it does not"));
                    }
                }
                Word::Already(hold) => {
                    if decided.get(&hold.id).copied() != Some(&hold.state) {
                        let state = hold.state.name();
                        return Err(format!("{press:?} was told that {} is {state}", hold.id));
                    }
                }
                Word::Refused | Word::Busy => {}
            }
        }
    }
    Ok(())
}

fn vote(event: &Event) -> Option<(HoldId, &Vote)> {
    match event {
        Event::HoldDecided { hold, state } => Some((*hold, state.decision()?.vote()?)),
        Event::HoldUpdated { hold, change: HoldChange::Voted(vote) } => Some((*hold, vote)),
        _ => None,
    }
}

fn is_from(press: &Pressed, hold: HoldId, vote: &Vote) -> bool {
    let there = Proof::Channel { name: NAME.into(), message: press.message.clone() };
    let own = vote.by.as_str() == press.who && press.hold == hold && vote.proof == there;
    is_meant(press, &vote.answer) && own && !press.forged && press.seen == vote.digest
}

fn is_meant(press: &Pressed, answer: &Answer) -> bool {
    match answer {
        Answer::Approve { arguments: None, .. } => press.said == Said::Allow,
        Answer::Deny { .. } => press.said == Said::Deny,
        // The ids of options are their numbers.
        Answer::Choose(chosen) => {
            matches!(press.said, Said::Option(number) if *chosen == [number.to_string()])
        }
        _ => false,
    }
}
