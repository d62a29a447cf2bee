//! `[mcp]`: MCP servers that this server fronts under `/mcp`, so that their tools are gated for any MCP client.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::mcp_oauth::OauthKeys;
use super::mistakes::Mistakes;
use super::source::{ConfigSource, Result};
use super::tool::{McpReach, ToolConfig, ToolEnv, ToolKind};

const WAIT_DEFAULT: Duration = Duration::from_secs(50);
const WAIT_MAX: Duration = Duration::from_secs(3_600);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpGateConfig {
    pub upstreams: Vec<(String, McpReach)>,
    /// How long a call is kept open for people.
    pub wait: Duration,
    /// Whether the owner of a person's token may answer in a form that the client shows.
    pub answer_in_client: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpGateTable {
    wait: Option<Spanned<String>>,
    #[serde(default)]
    answer_in_client: bool,
    #[serde(default)]
    upstreams: BTreeMap<Spanned<String>, Spanned<McpUpstreamTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpUpstreamTable {
    argv: Option<Spanned<Vec<String>>>,
    cwd: Option<String>,
    #[serde(default)]
    env: Vec<Spanned<String>>,
    #[serde(default)]
    set_env: BTreeMap<Spanned<String>, String>,
    url: Option<Spanned<String>>,
    #[serde(default)]
    headers_env: BTreeMap<Spanned<String>, Spanned<String>>,
    auth: Option<Spanned<String>>,
    client_id: Option<Spanned<String>>,
    client_secret_env: Option<Spanned<String>>,
    client_secret_file: Option<Spanned<String>>,
    scopes: Option<Spanned<Vec<String>>>,
    allow_private_addresses: Option<Spanned<bool>>,
}

impl McpGateTable {
    pub(super) fn check(
        self,
        tools: &[ToolConfig],
        source: &ConfigSource<'_>,
        mistakes: &mut Mistakes,
    ) -> McpGateConfig {
        let wait = mistakes.note(self.wait.as_ref().map_or(Ok(WAIT_DEFAULT), |given| {
            match source.duration(given)? {
                wait if wait <= WAIT_MAX => Ok(wait),
                _ => Err(source
                    .error(given.span(), "`wait` is at most `1h`; a call comes back after it")),
            }
        }));
        let mut upstreams = Vec::new();
        for (name, table) in self.upstreams {
            let (span, table) = (table.span(), table.into_inner());
            let checked = mcp_gate::config::check_name(name.get_ref())
                .map_err(|why| source.error(name.span(), why))
                .and_then(|()| table.reach(span, source))
                .and_then(|reach| {
                    let is_taken = reach.has_oauth() && is_connected_tool(name.get_ref(), tools);
                    match is_taken {
                        true => Err(source.error(name.span(), same_connection(name.get_ref()))),
                        false => Ok(reach),
                    }
                });
            if let Some(reach) = mistakes.note(checked) {
                upstreams.push((name.into_inner(), reach));
            }
        }
        let most = mcp_gate::limits::UPSTREAMS_MAX;
        if upstreams.len() > most {
            mistakes
                .push(source.error_at(1, format!("`mcp.upstreams` has more than {most} servers")));
        }
        let wait = wait.unwrap_or(WAIT_DEFAULT);
        McpGateConfig { upstreams, wait, answer_in_client: self.answer_in_client }
    }
}

/// Connections go by name.
fn is_connected_tool(name: &str, tools: &[ToolConfig]) -> bool {
    tools.iter().filter(|tool| &*tool.name == name).any(|tool| match &tool.kind {
        ToolKind::Mcp(mcp) => mcp.reach.has_oauth(),
        _ => false,
    })
}

fn same_connection(name: &str) -> String {
    format!(
        "a tool with `auth = \"oauth\"` is called `{name}` already, and `holdpoint mcp connect {name}` could mean either; give \
         this server another name"
    )
}

impl McpUpstreamTable {
    fn oauth_keys(&self) -> OauthKeys<'_> {
        OauthKeys {
            auth: &self.auth,
            client_id: &self.client_id,
            client_secret_env: &self.client_secret_env,
            client_secret_file: &self.client_secret_file,
            scopes: &self.scopes,
            allow_private_addresses: &self.allow_private_addresses,
        }
    }

    fn reach(self, span: std::ops::Range<usize>, source: &ConfigSource<'_>) -> Result<McpReach> {
        let misplaced = |key: &str, needs: &str| {
            Err(source.error(span.clone(), format!("`{key}` goes with `{needs}`")))
        };
        match (&self.argv, &self.url) {
            (Some(argv), None) => {
                if argv.get_ref().first().is_none_or(String::is_empty) {
                    let message = "`argv` is empty; name the server's program, such as `[\"mcp-server-git\"]`";
                    return Err(source.error(argv.span(), message));
                }
                if !self.headers_env.is_empty() {
                    return misplaced("headers_env", "url");
                }
                if let Some((key, at)) = self.oauth_keys().first() {
                    return Err(source.error(at, format!("`{key}` goes with `url`")));
                }
                let inherit = self.env.iter().map(|name| source.variable(name));
                let set = self.set_env.iter();
                let set = set.map(|(name, value)| Ok((source.variable(name)?, value.clone())));
                let env = ToolEnv {
                    inherit: inherit.collect::<Result<_>>()?,
                    set: set.collect::<Result<_>>()?,
                };
                let cwd = source.path(self.cwd.as_deref().unwrap_or("."));
                Ok(McpReach::Program { argv: argv.get_ref().clone(), cwd, env, run_as: None })
            }
            (None, Some(url)) => {
                let is_sound = reqwest::Url::parse(url.get_ref()).is_ok_and(|url| {
                    matches!(url.scheme(), "http" | "https")
                        && url.has_host()
                        && url.password().is_none()
                });
                if !is_sound {
                    // What stands here may have a password in it, so it is not repeated.
                    let message = "this is not a URL without a password; write it like `https://tools.example.com/mcp`";
                    return Err(source.error(url.span(), message));
                }
                if self.cwd.is_some() || !self.env.is_empty() || !self.set_env.is_empty() {
                    return misplaced("cwd`, `env` and `set_env", "argv");
                }
                let headers = self.headers_env.iter();
                let headers = headers.map(|(header, variable)| {
                    let name = header.get_ref();
                    let is_name = !name.is_empty()
                        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
                    match is_name {
                        true => Ok((name.clone(), source.variable(variable)?)),
                        false => {
                            Err(source.error(header.span(), "this is not the name of a header"))
                        }
                    }
                });
                let headers_env = headers.collect::<Result<Vec<_>>>()?;
                let oauth = self.oauth_keys().check(url, &headers_env, source)?;
                Ok(McpReach::Service { url: url.get_ref().clone(), headers_env, oauth })
            }
            (Some(_), Some(url)) => {
                let message =
                    "give `argv` (a program that we start) or `url` (a service), not both";
                Err(source.error(url.span(), message))
            }
            (None, None) => {
                Err(source.error(span, "`argv` is missing (or `url`): an upstream is a server"))
            }
        }
    }
}
