//! A simulation of the real core and engine: several processes over one disk, with a fake clock, store,
//! tools, model, callback_sender and people, one thread, and everything that can go wrong drawn from a seed.
//!
//! The same seed and build give the same story, to the line. It does not simulate the doors (HTTP, pages),
//! the real stores or the real tool hosts: those have tests and crash tests of their own.

mod callback_sender;
mod chat;
mod checkers;
mod clock;
mod counts;
mod crowd;
mod executor;
mod mark;
mod model;
mod node;
mod records;
mod settings;
mod store;
mod story;
mod tools;
mod trace;
mod transitions;
mod trouble;
mod waits;
mod weather;
mod world;

use std::fmt;

pub use counts::Counts;
pub use transitions::TRANSITIONS;
pub use weather::FAULTS;

use story::Story;

/// How one seed went.
#[derive(Debug)]
pub struct Told {
    pub seed: u64,
    /// Of the whole trace: equal for equal seeds of one build.
    pub hash: u64,
    pub lines: u64,
    pub counts: Counts,
    pub broken: Option<Broken>,
    /// The end of the trace, or all of it if that was wanted.
    pub trace: String,
}

/// A promise that did not hold.
#[derive(Debug)]
pub struct Broken {
    /// The checker, by its file's name; `liveness` if something never came to its end.
    pub promise: &'static str,
    pub how: String,
}

/// Plays one seed. One in four stays rough to the end; in the others the faults stop, and all must finish.
pub fn play(seed: u64, whole_trace: bool) -> Told {
    let mut story = Story::new(seed, whole_trace);
    story.rough();
    let broken = |(promise, how)| Broken { promise, how };
    let mut found = checkers::check(&story.world, false).err().map(broken);
    if found.is_none() && seed % 4 != 3 {
        found = match story.calm() {
            Err(how) => Some(Broken { promise: "liveness", how }),
            Ok(()) => {
                story.catch_up();
                checkers::check(&story.world, true).err().map(broken)
            }
        };
    }
    story.told(seed, found)
}

impl Story {
    fn told(self, seed: u64, broken: Option<Broken>) -> Told {
        let mut inside = self.world.inside();
        let mut counts = std::mem::take(&mut inside.counts);
        counts.commits = inside.journal() as u64;
        counts.effects = inside.records.effects.len() as u64;
        counts.requests = inside.records.heard.len() as u64;
        let promises = |told: &&records::Told| {
            !matches!(told.what, records::Word::Refused(_) | records::Word::TryLater)
        };
        counts.acknowledged = inside.records.told.iter().filter(promises).count() as u64;
        counts.transitions = transitions::count(&self.world);
        let trace = &inside.trace;
        Told { seed, hash: trace.hash(), lines: trace.lines(), counts, broken, trace: trace.text() }
    }
}

/// How many seeds went.
#[derive(Debug, Default)]
pub struct Report {
    pub first_seed: u64,
    pub seeds: u64,
    pub counts: Counts,
    pub failed: Vec<Told>,
}

/// Failures beyond this say nothing new.
const FAILED_MAX: usize = 5;

/// Plays so many seeds from the first on. `progress` hears of each that is done.
pub fn torture(first_seed: u64, count: u64, mut progress: impl FnMut(u64)) -> Report {
    let mut report = Report { first_seed, ..Report::default() };
    for seed in first_seed..first_seed.saturating_add(count) {
        let told = play(seed, false);
        report.seeds += 1;
        report.counts.add(&told.counts);
        if told.broken.is_some() {
            report.failed.push(told);
            if report.failed.len() == FAILED_MAX {
                break;
            }
        }
        progress(seed);
    }
    report
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty()
    }

    /// Reports of several threads are one.
    pub fn add(&mut self, other: Report) {
        self.first_seed = self.first_seed.min(other.first_seed);
        self.seeds += other.seeds;
        self.counts.add(&other.counts);
        self.failed.extend(other.failed);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { seeds, first_seed, .. } = self;
        writeln!(f, "{seeds} seeds from {first_seed} on, {} broken", self.failed.len())?;
        write!(f, "{}", self.counts)?;
        self.failed.iter().try_for_each(|told| write!(f, "\n{told}"))
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = self.seed;
        write!(f, "{}", self.trace)?;
        match &self.broken {
            None => writeln!(f, "seed {seed}: every promise held ({} lines)", self.lines),
            Some(Broken { promise, how }) => {
                writeln!(f, "seed {seed} broke {promise}: {how}")?;
                writeln!(
                    f,
                    "again, with the whole trace: HOLDPOINT_SEED={seed} cargo nextest run -p testkit --test proof sim_one_seed --no-capture"
                )
            }
        }
    }
}
