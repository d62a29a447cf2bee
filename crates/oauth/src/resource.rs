//! What a protected resource says about who authorizes for it (RFC 9728).

use reqwest::{StatusCode, Url};
use serde::Deserialize;

use crate::challenge::BearerChallenge;
use crate::error::OauthError;
use crate::limits::{ISSUERS_MAX, SCOPES_MAX};
use crate::way_out::WayOut;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedResource {
    /// What tokens are asked for, as the resource spells it.
    pub resource: String,
    /// Issuers; the first is taken.
    pub authorization_servers: Vec<String>,
    pub scopes: Vec<String>,
}

#[derive(Deserialize)]
struct ResourceDocument {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

impl ProtectedResource {
    /// Looks where the challenge says, or else where the RFC says. `way` leads to the resource, whose address the
    /// operator wrote.
    pub async fn discover(
        resource: &Url,
        challenge: Option<&BearerChallenge>,
        way: &WayOut,
    ) -> Result<ProtectedResource, OauthError> {
        let named = challenge.and_then(|challenge| challenge.resource_metadata.as_deref());
        let places = match named {
            Some(named) => vec![own_place(resource, named)?],
            None => well_known_places(resource),
        };
        for place in places {
            let answer = way.get(place).await?;
            match answer.status {
                StatusCode::OK => return ProtectedResource::parse(resource, &answer.body),
                status if status.is_client_error() => {}
                status => {
                    let why = format!("it answered with HTTP status {}", status.as_u16());
                    return Err(OauthError::Unreachable(why));
                }
            }
        }
        let why = "it does not say who authorizes for it (RFC 9728): it may not want OAuth";
        Err(OauthError::Unsound(why.into()))
    }

    fn parse(wanted: &Url, document: &[u8]) -> Result<ProtectedResource, OauthError> {
        let unsound = |why: &str| OauthError::Unsound(why.into());
        let mut document: ResourceDocument = serde_json::from_slice(document)
            .map_err(|_| unsound("its metadata is not a document of a protected resource"))?;
        // Otherwise it could ask for tokens that are good for somebody else.
        if !covers(&document.resource, wanted) {
            return Err(unsound("its metadata is that of another resource"));
        }
        document.authorization_servers.truncate(ISSUERS_MAX);
        document.scopes_supported.truncate(SCOPES_MAX);
        if document.authorization_servers.is_empty() {
            return Err(unsound("its metadata names no authorization server"));
        }
        Ok(ProtectedResource {
            resource: document.resource,
            authorization_servers: document.authorization_servers,
            scopes: document.scopes_supported,
        })
    }
}

/// Metadata of a resource is on its own origin, which the operator named. No challenge leads us elsewhere.
fn own_place(resource: &Url, named: &str) -> Result<Url, OauthError> {
    let place = Url::parse(named).ok().filter(|url| url.origin() == resource.origin());
    place
        .ok_or_else(|| OauthError::Unsound("it says that its metadata is on another server".into()))
}

/// Whether tokens for `resource` are for `wanted`: the same address, or a part of the path before it.
fn covers(resource: &str, wanted: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (above, path) = (resource.path().trim_end_matches('/'), wanted.path());
    let below = path.strip_prefix(above);
    resource.origin() == wanted.origin()
        && resource.fragment().is_none()
        && resource.query().is_none_or(|query| wanted.query() == Some(query))
        && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

fn well_known_places(resource: &Url) -> Vec<Url> {
    let path = resource.path().trim_end_matches('/');
    let mut paths = vec![format!("/.well-known/oauth-protected-resource{path}")];
    if !path.is_empty() {
        paths.push("/.well-known/oauth-protected-resource".into());
    }
    let place = |path: String| {
        let mut url = resource.clone();
        url.set_query(None);
        url.set_path(&path);
        url
    };
    paths.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_speaks_for_itself_only() {
        let wanted = Url::parse("https://mcp.example/tools/mcp").unwrap();
        for (resource, fits) in [
            ("https://mcp.example/tools/mcp", true),
            ("https://mcp.example/tools/mcp/", true),
            ("https://mcp.example/tools", true),
            ("https://mcp.example", true),
            ("https://MCP.example:443/", true),
            ("https://mcp.example/tools/m", false),
            ("https://mcp.example/other", false),
            ("https://other.example/tools/mcp", false),
            ("http://mcp.example/tools/mcp", false),
            ("https://mcp.example/#x", false),
            ("https://mcp.example/?tenant=2", false),
            ("mcp", false),
        ] {
            assert_eq!(covers(resource, &wanted), fits, "{resource}");
        }
    }

    #[test]
    fn a_challenge_leads_to_no_other_server() {
        let resource = Url::parse("https://mcp.example/mcp").unwrap();
        assert!(own_place(&resource, "https://mcp.example/.well-known/any").is_ok());
        for named in
            ["https://evil.example/x", "http://mcp.example/x", "https://169.254.169.254/", "x"]
        {
            assert!(own_place(&resource, named).is_err(), "{named}");
        }
        let places = well_known_places(&resource);
        assert_eq!(places[0].path(), "/.well-known/oauth-protected-resource/mcp");
        assert_eq!(places[1].path(), "/.well-known/oauth-protected-resource");
    }
}
