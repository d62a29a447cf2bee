//! Small records of services, which the store keeps and does not read.

use domain::time::Timestamp;

/// A small record that a door or a channel keeps beside the journal: where a prompt stands, which event
/// was seen. Nothing that decides is kept here; losing every note would cost comfort, never safety.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whose it is: `chat.feishu.out`.
    pub shelf: String,
    /// Its name on its shelf.
    pub key: String,
    /// The store does not read it.
    pub value: Vec<u8>,
    /// Counted from 1, one more with each write.
    pub version: u64,
    /// When somebody should look at it again.
    pub due_at: Option<Timestamp>,
    /// When the store may take it away by itself. `None`: it stays.
    pub forget_at: Option<Timestamp>,
}

/// One change of [`Store::put_notes`](crate::store::Store::put_notes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutNote {
    /// The shelf that the note is on.
    pub shelf: String,
    /// Its name there.
    pub key: String,
    /// `None` takes it away.
    pub value: Option<Vec<u8>>,
    /// The version that it was decided on, 0 for a note that must not be there; `None` for whatever is.
    pub expected: Option<u64>,
    /// As [`Note::due_at`].
    pub due_at: Option<Timestamp>,
    /// As [`Note::forget_at`].
    pub forget_at: Option<Timestamp>,
}
