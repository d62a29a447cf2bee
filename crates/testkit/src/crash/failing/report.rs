//! What kills at fail points came to, in words.

use std::collections::BTreeMap;
use std::fmt;

use super::Planned;
use super::trial::Tried;

#[derive(Debug, Default)]
pub struct PointReport {
    pub seed: u64,
    pub rows: BTreeMap<String, Row>,
    /// Everything that should not have happened.
    pub wrong: Vec<String>,
}

/// What happened at one point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub scenario: &'static str,
    pub trials: u64,
    pub kills: u64,
    /// Servers among what was killed, whichever point they died at; the rest are supervisors.
    pub servers: u64,
    pub errors: u64,
    /// Calls that were left in doubt, over all trials.
    pub in_doubt: u64,
}

impl PointReport {
    pub(super) fn take(&mut self, planned: &Planned, tried: &Tried) {
        let row = self.rows.entry(planned.point.clone()).or_default();
        row.scenario = planned.trial.scenario.name;
        row.trials += 1;
        row.kills += tried.log.did(&planned.point, "kill");
        row.servers += tried.deaths;
        row.errors += tried.log.did(&planned.point, "error");
        row.in_doubt += tried.in_doubt;
    }

    pub fn kills(&self) -> u64 {
        self.rows.values().map(|row| row.kills).sum()
    }
}

impl fmt::Display for PointReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: u64 = self.rows.values().map(|row| row.errors).sum();
        let (points, kills) = (self.rows.len(), self.kills());
        writeln!(f, "seed {}: {points} fail points, {kills} kills, {errors} errors", self.seed)?;
        writeln!(
            f,
            "{:26}{:10}{:>7}{:>7}{:>10}",
            "point", "scenario", "trials", "kills", "in doubt"
        )?;
        for (name, row) in &self.rows {
            let Row { scenario, trials, kills, in_doubt, .. } = row;
            writeln!(f, "{name:26}{scenario:10}{trials:7}{kills:7}{in_doubt:10}")?;
        }
        writeln!(f, "wrong: {}", self.wrong.len())?;
        self.wrong.iter().take(40).try_for_each(|what| writeln!(f, "  - {what}"))
    }
}
