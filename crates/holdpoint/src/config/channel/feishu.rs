//! `[channels.NAME]`, the keys of Feishu and Lark.

use channels::feishu::{FeishuMode, FeishuSettings};
use toml::Spanned;

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section, Unopened};
use crate::config::source::Result;

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
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig> {
        let app_id = at.id(
            self.app_id,
            "`app_id` is missing; the developer console shows it, like `cli_a1b2c3d4`",
        )?;
        let words =
            [("long_connection", FeishuMode::LongConnection), ("webhook", FeishuMode::Webhook)];
        let mode = at.word("mode", &self.mode, &words)?.unwrap_or_default();
        let verification_token = at.secret_if_given(
            "verification_token",
            &self.verification_token_env,
            &self.verification_token_file,
        )?;
        if mode == FeishuMode::Webhook && verification_token.is_none() {
            return at.wrong(
                "with `mode = \"webhook\"` `verification_token_env` is needed; it stands under \
                 Events & Callbacks → Encryption Strategy",
            );
        }
        let encrypt_key =
            at.secret_if_given("encrypt_key", &self.encrypt_key_env, &self.encrypt_key_file)?;
        // The token stands in every event: a reader of one could write another.
        if mode == FeishuMode::Webhook && encrypt_key.is_none() {
            return at.wrong(
                "with `mode = \"webhook\"` `encrypt_key_env` is needed, for without it nothing is \
                 signed; set the key in the developer console under Events & Callbacks → \
                 Encryption Strategy",
            );
        }
        let app_secret = at.secret("app_secret", &self.app_secret_env, &self.app_secret_file)?;
        let base_url = at.address("base_url", &self.base_url, "https://open.feishu.cn")?;
        let tenant_key = self.tenant_key;
        Ok(PlatformConfig::Feishu(Unopened::new(move |opening| {
            Ok(FeishuSettings {
                name: opening.name(),
                app_id: app_id.clone(),
                app_secret: opening.secret("app secret", &app_secret)?,
                base_url: base_url.clone(),
                mode,
                verification_token: opening
                    .secret_if_given("verification token", &verification_token)?,
                encrypt_key: opening.secret_if_given("encrypt key", &encrypt_key)?,
                tenant_key: tenant_key.clone(),
                language: opening.channel.language,
                zone: opening.channel.zone.clone(),
            })
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{guide_is_taken, read_alone};
    use super::*;

    fn told(keys: &str) -> String {
        read_alone("feishu", keys, |channel| {
            let PlatformConfig::Feishu(own) = &channel.platform else { panic!("{channel:?}") };
            let own = own.open_with(channel, |_| "s").expect("settings");
            format!("{} {:?} {}", own.app_id, own.mode, own.base_url)
        })
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
        guide_is_taken(include_str!("../../../../../docs/guide/feishu.md"));
    }
}
