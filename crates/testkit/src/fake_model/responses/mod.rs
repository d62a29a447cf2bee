//! OpenAI Responses.

mod check;
mod items;
mod pairing;
mod speak;

pub(super) use check::check;
pub(super) use items::keep;
pub(super) use speak::{error, stream, whole};
