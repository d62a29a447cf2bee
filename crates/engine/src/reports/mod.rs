//! What the past tells: how much people are asked and how it ended, what went wrong in channels, and what a policy
//! says of calls that were made. Read from holds, notes and the log. Only `delivery_failures` also writes what it tells of.

pub(crate) mod asked_before;
pub(crate) mod delivery_failures;
pub(crate) mod figures;
pub(crate) mod rule_study;
