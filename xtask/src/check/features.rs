//! The library `holdpoint` as others embed it: it compiles with few of its features, and then compiles less than
//! half of the packages that the program needs.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use super::found;
use crate::checkout::Checkout;
use crate::job::Job;
use crate::tally::Tally;

/// One for each way to be small, and one for each feature whose code others share.
const CHOICES: [&str; 8] = [
    "",
    "sqlite",
    "postgres",
    "sqlite,server",
    "sqlite,anthropic",
    "sqlite,mcp",
    "sqlite,channel-slack",
    "sql,http,openai,channel-email",
];

/// What a program that embeds us with a data folder asks for.
const SMALL: &str = "sqlite";

pub(super) fn run(here: &Checkout) -> Result<Tally> {
    let mut clean = true;
    for features in CHOICES {
        let words =
            ["clippy", "--quiet", "--package", "holdpoint", "--lib", "--no-default-features"];
        let chosen = ["--features", features, "--", "--deny", "warnings"];
        let job = Job::cargo().args(words).args(chosen).within(&here.root).limit_minutes(30);
        clean &= job.run()?.success;
    }
    let all = packages(here, &[])?;
    let small = packages(here, &["--no-default-features", "--features", SMALL])?;
    let half = is_less_than_half(small, all);
    if let Err(why) = &half {
        eprintln!("{why}");
    }
    Ok(found(clean && half.is_ok()))
}

fn packages(here: &Checkout, features: &[&str]) -> Result<usize> {
    let words = ["tree", "--package", "holdpoint", "--edges", "normal,build", "--prefix", "none"];
    let job = Job::cargo().args(words).args(features.iter().copied()).within(&here.root);
    let listed = job.keep(|_| true).quiet().run()?;
    ensure!(listed.success, "`cargo tree` does not know the packages of `holdpoint`");
    Ok(distinct(listed.kept.iter().map(String::as_str)))
}

/// `serde v1.0.229 (proc-macro) (*)`: a name and a version are one package, however often they are listed.
fn distinct<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let named = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    named.collect::<BTreeSet<_>>().len()
}

fn is_less_than_half(small: usize, all: usize) -> Result<(), String> {
    match small * 2 < all {
        true => Ok(()),
        false => Err(format!(
            "`holdpoint` with only `{SMALL}` compiles {small} packages of {all}, which is half or more: put what it \
             does not need behind a feature"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_counts_once() {
        let listed = [
            "a v1.0.0 (/here)",
            "b v2.0.0 (proc-macro)",
            "b v2.0.0 (proc-macro) (*)",
            "b v1.0.0",
            "",
        ];
        assert_eq!(distinct(listed.into_iter()), 3);
    }

    #[test]
    fn half_is_too_much() {
        assert!(is_less_than_half(49, 100).is_ok());
        for small in [50, 51, 100] {
            assert!(is_less_than_half(small, 100).is_err(), "{small}");
        }
    }
}
