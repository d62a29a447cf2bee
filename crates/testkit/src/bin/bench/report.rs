//! A table for people, JSON lines for programs.

use std::time::Duration;

use serde_json::json;

/// What one measurement gave.
pub(crate) struct Measured {
    pub(crate) cycles: u64,
    pub(crate) took: Duration,
    /// From sending the answer to the tool's first instruction.
    pub(crate) answer_to_start: Vec<Duration>,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.cycles as f64 / self.took.as_secs_f64()
    }

    fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.answer_to_start.clone();
        sorted.sort();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }
}

pub(crate) struct Report {
    json: bool,
}

impl Report {
    pub(crate) fn new(json: bool) -> Report {
        if !json {
            println!(
                "{:<58} {:>10} {:>8} {:>8} {:>9} {:>9}",
                "", "cycles/s", "of A", "of B", "p50 ms", "p99 ms"
            );
        }
        Report { json }
    }

    pub(crate) fn floor(&self, name: &str, rate: f64) {
        if self.json {
            println!("{}", json!({"floor": name, "cycles_per_s": rate}));
        } else {
            println!("{name:<58} {rate:>10.0}");
        }
    }

    pub(crate) fn cycles(&self, name: &str, at_once: usize, measured: &Measured, a: f64, b: f64) {
        let rate = measured.rate();
        let (p50, p99) = (measured.percentile(50), measured.percentile(99));
        if self.json {
            println!(
                "{}",
                json!({"measure": name, "at_once": at_once, "cycles_per_s": rate, "of_a": rate / a, "of_b": rate / b,
                       "answer_to_start_p50_ms": p50, "answer_to_start_p99_ms": p99})
            );
        } else {
            let name = format!("{name}, {at_once} at once");
            println!(
                "{name:<58} {rate:>10.0} {:>8.2} {:>8.2} {p50:>9.2} {p99:>9.2}",
                rate / a,
                rate / b
            );
        }
    }

    pub(crate) fn end(&self) {
        if !self.json {
            println!("p50 and p99: from the answer being sent to the tool having started.");
        }
    }
}
