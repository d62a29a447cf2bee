//! For [`crate::fuzz_api`].

use domain::time::Timestamp;
use ports::channel::ChannelError;

use super::api::read_reply;
use super::entities::TelegramAccount;
use super::update::Update;
use crate::fuzz_api::{Gesture, OURSELVES};
use crate::wire::RestReply;

pub(crate) fn gesture(body: &[u8], now: Timestamp) -> Option<Gesture> {
    let me = TelegramAccount { id: OURSELVES.into(), username: "holdbot".into() };
    match Update::read(&serde_json::from_slice(body).ok()?, &me, now) {
        Update::Pressed { press, .. } => Some(Gesture::Pressed(press?)),
        Update::Wrote(wrote) => Some(Gesture::Wrote(wrote)),
        Update::Moved { .. } | Update::Ignored => None,
    }
}

pub(crate) fn reply_error(status: u16, body: &[u8]) -> Option<ChannelError> {
    read_reply(&RestReply::new(status, body)).err().map(|failed| failed.sending())
}
