//! Which MCP servers stand behind the gate, and what tells one from another.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use domain::digest::{Digest, Framed};
use domain::visible::visible;
use tools::mcp::McpAuthorizer;

/// How the client names tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolNaming {
    /// As the one upstream does.
    Own,
    /// `server__tool`.
    Prefixed,
}

/// An MCP server behind the gate.
#[derive(Clone, Debug)]
pub struct UpstreamConfig {
    pub name: String,
    pub reach: UpstreamReach,
}

#[derive(Clone, Debug)]
pub enum UpstreamReach {
    Program(UpstreamProgram),
    Service(UpstreamService),
}

/// A program that speaks MCP on its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamProgram {
    pub program: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<PathBuf>,
    /// Whether it also gets the environment of this process, as an MCP client gives its own.
    pub inherits: bool,
}

/// A service that speaks MCP over HTTP.
#[derive(Clone)]
pub struct UpstreamService {
    pub url: String,
    /// Their values are secrets.
    pub headers: Vec<(String, String)>,
    pub authorizer: Option<Arc<dyn McpAuthorizer>>,
}

impl fmt::Debug for UpstreamService {
    // Values of headers are secrets, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UpstreamService({})", self.shown_url())
    }
}

impl UpstreamConfig {
    /// What distinguishes this upstream from others of the same name: pins of one are not those of another.
    pub fn scope(&self) -> Digest {
        match &self.reach {
            UpstreamReach::Program(UpstreamProgram { program, args, .. }) => {
                let framed = Framed::new("holdpoint.mcp.upstream.v1")
                    .field("name", self.name.as_bytes())
                    .field("program", program.as_bytes());
                let framed =
                    args.iter().fold(framed, |framed, arg| framed.field("arg", arg.as_bytes()));
                framed.finish()
            }
            UpstreamReach::Service(service) => Framed::new("holdpoint.mcp.service.v1")
                .field("name", self.name.as_bytes())
                .field("url", service.url.as_bytes())
                .finish(),
        }
    }

    /// Where its calls take effect: an approval for one folder, environment or account is none for another.
    pub fn place(&self) -> Digest {
        let framed = Framed::new("holdpoint.mcp.place.v1").field("scope", self.scope().as_bytes());
        match &self.reach {
            UpstreamReach::Program(program) => {
                let directory = program.directory();
                let framed = framed.field("directory", directory.as_os_str().as_encoded_bytes());
                let framed = program.env.iter().fold(framed, |framed, (name, value)| {
                    framed.field("variable", name.as_bytes()).field("value", value.as_bytes())
                });
                framed.finish()
            }
            UpstreamReach::Service(service) => {
                let framed = service.headers.iter().fold(framed, |framed, (name, value)| {
                    framed.field("header", name.as_bytes()).field("value", value.as_bytes())
                });
                let consent = service.authorizer.as_ref().and_then(|it| it.consent());
                match consent {
                    Some(consent) => framed.field("consent", consent.as_bytes()).finish(),
                    None => framed.finish(),
                }
            }
        }
    }

    /// The file of its pins.
    pub fn pin_file(&self) -> String {
        let mut digits = [0; 64];
        format!("{}-{}", self.name, &self.scope().digits(&mut digits)[..16])
    }
}

impl UpstreamProgram {
    pub fn directory(&self) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_default();
        let named = self.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
        named.canonicalize().unwrap_or(named)
    }
}

impl UpstreamService {
    /// Without what may be a secret: a query, a name and a password.
    pub fn shown_url(&self) -> String {
        let Ok(mut url) = reqwest::Url::parse(&self.url) else { return "a URL".into() };
        url.set_query(None);
        url.set_fragment(None);
        let _ = url.set_username("");
        let _ = url.set_password(None);
        visible(url.as_str())
    }
}

/// The name is the part of a tool's name before `__`, and of a file's. The error says what to write.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_sound = (1..=40).contains(&name.len())
        && name.chars().all(is_plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_');
    match is_sound {
        true => Ok(()),
        false => Err(format!(
            "`{}` cannot be the name of a server: use letters, digits, `-` and single `_`",
            visible(name)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(args: &[&str], env: &[(&str, &str)], cwd: Option<&str>) -> UpstreamConfig {
        let pair = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let program = UpstreamProgram {
            program: "p".into(),
            args: args.iter().map(ToString::to_string).collect(),
            env: env.iter().map(pair).collect(),
            cwd: cwd.map(PathBuf::from),
            inherits: true,
        };
        UpstreamConfig { name: "a".into(), reach: UpstreamReach::Program(program) }
    }

    fn service(url: &str, key: &str) -> UpstreamConfig {
        let headers = vec![("x-key".to_owned(), key.to_owned())];
        let service = UpstreamService { url: url.into(), headers, authorizer: None };
        UpstreamConfig { name: "a".into(), reach: UpstreamReach::Service(service) }
    }

    #[test]
    fn another_command_is_another_upstream() {
        assert_ne!(program(&["a b"], &[], None).scope(), program(&["a", "b"], &[], None).scope());
        let within = |url: &str| program(&[], &[("DATABASE_URL", url)], None).place();
        assert_ne!(within("staging"), within("prod"), "an approval for one is none for the other");
        assert_ne!(program(&[], &[], Some("/")).place(), program(&[], &[], None).place());
    }

    #[test]
    fn another_address_or_key_is_another_place() {
        let one = service("https://x.example/mcp", "1");
        assert_ne!(one.scope(), service("https://y.example/mcp", "1").scope());
        let other = service("https://x.example/mcp", "2");
        assert_eq!(one.scope(), other.scope());
        assert_ne!(one.place(), other.place());
    }

    #[test]
    fn no_secret_is_shown() {
        let UpstreamReach::Service(shown) = service("https://u:p@x.example/mcp?key=1#f", "s").reach
        else {
            panic!()
        };
        assert_eq!(shown.shown_url(), "https://x.example/mcp");
        assert!(!format!("{shown:?}").contains("key"));
    }
}
