//! Simulated stories, one for each seed, on every core.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use testkit::sim::{self, Report};

use crate::wish::Wish;

/// Stories that one core takes at a time.
const AT_A_TIME: u64 = 50;
/// Stories between two signs of life.
const TELL_EVERY: u64 = 1_000;
/// So many stories must have seen everything. Fewer may have been too few for what is rare.
const ENOUGH: u64 = 2_000;

/// False if a story broke a promise, or if many stories never saw something that they should have.
pub(crate) fn run(wish: &Wish) -> bool {
    if !wish.json {
        println!("{} stories from seed {} on", wish.seeds, wish.seed);
    }
    let report = played(wish);
    let unseen = unseen(&report);
    if wish.json {
        println!("{}", told(&report, &unseen));
    } else {
        println!("{report}");
        for what in &unseen {
            println!("never happened: {what}");
        }
    }
    report.is_clean() && unseen.is_empty()
}

fn played(wish: &Wish) -> Report {
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let sum = Mutex::new(Report { first_seed: wish.seed, ..Report::default() });
    let sum_now = || sum.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let one_core = || {
        // What is broken is shown; more of the same would say nothing new.
        while sum_now().is_clean() {
            let from = next.fetch_add(AT_A_TIME, Ordering::Relaxed);
            if from >= wish.seeds {
                return;
            }
            let count = AT_A_TIME.min(wish.seeds - from);
            let report = sim::torture(wish.seed.wrapping_add(from), count, |_| {
                let played = done.fetch_add(1, Ordering::Relaxed) + 1;
                if !wish.json && played.is_multiple_of(TELL_EVERY) {
                    println!("{played} stories");
                }
            });
            sum_now().add(report);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(one_core);
        }
    });
    sum.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn unseen(report: &Report) -> Vec<&'static str> {
    // A report that ended early has another thing to say.
    match report.is_clean() && report.seeds >= ENOUGH {
        true => report.counts.unseen(),
        false => Vec::new(),
    }
}

fn told(report: &Report, unseen: &[&str]) -> Value {
    let broken: Vec<Value> = report
        .failed
        .iter()
        .map(|told| {
            let broken = told.broken.as_ref();
            json!({"seed": told.seed, "promise": broken.map(|it| it.promise),
                "how": broken.map(|it| it.how.clone())})
        })
        .collect();
    json!({"first_seed": report.first_seed, "seeds": report.seeds, "broken": broken,
        "faults": report.counts.every_fault(), "transitions": report.counts.transitions,
        "unseen": unseen})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(seeds: u64) -> Report {
        Report { seeds, ..Report::default() }
    }

    #[test]
    fn many_stories_must_have_seen_everything_and_a_few_need_not() {
        assert!(unseen(&report(ENOUGH - 1)).is_empty());
        assert!(unseen(&report(ENOUGH)).contains(&"disk full"));
    }

    #[test]
    fn stories_are_told_in_json_with_every_fault_and_where_they_began() {
        let wish = Wish { kills: 0, cuts: 0, seeds: 3, points: None, seed: 7, json: true };
        let told = told(&played(&wish), &["disk full"]);
        assert_eq!((&told["first_seed"], &told["seeds"]), (&json!(7), &json!(3)));
        assert_eq!((&told["broken"], &told["unseen"]), (&json!([]), &json!(["disk full"])));
        assert_eq!(told["faults"].as_object().map(|it| it.len()), Some(sim::FAULTS.len()));
        assert!(told["transitions"]["call.proposed → call.started"].is_u64(), "{told}");
    }
}
