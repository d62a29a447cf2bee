//! How often each fault fired and each step of the product happened, so that nobody can say that
//! nothing did.

use std::collections::BTreeMap;
use std::fmt;

use super::transitions::TRANSITIONS;
use super::weather::FAULTS;

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
    /// Every kind of fault, also those that never fired.
    pub fn every_fault(&self) -> BTreeMap<&'static str, u64> {
        let fired = |kind: &'static str| self.faults.get(kind).copied().unwrap_or_default();
        FAULTS.iter().map(|kind| (*kind, fired(kind))).collect()
    }

    /// Kinds of faults and important transitions of which there was none.
    pub fn unseen(&self) -> Vec<&'static str> {
        let faults = FAULTS.iter().filter(|kind| !self.faults.contains_key(**kind));
        let steps = TRANSITIONS.iter().filter(|step| !self.transitions.contains_key(**step));
        faults.chain(steps).copied().collect()
    }

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
        for (kind, count) in self.every_fault() {
            writeln!(f, "  {count:>8}  {kind}")?;
        }
        writeln!(f, "\ntransitions that happened:")?;
        for (step, count) in &self.transitions {
            writeln!(f, "  {count:>8}  {step}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_happened_is_named_and_printed_with_a_nought() {
        let all = Counts {
            faults: FAULTS.iter().map(|kind| (*kind, 1)).collect(),
            transitions: TRANSITIONS.iter().map(|step| ((*step).to_owned(), 1)).collect(),
            ..Counts::default()
        };
        assert_eq!(all.unseen(), [""; 0]);
        let mut some = all.clone();
        some.faults.remove("disk full");
        some.transitions.remove("call.proposed → call.started");
        assert_eq!(some.unseen(), ["disk full", "call.proposed → call.started"]);
        assert!(some.to_string().contains("       0  disk full"), "{some}");
        some.add(&all);
        assert_eq!(some.unseen(), [""; 0]);
    }
}
