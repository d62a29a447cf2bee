//! `[channels.NAME]`, the keys of e-mail.

use channels::email::{EmailSettings, Login, Tls};
use toml::Spanned;

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section, Unopened};
use crate::config::source::Result;

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
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig> {
        let missing =
            |key: &str, like: &str| at.wrong(format!("`{key}` is missing, like `{like}`"));
        let Some(host) = self.host.map(Spanned::into_inner) else {
            return missing("host", "smtp.example.org");
        };
        let Some(from) = self.from.map(Spanned::into_inner) else {
            return missing("from", "Holdpoint <holdpoint@example.org>");
        };
        let words = [("starttls", Tls::Starttls), ("implicit", Tls::Implicit), ("off", Tls::Off)];
        let tls = at.word("tls", &self.tls, &words)?.unwrap_or(Tls::Starttls);
        let near = matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1");
        if let (Tls::Off, Some(given), false) = (tls, &self.tls, near) {
            let message = "`tls = \"off\"` is for a mail server on this machine: the link and the \
                           password would travel in the clear";
            return Err(at.source.error(given.span(), message));
        }
        let password = at.secret_if_given("password", &self.password_env, &self.password_file)?;
        let login = match (self.user, password) {
            (Some(user), Some(password)) => Some((user.into_inner(), password)),
            (None, None) => None,
            (Some(user), None) => {
                let message = "`user` needs `password_env` (or `password_file`)";
                return Err(at.source.error(user.span(), message));
            }
            (None, Some(_)) => return missing("user", "holdpoint@example.org"),
        };
        let port = match (self.port, tls) {
            (Some(port), _) => port.into_inner(),
            (None, Tls::Implicit) => 465,
            (None, Tls::Starttls) => 587,
            (None, Tls::Off) => 25,
        };
        Ok(PlatformConfig::Email(Unopened::new(move |opening| {
            let login = login.as_ref().map(|(user, password)| {
                let password = opening.secret("password", password)?;
                Ok::<_, String>(Login { user: user.clone(), password })
            });
            Ok(EmailSettings {
                name: opening.name(),
                host: host.clone(),
                port,
                tls,
                login: login.transpose()?,
                from: from.clone(),
                language: opening.channel.language,
                zone: opening.channel.zone.clone(),
            })
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_alone;
    use super::*;

    fn told(keys: &str) -> String {
        read_alone("email", keys, |channel| {
            let PlatformConfig::Email(own) = &channel.platform else { panic!("{channel:?}") };
            let own = own.open_with(channel, |_| "s").expect("settings");
            format!("{}:{} {:?} {}", own.host, own.port, own.tls, own.login.is_some())
        })
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
