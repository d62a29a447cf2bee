//! `[push]`: notices to people's own browsers.

use serde::Deserialize;
use toml::Spanned;

use super::source::{ConfigSource, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushConfig {
    pub enabled: bool,
    /// Where operators of push services write when something is wrong.
    pub contact: Option<String>,
    /// Push services may be on this machine and in private networks.
    pub allow_private_addresses: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PushTable {
    enabled: Option<bool>,
    contact: Option<Spanned<String>>,
    #[serde(default)]
    allow_private_addresses: bool,
}

impl PushTable {
    pub(super) fn check(self, source: &ConfigSource<'_>) -> Result<PushConfig> {
        let contact = match self.contact {
            Some(contact) if !is_contact(contact.get_ref()) => {
                let why = "`contact` is an address for push services to write to: `mailto:ops@example.com`, or a page with `https://`";
                return Err(source.error(contact.span(), why));
            }
            contact => contact.map(Spanned::into_inner),
        };
        Ok(PushConfig {
            enabled: self.enabled.unwrap_or(true),
            contact,
            allow_private_addresses: self.allow_private_addresses,
        })
    }
}

fn is_contact(text: &str) -> bool {
    let mailbox = text.strip_prefix("mailto:").is_some_and(|address| address.contains('@'));
    mailbox || text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty())
}
