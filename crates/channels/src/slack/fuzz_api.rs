//! For [`crate::fuzz_api`].

use domain::time::Timestamp;
use ports::channel::ChannelError;
use serde_json::Value;

use super::api::read_reply;
use super::event::{SlackAccount, wrote};
use super::hook::payload;
use super::press::{self, Pressed};
use crate::fuzz_api::{Gesture, OURSELVES};
use crate::wire::RestReply;

/// An event is JSON; an interaction is a form with JSON in it, or JSON over Socket Mode.
pub(crate) fn gesture(body: &[u8], now: Timestamp) -> Option<Gesture> {
    let body: Value = serde_json::from_slice(body).ok().or_else(|| payload(body))?;
    if body.get("event").is_some() {
        let me = SlackAccount { user: OURSELVES.into(), bot: "B1".into() };
        return wrote(&body, &me).map(|wrote| Gesture::Wrote(Box::new(wrote)));
    }
    match press::read_press(&body, now) {
        Pressed::Button { press, .. } | Pressed::Form { press, .. } => {
            Some(Gesture::Pressed(press))
        }
        Pressed::Strange { .. } | Pressed::Ignored => None,
    }
}

pub(crate) fn reply_error(status: u16, body: &[u8]) -> Option<ChannelError> {
    read_reply(&RestReply::new(status, body)).err().map(|failed| failed.sending())
}
