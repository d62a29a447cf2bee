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
