//! What fake chat platforms share: a front that records what is asked and fails as it is told, an inbox
//! that says what it is told, a clock that can be moved, and a hold to show.

mod clock;
mod front;
mod inbox;
mod sample;
mod standing;

pub use clock::{MovedClock, NoRandomness};
pub(crate) use front::cut;
pub use front::{Asked, Fault, Front, Platform, Reply};
pub use inbox::{FakeInbox, redraw};
pub use sample::{approved, hold, people, prompt, prompt_that};
pub use standing::Standing;
