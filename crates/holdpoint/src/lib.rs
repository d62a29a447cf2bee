//! Holdpoint as a library.

pub mod cli;
pub mod config;
pub mod demo;
pub mod serve;
pub mod wiring;
