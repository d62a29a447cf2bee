//! The arguments of a call: parsed once, strictly, and kept to the byte.
//!
//! Two readers of the same text must not see two different things, or a person approves one call
//! and another one runs. So everything that parsers are known to disagree about is refused when
//! the call is proposed, and nobody parses the text again.

mod arguments;
mod canonical;
mod number;
mod strict;

pub use arguments::{ARGUMENTS_BYTES_MAX, Arguments, BadArguments, DEPTH_MAX};
pub use canonical::canonical;
pub(crate) use canonical::spell;
