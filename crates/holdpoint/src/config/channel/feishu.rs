//! `[channels.NAME]`, the keys of Feishu and Lark.

use channels::feishu::{Mode, Settings};
use ports::secret_string::SecretString;
use reqwest::Url;
use toml::Spanned;

use super::common::ChannelConfig;
use super::place::address;
use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::secret::SecretSource;
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeishuConfig {
    pub app_id: String,
    pub app_secret: SecretSource,
    pub mode: Mode,
    pub verification_token: Option<SecretSource>,
    pub encrypt_key: Option<SecretSource>,
    pub tenant_key: Option<String>,
    pub base_url: Url,
}

platform_table! {
    pub(in crate::config) struct FeishuTable {
        app_id: Option<Spanned<String>>,
        app_secret_env: Option<Spanned<String>>,
        app_secret_file: Option<Spanned<String>>,
        mode: Option<Spanned<String>>,
        verification_token_env: Option<Spanned<String>>,
        verification_token_file: Option<Spanned<String>>,
        encrypt_key_env: Option<Spanned<String>>,
        encrypt_key_file: Option<Spanned<String>>,
        tenant_key: Option<String>,
        base_url: Option<Spanned<String>>,
    }
}

impl PlatformTable for FeishuTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        let Some(app_id) = self.app_id.filter(|id| !id.get_ref().trim().is_empty()) else {
            let message =
                "`app_id` is missing; the developer console shows it, like `cli_a1b2c3d4`";
            return Err(source.error(at.span.clone(), message));
        };
        let mode = match &self.mode {
            Some(mode) => {
                let words = [("long_connection", Mode::LongConnection), ("webhook", Mode::Webhook)];
                source.word("mode", mode, &words)?
            }
            None => Mode::default(),
        };
        let verification_token = source.secret_if_given(
            "verification_token",
            &self.verification_token_env,
            &self.verification_token_file,
        )?;
        if mode == Mode::Webhook && verification_token.is_none() {
            let message = "with `mode = \"webhook\"` `verification_token_env` is needed; it stands \
                           under Events & Callbacks → Encryption Strategy";
            return Err(source.error(at.span.clone(), message));
        }
        let encrypt_key =
            source.secret_if_given("encrypt_key", &self.encrypt_key_env, &self.encrypt_key_file)?;
        // The token stands in every event, and whoever has seen one could write another.
        if mode == Mode::Webhook && encrypt_key.is_none() {
            let message = "with `mode = \"webhook\"` `encrypt_key_env` is needed, for without it \
                           nothing is signed; set the key in the developer console under Events & \
                           Callbacks → Encryption Strategy";
            return Err(source.error(at.span.clone(), message));
        }
        Ok(PlatformConfig::Feishu(Box::new(FeishuConfig {
            app_id: app_id.into_inner(),
            app_secret: source.secret(
                "app_secret",
                at.span.clone(),
                &self.app_secret_env,
                &self.app_secret_file,
            )?,
            mode,
            verification_token,
            encrypt_key,
            tenant_key: self.tenant_key,
            base_url: address("base_url", &self.base_url, "https://open.feishu.cn", source)?,
        })))
    }
}

impl FeishuConfig {
    /// With the secrets, which are read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<Settings, String> {
        let read = |what: &str, from: &SecretSource| {
            let what = format!("the {what} of [channels.{}]", channel.name);
            from.read(&what).map(SecretString::new)
        };
        let secret = read("app secret", &self.app_secret)?;
        let base_url = self.base_url.clone();
        let mut settings = Settings::new(&channel.name, &self.app_id, secret, base_url);
        settings.mode = self.mode;
        let token = self.verification_token.as_ref();
        settings.verification_token =
            token.map(|from| read("verification token", from)).transpose()?;
        settings.encrypt_key =
            self.encrypt_key.as_ref().map(|from| read("encrypt key", from)).transpose()?;
        settings.tenant_key = self.tenant_key.clone();
        settings.language = channel.language;
        settings.zone = channel.zone.clone();
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn told(keys: &str) -> String {
        let text = format!("[channels.feishu]\n{keys}");
        match Config::parse(&text, "h.toml") {
            Ok(config) => match &config.channels[..] {
                [ChannelConfig { platform: PlatformConfig::Feishu(own), .. }] => {
                    format!("{} {:?} {}", own.app_id, own.mode, own.base_url)
                }
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn an_app_needs_its_id_and_its_secret() {
        let app = "app_id = \"cli_1\"\napp_secret_env = \"S\"\n";
        assert_eq!(told(app), "cli_1 LongConnection https://open.feishu.cn/");
        let lark = format!(
            "{app}base_url = \"https://open.larksuite.com\"\nmode = \"webhook\"\nverification_token_env = \"T\"\nencrypt_key_env = \"E\"\n"
        );
        assert_eq!(told(&lark), "cli_1 Webhook https://open.larksuite.com/");
        for (keys, wanted) in [
            (
                "",
                "h.toml:1: `app_id` is missing; the developer console shows it, like `cli_a1b2c3d4`",
            ),
            (
                "app_id = \"cli_1\"\n",
                "h.toml:1: `app_secret_env` is missing (or `app_secret_file`)",
            ),
            (
                "app_id = \"cli_1\"\napp_secret = \"x\"\n",
                "h.toml:3: secrets do not belong in this file: take `app_secret` out and use",
            ),
            (&format!("{app}mode = \"web\"\n"), "h.toml:4: `mode` cannot be `web`"),
            (
                &format!("{app}mode = \"webhook\"\n"),
                "h.toml:1: with `mode = \"webhook\"` `verification_token_env` is needed",
            ),
            (
                &format!("{app}mode = \"webhook\"\nverification_token_env = \"T\"\n"),
                "h.toml:1: with `mode = \"webhook\"` `encrypt_key_env` is needed, for without it",
            ),
            (
                &format!("{app}base_url = \"http://feishu.example.com\"\n"),
                "h.toml:4: `base_url` must begin with https://, as secrets are sent there",
            ),
            (&format!("{app}base_url = \"open\"\n"), "h.toml:4: `open` is not a URL"),
            (
                &format!("{app}base_url = \"https://a:b@open.feishu.cn\"\n"),
                "h.toml:4: take the user and the password out of `base_url`",
            ),
            (
                &format!("{app}base_url = \"https://open.feishu.cn?x\"\n"),
                "h.toml:4: take everything from `?` or `#` on out of `base_url`",
            ),
        ] {
            let told = told(keys);
            assert!(told.starts_with(wanted), "{told}");
        }
    }

    #[test]
    fn what_the_guide_shows_is_taken() {
        let guide = include_str!("../../../../../docs/guide/feishu.md");
        let blocks: Vec<&str> = guide.split("```toml\n").skip(1).collect();
        assert!(blocks.len() >= 2);
        for block in blocks {
            let text = block.split("```").next().unwrap_or_default();
            let config = Config::parse(text, "feishu.md").unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(config.channels.len(), 1);
        }
    }
}
