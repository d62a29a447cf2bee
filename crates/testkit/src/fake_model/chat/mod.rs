//! OpenAI Chat Completions, and all who do as they do.

mod check;
mod speak;

pub(super) use check::check;
pub(super) use speak::{error, stream, whole};
