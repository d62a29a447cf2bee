//! The core and the engine, simulated: 2,000 seeds of crashes, faults, races and late answers.

use testkit::sim::{self, Report};

/// In quarters, so that all processors of the machine are of use.
const SEEDS: u64 = 2_000;
const QUARTER: u64 = SEEDS / 4;

fn quarter(which: u64) -> Report {
    let quarter: u64 = std::env::var("SIMN").ok().and_then(|n| n.parse().ok()).unwrap_or(QUARTER);
    let report = sim::torture(which * quarter, quarter, |_| {});
    eprintln!("{report}");
    assert!(report.is_clean(), "{} seeds broke a promise", report.failed.len());
    report
}

#[test]
fn sim_first_quarter() {
    quarter(0);
}

/// `HOLDPOINT_SEED=7 cargo nextest run -p testkit --test sim sim_one_seed --no-capture`
#[test]
fn sim_one_seed_can_be_told_whole() {
    let wanted = std::env::var("HOLDPOINT_SEED").ok();
    let seed = wanted.as_ref().map_or(0, |seed| seed.parse().expect("HOLDPOINT_SEED is a number"));
    let told = sim::play(seed, wanted.is_some());
    eprintln!("{told}");
    assert!(told.broken.is_none(), "seed {seed} broke a promise");
}
