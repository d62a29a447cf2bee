//! `[[tools]]`: what agents can do. Each kind has its own keys, and a key of another kind is a
//! mistake rather than something to ignore.

mod http;
mod kind;
pub(super) mod mcp;
mod schema;
mod sql;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::tool::{Confirm, Effects};
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;
use tools::limits::TIME_LIMIT_MAX;

use super::error::listed;
use super::source::{ConfigSource, Result};
use crate::checks;
use kind::DeclaredKind;
pub use mcp::{McpReach, McpTools};

pub use http::HttpTool;
pub use sql::{SqlAccess, SqlDatabase, SqlTool};

#[derive(Clone, Debug)]
pub struct ToolConfig {
    pub name: Arc<str>,
    pub confirm: Confirm,
    pub words: ToolWords,
    pub kind: ToolKind,
}

/// How an answer to this tool's calls looks on wires that know only texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolWords {
    /// Whole sentences, with `{argument}` filled from the stored call.
    pub approve_text: Option<String>,
    pub deny_text: Option<String>,
    /// Outputs of a front end that mean yes or no.
    pub approve_value: Option<String>,
    pub deny_value: Option<String>,
}

#[derive(Clone, Debug)]
pub enum ToolKind {
    Command(CommandTool),
    ShellCmd(ShellTool),
    Sql(SqlTool),
    Http(HttpTool),
    Client(ClientToolConfig),
    /// All tools of a server that others wrote.
    Mcp(McpTools),
    /// Asks people: the one kind of tool that is a question.
    Human {
        asks: AskScope,
    },
}

/// A fixed program that gets its arguments as JSON on standard input.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandTool {
    pub description: String,
    pub input_schema: Value,
    pub effects: Effects,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: ToolEnv,
    pub time_limit: Option<Duration>,
    pub run_as: Option<String>,
}

/// Any program that a person approves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellTool {
    /// Folders that commands may work in; never empty.
    pub roots: Vec<PathBuf>,
    pub env: ToolEnv,
    pub time_limit: Option<Duration>,
    pub time_limit_max: Option<Duration>,
    pub allow_shell: bool,
    pub run_as: Option<String>,
}

/// Something that only the caller's own side can do: a browser, a person.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientToolConfig {
    pub description: String,
    pub input_schema: Value,
    pub effects: Effects,
    /// Results that mean no.
    pub deny_values: Vec<String>,
}

/// What a process sees of the environment: these variables of ours, and these values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolEnv {
    pub inherit: Vec<String>,
    pub set: Vec<(String, String)>,
}

/// What a model may ask people for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskScope {
    /// A choice among options.
    Options,
    /// Also free text, and forms.
    Anything,
    /// One or several questions with options, answered in one go.
    Questions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolTable {
    name: Spanned<String>,
    kind: Spanned<String>,
    description: Option<Spanned<String>>,
    input_schema: Option<Spanned<toml::Value>>,
    effects: Option<Spanned<String>>,
    confirm: Option<Spanned<String>>,
    approve_text: Option<Spanned<String>>,
    deny_text: Option<Spanned<String>>,
    approve_value: Option<Spanned<String>>,
    deny_value: Option<Spanned<String>>,
    deny_values: Option<Spanned<Vec<String>>>,
    run_as: Option<Spanned<String>>,
    argv: Option<Spanned<Vec<String>>>,
    cwd: Option<Spanned<String>>,
    env: Option<Spanned<Vec<Spanned<String>>>>,
    set_env: Option<Spanned<BTreeMap<Spanned<String>, String>>>,
    time_limit: Option<Spanned<String>>,
    time_limit_max: Option<Spanned<String>>,
    roots: Option<Spanned<Vec<String>>>,
    allow_shell: Option<Spanned<bool>>,
    database: Option<Spanned<String>>,
    access: Option<Spanned<String>>,
    allow_ddl: Option<Spanned<bool>>,
    always_ask: Option<Spanned<bool>>,
    asks: Option<Spanned<String>>,
    method: Option<Spanned<String>>,
    url: Option<Spanned<String>>,
    hosts: Option<Spanned<Vec<String>>>,
    headers: Option<Spanned<BTreeMap<String, String>>>,
    headers_env: Option<Spanned<BTreeMap<Spanned<String>, Spanned<String>>>>,
    headers_file: Option<Spanned<BTreeMap<String, String>>>,
    body: Option<Spanned<toml::Value>>,
    form: Option<Spanned<BTreeMap<String, String>>>,
    allow_private_addresses: Option<Spanned<bool>>,
    only: Option<Spanned<Vec<String>>>,
    effects_of: Option<Spanned<BTreeMap<Spanned<String>, Spanned<String>>>>,
    auth: Option<Spanned<String>>,
    client_id: Option<Spanned<String>>,
    client_secret_env: Option<Spanned<String>>,
    client_secret_file: Option<Spanned<String>>,
    scopes: Option<Spanned<Vec<String>>>,
    database_env: Option<Spanned<String>>,
    database_file: Option<Spanned<String>>,
    tables: Option<Spanned<Vec<String>>>,
    rows_max: Option<Spanned<u64>>,
}

impl ToolTable {
    pub(super) fn name(&self) -> &Spanned<String> {
        &self.name
    }

    pub(super) fn check(
        table: Spanned<ToolTable>,
        source: &ConfigSource<'_>,
    ) -> Result<ToolConfig> {
        let (span, table) = (table.span(), table.into_inner());
        source.checked(&table.name, checks::tool_name(table.name.get_ref()))?;
        let kind = DeclaredKind::parse(&table.kind, source)?;
        table.refuse_foreign_keys(kind, source)?;
        let confirm = match &table.confirm {
            Some(given) => source.word("confirm", given, &[("two_phase", Confirm::TwoPhase)])?,
            None => Confirm::Held,
        };
        let kind = table.kind(kind, span, source)?;
        let schema = match &kind {
            ToolKind::Command(command) => Some(&command.input_schema),
            ToolKind::Client(client) => Some(&client.input_schema),
            ToolKind::Http(http) => Some(&http.setup.input_schema),
            ToolKind::ShellCmd(_)
            | ToolKind::Sql(_)
            | ToolKind::Mcp(_)
            | ToolKind::Human { .. } => None,
        };
        if confirm == Confirm::TwoPhase
            && schema.is_some_and(|schema| !checks::leaves_confirmed_to_us(schema))
        {
            let at = table.input_schema.as_ref().map_or_else(|| table.name.span(), Spanned::span);
            let message = "a two-phase tool gets the argument `confirmed` from us; take it out of its `input_schema`";
            return Err(source.error(at, message));
        }
        let words = table.words(schema, source)?;
        Ok(ToolConfig { name: table.name.get_ref().as_str().into(), confirm, words, kind })
    }

    fn kind(
        &self,
        kind: DeclaredKind,
        span: Range<usize>,
        source: &ConfigSource<'_>,
    ) -> Result<ToolKind> {
        Ok(match kind {
            DeclaredKind::Command => {
                let description = self.described(&span, source)?;
                let argv = self.required("argv", &self.argv, &span, source)?;
                if argv.get_ref().first().is_none_or(String::is_empty) {
                    let message =
                        "`argv` is empty; name a program, such as `[\"deploy\", \"--now\"]`";
                    return Err(source.error(argv.span(), message));
                }
                ToolKind::Command(CommandTool {
                    description,
                    input_schema: self.schema(&span, source)?,
                    effects: self.effects(
                        source,
                        &[Effects::ReadOnly, Effects::Idempotent, Effects::AtMostOnce],
                    )?,
                    argv: argv.get_ref().clone(),
                    cwd: source.path(self.cwd.as_ref().map_or(".", |cwd| cwd.get_ref())),
                    env: self.env(source)?,
                    time_limit: self.duration(&self.time_limit, source)?,
                    run_as: self.run_as.as_ref().map(|user| user.get_ref().clone()),
                })
            }
            DeclaredKind::ShellCmd => {
                let roots = self.required("roots", &self.roots, &span, source)?;
                if roots.get_ref().is_empty() {
                    let message = "`roots` is empty; name the folders that commands may work in";
                    return Err(source.error(roots.span(), message));
                }
                ToolKind::ShellCmd(ShellTool {
                    roots: roots.get_ref().iter().map(|root| source.path(root)).collect(),
                    env: self.env(source)?,
                    time_limit: self.duration(&self.time_limit, source)?,
                    time_limit_max: self.duration(&self.time_limit_max, source)?,
                    allow_shell: self.allow_shell.as_ref().is_some_and(|allow| *allow.get_ref()),
                    run_as: self.run_as.as_ref().map(|user| user.get_ref().clone()),
                })
            }
            DeclaredKind::Sql => ToolKind::Sql(self.sql(&span, source)?),
            DeclaredKind::Http => ToolKind::Http(self.http(&span, source)?),
            DeclaredKind::Client => ToolKind::Client(ClientToolConfig {
                description: self.described(&span, source)?,
                input_schema: self.schema(&span, source)?,
                effects: self.effects(source, &[Effects::ReadOnly, Effects::AtMostOnce])?,
                deny_values: match &self.deny_values {
                    Some(values) => values.get_ref().clone(),
                    None => Vec::new(),
                },
            }),
            DeclaredKind::Mcp => ToolKind::Mcp(self.mcp(&span, source)?),
            DeclaredKind::Human => {
                let known = [
                    ("options", AskScope::Options),
                    ("anything", AskScope::Anything),
                    ("questions", AskScope::Questions),
                ];
                let asks = self.asks.as_ref().map(|given| source.word("asks", given, &known));
                ToolKind::Human { asks: asks.transpose()?.unwrap_or(AskScope::Options) }
            }
        })
    }

    /// A model calls what it understands.
    fn described(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<String> {
        let description = self.required("description", &self.description, span, source)?;
        if description.get_ref().trim().is_empty() {
            let message = "`description` is empty; say what the tool does, for the model";
            return Err(source.error(description.span(), message));
        }
        Ok(description.get_ref().clone())
    }

    fn required<'t, T>(
        &self,
        key: &str,
        value: &'t Option<T>,
        span: &Range<usize>,
        source: &ConfigSource<'_>,
    ) -> Result<&'t T> {
        value.as_ref().ok_or_else(|| {
            let kind = self.kind.get_ref();
            source.error(
                span.clone(),
                format!("`{key}` is missing: a tool of kind `{kind}` needs it"),
            )
        })
    }

    fn effects(&self, source: &ConfigSource<'_>, may_be: &[Effects]) -> Result<Effects> {
        let Some(given) = &self.effects else { return Ok(Effects::default()) };
        let known: Vec<(&str, Effects)> =
            Effects::ALL.map(|effects| (effects.name(), effects)).into();
        let effects = source.word("effects", given, &known)?;
        if may_be.contains(&effects) {
            return Ok(effects);
        }
        let names: Vec<&str> = may_be.iter().map(|effects| effects.name()).collect();
        let message = format!(
            "a tool of kind `{}` cannot be `{effects}`; it is one of {}",
            self.kind.get_ref(),
            listed(&names)
        );
        Err(source.error(given.span(), message))
    }

    fn duration(
        &self,
        given: &Option<Spanned<String>>,
        source: &ConfigSource<'_>,
    ) -> Result<Option<Duration>> {
        let Some(given) = given else { return Ok(None) };
        let duration = source.duration(given)?;
        if duration.is_zero() || duration > TIME_LIMIT_MAX {
            return Err(source.error(given.span(), "a time limit is between 1ms and 24h"));
        }
        Ok(Some(duration))
    }

    fn env(&self, source: &ConfigSource<'_>) -> Result<ToolEnv> {
        let ours = |name: &Spanned<String>| {
            let message = "Holdpoint's own variables are never given to a tool; leave this one out";
            match source.variable(name)?.starts_with("HOLDPOINT_") {
                true => Err(source.error(name.span(), message)),
                false => Ok(name.get_ref().clone()),
            }
        };
        let inherit = self.env.iter().flat_map(|names| names.get_ref()).map(ours);
        let set = self.set_env.iter().flat_map(|values| values.get_ref());
        let set = set.map(|(name, value)| Ok((ours(name)?, value.clone())));
        Ok(ToolEnv { inherit: inherit.collect::<Result<_>>()?, set: set.collect::<Result<_>>()? })
    }

    fn words(&self, schema: Option<&Value>, source: &ConfigSource<'_>) -> Result<ToolWords> {
        for text in [&self.approve_text, &self.deny_text].into_iter().flatten() {
            schema::check_placeholders(text, schema, source)?;
        }
        match (&self.approve_value, &self.deny_value) {
            (Some(yes), Some(no)) if yes.get_ref() == no.get_ref() => {
                let message = "`approve_value` and `deny_value` are the same; nobody could say no";
                return Err(source.error(no.span(), message));
            }
            (Some(one), None) | (None, Some(one)) => {
                let message =
                    "`approve_value` and `deny_value` come as a pair; give both or neither";
                return Err(source.error(one.span(), message));
            }
            _ => {}
        }
        let own = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.get_ref().clone());
        Ok(ToolWords {
            approve_text: own(&self.approve_text),
            deny_text: own(&self.deny_text),
            approve_value: own(&self.approve_value),
            deny_value: own(&self.deny_value),
        })
    }
}
