//! How often each fault fired and each step of the product happened, so that nobody can say that
//! nothing did.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub faults: BTreeMap<&'static str, u64>,
    /// From one event of a call, a hold or a run to its next.
    pub transitions: BTreeMap<String, u64>,
    pub commits: u64,
    pub effects: u64,
    pub acknowledged: u64,
    pub requests: u64,
    pub nodes: u64,
}

impl Counts {
    pub(super) fn fault(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Counts) {
        for (kind, count) in &other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        for (step, count) in &other.transitions {
            *self.transitions.entry(step.clone()).or_default() += count;
        }
        self.commits += other.commits;
        self.effects += other.effects;
        self.acknowledged += other.acknowledged;
        self.requests += other.requests;
        self.nodes += other.nodes;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} commits, {} effects, {} acknowledgements, {} requests to the model, {} processes",
            self.commits, self.effects, self.acknowledged, self.requests, self.nodes
        )?;
        writeln!(f, "\nfaults that fired:")?;
        for (kind, count) in &self.faults {
            writeln!(f, "  {count:>8}  {kind}")?;
        }
        writeln!(f, "\ntransitions that happened:")?;
        for (step, count) in &self.transitions {
            writeln!(f, "  {count:>8}  {step}")?;
        }
        Ok(())
    }
}
