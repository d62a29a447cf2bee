//! What a reply in a chat means: yes, no, one of the options, or something that must be asked again.
//!
//! [`parse_reply`] is a function of a text and of what was asked, and of nothing else: no I/O, no model, no
//! guessing. It goes by exact words. **A verdict is given only when the whole text is covered by
//! words that are known**; whatever is left over makes it [`ReplyVerdict::Ambiguous`]. So "yes but change
//! the where clause" approves nothing, and neither does "yesterday".
//!
//! Whether a message may be an answer at all (who sent it, when, in which chat, an edit, a forward), and
//! to which hold, is judged before this, by [`gate_message`].

mod choice;
mod clause;
mod code;
mod context;
mod cover;
mod emoji;
mod fold;
mod formatting;
mod gate;
mod language;
pub mod lexicon;
mod limits;
mod mentions;
mod negation;
mod parse;
mod reserved;
mod slash;
#[cfg(test)]
mod tests;
mod text;
mod verdict;

pub use code::ApprovalCode;
pub use context::{ExpectedReply, ReplyContext};
pub use fold::fold_text;
pub use gate::{ChatMessage, GateResult, OpenPrompt, gate_message, without_tags};
pub use language::Language;
pub use parse::parse_reply;
pub use reserved::reserved_by;
pub use verdict::{AmbiguityReason, ChosenOptions, ReplyVerdict, VerdictSource};
