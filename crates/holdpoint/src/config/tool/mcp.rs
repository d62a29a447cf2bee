//! `kind = "mcp"`: all tools of a server that others wrote. It is a program that we start (`argv`), or
//! a service (`url`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use domain::tool::Effects;
use toml::Spanned;

use super::super::mcp_oauth::{McpOauthConfig, OauthKeys};
use super::super::source::{ConfigSource, Result};
use super::{ToolConfig, ToolEnv, ToolKind, ToolTable};
use crate::checks::{self, BETWEEN};

const EFFECTS: [Effects; 3] = [Effects::ReadOnly, Effects::Idempotent, Effects::AtMostOnce];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpTools {
    pub reach: McpReach,
    /// The server's own names of the tools that are let through; `None`: all.
    pub only: Option<Vec<String>>,
    pub effects: Effects,
    pub effects_of: BTreeMap<String, Effects>,
    pub time_limit: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpReach {
    Program {
        argv: Vec<String>,
        cwd: PathBuf,
        env: ToolEnv,
        run_as: Option<String>,
    },
    Service {
        url: String,
        /// Headers, and the environment variables that hold their values.
        headers_env: Vec<(String, String)>,
        /// With tokens that an admin's consent gives.
        oauth: Option<McpOauthConfig>,
    },
}

impl McpReach {
    /// Whether an admin connects it.
    pub fn has_oauth(&self) -> bool {
        matches!(self, McpReach::Service { oauth: Some(_), .. })
    }
}

impl ToolTable {
    pub(super) fn mcp(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<McpTools> {
        let effects = self.effects(source, &EFFECTS)?;
        let mut effects_of = BTreeMap::new();
        for (tool, given) in self.effects_of.iter().flat_map(|table| table.get_ref()) {
            let known = EFFECTS.map(|effects| (effects.name(), effects));
            let effects = source.word("effects_of", given, &known)?;
            effects_of.insert(tool.get_ref().clone(), effects);
        }
        let only = self.only.as_ref().map(|only| only.get_ref().clone());
        if let Some(given) = self.only.as_ref().filter(|only| only.get_ref().is_empty()) {
            let message =
                "`only` is empty, and so nothing would be offered; name tools, or leave it out";
            return Err(source.error(given.span(), message));
        }
        Ok(McpTools {
            reach: self.mcp_reach(span, source)?,
            only,
            effects,
            effects_of,
            time_limit: self.duration(&self.time_limit, source)?,
        })
    }

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

    fn mcp_reach(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<McpReach> {
        let of_a_program = [
            ("cwd", self.cwd.as_ref().map(Spanned::span)),
            ("env", self.env.as_ref().map(Spanned::span)),
            ("set_env", self.set_env.as_ref().map(Spanned::span)),
            ("run_as", self.run_as.as_ref().map(Spanned::span)),
        ];
        let of_a_service = [
            ("headers_env", self.headers_env.as_ref().map(Spanned::span)),
            ("auth", self.auth.as_ref().map(Spanned::span)),
        ];
        let foreign = |keys: &[(&str, Option<Range<usize>>)], needs: &str| {
            let (key, at) = keys.iter().find_map(|(key, at)| Some((key, at.clone()?)))?;
            Some(source.error(at, format!("`{key}` goes with `{needs}`")))
        };
        match (&self.argv, &self.url) {
            (Some(argv), None) => {
                if argv.get_ref().first().is_none_or(String::is_empty) {
                    let message = "`argv` is empty; name the server's program, such as `[\"mcp-server-git\"]`";
                    return Err(source.error(argv.span(), message));
                }
                if let Some(error) = foreign(&of_a_service, "url") {
                    return Err(error);
                }
                Ok(McpReach::Program {
                    argv: argv.get_ref().clone(),
                    cwd: source.path(self.cwd.as_ref().map_or(".", |cwd| cwd.get_ref())),
                    env: self.env(source)?,
                    run_as: self.run_as.as_ref().map(|user| user.get_ref().clone()),
                })
            }
            (None, Some(url)) => {
                let sound = reqwest::Url::parse(url.get_ref()).is_ok_and(|url| {
                    matches!(url.scheme(), "http" | "https")
                        && url.has_host()
                        && url.password().is_none()
                });
                if !sound {
                    // What stands here may have a password in it, so it is not repeated.
                    let message = "this is not a URL without a password; write it like `https://tools.example.com/mcp`";
                    return Err(source.error(url.span(), message));
                }
                if let Some(error) = foreign(&of_a_program, "argv") {
                    return Err(error);
                }
                let headers = self.headers_env.iter().flat_map(|table| table.get_ref());
                let headers = headers.map(|(header, variable)| {
                    let name = header.get_ref();
                    let sound = !name.is_empty()
                        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
                    if !sound {
                        return Err(source.error(header.span(), "this is not the name of a header"));
                    }
                    Ok((name.clone(), source.variable(variable)?))
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
                let message = "`argv` is missing (or `url`): a tool of kind `mcp` needs a server";
                Err(source.error(span.clone(), message))
            }
        }
    }
}

/// No tool may look like one of a server's.
pub(in crate::config) fn check_prefixes(
    tables: &[Spanned<ToolTable>],
    source: &ConfigSource<'_>,
) -> Result<()> {
    let names = || tables.iter().map(|table| table.get_ref());
    for server in names().filter(|table| table.kind.get_ref() == "mcp") {
        let name = server.name.get_ref();
        if name.contains(BETWEEN) {
            return Err(source.error(server.name.span(), checks::no_between(name)));
        }
        let prefix = format!("{name}{BETWEEN}");
        if let Some(other) = names().find(|table| table.name.get_ref().starts_with(&prefix)) {
            let message = checks::looks_like_a_server(other.name.get_ref(), name);
            return Err(source.error(other.name.span(), message));
        }
    }
    Ok(())
}

/// Whether an agent may list this: a tool of a server, which need not be there yet.
pub(in crate::config) fn is_tool_of_a_server(name: &str, tools: &[ToolConfig]) -> bool {
    let Some((server, tool)) = name.split_once(BETWEEN) else { return false };
    tools.iter().any(|config| match &config.kind {
        ToolKind::Mcp(mcp) if *config.name == *server => {
            mcp.only.as_ref().is_none_or(|only| only.iter().any(|it| it == tool))
        }
        _ => false,
    })
}
