//! I-35, I-37: every prompt of a hold that ended shows in the end how it ended, wherever it stands, and
//! no key has two messages.

use std::collections::BTreeSet;

use ports::store::Store as _;

use super::{Evidence, Verdict};
use crate::sim::world::at_once;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let inside = evidence.world.inside();
    let mut keys = BTreeSet::new();
    for message in &inside.platform.messages {
        if !keys.insert(message.key.as_str()) {
            return Err(format!("{} stands twice", message.key.as_str()));
        }
        let Some(look) = message.looks.last().filter(|_| evidence.is_over) else { continue };
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
