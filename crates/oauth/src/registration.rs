//! Dynamic registration of a client (RFC 7591).

use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::error::OauthError;
use crate::limits::TOKEN_BYTES_MAX;
use crate::metadata::AuthorizationServer;
use crate::secret::OauthSecret;
use crate::token::{OauthClient, TokenAuthMethod};
use crate::way_out::WayOut;

/// What a client says about itself, to be registered or to be looked up at the address that is its name. It never has
/// a `resource`: a client is not for one resource.
#[derive(Clone, Debug, Serialize)]
pub struct RegistrationRequest {
    /// Its own address, in a document that a server looks up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    pub client_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_uri: Option<String>,
    pub redirect_uris: Vec<String>,
    pub grant_types: [&'static str; 2],
    pub response_types: [&'static str; 1],
    pub token_endpoint_auth_method: &'static str,
    pub application_type: &'static str,
}

/// A client as the server knows it now.
#[derive(Debug)]
pub struct ClientRegistration;

#[derive(Deserialize)]
struct RegistrationReply {
    client_id: String,
    client_secret: Option<OauthSecret>,
    token_endpoint_auth_method: Option<String>,
}

#[derive(Deserialize)]
struct RefusedRegistration {
    error: String,
}

impl RegistrationRequest {
    pub fn new(client_name: &str, redirect_uri: &str) -> RegistrationRequest {
        RegistrationRequest {
            client_id: None,
            client_name: client_name.into(),
            client_uri: None,
            redirect_uris: vec![redirect_uri.into()],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            application_type: application_type(redirect_uri),
        }
    }
}

/// Servers let only native clients come back over plain HTTP to this machine.
fn application_type(redirect_uri: &str) -> &'static str {
    match Url::parse(redirect_uri) {
        Ok(url) if url.scheme() == "http" => "native",
        _ => "web",
    }
}

impl ClientRegistration {
    pub async fn register(
        server: &AuthorizationServer,
        mut request: RegistrationRequest,
        way: &WayOut,
    ) -> Result<OauthClient, OauthError> {
        let unsound = |why: &str| OauthError::Unsound(why.into());
        let Some(endpoint) = &server.registration_endpoint else {
            return Err(unsound(
                "it registers no clients by itself; register one there, and set `client_id`",
            ));
        };
        request.token_endpoint_auth_method =
            TokenAuthMethod::choose_for_new_client(&server.token_auth_methods).name();
        let answer = way.post_json(endpoint.clone(), &request).await?;
        if !answer.status.is_success() {
            return Err(match serde_json::from_slice::<RefusedRegistration>(&answer.body) {
                Ok(refused) => OauthError::refused(&refused.error),
                Err(_) => {
                    let status = answer.status.as_u16();
                    let why = format!("it answered the registration with HTTP status {status}");
                    OauthError::Unreachable(why)
                }
            });
        }
        let reply: RegistrationReply = serde_json::from_slice(&answer.body)
            .map_err(|_| unsound("its answer to the registration cannot be read"))?;
        let too_long = reply.client_id.is_empty()
            || reply.client_id.len() > TOKEN_BYTES_MAX
            || reply.client_secret.as_ref().is_some_and(|it| it.expose().len() > TOKEN_BYTES_MAX);
        if too_long {
            return Err(unsound("its answer to the registration names no usable client"));
        }
        let method = match reply.token_endpoint_auth_method.as_deref() {
            Some(name) => TokenAuthMethod::parse(name).ok_or_else(|| {
                unsound("it wants the client to authenticate in a way that we do not know")
            })?,
            // RFC 7591, 2.
            None if reply.client_secret.is_some() => TokenAuthMethod::Basic,
            None => TokenAuthMethod::None,
        };
        OauthClient::new(reply.client_id, reply.client_secret, method)
    }
}
