//! The switchboard between chats and holds: it asks people where they are, hears what they say there,
//! and hands it to the engine like any other door.
//!
//! It decides nothing. A button is a pointer to a delivery, words are read by `replies`, and whether an
//! answer counts is judged by the domain, in the name of the person whom the platform vouched for.

mod line;

pub use line::{Line, OnAmbiguous};
