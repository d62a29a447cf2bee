//! What the configuration says about a model behind somebody's API. Checked there; used here.

use std::net::IpAddr;
use std::time::Duration;

use ports::secret_string::SecretString;
use reqwest::Url;

use crate::limits::RETRIES;

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelSettings {
    /// What the configuration calls it: errors send people there.
    pub name: String,
    /// What the provider calls it.
    pub model: String,
    /// With or without a version at its end; see [`endpoint`].
    pub base_url: Url,
    pub key: Option<ApiKey>,
    /// Sent with every request. All are treated as secrets, since some are.
    pub headers: Vec<(String, SecretString)>,
    pub proxy: Proxy,
    /// The most that one turn may have.
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    /// How hard to think, in the provider's own word.
    pub effort: Option<String>,
    /// Whether it takes images; `None` for as the API's own models do.
    pub takes_images: Option<bool>,
    pub time_limits: TimeLimits,
    /// Attempts after the first one.
    pub retries: u32,
}

impl ModelSettings {
    pub fn new(name: impl Into<String>, model: impl Into<String>, base_url: Url) -> ModelSettings {
        ModelSettings {
            name: name.into(),
            model: model.into(),
            base_url,
            key: None,
            headers: Vec::new(),
            proxy: Proxy::Environment,
            max_tokens: None,
            temperature: None,
            effort: None,
            takes_images: None,
            time_limits: TimeLimits::default(),
            retries: RETRIES,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ApiKey {
    pub secret: SecretString,
    /// Where it comes from, for those who have to mend it: `` `api_key_env` MY_KEY ``.
    pub origin: String,
}

#[derive(Clone, Debug)]
pub enum Proxy {
    /// As `HTTPS_PROXY` and its like say.
    Environment,
    None,
    /// It may hold a password.
    Url(SecretString),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    pub connect: Duration,
    /// From the request to the first byte of the answer. Local servers load a model meanwhile.
    pub first_byte: Duration,
    /// Between two pieces of the answer. Models may think for long without a word.
    pub silence: Duration,
    /// For the whole turn, with all its attempts.
    pub turn: Duration,
}

impl Default for TimeLimits {
    fn default() -> TimeLimits {
        TimeLimits {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(5 * 60),
            silence: Duration::from_secs(5 * 60),
            turn: Duration::from_secs(30 * 60),
        }
    }
}

/// Where requests go. People write base URLs with and without `/v1`, and gateways have their own
/// versions and folders; so `/v1` is put in only where no part of the path looks like a version.
pub fn endpoint(base_url: &Url, path: &str) -> Url {
    let mut url = base_url.clone();
    let base = base_url.path().trim_end_matches('/');
    let versioned = base.split('/').any(is_version);
    let version = if versioned { "" } else { "/v1" };
    url.set_path(&format!("{base}{version}/{path}"));
    url
}

fn is_version(segment: &str) -> bool {
    let mut characters = segment.chars();
    characters.next() == Some('v') && characters.next().is_some_and(|c| c.is_ascii_digit())
}

/// On this machine or in its own network, where servers usually want no key: loopback and private
/// addresses, and names that only a local resolver knows.
pub fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => {
            !host.contains('.')
                || [".local", ".localhost", ".internal", ".lan"]
                    .iter()
                    .any(|end| host.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_taken_as_people_write_them() {
        for (base, wanted) in [
            ("https://api.example.com", "https://api.example.com/v1/messages"),
            ("https://api.example.com/", "https://api.example.com/v1/messages"),
            ("https://api.example.com/v1", "https://api.example.com/v1/messages"),
            ("https://api.example.com/v1/", "https://api.example.com/v1/messages"),
            ("http://127.0.0.1:8080/api/v1", "http://127.0.0.1:8080/api/v1/messages"),
            ("https://gw.example.com/anthropic", "https://gw.example.com/anthropic/v1/messages"),
            (
                "https://x.example.com/v1beta/openai/",
                "https://x.example.com/v1beta/openai/messages",
            ),
            (
                "https://x.example.com/?api-version=2",
                "https://x.example.com/v1/messages?api-version=2",
            ),
            ("https://x.example.com/vision", "https://x.example.com/vision/v1/messages"),
        ] {
            let base = Url::parse(base).expect("a URL");
            assert_eq!(endpoint(&base, "messages").as_str(), wanted);
        }
    }

    #[test]
    fn near_and_far_are_told_apart() {
        let local = |url: &str| is_local(&Url::parse(url).expect("a URL"));
        for near in [
            "http://127.0.0.1:11434",
            "http://localhost:8000/v1",
            "http://[::1]:1",
            "http://10.1.2.3",
            "http://192.168.0.9",
            "http://ollama:11434",
            "http://gpu.internal",
        ] {
            assert!(local(near), "{near}");
        }
        for far in [
            "https://api.example.com",
            "http://8.8.8.8",
            "http://local.example.com",
            "http://[2001:db8::1]",
        ] {
            assert!(!local(far), "{far}");
        }
    }
}
