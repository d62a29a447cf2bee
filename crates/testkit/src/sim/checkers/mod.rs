//! The promises, each in a file of its own. They read what the engine could not write: what tools did,
//! what clients were told, what the model heard, and the journal as it is on disk.

mod acknowledged_is_durable;
mod at_most_once;
mod cards_converge;
mod deliveries;
mod exactly_once;
mod expiry_never_allows;
#[cfg(test)]
mod fabricated;
mod first_answer_wins;
mod frozen_runs_nothing;
mod log_has_no_gaps;
mod no_effect_without_leave;
mod only_the_attempt_reports;
mod presses_mean_what_was_seen;
mod replay_is_identical;
mod results_are_true;
mod state_is_journal;
mod transcript_is_whole;
mod within_budget;

use std::collections::BTreeMap;

use domain::event::Event;
use domain::id::{SessionId, StreamId};
use ports::store::{Entry, Store as _};

use super::records::Records;
use super::world::{World, at_once};

/// What a checker says: nothing, or how the promise was broken.
pub(super) type Verdict = Result<(), String>;

type Checker = fn(&Evidence<'_>) -> Verdict;

const ALL: [(&str, Checker); 17] = [
    ("no_effect_without_leave", no_effect_without_leave::check),
    ("at_most_once", at_most_once::check),
    ("exactly_once", exactly_once::check),
    ("only_the_attempt_reports", only_the_attempt_reports::check),
    ("results_are_true", results_are_true::check),
    ("acknowledged_is_durable", acknowledged_is_durable::check),
    ("first_answer_wins", first_answer_wins::check),
    ("transcript_is_whole", transcript_is_whole::check),
    ("replay_is_identical", replay_is_identical::check),
    ("expiry_never_allows", expiry_never_allows::check),
    ("frozen_runs_nothing", frozen_runs_nothing::check),
    ("log_has_no_gaps", log_has_no_gaps::check),
    ("state_is_journal", state_is_journal::check),
    ("deliveries", deliveries::check),
    ("within_budget", within_budget::check),
    ("presses_mean_what_was_seen", presses_mean_what_was_seen::check),
    ("cards_converge", cards_converge::check),
];

pub(super) struct Evidence<'a> {
    world: &'a World,
    records: &'a Records,
    /// Every commit, in the order in which they were written.
    journal: Vec<Entry>,
    /// Where each stream's commits are in the journal.
    streams: BTreeMap<StreamId, Vec<usize>>,
    /// Some clock was set back or differed from another.
    clocks_lied: bool,
    /// Everything has come to its end, and the follower has caught up.
    is_over: bool,
}

/// Checks every promise; the first that is broken, by name.
pub(super) fn check(world: &World, is_over: bool) -> Result<(), (&'static str, String)> {
    let journal = at_once(world.disk.entries(None, 0, usize::MAX)).expect("the disk is there");
    let streams = streams_of(&journal);
    let (records, clocks_lied) = {
        let mut inside = world.inside();
        (std::mem::take(&mut inside.records), inside.clocks_lied)
    };
    let evidence = Evidence { world, records: &records, journal, streams, clocks_lied, is_over };
    let found = ALL.iter().find_map(|(name, check)| check(&evidence).err().map(|why| (*name, why)));
    drop(evidence);
    world.inside().records = records;
    found.map_or(Ok(()), Err)
}

fn streams_of(journal: &[Entry]) -> BTreeMap<StreamId, Vec<usize>> {
    let mut streams: BTreeMap<StreamId, Vec<usize>> = BTreeMap::new();
    for (index, entry) in journal.iter().enumerate() {
        streams.entry(entry.stream).or_default().push(index);
    }
    streams
}

impl Evidence<'_> {
    /// The commits of a session, each with its index in the journal.
    fn session(&self, id: SessionId) -> impl Iterator<Item = (usize, &Entry)> {
        let indices = self.streams.get(&StreamId::Session(id)).map_or(&[][..], Vec::as_slice);
        indices.iter().map(|index| (*index, &self.journal[*index]))
    }

    fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.streams.keys().filter_map(|stream| match stream {
            StreamId::Session(id) => Some(*id),
            _ => None,
        })
    }

    /// Every event with the index of its commit.
    fn events(&self) -> impl Iterator<Item = (usize, &Entry, &Event)> {
        self.journal
            .iter()
            .enumerate()
            .flat_map(|(index, entry)| entry.events.iter().map(move |event| (index, entry, event)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_the_simulation_names_every_checker() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/proof/simulation.md");
        let page = std::fs::read_to_string(page).expect("the page is there");
        for (name, _) in ALL {
            assert!(page.contains(&format!("| `{name}` |")), "{name} is not in its table");
        }
    }
}
