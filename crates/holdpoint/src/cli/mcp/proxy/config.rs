//! Which MCP servers stand behind the proxy: one of the command line, or those of a client's own configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use domain::visible::visible;
use mcp_gate::config::{
    ToolNaming, UpstreamConfig, UpstreamProgram, UpstreamReach, UpstreamService, check_name,
};
use mcp_gate::limits::UPSTREAMS_MAX;
use serde::Deserialize;

use crate::cli::args::McpProxyArgs;
use crate::cli::exit::UsageError;

pub(super) fn parse_all(args: &McpProxyArgs) -> anyhow::Result<(ToolNaming, Vec<UpstreamConfig>)> {
    match &args.config {
        Some(file) => Ok((ToolNaming::Prefixed, read_file(file)?)),
        None => {
            check_name(&args.name).map_err(UsageError)?;
            let reach = match &args.url {
                Some(url) => from_url(url)?,
                None => from_command(args)?,
            };
            Ok((ToolNaming::Own, vec![UpstreamConfig { name: args.name.clone(), reach }]))
        }
    }
}

fn from_url(url: &str) -> anyhow::Result<UpstreamReach> {
    check_url(url).map_err(|why| UsageError(why.into()))?;
    let (url, headers) = (url.to_owned(), Vec::new());
    Ok(UpstreamReach::Service(UpstreamService { url, headers, authorizer: None }))
}

fn from_command(args: &McpProxyArgs) -> anyhow::Result<UpstreamReach> {
    let words: Vec<String> = args
        .command
        .iter()
        .map(|word| {
            word.clone()
                .into_string()
                .map_err(|_| UsageError("the command is not UTF-8 text".into()))
        })
        .collect::<Result<_, _>>()?;
    let (program, rest) = words
        .split_first()
        .filter(|(program, _)| !program.is_empty())
        .ok_or_else(|| UsageError("there is no command after `--`".into()))?;
    let program = UpstreamProgram {
        program: program.clone(),
        args: rest.to_vec(),
        env: BTreeMap::new(),
        cwd: None,
        inherits: true,
    };
    Ok(UpstreamReach::Program(program))
}

#[derive(Deserialize)]
struct ClientConfig {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, ServerEntry>,
}

/// As clients write it. What only clients understand (`alwaysAllow` and the like) has no meaning here.
#[derive(Deserialize)]
struct ServerEntry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

impl ServerEntry {
    fn reach(self, name: &str) -> anyhow::Result<UpstreamReach> {
        let program = self.command.filter(|program| !program.is_empty());
        match (program, self.url) {
            (Some(program), None) => {
                anyhow::ensure!(self.headers.is_empty(), "`{name}`: `headers` go with `url`");
                let (args, env, cwd) = (self.args, self.env, self.cwd);
                let program = UpstreamProgram { program, args, env, cwd, inherits: true };
                Ok(UpstreamReach::Program(program))
            }
            (None, Some(url)) => {
                let is_plain = self.args.is_empty() && self.env.is_empty() && self.cwd.is_none();
                anyhow::ensure!(is_plain, "`{name}`: `args`, `env` and `cwd` go with `command`");
                check_url(&url).map_err(|why| anyhow::anyhow!("`{name}`: {why}"))?;
                let headers = self.headers.into_iter().collect();
                let service = UpstreamService { url, headers, authorizer: None };
                Ok(UpstreamReach::Service(service))
            }
            (Some(_), Some(_)) => anyhow::bail!("`{name}` has a `command` and a `url`; keep one"),
            (None, None) => anyhow::bail!("`{name}` has neither a `command` nor a `url`"),
        }
    }
}

/// What stands there may be a secret, so it is not repeated.
fn check_url(url: &str) -> Result<(), &'static str> {
    let is_sound = reqwest::Url::parse(url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.password().is_none()
    });
    match is_sound {
        true => Ok(()),
        false => Err(
            "`url` is not one without a password; write it like `https://tools.example.com/mcp`",
        ),
    }
}

fn read_file(file: &Path) -> anyhow::Result<Vec<UpstreamConfig>> {
    let shown = visible(&file.display().to_string());
    let text = std::fs::read_to_string(file).with_context(|| format!("{shown} cannot be read"))?;
    parse_text(&text).map_err(|why| UsageError(format!("{shown}: {why}")).into())
}

fn parse_text(text: &str) -> anyhow::Result<Vec<UpstreamConfig>> {
    // The strict reader of calls: a server that stands twice would be one or the other.
    domain::json::Arguments::parse(text.as_bytes()).map_err(|why| anyhow::anyhow!("{why}"))?;
    let config: ClientConfig = serde_json::from_str(text)?;
    let mut upstreams = Vec::new();
    for (name, entry) in config.servers {
        check_name(&name).map_err(anyhow::Error::msg)?;
        if entry.disabled {
            continue;
        }
        let reach = entry.reach(&name)?;
        upstreams.push(UpstreamConfig { name, reach });
    }
    anyhow::ensure!(!upstreams.is_empty(), "`mcpServers` names no server");
    anyhow::ensure!(upstreams.len() <= UPSTREAMS_MAX, "more than {UPSTREAMS_MAX} servers");
    Ok(upstreams)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_a_client_is_understood() {
        let text = r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "alwaysAllow": ["write"]},
            "off": {"command": "y", "disabled": true},
            "web": {"type": "http", "url": "https://x.example/mcp", "headers": {"X-Key": "k"}}
        }, "other": 1}"#;
        let upstreams = parse_text(text).unwrap();
        assert_eq!(upstreams.len(), 2);
        let UpstreamReach::Program(files) = &upstreams[0].reach else { panic!() };
        assert_eq!((upstreams[0].name.as_str(), files.program.as_str()), ("files", "npx"));
        assert_eq!(files.args, ["-y", "x"]);
        let UpstreamReach::Service(web) = &upstreams[1].reach else { panic!() };
        assert_eq!(web.url, "https://x.example/mcp");
        assert_eq!(web.headers, [("X-Key".to_owned(), "k".to_owned())]);
    }

    #[test]
    fn what_cannot_stand_behind_the_proxy_is_said() {
        for (text, why) in [
            (r#"{"mcpServers": {}}"#, "names no server"),
            (r#"{"mcpServers": {"a": {}}}"#, "neither a `command` nor a `url`"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "http://x"}}}"#, "keep one"),
            (r#"{"mcpServers": {"a": {"url": "ftp://x"}}}"#, "`url` is not one"),
            (r#"{"mcpServers": {"a": {"url": "http://u:p@x"}}}"#, "`url` is not one"),
            (
                r#"{"mcpServers": {"a": {"url": "http://x", "env": {"A": "1"}}}}"#,
                "go with `command`",
            ),
            (r#"{"mcpServers": {"a": {"command": "x", "headers": {"A": "1"}}}}"#, "go with `url`"),
            (r#"{"mcpServers": {"a__b": {"command": "x"}}}"#, "cannot be the name"),
            (r#"{"mcpServers": {"../a": {"command": "x"}}}"#, "cannot be the name"),
            (r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#, "twice"),
            ("[]", "must be a JSON object"),
        ] {
            let told = parse_text(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
