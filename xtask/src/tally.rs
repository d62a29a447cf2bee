//! How many passed and how many failed, read from what the test runners print.

use std::ops::AddAssign;

use crate::job::Finished;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    pub(crate) const ONE_FAILED: Tally = Tally { passed: 0, failed: 1 };

    pub(crate) fn of_step(success: bool) -> Self {
        Tally { passed: success.into(), failed: (!success).into() }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Who ran the tests, and hence how the count is written.
#[derive(Clone, Copy)]
pub(crate) enum Runner {
    Nextest,
    Libtest,
    Node,
}

impl Runner {
    /// Lines that may carry a count.
    pub(crate) fn keep(self) -> fn(&str) -> bool {
        match self {
            Runner::Nextest => |line| line.trim_start().starts_with("Summary ["),
            Runner::Libtest => |line| line.starts_with("test result: "),
            Runner::Node => |line| node_count(line).is_some(),
        }
    }

    /// A runner that ended badly without naming a failed test (it did not compile, it crashed, it
    /// was ended) counts as one failed, and so does one that reported nothing at all.
    pub(crate) fn tally(self, finished: &Finished) -> Tally {
        let counted = match self {
            Runner::Nextest => finished.kept.iter().rev().find_map(|line| nextest(line)),
            Runner::Libtest => libtest(&finished.kept),
            Runner::Node => node(&finished.kept),
        };
        let mut tally = counted.unwrap_or(Tally::ONE_FAILED);
        if !finished.success && tally.failed == 0 {
            tally.failed = 1;
        }
        tally
    }
}

/// `Summary [ 0.4s] 5 tests run: 3 passed (1 slow), 1 failed, 1 timed out, 2 skipped`. When the run
/// was cut short it says `3/5 tests run`, and those that never ran did not pass.
fn nextest(line: &str) -> Option<Tally> {
    let (_, rest) = line.split_once(']')?;
    let (run, counts) = rest.split_once(':')?;
    let run = run.split_whitespace().next()?;
    let mut tally = Tally::default();
    for (count, word) in outside_brackets(counts).split(',').filter_map(|part| {
        let (count, word) = part.trim().split_once(' ')?;
        Some((count.parse::<u64>().ok()?, word.trim()))
    }) {
        match word {
            "passed" => tally.passed += count,
            "skipped" => {}
            _ => tally.failed += count,
        }
    }
    if let Some((ran, all)) = run.split_once('/') {
        tally.failed += all.parse::<u64>().ok()?.saturating_sub(ran.parse().ok()?);
    }
    Some(tally)
}

fn outside_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut outside = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

/// One `test result: ok. 3 passed; 0 failed; 0 ignored; …` per test binary.
fn libtest(lines: &[String]) -> Option<Tally> {
    let mut tally: Option<Tally> = None;
    for line in lines {
        let Some((_, counts)) = line.split_once(". ") else { continue };
        let sum = tally.get_or_insert_default();
        for part in counts.split(';') {
            match part.trim().split_once(' ') {
                Some((count, "passed")) => sum.passed += count.parse::<u64>().ok()?,
                Some((count, "failed")) => sum.failed += count.parse::<u64>().ok()?,
                _ => {}
            }
        }
    }
    tally
}

/// `# pass 3` in TAP, `ℹ pass 3` in the reporter for people. A later line replaces an earlier one,
/// because a test may print such a line itself and the summary comes last.
fn node(lines: &[String]) -> Option<Tally> {
    let count = |word| {
        lines.iter().rev().find_map(|line| node_count(line).filter(|(name, _)| *name == word))
    };
    let (_, passed) = count("pass")?;
    let (_, failed) = count("fail")?;
    let cancelled = count("cancelled").map_or(0, |(_, count)| count);
    Some(Tally { passed, failed: failed + cancelled })
}

fn node_count(line: &str) -> Option<(&str, u64)> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    let (name, count) = rest.split_once(' ')?;
    ["pass", "fail", "cancelled"].contains(&name).then_some(())?;
    Some((name, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runner: Runner, success: bool, output: &str, passed: u64, failed: u64) {
        let kept = output.lines().filter(|line| runner.keep()(line)).map(str::to_owned).collect();
        let finished = Finished { success, kept };
        assert_eq!(runner.tally(&finished), Tally { passed, failed }, "{output}");
    }

    #[test]
    fn nextest_counts() {
        let check = |success, output, passed, failed| {
            check(Runner::Nextest, success, output, passed, failed);
        };
        check(true, "     Summary [   0.012s] 3 tests run: 3 passed, 0 skipped", 3, 0);
        check(true, "  Summary [ 1.0s] 1 test run: 1 passed (1 slow, 1 leaky), 9 skipped", 1, 0);
        let mixed = "  Summary [ 1.0s] 6 tests run: 3 passed (1 flaky), 1 failed (1 due to being \
                     leaky), 1 exec failed, 1 timed out, 2 skipped";
        check(false, mixed, 3, 3);
        check(false, "  Summary [ 1.0s] 2/5 tests run: 1 passed, 1 failed, 0 skipped", 1, 4);
        check(false, "error: could not compile `domain`", 0, 1);
        check(false, "  Summary [ 0.0s] 0 tests run: 0 passed, 4 skipped", 0, 1);
    }

    #[test]
    fn libtest_counts_sum_over_binaries() {
        let ok = "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let bad = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured\n";
        check(Runner::Libtest, true, &ok.repeat(2), 10, 0);
        check(Runner::Libtest, false, &format!("{ok}noise\n{bad}"), 6, 2);
        check(Runner::Libtest, false, ok, 5, 1);
        check(Runner::Libtest, true, "nothing that looks like a result", 0, 1);
    }

    #[test]
    fn node_counts_in_both_reporters() {
        let tap = "# tests 4\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 0\n";
        check(Runner::Node, false, tap, 3, 1);
        check(Runner::Node, false, "ℹ tests 4\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\n", 2, 2);
        check(Runner::Node, true, "# pass 99\n# pass 1\n# fail 0\n", 1, 0);
        check(Runner::Node, false, "SyntaxError: Unexpected token", 0, 1);
    }
}
