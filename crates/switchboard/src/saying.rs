//! Something that is said in a chat beside the prompts: written down, sent, and then forgotten.

use domain::time::Timestamp;
use ports::channel::Place;
use ports::store::PutNote;
use serde::{Deserialize, Serialize};

use crate::delivery::StoredPlace;
use crate::limits::TEXT_BYTES_MAX;
use crate::shelf::{self, Shelves};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saying {
    v: u8,
    pub(crate) place: StoredPlace,
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reply_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) whisper_to: Option<String>,
    #[serde(default)]
    pub(crate) attempts: u32,
}

impl Saying {
    pub(crate) fn new(place: &Place, text: &str) -> Saying {
        Saying {
            v: 1,
            place: place.into(),
            text: bounded(text),
            reply_to: None,
            whisper_to: None,
            attempts: 0,
        }
    }

    pub(crate) fn replying_to(self, message: &str) -> Saying {
        Saying { reply_to: Some(message.to_owned()), ..self }
    }

    pub(crate) fn whispered_to(self, identity: &str) -> Saying {
        Saying { whisper_to: Some(identity.to_owned()), ..self }
    }

    /// Under this name it is said once.
    pub(crate) fn put(&self, shelves: &Shelves, key: &str, due_at: Timestamp) -> PutNote {
        PutNote {
            expected: Some(0),
            due_at: Some(due_at),
            ..shelf::put(&shelves.out, &format!("s/{key}"), self)
        }
    }
}

fn bounded(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    format!("{}…", &text[..end])
}
