//! One mutant on trial: it must build, and a test must fail because of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::list::Mutant;
use super::workshop::Workshop;
use crate::setup;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The tests that failed.
    Caught(Vec<String>),
    Survived,
    /// It proves nothing: the compiler noticed, and not a test.
    DoesNotBuild,
    /// No test has the name that the mutant gives.
    NoSuchTest,
}

pub(super) fn run(workshop: &Workshop, mutant: &Mutant) -> Result<Verdict> {
    eprintln!("\n== {}: {}", mutant.name, mutant.breaks);
    workshop.with(mutant, || {
        let tests = Tests::of(mutant);
        if !tests.build(workshop)? {
            return Ok(Verdict::DoesNotBuild);
        }
        let ran = tests.run(workshop)?;
        Ok(match (ran.failed.is_empty(), ran.any) {
            (false, _) => Verdict::Caught(ran.failed),
            (true, true) => Verdict::Survived,
            (true, false) => Verdict::NoSuchTest,
        })
    })
}

/// The tests of all chosen mutants on the sound tree; gives those that fail.
pub(super) fn baseline(workshop: &Workshop, mutants: &[&Mutant]) -> Result<Vec<String>> {
    let mut targets: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for mutant in mutants {
        let names = targets.entry((&mutant.package, &mutant.target)).or_default();
        names.extend(mutant.tests.split_whitespace());
    }
    let mut failed = Vec::new();
    for ((package, target), names) in targets {
        let tests = Tests { package, target, names: names.into_iter().collect() };
        if !tests.build(workshop)? {
            failed.push(format!("{package} (does not build)"));
            continue;
        }
        failed.extend(tests.run(workshop)?.failed);
    }
    Ok(failed)
}

/// Some tests of one target.
struct Tests<'a> {
    package: &'a str,
    target: &'a str,
    names: Vec<&'a str>,
}

struct Ran {
    failed: Vec<String>,
    any: bool,
}

impl<'a> Tests<'a> {
    fn of(mutant: &'a Mutant) -> Tests<'a> {
        let names = mutant.tests.split_whitespace().collect();
        Tests { package: &mutant.package, target: &mutant.target, names }
    }

    fn choice(&self) -> Vec<&'a str> {
        match self.target {
            "lib" => vec!["--package", self.package, "--lib"],
            test => vec!["--package", self.package, "--test", test],
        }
    }

    fn build(&self, workshop: &Workshop) -> Result<bool> {
        let job = workshop.cargo().args(["test", "--quiet", "--no-run"]).args(self.choice());
        Ok(job.run()?.success)
    }

    fn run(&self, workshop: &Workshop) -> Result<Ran> {
        let job = if setup::has_nextest() {
            let words = ["nextest", "run", "--profile", "mutants"];
            workshop.cargo().args(words).args(self.choice()).args(&self.names)
        } else {
            let words = ["test", "--no-fail-fast"];
            workshop.cargo().args(words).args(self.choice()).args(["--"]).args(&self.names)
        };
        let finished = job.keep(|line| verdict_of(line).is_some()).run()?;
        let verdicts: Vec<(bool, String)> =
            finished.kept.iter().filter_map(|line| verdict_of(line)).collect();
        let failed: BTreeSet<String> =
            verdicts.iter().filter(|(passed, _)| !passed).map(|(_, name)| name.clone()).collect();
        Ok(Ran { failed: failed.into_iter().collect(), any: !verdicts.is_empty() })
    }
}

/// Whether a line says how a test ended, and which: from nextest or from `cargo test`.
fn verdict_of(line: &str) -> Option<(bool, String)> {
    if let Some(told) = line.strip_prefix("test ") {
        let (name, how) = told.rsplit_once(" ... ")?;
        return Some((how.starts_with("ok"), name.to_owned()));
    }
    let mut words = line.split_whitespace();
    let how = words.next()?;
    let passed = how == "PASS";
    // A test that hangs or that brings its process down has noticed, too.
    let failed = how == "FAIL" || how == "TIMEOUT" || how.starts_with("SIG");
    let timed = words.next()?.starts_with('[');
    let name = words.next_back()?;
    (timed && (passed || failed)).then(|| (passed, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_are_understood() {
        for (line, passed, name) in [
            (
                "        FAIL [   0.006s] (1/3) domain::machine circle::i16_a",
                false,
                "circle::i16_a",
            ),
            ("        PASS [   0.006s] (1/3) domain::machine circle::i16_a", true, "circle::i16_a"),
            (
                "     TIMEOUT [  30.006s] (1/3) engine::runtime follow::i36_b",
                false,
                "follow::i36_b",
            ),
            (
                "     SIGABRT [   0.106s] (1/3) engine::runtime follow::i36_b",
                false,
                "follow::i36_b",
            ),
            ("test circle::i16_a ... FAILED", false, "circle::i16_a"),
            ("test circle::i16_a ... ok", true, "circle::i16_a"),
        ] {
            assert_eq!(verdict_of(line), Some((passed, name.to_owned())), "{line}");
        }
        for line in [
            "     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 100 skipped",
            "        SLOW [> 60.000s] (1/3) domain::machine circle::i16_a",
            "FAIL",
            "",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored",
        ] {
            assert_eq!(verdict_of(line), None, "{line}");
        }
    }
}
