//! Channels, for admins.

use domain::id::HoldId;
use domain::time::Timestamp;
use engine::ChannelFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::Text;
use crate::ChannelInfo;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConfiguredChannel<'a> {
    name: &'a str,
    platform: &'a str,
    /// Whether a test can be sent there.
    talks: bool,
    /// Where people could not be asked in the last days, the newest first.
    last_errors: Vec<ChannelTrouble<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChannelTrouble<'a> {
    hold: Text<HoldId>,
    /// A person, where it was one; else the chat as its platform calls it.
    to: &'a str,
    /// As the platform said it.
    why: &'a str,
    #[schemars(extend("format" = "date-time"))]
    at: Text<Timestamp>,
}

impl<'a> ConfiguredChannel<'a> {
    pub(crate) fn of(
        info: &'a ChannelInfo,
        failures: &'a [ChannelFailure],
    ) -> ConfiguredChannel<'a> {
        let mine = failures.iter().filter(|failure| failure.told.channel == info.name);
        let error = |failure: &'a ChannelFailure| ChannelTrouble {
            hold: Text(failure.hold),
            to: &failure.told.to,
            why: &failure.told.why,
            at: Text(failure.told.at),
        };
        ConfiguredChannel {
            name: &info.name,
            platform: &info.platform,
            talks: info.talks,
            last_errors: mine.take(ERRORS_SHOWN).map(error).collect(),
        }
    }
}

/// More of them say the same.
const ERRORS_SHOWN: usize = 10;

/// Which channel to try, with a word to the caller's own linked account there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChannelTestBody {
    pub(crate) channel: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChannelTested {
    pub(crate) sent: bool,
    /// The person to whose account it went.
    pub(crate) to: String,
}
