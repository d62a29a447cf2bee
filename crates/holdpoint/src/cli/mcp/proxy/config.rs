//! Which MCP servers stand behind the proxy: one of the command line, or those of a client's own configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use domain::digest::{Digest, Framed};
use domain::visible::visible;
use serde::Deserialize;

use crate::cli::args::McpProxyArgs;
use crate::cli::exit::UsageError;
use crate::cli::mcp::limits::UPSTREAMS_MAX;

/// How the client names tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolNaming {
    /// As the one upstream does.
    Own,
    /// `server__tool`.
    Prefixed,
}

/// A program that speaks MCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UpstreamConfig {
    pub(super) name: String,
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<PathBuf>,
}

impl UpstreamConfig {
    /// What distinguishes this upstream from others of the same name: pins of one are not those of another.
    pub(super) fn scope(&self) -> Digest {
        let framed = Framed::new("holdpoint.mcp.upstream.v1")
            .field("name", self.name.as_bytes())
            .field("program", self.program.as_bytes());
        let framed =
            self.args.iter().fold(framed, |framed, arg| framed.field("arg", arg.as_bytes()));
        framed.finish()
    }

    /// Where its calls take effect: an approval for one folder or environment is none for another.
    pub(super) fn place(&self) -> Digest {
        let directory = self.directory();
        let framed = Framed::new("holdpoint.mcp.place.v1")
            .field("scope", self.scope().as_bytes())
            .field("directory", directory.as_os_str().as_encoded_bytes());
        let framed = self.env.iter().fold(framed, |framed, (name, value)| {
            framed.field("variable", name.as_bytes()).field("value", value.as_bytes())
        });
        framed.finish()
    }

    pub(super) fn directory(&self) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_default();
        let named = self.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
        named.canonicalize().unwrap_or(named)
    }

    pub(super) fn parse_all(
        args: &McpProxyArgs,
    ) -> anyhow::Result<(ToolNaming, Vec<UpstreamConfig>)> {
        match &args.config {
            Some(file) => Ok((ToolNaming::Prefixed, read_file(file)?)),
            None => Ok((ToolNaming::Own, vec![from_command(args)?])),
        }
    }
}

fn from_command(args: &McpProxyArgs) -> anyhow::Result<UpstreamConfig> {
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
    check_name(&args.name)?;
    Ok(UpstreamConfig {
        name: args.name.clone(),
        program: program.clone(),
        args: rest.to_vec(),
        env: BTreeMap::new(),
        cwd: None,
    })
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
    #[serde(default)]
    disabled: bool,
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
        check_name(&name)?;
        if entry.disabled {
            continue;
        }
        let program = entry.command.filter(|program| !program.is_empty()).ok_or_else(|| {
            anyhow::anyhow!("`{name}` has no `command`: only servers that are programs can stand behind the proxy")
        })?;
        let (args, env, cwd) = (entry.args, entry.env, entry.cwd);
        upstreams.push(UpstreamConfig { name, program, args, env, cwd });
    }
    anyhow::ensure!(!upstreams.is_empty(), "`mcpServers` names no server");
    anyhow::ensure!(upstreams.len() <= UPSTREAMS_MAX, "more than {UPSTREAMS_MAX} servers");
    Ok(upstreams)
}

/// The name is the part of a tool's name before `__`, and of a file's.
fn check_name(name: &str) -> Result<(), UsageError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_sound = (1..=40).contains(&name.len())
        && name.chars().all(is_plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_');
    match is_sound {
        true => Ok(()),
        false => Err(UsageError(format!(
            "`{}` cannot be the name of a server: use letters, digits, `-` and single `_`",
            visible(name)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_a_client_is_understood() {
        let text = r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "alwaysAllow": ["write"]},
            "off": {"command": "y", "disabled": true}
        }, "other": 1}"#;
        let upstreams = parse_text(text).unwrap();
        assert_eq!(upstreams.len(), 1);
        assert_eq!((upstreams[0].name.as_str(), upstreams[0].program.as_str()), ("files", "npx"));
        assert_eq!(upstreams[0].args, ["-y", "x"]);
    }

    #[test]
    fn what_cannot_stand_behind_the_proxy_is_said() {
        for (text, why) in [
            (r#"{"mcpServers": {}}"#, "names no server"),
            (r#"{"mcpServers": {"a": {"url": "http://x"}}}"#, "only servers that are programs"),
            (r#"{"mcpServers": {"a__b": {"command": "x"}}}"#, "cannot be the name"),
            (r#"{"mcpServers": {"../a": {"command": "x"}}}"#, "cannot be the name"),
            (r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#, "twice"),
            ("[]", "must be a JSON object"),
        ] {
            let told = parse_text(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }

    #[test]
    fn another_command_is_another_upstream() {
        let upstream = |args: &[&str]| UpstreamConfig {
            name: "a".into(),
            program: "p".into(),
            args: args.iter().map(ToString::to_string).collect(),
            env: BTreeMap::new(),
            cwd: None,
        };
        assert_ne!(upstream(&["a b"]).scope(), upstream(&["a", "b"]).scope());
        let staging = BTreeMap::from([("DATABASE_URL".to_owned(), "staging".to_owned())]);
        let prod = BTreeMap::from([("DATABASE_URL".to_owned(), "prod".to_owned())]);
        let within = |env: &BTreeMap<String, String>| {
            UpstreamConfig { env: env.clone(), ..upstream(&[]) }.place()
        };
        assert_ne!(within(&staging), within(&prod), "an approval for one is none for the other");
        let elsewhere = UpstreamConfig { cwd: Some("/".into()), ..upstream(&[]) };
        assert_ne!(elsewhere.place(), upstream(&[]).place());
    }
}
