//! What can be done about a request that got no answer.

use std::fmt;

use ports::channel::{ChannelError, Checked};

use super::rest::{RestFailure, RestReply};
use crate::limits::SIGNATURE_WINDOW_MS;
use domain::time::Timestamp;

impl RestFailure {
    /// Of something that must not happen twice.
    pub(crate) fn sending(self) -> ChannelError {
        match self {
            RestFailure::NotSent(why) => ChannelError::Again { after: None, why },
            RestFailure::Lost(why) => ChannelError::Unknown(why),
        }
    }

    /// Of something that does no harm when it is done again.
    pub(crate) fn painting(self) -> ChannelError {
        ChannelError::Again { after: None, why: self.to_string() }
    }
}

impl fmt::Display for RestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestFailure::NotSent(why) | RestFailure::Lost(why) => f.write_str(why),
        }
    }
}

/// Whether our clock and the platform's agree well enough for signed times.
pub(crate) fn clock(answer: &RestReply, now: Timestamp) -> Checked {
    let off_ms = answer.date().map(|theirs| theirs.as_ms().abs_diff(now.as_ms()));
    let wrong = off_ms.filter(|off_ms| *off_ms > SIGNATURE_WINDOW_MS / 2).map(|off_ms| {
        format!(
            "this machine's clock is {} s away from the platform's; let it be set over the network \
             (NTP), since requests with a wrong time are refused",
            off_ms / 1000
        )
    });
    Checked { what: "clock".into(), wrong }
}
