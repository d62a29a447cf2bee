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

#[cfg(test)]
mod tests {
    use domain::id::StreamId;

    use super::check;
    use crate::sim::checkers::fabricated::*;
    use crate::sim::records::Seen;

    fn written() -> Fabricated {
        story().then([opened_by("ana")]).at(0, StreamId::Global, [frozen(), thawed()])
    }

    fn followed(positions: &[u64]) -> Fabricated {
        let mut story = written();
        let events: Vec<_> = story
            .journal
            .iter()
            .flat_map(|entry| entry.events.iter().map(|event| (entry.stream, event.clone())))
            .collect();
        for position in positions {
            let (stream, event) = events[*position as usize - 1].clone();
            story.records.followed.push(Seen { position: *position, stream, event });
        }
        story
    }

    #[test]
    fn positions_that_are_not_the_next_are_found() {
        written().passes(check);
        let mut gap = written();
        gap.journal[1].first += 1;
        gap.breaks(check, "has position 2");
        let mut gap = written();
        gap.journal[1].global += 1;
        gap.breaks(check, "(3 over all)");
    }

    #[test]
    fn what_a_follower_missed_or_got_twice_is_found() {
        followed(&[1, 2]).passes(check);
        followed(&[1, 2, 3]).over().passes(check);
        followed(&[1, 2]).over().breaks(check, "got 2 of 3 events");
        followed(&[1, 3]).breaks(check, "at position 3");
        followed(&[1, 2, 2]).breaks(check, "at position 2");
        let mut lost = followed(&[1, 2, 3]);
        lost.journal.pop();
        lost.breaks(check, "which is not on disk");
        let mut other = followed(&[1]);
        other.records.followed[0].event = thawed();
        other.breaks(check, "a follower got house.thawed");
    }
}
