//! What a crash test saw, in words.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use super::checks::Found;
use super::killer::Killed;
use super::phases::Facts;
use crate::oracle::Counts;

#[derive(Debug, Default)]
pub struct Report {
    pub seed: u64,
    pub killed: Killed,
    pub counts: Counts,
    pub sessions: u64,
    pub calls: u64,
    /// Lines of tools that may run once, and of those that may run again.
    pub executions: u64,
    pub entries: u64,
    pub repeated_entries: u64,
    /// Changes of a database.
    pub changes: u64,
    pub in_doubt: u64,
    pub recovered: u64,
    pub commits: u64,
    /// Holds from outside whose opener was told of the answer.
    pub callbacks: u64,
    /// Everything that should not have happened.
    pub wrong: Vec<String>,
    /// Where the data of a test that found something lies.
    pub kept: Option<PathBuf>,
}

impl Report {
    pub(super) fn count(&mut self, found: &Found, facts: &Facts) {
        self.sessions = found.sessions.len() as u64;
        self.calls = found.calls().len() as u64;
        self.executions = found.witness.len() as u64;
        self.entries = found.ledger.len() as u64;
        let keys: BTreeSet<&str> = found.ledger.iter().map(|line| line.key.as_str()).collect();
        self.repeated_entries = self.entries - keys.len() as u64;
        self.changes = found.notes.values().sum();
        self.in_doubt = facts.in_doubt.len() as u64;
        self.recovered = facts.started.iter().filter(|(_, attempt)| *attempt > 1).count() as u64;
    }
}

/// From so many kills on everything that can be hit is hit.
const ENOUGH_KILLS: u64 = 100;
/// What a kill must have come upon, over all of them.
const PHASES: [&str; 5] = [
    "thinking about a message",
    "waiting for an answer",
    "executing, no effect yet",
    "executing, effect done",
    "starting",
];

impl Report {
    /// What there was too little of. A test in which nothing happened would find nothing wrong, too.
    pub fn unproved(&self) -> Vec<String> {
        let killed = &self.killed;
        let kills = killed.kills;
        let mut demands = vec![
            ("an answer for each kill", self.counts.answers >= kills),
            ("an execution for every second kill", self.executions >= kills / 2),
        ];
        if kills >= ENOUGH_KILLS {
            demands.extend([
                ("a call in doubt", self.in_doubt > 0),
                ("a change of a database", self.changes > 0),
                ("a claim", self.counts.claims > 0),
                ("a callback", self.callbacks > 0),
                (
                    "a server that was stopped and woke up again",
                    killed.stops > killed.killed_stopped,
                ),
                ("a server that was killed while it was stopped", killed.killed_stopped > 0),
                ("a second server that was refused", killed.refused > 0),
            ]);
            let hit = |phase: &'static str| (phase, killed.phases.contains_key(phase));
            demands.extend(PHASES.map(hit));
        }
        let lacking = demands.into_iter().filter(|(_, met)| !met);
        lacking.map(|(what, _)| format!("there was too little of: {what}")).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { messages, answers, claims, lost, repeats, contradictions, .. } = self.counts;
        writeln!(
            f,
            "seed {}: {} kills, {} restarts; stopped {} times ({} never woke up), second servers refused: {}",
            self.seed,
            self.killed.kills,
            self.killed.restarts,
            self.killed.stops,
            self.killed.killed_stopped,
            self.killed.refused
        )?;
        writeln!(
            f,
            "acknowledged: {} sessions, {messages} messages, {answers} answers, {claims} claims",
            self.counts.sessions
        )?;
        writeln!(
            f,
            "connections lost: {lost}; answers repeated: {repeats}, contradicted: {contradictions}"
        )?;
        writeln!(
            f,
            "calls: {}; executions: {} once-only, {} idempotent ({} repeated), {} changes of a database; started again after a crash: {}; in doubt: {}; callbacks: {}; commits: {}",
            self.calls,
            self.executions,
            self.entries,
            self.repeated_entries,
            self.changes,
            self.recovered,
            self.in_doubt,
            self.callbacks,
            self.commits
        )?;
        writeln!(f, "hit by a kill:")?;
        for (phase, hits) in &self.killed.phases {
            writeln!(f, "  {hits:5}  {phase}")?;
        }
        writeln!(f, "wrong: {}", self.wrong.len())?;
        for what in self.wrong.iter().take(40) {
            writeln!(f, "  - {what}")?;
        }
        match &self.kept {
            Some(folder) => writeln!(f, "the data is in {}", folder.display()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_in_which_nothing_happened_prove_nothing() {
        let mut report = Report::default();
        report.killed.kills = 4;
        assert_eq!(report.unproved().len(), 2);
        (report.counts.answers, report.executions) = (4, 2);
        assert_eq!(report.unproved(), Vec::<String>::new());
        report.killed.kills = 200;
        (report.counts.answers, report.executions) = (200, 100);
        assert_eq!(report.unproved().len(), 7 + PHASES.len());
    }
}
