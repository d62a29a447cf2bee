//! What the configuration says of one app.

use ports::secret_string::SecretString;
use reqwest::Url;

use super::webhook::FeishuApp;
use crate::card::{Language, Zone};

#[derive(Clone, Debug)]
pub struct FeishuSettings {
    /// As the configuration names the channel.
    pub name: String,
    pub app_id: String,
    pub app_secret: SecretString,
    /// Feishu's or Lark's; everything is asked of it, the address of the long connection too.
    pub base_url: Url,
    pub mode: FeishuMode,
    /// What every event over the webhook carries. Without it nothing is taken there.
    pub verification_token: Option<SecretString>,
    /// With it, nothing is taken in the clear.
    pub encrypt_key: Option<SecretString>,
    /// Only this organisation's people.
    pub tenant_key: Option<String>,
    pub language: Language,
    pub zone: Zone,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeishuMode {
    /// A connection of ours, which needs no address that the platform could reach.
    #[default]
    LongConnection,
    Webhook,
}

impl FeishuSettings {
    /// An app of Feishu over a long connection, in Chinese.
    pub fn new(
        name: &str,
        app_id: &str,
        app_secret: SecretString,
        base_url: Url,
    ) -> FeishuSettings {
        FeishuSettings {
            name: name.to_owned(),
            app_id: app_id.to_owned(),
            app_secret,
            base_url,
            mode: FeishuMode::default(),
            verification_token: None,
            encrypt_key: None,
            tenant_key: None,
            language: Language::Chinese,
            zone: Zone::default(),
        }
    }

    pub(super) fn app(&self) -> FeishuApp {
        let text = |hidden: &SecretString| hidden.expose().to_owned();
        FeishuApp {
            app_id: self.app_id.clone(),
            verification_token: self.verification_token.as_ref().map(text).unwrap_or_default(),
            encrypt_key: self.encrypt_key.as_ref().map(text),
            tenant_key: self.tenant_key.clone(),
        }
    }
}
