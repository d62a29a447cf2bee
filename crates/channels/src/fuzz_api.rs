//! What the connectors make of foreign bytes, without a connection around them: the very functions
//! that they call, for fuzzers. Signatures are judged before any of
//! these, and are tried where they are judged.

use domain::time::Timestamp;
use ports::channel::{ChannelError, IncomingMessage, Press, ReportedDecision};

use crate::{dingtalk, feishu, slack, telegram, webhook};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Dingtalk,
    Feishu,
    Slack,
    Telegram,
}

/// What somebody did.
#[derive(Clone, Debug)]
pub enum Gesture {
    Pressed(Box<Press>),
    Wrote(Box<IncomingMessage>),
}

/// Our own account, as each of them would name it.
pub const OURSELVES: &str = "42";

/// The body of a request, or the payload of a frame. `None`: nothing that anybody did to us.
pub fn gesture(platform: Platform, body: &[u8], now: Timestamp) -> Option<Gesture> {
    match platform {
        Platform::Dingtalk => dingtalk::fuzz_api::gesture(body, now),
        Platform::Feishu => feishu::fuzz_api::gesture(body, now),
        Platform::Slack => slack::fuzz_api::gesture(body, now),
        Platform::Telegram => telegram::fuzz_api::gesture(body, now),
    }
}

/// What a platform answers to a message of ours. `None`: it is done.
pub fn reply_error(platform: Platform, status: u16, body: &[u8]) -> Option<ChannelError> {
    match platform {
        Platform::Dingtalk => dingtalk::fuzz_api::reply_error(status, body),
        Platform::Feishu => feishu::fuzz_api::reply_error(status, body),
        Platform::Slack => slack::fuzz_api::reply_error(status, body),
        Platform::Telegram => telegram::fuzz_api::reply_error(status, body),
    }
}

/// What a program brings; the error is what it is told.
pub fn decision(body: &[u8], id: &str) -> Result<ReportedDecision, String> {
    webhook::fuzz_api::decision(body, id)
}
