//! Small worlds that come past the fail points, each as short as it can be.

/// What is said and asked, and what has happened before.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// What the first start is told, so that the next one finds something to recover.
    pub(super) before: Option<&'static str>,
    pub(super) says: &'static [&'static str],
    /// Whether a program asks from outside and is told by callback.
    pub(super) asks: bool,
}

/// A call whose process was begun and whose server died before the end of it.
pub(super) const DOUBT: Scenario = Scenario {
    name: "doubt",
    before: Some("supervisor.spawned=pause:700,process.ordered=kill:350"),
    says: &["witness"],
    asks: false,
};

pub(super) static SCENARIOS: [Scenario; 5] = [
    Scenario { name: "walk", before: None, says: &["witness", "notes"], asks: false },
    DOUBT,
    // A call that was let start, and whose tool was never touched.
    Scenario {
        name: "again",
        before: Some("execute.before_run=kill"),
        says: &["witness"],
        asks: false,
    },
    Scenario { name: "expiry", before: None, says: &["brief"], asks: false },
    Scenario { name: "callback", before: None, says: &[], asks: true },
];

impl Scenario {
    /// What a single kill at this point must lead to.
    pub(super) fn doubt(&self, point: &str) -> Doubt {
        match point {
            _ if self.name == DOUBT.name => Doubt::Must,
            // The command was, or may have been, begun, and nobody was left to see its end.
            "supervisor.began" | "supervisor.spawned" | "supervisor.ended"
            | "supervisor.synced" => Doubt::Must,
            // The process runs on beside the one that was killed.
            "process.ordered" | "followup.dispatched" | "http.answer_reply" => Doubt::May,
            _ => Doubt::Never,
        }
    }
}

/// Whether a person is asked what really happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    Never,
    May,
    Must,
}

impl Doubt {
    /// What is wrong with so many questions.
    pub(super) fn check(self, asked: u64) -> Option<String> {
        match (self, asked) {
            (Doubt::Never, 1..) => {
                Some(format!("DOUBT: {asked} calls are in doubt, and what became of them is known"))
            }
            (Doubt::Must, 0) => {
                Some("DOUBT: nobody was asked about a call that may have run".into())
            }
            _ => None,
        }
    }
}
