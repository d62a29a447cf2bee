//! A table for people, JSON lines for programs.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Value, json};

use crate::floor::Floors;
use crate::goal::Goal;

/// What one measurement of cycles gave.
pub(crate) struct Measured {
    pub(crate) cycles: u64,
    pub(crate) took: Duration,
    /// From sending the answer to the tool's first instruction.
    pub(crate) answer_to_start: Vec<Duration>,
}

impl Measured {
    pub(crate) fn rate(&self) -> f64 {
        self.cycles as f64 / self.took.as_secs_f64()
    }
}

/// In milliseconds.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

/// One figure, and what it should be.
pub(crate) struct Row {
    /// As `--only` names it.
    pub(crate) measure: &'static str,
    pub(crate) what: String,
    pub(crate) figure: f64,
    pub(crate) unit: &'static str,
    pub(crate) goal: Option<Goal>,
}

impl Row {
    pub(crate) fn new(
        measure: &'static str,
        what: impl Into<String>,
        figure: f64,
        unit: &'static str,
    ) -> Row {
        Row { measure, what: what.into(), figure, unit, goal: None }
    }

    pub(crate) fn goal(self, goal: Goal) -> Row {
        Row { goal: Some(goal), ..self }
    }

    fn json(&self) -> Value {
        let goal = |text: fn(&Goal) -> Option<String>| self.goal.as_ref().and_then(text);
        json!({
            "measure": self.measure, "what": self.what, "figure": self.figure, "unit": self.unit,
            "must": goal(Goal::must_text), "aim": goal(Goal::aim_text),
            "verdict": self.goal.as_ref().map(|goal| goal.verdict(self.figure).name()),
        })
    }
}

pub(crate) struct Report {
    json: bool,
    rows: RefCell<Vec<Row>>,
}

impl Report {
    pub(crate) fn new(json: bool) -> Report {
        if !json {
            println!("{:<60} {:>20} {:>10} {:>10}  verdict", "", "", "must", "aim");
        }
        Report { json, rows: RefCell::default() }
    }

    pub(crate) fn row(&self, row: Row) {
        if self.json {
            println!("{}", row.json());
        } else {
            let goal = row.goal.as_ref();
            let text = |text: Option<String>| text.unwrap_or_default();
            println!(
                "{:<60} {:>20} {:>10} {:>10}  {}",
                row.what,
                format!("{} {}", number(row.figure), row.unit).trim_end(),
                text(goal.and_then(Goal::must_text)),
                text(goal.and_then(Goal::aim_text)),
                goal.map_or("", |goal| goal.verdict(row.figure).name()),
            );
        }
        self.rows.borrow_mut().push(row);
    }

    pub(crate) fn floor(&self, name: &str, rate: f64) {
        self.row(Row::new("floor", name, rate, "cycles/s"));
    }

    pub(crate) fn bare(&self, at_once: usize, measured: &Measured) {
        let what = format!("HTTP alone, {at_once} at once: the same requests, nothing behind them");
        self.row(Row::new("http", what, measured.rate(), "cycles/s"));
    }

    /// `measure` is `cycle` or `http`; the floors are `NaN` where they were not measured.
    pub(crate) fn cycles(
        &self,
        measure: &'static str,
        at_once: usize,
        measured: &Measured,
        floors: &Floors,
    ) {
        let name = if measure == "http" { "over HTTP" } else { "in process" };
        let name = format!("{name}, {at_once} at once");
        let rate = measured.rate();
        self.row(Row::new(measure, &*name, rate, "cycles/s"));
        let Floors { a, b } = *floors;
        if !a.is_nan() {
            let of_a = Row::new(measure, format!("{name}, of floor A"), rate / a, "× A");
            let of_b = Row::new(measure, format!("{name}, of floor B"), rate / b, "× B");
            match (measure, at_once) {
                ("cycle", 64) => self.row(of_a.goal(Goal::at_least(0.12).aim(0.3))),
                ("http", 64) => self.row(of_a.goal(Goal::at_least(0.06).aim(0.12))),
                ("cycle", 1) => self.row(of_b.goal(Goal::at_least(0.6).aim(0.8))),
                _ => self.row(of_b),
            }
        }
        for (percent, must) in [(50, 15.0), (99, 80.0)] {
            let what = format!("{name}, answer → tool started, p{percent}");
            let row = Row::new(measure, what, percentile(&measured.answer_to_start, percent), "ms");
            match at_once {
                64 => self.row(row.goal(Goal::at_most(must).aim(must / 2.0))),
                _ => self.row(row),
            }
        }
    }

    /// All figures, and how many of them are not what they must be.
    pub(crate) fn end(self) -> (Vec<Value>, usize) {
        let rows = self.rows.into_inner();
        let missed = |row: &&Row| row.goal.as_ref().is_some_and(|goal| goal.misses(row.figure));
        let missed: Vec<&Row> = rows.iter().filter(missed).collect();
        for row in missed.iter().filter(|_| !self.json) {
            println!("missed: {} ({} {})", row.what, number(row.figure), row.unit);
        }
        (rows.iter().map(Row::json).collect(), missed.len())
    }
}

/// Three digits that matter, and no more.
pub(crate) fn number(figure: f64) -> String {
    match figure.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => {
            let digits = format!("{figure:.0}");
            let mut text = String::new();
            for (place, digit) in digits.chars().enumerate() {
                if place > 0
                    && (digits.len() - place).is_multiple_of(3)
                    && digits.as_bytes()[place - 1] != b'-'
                {
                    text.push(',');
                }
                text.push(digit);
            }
            text
        }
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 1.0 => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}
