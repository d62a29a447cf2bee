//! The functions that most time is spent in, thread by thread, from folded stacks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use anyhow::{Context, Result};

const LISTED: usize = 40;

#[derive(Default)]
struct Thread<'a> {
    samples: u64,
    /// At the top of the stack.
    own: HashMap<&'a str, u64>,
    /// Anywhere on it, counted once.
    within: HashMap<&'a str, u64>,
}

/// Each line is `thread;outermost;…;innermost count`.
pub(super) fn list(folded: &str) -> Result<String> {
    let mut threads = BTreeMap::<&str, Thread<'_>>::new();
    let mut all = 0;
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').context("a stack without a count")?;
        let count: u64 = count.parse().with_context(|| line.to_owned())?;
        let (thread, frames) = stack.split_once(';').unwrap_or((stack, "?"));
        let thread = threads.entry(family(thread)).or_default();
        let frames: Vec<&str> = frames.split(';').collect();
        thread.samples += count;
        all += count;
        if let Some(last) = frames.last() {
            *thread.own.entry(last).or_default() += count;
        }
        for frame in frames.into_iter().collect::<HashSet<_>>() {
            *thread.within.entry(frame).or_default() += count;
        }
    }
    let mut threads: Vec<_> = threads.into_iter().collect();
    threads.sort_by_key(|(_, thread)| std::cmp::Reverse(thread.samples));
    let mut text = String::new();
    for (name, thread) in threads {
        let share = |count: u64| 100.0 * count as f64 / all as f64;
        writeln!(text, "== {name}: {:.1} % of all samples ({})", share(thread.samples), all)?;
        for (kind, counts) in [("itself", &thread.own), ("with all it calls", &thread.within)] {
            writeln!(text, "-- {kind}, % of all samples")?;
            let mut counts: Vec<_> = counts.iter().collect();
            counts.sort_by_key(|(frame, count)| (std::cmp::Reverse(**count), **frame));
            for (frame, count) in counts.into_iter().take(LISTED) {
                if share(*count) >= 0.05 {
                    writeln!(text, "{:6.2}  {frame}", share(*count))?;
                }
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// Threads that do the same have names that differ by a number.
fn family(thread: &str) -> &str {
    thread.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_function_once_a_stack_and_threads_of_a_kind_together() {
        let text = list("w-1;a;b;a 3\nw-2;a;c 1\nmain;d 4\n").unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "== main: 50.0 % of all samples (8)",
                "-- itself, % of all samples",
                " 50.00  d",
                "-- with all it calls, % of all samples",
                " 50.00  d",
                "",
                "== w: 50.0 % of all samples (8)",
                "-- itself, % of all samples",
                " 37.50  a",
                " 12.50  c",
                "-- with all it calls, % of all samples",
                " 50.00  a",
                " 37.50  b",
                " 12.50  c",
                "",
            ]
        );
    }

    #[test]
    fn a_line_without_a_count_is_refused() {
        assert!(list("main;a;b").is_err());
    }
}
