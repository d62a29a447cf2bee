//! `[channels.NAME]`, the keys of e-mail.

use channels::email::{Login, Settings, Tls};
use ports::secret_string::SecretString;
use toml::Spanned;

use super::common::ChannelConfig;
use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::secret::SecretSource;
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailConfig {
    pub host: String,
    pub port: u16,
    pub tls: Tls,
    pub login: Option<(String, SecretSource)>,
    pub from: String,
}

platform_table! {
    pub(in crate::config) struct EmailTable {
        host: Option<Spanned<String>>,
        port: Option<Spanned<u16>>,
        tls: Option<Spanned<String>>,
        user: Option<Spanned<String>>,
        password_env: Option<Spanned<String>>,
        password_file: Option<Spanned<String>>,
        from: Option<Spanned<String>>,
    }
}

impl PlatformTable for EmailTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        let missing = |key: &str, like: &str| {
            source.error(at.span.clone(), format!("`{key}` is missing, like `{like}`"))
        };
        let host = self.host.ok_or_else(|| missing("host", "smtp.example.org"))?;
        let from = self.from.ok_or_else(|| missing("from", "Holdpoint <holdpoint@example.org>"))?;
        let tls = match &self.tls {
            Some(tls) => {
                let words =
                    [("starttls", Tls::Starttls), ("implicit", Tls::Implicit), ("off", Tls::Off)];
                source.word("tls", tls, &words)?
            }
            None => Tls::Starttls,
        };
        let near = matches!(host.get_ref().as_str(), "localhost" | "127.0.0.1" | "::1");
        if let (Tls::Off, Some(given), false) = (tls, &self.tls, near) {
            let message = "`tls = \"off\"` is for a mail server on this machine: the link and the \
                           password would travel in the clear";
            return Err(source.error(given.span(), message));
        }
        let password =
            source.secret_if_given("password", &self.password_env, &self.password_file)?;
        let login = match (self.user, password) {
            (Some(user), Some(password)) => Some((user.into_inner(), password)),
            (None, None) => None,
            (Some(user), None) => {
                let message = "`user` needs `password_env` (or `password_file`)";
                return Err(source.error(user.span(), message));
            }
            (None, Some(_)) => return Err(missing("user", "holdpoint@example.org")),
        };
        let port = match (self.port, tls) {
            (Some(port), _) => port.into_inner(),
            (None, Tls::Implicit) => 465,
            (None, Tls::Starttls) => 587,
            (None, Tls::Off) => 25,
        };
        let (host, from) = (host.into_inner(), from.into_inner());
        Ok(PlatformConfig::Email(Box::new(EmailConfig { host, port, tls, login, from })))
    }
}

impl EmailConfig {
    /// With the password, which is read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<Settings, String> {
        let login = self.login.as_ref().map(|(user, password)| {
            let what = format!("the password of [channels.{}]", channel.name);
            let password = SecretString::new(password.read(&what)?);
            Ok::<_, String>(Login { user: user.clone(), password })
        });
        Ok(Settings {
            name: channel.name.to_string(),
            host: self.host.clone(),
            port: self.port,
            tls: self.tls,
            login: login.transpose()?,
            from: self.from.clone(),
            language: channel.language,
            zone: channel.zone.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn told(keys: &str) -> String {
        let text = format!("[channels.email]\n{keys}");
        match Config::parse(&text, "h.toml") {
            Ok(config) => match &config.channels[..] {
                [ChannelConfig { platform: PlatformConfig::Email(own), .. }] => {
                    format!("{}:{} {:?} {}", own.host, own.port, own.tls, own.login.is_some())
                }
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn mail_needs_a_server_and_a_sender() {
        let mail = "host = \"smtp.example.org\"\nfrom = \"h@example.org\"\n";
        assert_eq!(told(mail), "smtp.example.org:587 Starttls false");
        let login = format!("{mail}tls = \"implicit\"\nuser = \"h\"\npassword_env = \"P\"\n");
        assert_eq!(told(&login), "smtp.example.org:465 Implicit true");
        let near = "host = \"127.0.0.1\"\nfrom = \"h@example.org\"\ntls = \"off\"\n";
        assert_eq!(told(near), "127.0.0.1:25 Off false");
        for (keys, wanted) in [
            ("", "h.toml:1: `host` is missing, like `smtp.example.org`"),
            ("host = \"h\"\n", "h.toml:1: `from` is missing"),
            (
                &format!("{mail}tls = \"off\"\n"),
                "h.toml:4: `tls = \"off\"` is for a mail server on",
            ),
            (&format!("{mail}tls = \"ssl\"\n"), "h.toml:4: `tls` cannot be `ssl`"),
            (&format!("{mail}user = \"h\"\n"), "h.toml:4: `user` needs `password_env`"),
            (&format!("{mail}password_env = \"P\"\n"), "h.toml:1: `user` is missing"),
            (&format!("{mail}password = \"x\"\n"), "h.toml:4: secrets do not belong in this file"),
        ] {
            let told = told(keys);
            assert!(told.starts_with(wanted), "{told}");
        }
    }
}
