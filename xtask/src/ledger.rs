//! Runs parts one after another and keeps the books: minutes, passed, failed, and why a part could
//! not run.

use std::fmt::Write as _;

use anyhow::Result;

use crate::checkout::Checkout;
use crate::stopwatch::Stopwatch;
use crate::tally::Tally;

/// One part of `test` or `check`. An error means that it could not run, which is one failure.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Checkout) -> Result<Tally>,
}

pub(crate) struct Ledger {
    rows: Vec<Row>,
}

struct Row {
    name: &'static str,
    minutes: f64,
    tally: Tally,
    trouble: Option<String>,
}

impl Ledger {
    pub(crate) fn keep(here: &Checkout, parts: &[Part]) -> Self {
        let rows = parts.iter().map(|part| Row::of(here, part)).collect();
        Ledger { rows }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.sum().failed == 0
    }

    /// The table, and as the last line, alone, the sum that a program can read.
    pub(crate) fn print_tests(&self) {
        let Tally { passed, failed } = self.sum();
        println!("\n{}\n{passed} passed, {failed} failed", self.table());
    }

    pub(crate) fn print_checks(&self) {
        let bad = self.rows.iter().filter(|row| row.tally.failed > 0).count();
        println!("\n{}", self.table());
        match bad {
            0 => println!("all {} checks are clean", self.rows.len()),
            _ => println!("{bad} of {} checks found something", self.rows.len()),
        }
    }

    fn sum(&self) -> Tally {
        let mut sum = Tally::default();
        self.rows.iter().for_each(|row| sum += row.tally);
        sum
    }

    fn table(&self) -> String {
        let mut table = format!("{:<10}{:>9}{:>9}{:>9}\n", "part", "minutes", "passed", "failed");
        let mut line = |name: &str, minutes: f64, tally: Tally| {
            let Tally { passed, failed } = tally;
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{name:<10}{minutes:>9.2}{passed:>9}{failed:>9}");
        };
        for row in &self.rows {
            line(row.name, row.minutes, row.tally);
        }
        line("all", self.rows.iter().map(|row| row.minutes).sum(), self.sum());
        for row in &self.rows {
            if let Some(trouble) = &row.trouble {
                let _ = writeln!(table, "{} could not run: {trouble}", row.name);
            }
        }
        table
    }
}

impl Row {
    fn of(here: &Checkout, part: &Part) -> Self {
        println!("\n== {}: {}", part.name, part.about);
        let watch = Stopwatch::start();
        let (tally, trouble) = match (part.run)(here) {
            Ok(tally) => (tally, None),
            Err(error) => {
                eprintln!("xtask: {}: {error:#}", part.name);
                (Tally::ONE_FAILED, Some(format!("{error:#}")))
            }
        };
        Row { name: part.name, minutes: watch.elapsed().as_secs_f64() / 60.0, tally, trouble }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, passed: u64, failed: u64, trouble: Option<&str>) -> Row {
        let trouble = trouble.map(str::to_owned);
        Row { name, minutes: 1.5, tally: Tally { passed, failed }, trouble }
    }

    #[test]
    fn the_table_sums_and_says_what_could_not_run() {
        let rows = vec![row("rust", 7, 0, None), row("web", 0, 1, Some("no node"))];
        let ledger = Ledger { rows };
        assert_eq!(
            ledger.table(),
            "part        minutes   passed   failed\n\
             rust           1.50        7        0\n\
             web            1.50        0        1\n\
             all            3.00        7        1\n\
             web could not run: no node\n"
        );
        assert!(!ledger.is_clean());
    }
}
