//! For [`crate::fuzz_api`].

use domain::time::Timestamp;
use ports::channel::ChannelError;
use ports::secret_string::SecretString;
use serde_json::Value;

use super::api_result::api_result;
use super::gesture::{press, wrote};
use super::settings::DingTalkSettings;
use crate::fuzz_api::{Gesture, OURSELVES};
use crate::wire::ApiResult;

pub(crate) fn gesture(body: &[u8], now: Timestamp) -> Option<Gesture> {
    let data: Value = serde_json::from_slice(body).ok()?;
    let base = "https://api.example".parse().ok()?;
    let settings = DingTalkSettings::new("ding", OURSELVES, SecretString::new("s"), base);
    // Messages and presses come to different addresses, and under different topics.
    match data.get("msgId") {
        Some(_) => wrote(&data, &settings).map(|wrote| Gesture::Wrote(Box::new(wrote))),
        None => {
            let press = press(&data, "dingtalk:press:1".into(), &settings, now)?;
            Some(Gesture::Pressed(Box::new(press)))
        }
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
