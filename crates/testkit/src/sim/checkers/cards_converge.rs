//! I-35, I-37: every prompt of a hold that ended shows in the end how it ended, wherever it stands, and
//! no chat has two prompts of one hold.

use std::collections::BTreeSet;

use ports::store::Store as _;

use super::{Evidence, Verdict};
use crate::sim::world::at_once;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let inside = evidence.world.inside();
    let mut standing = BTreeSet::new();
    for message in &inside.platform.messages {
        let Some(look) = message.looks.last() else { continue };
        // The platform takes one key for one message, so that only two keys can make two of them.
        if !standing.insert((look.hold.id, message.chat.as_str())) {
            return Err(format!("{} stands twice in {}", look.hold.id, message.chat));
        }
        if !evidence.is_over {
            continue;
        }
        let stands = at_once(evidence.world.disk.hold(look.hold.id)).expect("the disk is there");
        if !stands.as_ref().is_some_and(|hold| hold.state == look.hold.state) {
            return Err(format!(
                "{} in {} shows that {} is {}, and it is {:?}",
                message.id,
                message.chat,
                look.hold.id,
                look.hold.state.name(),
                stands.map(|hold| hold.state.name())
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::hold::{Hold, Question};
    use ports::channel::{DeliveryKey, Nonce};

    use super::check;
    use crate::sim::chat::{Look, Message, Platform};
    use crate::sim::checkers::fabricated::*;

    fn shows(platform: &mut Platform, chat: &str, looks: &[&Hold]) {
        let n = platform.messages.len() as u128;
        let look = |hold: &&Hold| Look { nonce: Nonce::make(n), hold: Arc::new((*hold).clone()) };
        platform.messages.push(Message {
            id: format!("m{n}"),
            chat: chat.into(),
            key: DeliveryKey::new(&format!("key{n}")).expect("a key"),
            looks: looks.iter().map(look).collect(),
        });
    }

    #[test]
    fn a_prompt_that_stands_twice_or_shows_what_is_not_so_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let other = hold(2, Question::Approve, Some(&wipe));
        let mut ended = asked.clone();
        ended.decided(denied(&asked, "ana"));
        let shown = |prompts: &[(&str, &[&Hold])]| {
            let disk = story().rows(None, &[&ended, &other], &[]);
            disk.chats(|platform| {
                prompts.iter().for_each(|(chat, looks)| shows(platform, chat, looks));
            })
        };
        let both: &[&Hold] = &[&asked, &ended];
        shown(&[("room", both), ("with ana", both), ("room", &[&other])]).over().passes(check);
        shown(&[("room", &[&asked])]).passes(check);
        shown(&[("room", &[&asked])]).over().breaks(check, "shows that");
        shown(&[("room", both), ("room", both)]).breaks(check, "stands twice in room");
    }
}
