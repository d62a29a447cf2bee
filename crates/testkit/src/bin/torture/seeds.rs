//! Simulated stories, one for each seed.

use serde_json::json;
use testkit::sim;

use crate::wish::Wish;

/// Stories between two signs of life.
const TELL_EVERY: u64 = 1_000;

/// False if a story broke a promise.
pub(crate) fn run(wish: &Wish) -> bool {
    let report = sim::torture(wish.seed, wish.seeds, |seed| {
        let played = seed - wish.seed + 1;
        if !wish.json && played.is_multiple_of(TELL_EVERY) {
            println!("{played} stories");
        }
    });
    if wish.json {
        let told = json!({"seeds": report.seeds, "broken": report.failed.len()});
        println!("{told}");
    } else {
        println!("{report}");
    }
    report.is_clean()
}
