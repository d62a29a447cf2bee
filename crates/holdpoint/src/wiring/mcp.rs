//! MCP servers: how each is reached, and with whose tokens.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use oauth::OauthSecret;
use tools::mcp::oauth::{McpOauth, McpOauthSettings};
use tools::mcp::{McpConfig, McpEndpoint};

use super::environment;
use crate::assembly::Base;
use crate::config::{McpOauthConfig, McpReach, McpTools, ToolConfig};

/// A server without its tokens.
pub(super) fn mcp_config(tool: &ToolConfig, mcp: &McpTools) -> Result<McpConfig> {
    let reach = match &mcp.reach {
        McpReach::Program { argv, cwd, env, run_as } => McpEndpoint::Program {
            argv: argv.clone(),
            cwd: cwd.clone(),
            environment: environment(env)?,
            run_as: run_as.clone(),
        },
        McpReach::Service { url, headers_env, .. } => McpEndpoint::Service {
            url: url.clone(),
            headers: read_headers(&owner(tool), headers_env)?,
        },
    };
    let mut setup = McpConfig::new(&tool.name, reach);
    setup.only = mcp.only.clone();
    setup.effects = mcp.effects;
    setup.effects_of = mcp.effects_of.clone();
    setup.time_limit = mcp.time_limit.unwrap_or(setup.time_limit);
    Ok(setup)
}

/// `whose` is what names the variables, for people.
pub(crate) fn read_headers(
    whose: &str,
    headers_env: &[(String, String)],
) -> Result<Vec<(String, String)>> {
    let header = |(header, variable): &(String, String)| {
        let value = std::env::var(variable).with_context(|| {
            format!("the environment variable `{variable}`, which {whose} names, is not set")
        })?;
        Ok((header.clone(), value))
    };
    headers_env.iter().map(header).collect()
}

fn owner(tool: &ToolConfig) -> String {
    format!("the tool `{}`", tool.name)
}

/// How the server is connected with OAuth, if it is.
pub fn oauth_settings(
    name: &str,
    whose: &str,
    reach: &McpReach,
) -> Result<Option<McpOauthSettings>> {
    let McpReach::Service { url, headers_env, oauth: Some(oauth) } = reach else {
        return Ok(None);
    };
    let McpOauthConfig { client_id, client_secret, scopes, allow_private_addresses } = oauth;
    let mut settings = McpOauthSettings::new(name, url);
    let headers = read_headers(whose, headers_env)?.into_iter();
    settings.headers = headers.map(|(name, value)| (name, OauthSecret::new(value))).collect();
    settings.client_id = client_id.clone();
    settings.client_secret = match client_secret {
        None => None,
        Some(source) => {
            let what = format!("the client's secret of {whose}");
            Some(OauthSecret::new(source.read(&what).map_err(anyhow::Error::msg)?))
        }
    };
    settings.scopes = scopes.clone();
    settings.allow_private_addresses = *allow_private_addresses;
    Ok(Some(settings))
}

/// The settings of a tool's server.
pub fn tool_oauth(tool: &ToolConfig, mcp: &McpTools) -> Result<Option<McpOauthSettings>> {
    oauth_settings(&tool.name, &owner(tool), &mcp.reach)
}

/// The settings of a server that is fronted under `/mcp`.
pub fn upstream_oauth(name: &str, reach: &McpReach) -> Result<Option<McpOauthSettings>> {
    oauth_settings(name, &format!("the MCP server `{name}`"), reach)
}

/// The tokens of a server, as the store has them.
pub(crate) async fn open_oauth(
    settings: Result<Option<McpOauthSettings>>,
    base: &Base,
) -> Result<Option<Arc<McpOauth>>> {
    let Some(settings) = settings? else { return Ok(None) };
    let (clock, rng) = (base.clock.clone(), base.rng.clone());
    Ok(Some(McpOauth::open(settings, base.store(), clock, rng).await?))
}
