//! While everything is frozen no call starts, on whatever node.

use domain::event::Event;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut frozen_since = None;
    for (index, entry, event) in evidence.events() {
        match event {
            Event::Frozen { .. } => frozen_since = Some(index),
            Event::Thawed { .. } => frozen_since = None,
            Event::CallStarted { call, .. } => {
                if let Some(since) = frozen_since {
                    return Err(format!(
                        "{call} of {} was started by commit {index}, and all was frozen since commit {since}",
                        entry.stream
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
