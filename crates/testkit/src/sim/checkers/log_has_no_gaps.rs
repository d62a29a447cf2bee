//! I-36: positions are consecutive, in each stream and over all; and a follower that went from server to
//! server got every event once, in order.

use std::collections::BTreeMap;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut global = 1;
    let mut streams = BTreeMap::new();
    for entry in &evidence.journal {
        let next = streams.entry(entry.stream).or_insert(1);
        if entry.first != *next || entry.global != global {
            return Err(format!(
                "{} has position {} ({} over all), and {} ({global}) was next",
                entry.stream, entry.first, entry.global, *next
            ));
        }
        *next += entry.events.len() as u64;
        global += entry.events.len() as u64;
    }
    let followed = &evidence.records.followed;
    let mut written = evidence.events();
    for (position, seen) in (1..).zip(followed) {
        let Some((_, entry, event)) = written.next() else {
            return Err(format!("a follower saw position {position}, which is not on disk"));
        };
        if seen.position != position || seen.stream != entry.stream || seen.event != *event {
            return Err(format!(
                "a follower got {} of {} at position {}, and {} of {} is at {position}",
                seen.event.name(),
                seen.stream,
                seen.position,
                event.name(),
                entry.stream
            ));
        }
    }
    if evidence.is_over && followed.len() as u64 + 1 != global {
        return Err(format!(
            "a follower got {} of {} events, and nothing more came",
            followed.len(),
            global - 1
        ));
    }
    Ok(())
}
