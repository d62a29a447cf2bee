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

/// The same for those that are judged by packages for Node, too.
const NODE_PLATFORMS: [(&str, &str); 1] = [("feishu", "CHANNELS_FEISHU_NODE")];

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let mut variables = Vec::new();
    for (platform, variable) in PLATFORMS {
        let lock = here.join(JUDGES).join(platform).join("requirements.txt");
        let python = setup::python(here, &format!("channels-{platform}"), &lock)?;
        variables.push((variable, python));
    }
    for (platform, variable) in NODE_PLATFORMS {
        let folder = here.join(JUDGES).join(platform);
        variables
            .push((variable, setup::node(here, &format!("channels-{platform}-node"), &folder)?));
    }
    rust::one_module(here, &rust::CHANNELS, &variables)
}
