//! The vendors' own SDKs as judges of our chat channels: `crates/testkit/tests/channels`.

use anyhow::Result;

use super::rust;
use crate::checkout::Checkout;
use crate::setup;
use crate::tally::Tally;

const JUDGES: &str = "crates/testkit/tests/channels/judges";

/// Each platform's folder with its lock file, and the variable in which its tests find its Python.
const PLATFORMS: [(&str, &str); 5] = [
    ("dingtalk", "CHANNELS_DINGTALK_PYTHON"),
    ("feishu", "CHANNELS_FEISHU_PYTHON"),
    ("slack", "CHANNELS_SLACK_PYTHON"),
    ("telegram", "CHANNELS_TELEGRAM_PYTHON"),
    ("webhook", "CHANNELS_WEBHOOK_PYTHON"),
];

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let mut variables = Vec::new();
    for (platform, variable) in PLATFORMS {
        let lock = here.join(JUDGES).join(platform).join("requirements.txt");
        let python = setup::python(here, &format!("channels-{platform}"), &lock)?;
        variables.push((variable, python));
    }
    rust::one_target(here, rust::CHANNELS, "channels", &variables)
}
