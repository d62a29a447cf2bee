//! One hold as people see it in a chat: what is asked, drawn from stored bytes, or how it ended.
//!
//! A [`Card`] knows no platform. Its texts are made visible (no control, bidi or zero-width character
//! survives, and no long run of spaces), and lines of ours are apart from foreign text. Each platform's
//! folder turns it into that platform's form, with its markup escaped so that two different texts never
//! look the same, and with foreign text in a block that marks every drawn line (I-47). What does not fit is said to be cut, with the
//! size and the digest of the whole, and such a card cannot be used to say yes: it leads to the page
//! that shows everything.
//!
//! A button is a pointer and never an authority: it names a delivery, an option and a nonce, and
//! the person who presses it is judged elsewhere.

mod asked;
mod asks;
mod body;
mod captioned;
mod clock;
mod draw;
#[cfg(test)]
mod every_tool;
mod form;
#[cfg(test)]
pub(crate) mod hostile;
mod people;
mod phrased;
mod rendered;
#[cfg(test)]
pub(crate) mod sample;
mod settled;
mod showing;
mod shown;
mod told;
mod warned;
mod words;

pub use asks::{Button, CardQuestion, Does, Style};
pub use body::{CardBlock, CardBody, Cut};
pub use clock::Zone;
pub use draw::{Card, CardContext, Fact, Replies, Tone};
pub use form::{CardField, CardInput};
pub use ports::channel::{BadPointer, ButtonAction, DeliveryKey, Nonce, Pointer};
pub use rendered::Rendered;
pub use settled::OutcomeLine;
pub use told::Word;
pub use words::Language;

pub(crate) use shown::clipped;
pub(crate) use words::CardWords;
