//! How OAuth is set up for one server.

use oauth::OauthSecret;

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpOauthSettings {
    /// The server's name in the configuration.
    pub server: String,
    pub url: String,
    /// Headers that every request to the server has. Their values are secrets.
    pub headers: Vec<(String, OauthSecret)>,
    /// A client that was registered by hand. Without it one is registered when the server is connected.
    pub client_id: Option<String>,
    pub client_secret: Option<OauthSecret>,
    /// What to ask for; empty: what the server wants.
    pub scopes: Vec<String>,
    /// The authorization server may be on this machine or in a private network.
    pub allow_private_addresses: bool,
}

impl McpOauthSettings {
    pub fn new(server: &str, url: &str) -> McpOauthSettings {
        McpOauthSettings {
            server: server.into(),
            url: url.into(),
            headers: Vec::new(),
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
            allow_private_addresses: false,
        }
    }
}
