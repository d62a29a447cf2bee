//! What a program with fail points wrote down: one line for each point that it reached or failed at.

use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PointLog {
    pub(super) reached: BTreeMap<String, Reached>,
    pub(super) acts: Vec<Act>,
}

/// How often a point was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) by_all: u64,
    /// By the one process that came past most often.
    pub(super) by_one: u64,
}

/// One order that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) point: String,
    pub(super) act: String,
    pub(super) pid: u32,
}

impl PointLog {
    pub(super) fn read(file: &Path) -> PointLog {
        // None is there before the first line.
        PointLog::parse(&std::fs::read_to_string(file).unwrap_or_default())
    }

    pub(super) fn parse(text: &str) -> PointLog {
        let mut log = PointLog::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["reached", point, count, _] => {
                    let reached = log.reached.entry(point.to_owned()).or_default();
                    reached.by_all += 1;
                    reached.by_one = reached.by_one.max(count.parse().unwrap_or_default());
                }
                [point, act, pid] => log.acts.push(Act {
                    point: point.to_owned(),
                    act: act.to_owned(),
                    pid: pid.parse().unwrap_or_default(),
                }),
                _ => {}
            }
        }
        log
    }

    pub(super) fn did(&self, point: &str, act: &str) -> u64 {
        let same = |it: &&Act| it.point == point && it.act == act;
        self.acts.iter().filter(same).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let log = PointLog::parse(
            "reached a.b 1 7\nreached a.b 2 7\na.b kill 7\nreached a.b 1 8\na.b kill 9\nx stop 9\n",
        );
        assert_eq!(log.reached["a.b"], Reached { by_all: 3, by_one: 2 });
        assert_eq!((log.did("a.b", "kill"), log.did("x", "stop"), log.did("x", "kill")), (2, 1, 0));
        assert_eq!(log.acts[0], Act { point: "a.b".into(), act: "kill".into(), pid: 7 });
    }
}
