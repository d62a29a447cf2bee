//! Small worlds that come past the fail points, each as short as it can be.

use super::log::PointLog;

/// What is said and asked, and what has happened before.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// What the first start is told, so that the next one finds something to recover.
    pub(super) before: Option<&'static str>,
    pub(super) says: &'static [&'static str],
    /// Whether a program asks from outside and is told by callback.
    pub(super) asks: bool,
    /// Whether whoever answers says so before.
    pub(super) claims: bool,
}

/// A call whose process was begun and whose server died before the end of it.
pub(super) const DOUBT: Scenario = Scenario {
    name: "doubt",
    before: Some("supervisor.spawned=pause:700,process.ordered=kill:350"),
    says: &["witness"],
    asks: false,
    claims: false,
};

pub(super) static SCENARIOS: [Scenario; 6] = [
    Scenario {
        name: "walk",
        before: None,
        says: &["witness", "notes"],
        asks: false,
        claims: false,
    },
    DOUBT,
    // A call that was let start, and whose tool was never touched.
    Scenario {
        name: "again",
        before: Some("execute.before_run=kill"),
        says: &["witness"],
        asks: false,
        claims: false,
    },
    Scenario { name: "claim", before: None, says: &["witness"], asks: false, claims: true },
    Scenario { name: "expiry", before: None, says: &["brief"], asks: false, claims: false },
    Scenario { name: "callback", before: None, says: &[], asks: true, claims: false },
];

impl Scenario {
    /// What a single kill at this point must lead to.
    pub(super) fn doubt(&self, point: &str) -> Doubt {
        match self.name == DOUBT.name || LEAVES_DOUBT.contains(&point) {
            true => Doubt::Must,
            false => Doubt::May,
        }
    }
}

/// Here the command was, or may have been, begun, and nobody is left to see its end.
const LEAVES_DOUBT: [&str; 4] =
    ["supervisor.began", "supervisor.spawned", "supervisor.ended", "supervisor.synced"];

/// How many calls can be in doubt at most: those whose supervisor was killed in the middle, and those
/// that ran beside a server that was killed. A server that stands still at one point may well have
/// got that far elsewhere: a hold that is on disk can be answered, whatever else its turn waits for.
pub(super) fn can_be_in_doubt(log: &PointLog) -> u64 {
    let reached = |point| log.reached.get(point).map_or(0, |reached| reached.by_all);
    let killed = |point: &str| log.did(point, "kill");
    // Whoever stands still at this point has not given the order.
    let ordered = reached("process.spawned").saturating_sub(killed("process.spawned"));
    let unseen = ordered.saturating_sub(reached("process.ended"));
    unseen + LEAVES_DOUBT.iter().map(|point| killed(point)).sum::<u64>()
}

/// Whether a person must be asked what really happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    May,
    Must,
}

impl Doubt {
    /// What is wrong with so many questions, of so many that there can be.
    pub(super) fn check(self, asked: u64, most: u64) -> Option<String> {
        if asked > most {
            return Some(format!(
                "DOUBT: {asked} calls are in doubt, and of all but {most} it is known what became of them"
            ));
        }
        let missed = self == Doubt::Must && asked == 0;
        missed.then(|| "DOUBT: nobody was asked about a call that may have run".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, most: u64) {
        assert_eq!(can_be_in_doubt(&PointLog::parse(log)), most, "{log}");
    }

    #[test]
    fn only_what_was_ordered_and_not_seen_to_end_can_be_in_doubt() {
        check("", 0);
        check("reached process.reserved 1 7", 0);
        check("reached process.spawned 1 7\nprocess.spawned kill 7", 0);
        check("reached process.spawned 1 7\nturn.committed kill 7", 1);
        check("reached process.spawned 1 7\nreached process.ended 1 7\nexecute.ran kill 7", 0);
        check("reached process.spawned 1 7\nsupervisor.began kill 8\nreached process.ended 1 7", 1);
        check(
            "reached process.spawned 1 7\nsupervisor.ordered kill 8\nreached process.ended 1 7",
            0,
        );
    }

    #[test]
    fn too_many_questions_are_wrong_and_so_is_none_where_one_must_be_asked() {
        assert_eq!(Doubt::May.check(0, 1), None);
        assert_eq!(Doubt::Must.check(1, 1), None);
        assert!(Doubt::May.check(1, 0).is_some_and(|why| why.contains("1 calls are in doubt")));
        assert!(Doubt::Must.check(2, 1).is_some());
        assert!(Doubt::Must.check(0, 1).is_some_and(|why| why.contains("nobody was asked")));
    }
}
