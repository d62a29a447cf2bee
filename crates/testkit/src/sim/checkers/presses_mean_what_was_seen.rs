//! I-2, I-9, I-31, I-34 in chats: an answer that came over a chat is somebody's own press, of the button
//! that they pressed, on what they had before their eyes; it counts once, however often it was
//! delivered; and whoever was told that it counts finds it on disk.

use std::collections::{BTreeMap, BTreeSet};

use domain::answer::Answer;
use domain::digest::Digest;
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::hold::{HoldChange, HoldState, Vote};
use domain::id::HoldId;
use domain::person::{PersonId, Proof};
use ports::channel::ButtonAction;

use super::{Evidence, Verdict};
use crate::sim::chat::{NAME, Pressed, Word};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let inside = evidence.world.inside();
    let pressed = &inside.platform.pressed;
    if let Some(record) = inside.platform.unwritten.first() {
        return Err(format!("{record} was sent, and nothing on disk says that it may have been"));
    }
    let mut counted: BTreeMap<(HoldId, &PersonId, Digest), (usize, &Vote)> = BTreeMap::new();
    // Holds whose last vote came while all was frozen: only those can be complete and undecided.
    let mut waiting: BTreeSet<HoldId> = BTreeSet::new();
    let mut is_frozen = false;
    let mut decided: BTreeMap<HoldId, &HoldState> = BTreeMap::new();
    for (index, _, event) in evidence.events() {
        match event {
            Event::Session(SessionEvent::Hold(HoldEvent::Decided { hold, state }))
            | Event::ExternalHold(HoldEvent::Decided { hold, state }) => {
                decided.insert(*hold, state);
            }
            Event::Global(GlobalEvent::Frozen { .. }) => is_frozen = true,
            Event::Global(GlobalEvent::Thawed { .. }) => is_frozen = false,
            Event::Session(SessionEvent::Hold(HoldEvent::Updated { hold, .. }))
            | Event::ExternalHold(HoldEvent::Updated { hold, .. })
                if is_frozen =>
            {
                waiting.insert(*hold);
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Updated {
                hold,
                change: HoldChange::Voted(_),
            }))
            | Event::ExternalHold(HoldEvent::Updated { hold, change: HoldChange::Voted(_) }) => {
                waiting.remove(hold);
            }
            _ => {}
        }
        let Some((hold, vote)) = vote(event).filter(|(_, vote)| vote.via == NAME) else { continue };
        if !pressed.iter().any(|press| is_from(press, hold, vote)) {
            return Err(format!(
                "{} answered {hold} in a chat, and pressed no such button: {vote:?}",
                vote.by
            ));
        }
        let before = counted.insert((hold, &vote.by, vote.digest), (index, vote));
        // What was answered while all was frozen counts at once, and decides after the thaw; until then a yes
        // can be taken back by a no.
        let may_follow = |earlier: &Vote| match event.hold_event() {
            Some(HoldEvent::Decided { state: HoldState::Denied(_), .. })
                if waiting.contains(&hold) =>
            {
                earlier == vote || matches!(earlier.answer, Answer::Approve { .. })
            }
            Some(HoldEvent::Decided { .. }) => earlier == vote,
            _ => false,
        };
        if let Some((earlier, _)) = before.filter(|(_, earlier)| !may_follow(earlier)) {
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
    match event.hold_event()? {
        HoldEvent::Decided { hold, state } => Some((*hold, state.decision()?.vote()?)),
        HoldEvent::Updated { hold, change: HoldChange::Voted(vote) } => Some((*hold, vote)),
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
        Answer::Approve { arguments: None, .. } => press.said == ButtonAction::Allow,
        Answer::Deny { .. } => press.said == ButtonAction::Deny,
        // The ids of options are their numbers.
        Answer::Choose(chosen) => {
            matches!(press.said, ButtonAction::Option(number) if *chosen == [number.to_string()])
        }
        Answer::Fill(form) => {
            press.said == ButtonAction::Form && press.filled.as_ref() == Some(form)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::hold::{Decision, Hold, Question};
    use serde_json::json;

    use super::*;
    use crate::sim::checkers::fabricated::{vote, *};

    fn asked() -> Hold {
        let wipe = call("wipe", 1);
        hold(1, Question::Approve, Some(&wipe))
    }

    fn press(said: ButtonAction) -> Pressed {
        Pressed {
            who: "ana",
            hold: asked().id,
            seen: asked().digest(),
            said,
            filled: (said == ButtonAction::Form).then(|| json!({"n": 3})),
            message: "m1".into(),
            forged: false,
            told: Vec::new(),
        }
    }

    fn in_chat(answer: Answer) -> Vote {
        let there = Proof::Channel { name: NAME.into(), message: "m1".into() };
        Vote { via: NAME.into(), proof: there, ..Vote::clone(&vote(&asked(), "ana", answer)) }
    }

    fn counts(vote: &Vote) -> Event {
        updated(&asked(), HoldChange::Voted(Arc::new(vote.clone())))
    }

    #[test]
    fn a_vote_that_nobody_pressed_is_found() {
        let chose = |id: &str| Answer::Choose(vec![id.into()]);
        let filled = |n| Answer::Fill(json!({ "n": n }));
        for (said, answer) in [
            (ButtonAction::Allow, yes()),
            (ButtonAction::Deny, no()),
            (ButtonAction::Option(2), chose("2")),
            (ButtonAction::Form, filled(3)),
        ] {
            story().pressed(press(said)).then([counts(&in_chat(answer))]).passes(check);
        }
        for (said, answer) in [
            (ButtonAction::Deny, yes()),
            (ButtonAction::Allow, no()),
            (ButtonAction::Option(1), chose("2")),
            (ButtonAction::Form, filled(4)),
            (ButtonAction::Allow, filled(3)),
        ] {
            let other = story().pressed(press(said)).then([counts(&in_chat(answer))]);
            other.breaks(check, "pressed no such button");
        }
        let yes = in_chat(yes());
        for pressed in [
            Pressed { who: "bob", ..press(ButtonAction::Allow) },
            Pressed { hold: hold(2, Question::Approve, None).id, ..press(ButtonAction::Allow) },
            Pressed { seen: Digest::of(b"another look"), ..press(ButtonAction::Allow) },
            Pressed { message: "m2".into(), ..press(ButtonAction::Allow) },
            Pressed { forged: true, ..press(ButtonAction::Allow) },
        ] {
            story().pressed(pressed).then([counts(&yes)]).breaks(check, "pressed no such button");
        }
        let twice =
            story().pressed(press(ButtonAction::Allow)).then([counts(&yes)]).then([counts(&yes)]);
        twice.breaks(check, "counts twice");
    }

    #[test]
    fn only_a_yes_that_waits_for_a_thaw_is_taken_back() {
        let pressed =
            || story().pressed(press(ButtonAction::Allow)).pressed(press(ButtonAction::Deny));
        let no = || {
            let vote = Arc::new(in_chat(no()));
            let voters = vec![vote.by.clone()];
            decided(&asked(), HoldState::Denied(Decision::People { vote, voters }))
        };
        let yes = || counts(&in_chat(yes()));
        pressed().then([frozen(), yes(), no()]).passes(check);
        pressed().then([yes(), no()]).breaks(check, "counts twice");
        pressed().then([frozen(), thawed(), yes(), no()]).breaks(check, "counts twice");
    }

    #[test]
    fn words_that_are_not_true_are_found() {
        let hold = Arc::new(asked());
        let told =
            |word, journal| Pressed { told: vec![(word, journal)], ..press(ButtonAction::Allow) };
        let sound = || story().then([counts(&in_chat(yes()))]);
        let counted = |journal| told(Word::Counts(hold.clone()), journal);
        sound().pressed(counted(1)).passes(check);
        sound()
            .pressed(press(ButtonAction::Allow))
            .pressed(counted(0))
            .breaks(check, "told that it counts");
        let forged = Pressed { forged: true, ..counted(1) };
        sound()
            .pressed(press(ButtonAction::Allow))
            .pressed(forged)
            .breaks(check, "told that it counts");
        let other = Pressed { said: ButtonAction::Deny, ..counted(1) };
        sound()
            .pressed(press(ButtonAction::Allow))
            .pressed(other)
            .breaks(check, "told that it counts");
        let ended = decided(&asked(), denied(&asked(), "bob"));
        let mut no = asked();
        no.decided(denied(&asked(), "bob"));
        let already = |hold: &Hold| told(Word::Already(Arc::new(hold.clone())), 1);
        story().then([ended.clone()]).pressed(already(&no)).passes(check);
        story().pressed(already(&no)).breaks(check, "was told that");
    }

    #[test]
    fn a_prompt_that_is_not_on_disk_is_found() {
        let sent = story().chats(|platform| platform.unwritten.push("d/1".into()));
        sent.breaks(check, "d/1 was sent");
    }
}
