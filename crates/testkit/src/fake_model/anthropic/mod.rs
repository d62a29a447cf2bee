//! Anthropic Messages.

mod check;
mod pairing;
mod speak;

pub(super) use check::{check, count};
pub(super) use speak::{error, stream, whole};
