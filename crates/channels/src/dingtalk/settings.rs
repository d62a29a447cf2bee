//! What the configuration says of one app.

use egress::Network;
use ports::secret_string::SecretString;
use reqwest::Url;

use super::envelope::DingTalkEnvelope;
use crate::card::{Language, Zone};

#[derive(Clone, Debug)]
pub struct DingTalkSettings {
    /// As the configuration names the channel.
    pub name: String,
    /// The app's key.
    pub client_id: String,
    pub client_secret: SecretString,
    /// The robot that speaks; the same as the app's key in most apps.
    pub robot_code: String,
    /// A published template of a card. Without one, holds are shown as messages without buttons.
    pub card_template: Option<String>,
    pub base_url: Url,
    /// Hosts beside that of `base_url` that conversations may be answered at, over TLS.
    pub session_hosts: Vec<String>,
    pub mode: DingTalkMode,
    /// Only this organisation's people.
    pub corp_id: Option<String>,
    pub language: Language,
    pub zone: Zone,
}

#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum DingTalkMode {
    /// A connection of ours, which needs no address that the platform could reach.
    #[default]
    Stream,
    Webhook(Webhook),
}

/// Requests over HTTP are signed without their bodies, so more is asked of them.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// The last part of the address, which only the platform is told.
    pub path_secret: SecretString,
    /// Signs the presses of cards.
    pub card_secret: Option<SecretString>,
    /// Under which the address for presses was registered.
    pub card_route: Option<String>,
    /// Opens and seals the events of the organisation, where they are subscribed to.
    pub events: Option<DingTalkEnvelope>,
    /// Only from these; from anywhere if there are none.
    pub allow_from: Vec<Network>,
}

impl DingTalkSettings {
    /// An app in stream mode, in Chinese, without cards.
    pub fn new(
        name: &str,
        client_id: &str,
        client_secret: SecretString,
        base_url: Url,
    ) -> DingTalkSettings {
        DingTalkSettings {
            name: name.to_owned(),
            client_id: client_id.to_owned(),
            client_secret,
            robot_code: client_id.to_owned(),
            card_template: None,
            base_url,
            session_hosts: Vec::new(),
            mode: DingTalkMode::default(),
            corp_id: None,
            language: Language::Chinese,
            zone: Zone::default(),
        }
    }
}
