//! Holdpoint as a library.

mod checks;
pub mod cli;
pub mod config;
pub mod demo;
pub mod serve;
pub mod wiring;
