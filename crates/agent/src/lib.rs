//! The study: thinks about what a model is told, and never acts.
//!
//! A request is rebuilt from the session's transcript every time ([`transcript::request`]), and
//! nothing is sent that breaks the pairing of calls and results ([`validate::validate`]).

pub mod transcript;
pub mod validate;

pub use transcript::{canonical, fingerprint, request};
pub use validate::{Unpaired, validate};
