//! `[server]`: where we listen, and who may speak for whom.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

pub use egress::Network;
use serde::Deserialize;
use toml::Spanned;

use super::source::{ConfigSource, Result};

/// Loopback only, unless the file says otherwise.
pub const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7420);

const SESSION_DAYS_DEFAULT: u32 = 30;
/// A browser that nobody used for longer is not one that somebody still has in hand.
const SESSION_DAYS_MAX: u32 = 90;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    pub listen: SocketAddr,
    /// Where people reach us, without a slash at the end; links point there.
    pub public_url: Option<String>,
    /// Whose word on the caller's address and scheme is taken.
    pub trusted_proxies: Vec<Network>,
    pub tls: Option<TlsFiles>,
    /// After so many days without use a login ends.
    pub session_days: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert_file: PathBuf,
    pub key_file: PathBuf,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerTable {
    listen: Option<Spanned<String>>,
    public_url: Option<Spanned<String>>,
    #[serde(default)]
    trusted_proxies: Vec<Spanned<String>>,
    tls: Option<TlsTable>,
    session_days: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsTable {
    cert_file: String,
    key_file: String,
}

impl ServerTable {
    pub(super) fn check(self, source: &ConfigSource<'_>) -> Result<ServerConfig> {
        let listen = match &self.listen {
            None => LISTEN_DEFAULT,
            Some(listen) => listen.get_ref().parse().map_err(|_| {
                let shown = domain::visible::visible(listen.get_ref());
                let message = format!(
                    "`{shown}` is not an address with a port; write it like `127.0.0.1:7420` or `[::1]:7420`"
                );
                source.error(listen.span(), message)
            })?,
        };
        let public_url = self.public_url.map(|url| public_url(&url, source)).transpose()?;
        let proxies = self.trusted_proxies.iter().map(|proxy| {
            Network::parse(proxy.get_ref()).ok_or_else(|| {
                let shown = domain::visible::visible(proxy.get_ref());
                let message = format!(
                    "`{shown}` is not an address or a network; write it like `10.0.0.7` or `10.0.0.0/8`"
                );
                source.error(proxy.span(), message)
            })
        });
        let tls = self.tls.map(|tls| TlsFiles {
            cert_file: source.path(&tls.cert_file),
            key_file: source.path(&tls.key_file),
        });
        let session_days = match &self.session_days {
            None => SESSION_DAYS_DEFAULT,
            Some(days) if (1..=SESSION_DAYS_MAX).contains(days.get_ref()) => *days.get_ref(),
            Some(days) => {
                let message = format!("a login lasts between 1 and {SESSION_DAYS_MAX} days");
                return Err(source.error(days.span(), message));
            }
        };
        Ok(ServerConfig {
            session_days,
            listen,
            public_url,
            trusted_proxies: proxies.collect::<Result<_>>()?,
            tls,
        })
    }
}

fn public_url(url: &Spanned<String>, source: &ConfigSource<'_>) -> Result<String> {
    let sound = |url: &reqwest::Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
    };
    match reqwest::Url::parse(url.get_ref()) {
        Ok(parsed) if sound(&parsed) => Ok(parsed.as_str().trim_end_matches('/').to_owned()),
        _ => {
            let shown = domain::visible::visible(url.get_ref());
            let message = format!(
                "`{shown}` is not the address of a site; write it like `https://holdpoint.example.com`, without a path"
            );
            Err(source.error(url.span(), message))
        }
    }
}

impl ServerConfig {
    pub(super) fn warnings(&self) -> Option<String> {
        let in_the_open = !self.listen.ip().is_loopback()
            && self.tls.is_none()
            && self.trusted_proxies.is_empty();
        in_the_open.then(|| {
            format!(
                "{} can be reached by other machines without TLS: tokens and logins can be read on the way; \
                 set `[server] tls`, or `trusted_proxies` if a proxy does it",
                self.listen
            )
        })
    }
}
