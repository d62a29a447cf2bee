//! What a test wants to happen where.
//!
//! An order is `point=act`: `kill`, `kill:MS` (after a pause, in which whatever does not wait for this
//! step gets ahead), `pause:MS`, `stop` (SIGSTOP), `panic`, or `error` where there is one to be had.
//! `@N` means the N-th time that the point is reached in one process, and without it the first. Orders
//! are separated by commas; the word `trace` among them has every reach written down.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::points::POINTS;
use crate::unpoisoned::Unpoisoned as _;

/// At which points a test wants what, read from its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    orders: Vec<Order>,
    trace: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Order {
    point: &'static str,
    act: Act,
    at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Kill { after: Duration },
    Pause(Duration),
    Stop,
    Panic,
    Error,
}

impl FromStr for Orders {
    type Err = String;

    fn from_str(text: &str) -> Result<Orders, String> {
        let mut orders = Orders::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "trace" => orders.trace = true,
                word => orders.orders.push(order(word)?),
            }
        }
        Ok(orders)
    }
}

fn order(text: &str) -> Result<Order, String> {
    let (name, act) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is no order: write POINT=ACT"))?;
    let (point, _) = POINTS
        .iter()
        .find(|(point, _)| *point == name)
        .ok_or_else(|| format!("there is no fail point `{name}`; `list` names them"))?;
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    let (act, at) = match act.split_once('@') {
        Some((act, at)) => (act, number(at)?),
        None => (act, 1),
    };
    let (act, ms) = match act.split_once(':') {
        Some((act, ms)) => (act, Some(Duration::from_millis(number(ms)?))),
        None => (act, None),
    };
    let act = match (act, ms) {
        ("kill", after) => Act::Kill { after: after.unwrap_or_default() },
        ("pause", Some(pause)) => Act::Pause(pause),
        ("stop", None) => Act::Stop,
        ("panic", None) => Act::Panic,
        ("error", None) => Act::Error,
        _ => return Err(format!("`{text}`: kill, kill:MS, pause:MS, stop, panic or error")),
    };
    Ok(Order { point, act, at })
}

struct Obeyed {
    orders: Orders,
    /// Where it is written what happened: one line each, `reached POINT N PID` or `POINT ACT PID`.
    log: Option<Mutex<File>>,
    counts: Mutex<HashMap<&'static str, u64>>,
}

static OBEYED: OnceLock<Obeyed> = OnceLock::new();

/// From now on these orders are followed. Until then points do nothing.
pub fn obey(orders: Orders, log: Option<File>) {
    let log = log.map(Mutex::new);
    // Said twice, the first holds: a process gets its orders once, at its start.
    let _ = OBEYED.set(Obeyed { orders, log, counts: Mutex::default() });
}

/// This point is reached. It may be the last that this process reaches.
pub fn reach(point: &'static str) {
    assert!(!errs(point), "there is no error to be had at `{point}`");
}

/// The same, where an error can be had: whether one is wanted.
pub fn errs(point: &'static str) -> bool {
    assert!(POINTS.iter().any(|(name, _)| *name == point), "`{point}` is not in the table");
    let Some(obeyed) = OBEYED.get() else { return false };
    let count = obeyed.count(point);
    let me = Pid::this();
    if obeyed.orders.trace {
        obeyed.note(&format!("reached {point} {count} {me}"));
    }
    let order = obeyed.orders.orders.iter().find(|order| order.point == point && order.at == count);
    let Some(order) = order else { return false };
    obeyed.note(&format!("{point} {} {me}", order.act.name()));
    match order.act {
        Act::Kill { after } => {
            thread::sleep(after);
            // A process may send itself any signal.
            let _ = kill(me, Signal::SIGKILL);
            loop {
                thread::park();
            }
        }
        Act::Pause(pause) => thread::sleep(pause),
        Act::Stop => drop(kill(me, Signal::SIGSTOP)),
        Act::Panic => panic!("told to, at `{point}`"),
        Act::Error => return true,
    }
    false
}

impl Act {
    fn name(self) -> &'static str {
        match self {
            Act::Kill { .. } => "kill",
            Act::Pause(_) => "pause",
            Act::Stop => "stop",
            Act::Panic => "panic",
            Act::Error => "error",
        }
    }
}

impl Obeyed {
    fn count(&self, point: &'static str) -> u64 {
        let mut counts = self.counts.lock().unpoisoned();
        let count = counts.entry(point).or_default();
        *count += 1;
        *count
    }

    fn note(&self, line: &str) {
        let Some(log) = &self.log else { return };
        let mut log = log.lock().unpoisoned();
        // One write, so that lines of several processes do not mix.
        let _ = log.write_all(format!("{line}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, told: &str) {
        let read = match text.parse::<Orders>() {
            Ok(orders) => orders
                .orders
                .iter()
                .map(|order| format!("{} {:?} {}", order.point, order.act, order.at))
                .collect::<Vec<_>>()
                .join("; "),
            Err(why) => why,
        };
        assert_eq!(read, told, "{text}");
    }

    #[test]
    fn orders_are_read_or_refused() {
        check("", "");
        check("execute.ran=kill", "execute.ran Kill { after: 0ns } 1");
        check("execute.ran=kill:20@3, trace", "execute.ran Kill { after: 20ms } 3");
        check(
            "sql.committed=stop,execute.ran=panic@2",
            "sql.committed Stop 1; execute.ran Panic 2",
        );
        check("execute.rn=kill", "there is no fail point `execute.rn`; `list` names them");
        check("execute.ran", "`execute.ran` is no order: write POINT=ACT");
        check("execute.ran=kill@x", "`x` is no number");
        for bad in ["execute.ran=pause", "execute.ran=stop:5", "execute.ran=maim"] {
            check(bad, &format!("`{bad}`: kill, kill:MS, pause:MS, stop, panic or error"));
        }
    }

    #[test]
    fn every_name_stands_in_the_table_once() {
        let mut names: Vec<&str> = POINTS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
