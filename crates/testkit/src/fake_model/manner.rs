//! How an answer is sent: in which pieces, how fast, and what goes wrong on the way.

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Manner {
    /// Characters in each delta.
    pub fragment: usize,
    /// Bytes in each piece of the body. One cuts every frame, and every character that has several
    /// bytes; without it each frame is a piece.
    pub chunk: Option<usize>,
    /// The deltas of all blocks by turns, as models do that write several calls at once.
    pub interleave: bool,
    /// Before the head.
    pub delay_ms: u64,
    /// Before each piece of the body.
    pub drip_ms: u64,
    /// A sign of life after every frame: the event `ping` (Anthropic), a comment (OpenAI).
    pub ping: bool,
    /// Line ends as the standard allows them too.
    pub crlf: bool,
    pub after: Option<After>,
}

/// Something that happens when so many bytes are out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    pub bytes: usize,
    pub then: Then,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The connection breaks.
    Cut,
    /// The body ends, as if all had been said.
    End,
    /// Nothing more comes, and the connection stays open.
    Stall,
    /// An error in the stream, at the end of the frame that is under way.
    Error { status: u16, message: String },
    /// These bytes, at the end of the frame that is under way; then it goes on.
    Garbage(String),
}

impl Default for Manner {
    fn default() -> Manner {
        Manner {
            fragment: 12,
            chunk: None,
            interleave: false,
            delay_ms: 0,
            drip_ms: 0,
            ping: false,
            crlf: false,
            after: None,
        }
    }
}
