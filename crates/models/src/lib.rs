//! Whoever thinks, behind the one port [`ports::model::Model`]: a folder for each kind of model, and
//! one suite ([`conformance`]) that all of them pass.

pub mod conformance;
pub mod scripted;
