//! For [`crate::fuzz_api`].

use domain::time::Timestamp;
use ports::channel::ChannelError;

use super::api_result::api_result;
use super::event::FeishuEvent;
use super::gesture::{self, MESSAGE, PRESS};
use crate::fuzz_api::{Gesture, OURSELVES};
use crate::wire::ApiResult;

pub(crate) fn gesture(body: &[u8], now: Timestamp) -> Option<Gesture> {
    let event = FeishuEvent::read(serde_json::from_slice(body).ok()?)?;
    match event.kind.as_str() {
        PRESS => Some(Gesture::Pressed(Box::new(gesture::press(&event, None, now)?))),
        MESSAGE => Some(Gesture::Wrote(Box::new(gesture::wrote(&event, None, OURSELVES)?))),
        _ => None,
    }
}

pub(crate) fn reply_error(status: u16, body: &[u8]) -> Option<ChannelError> {
    match api_result(status, serde_json::from_slice(body).ok(), None) {
        ApiResult::Done(_) => None,
        // Another token is fetched, and it is said once more.
        ApiResult::BadToken => Some(ChannelError::Again { after: None, why: String::new() }),
        ApiResult::Failed(error) => Some(error),
    }
}
