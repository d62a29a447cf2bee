//! `[[agents]]`: workers, each with a model, instructions and tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::budget::{Budgets, Prices};
use domain::context::WhilePending;
use serde::Deserialize;
use toml::Spanned;

use super::budgets::BudgetsTable;
use super::mistakes::Mistakes;
use super::model::ModelConfig;
use super::source::{ConfigSource, Result};
use super::tool::ToolConfig;
use super::tool::mcp::is_tool_of_a_server;
use crate::checks;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    pub id: Arc<str>,
    /// The name of one of the configured models.
    pub model: String,
    pub instructions: Option<String>,
    /// Names of configured tools, or of tools of a configured MCP server, in the order in which the model is offered them.
    pub tools: Vec<Arc<str>>,
    pub while_pending: WhilePending,
    /// Calls of a turn run as soon as each is decided, and not only when all are.
    pub run_as_decided: bool,
    /// What one run may use before a person is asked whether it may go on.
    pub budgets: Budgets,
    /// What its model costs.
    pub prices: Prices,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentTable {
    id: Spanned<String>,
    model: Spanned<String>,
    instructions: Option<String>,
    instructions_file: Option<Spanned<String>>,
    #[serde(default)]
    tools: Vec<Spanned<String>>,
    while_pending: Option<Spanned<String>>,
    parallel: Option<Spanned<String>>,
    #[serde(default)]
    budgets: BudgetsTable,
}

impl AgentConfig {
    /// The agent of a table; for one with a mistake, somebody of that name.
    pub(super) fn checked(
        mut table: AgentTable,
        source: &ConfigSource<'_>,
        models: &BTreeMap<String, ModelConfig>,
        tools: &[ToolConfig],
        mistakes: &mut Mistakes,
    ) -> AgentConfig {
        let stand_in = AgentConfig::stand_in(table.id.get_ref());
        if mistakes.is_broken("models", table.model.get_ref()) || mistakes.lacks_names("tools") {
            return stand_in;
        }
        let broken: Vec<&str> = mistakes.broken_in("tools").collect();
        table.tools.retain(|tool| {
            let name = tool.get_ref().as_str();
            let of_server = |server: &&str| {
                name.strip_prefix(*server).is_some_and(|rest| rest.starts_with("__"))
            };
            !broken.contains(&name) && !broken.iter().any(of_server)
        });
        let id = table.id.get_ref().clone();
        let agent = table.check(source, models, tools);
        mistakes.note_named("agents", &id, agent).unwrap_or(stand_in)
    }

    /// An agent that never runs, for the checks of what refers to an agent whose table has a mistake.
    pub(super) fn stand_in(id: &str) -> AgentConfig {
        AgentConfig {
            id: id.into(),
            model: String::new(),
            instructions: None,
            tools: Vec::new(),
            while_pending: WhilePending::default(),
            run_as_decided: false,
            budgets: Budgets::default(),
            prices: Prices::default(),
        }
    }
}

const WHILE_PENDING: [(&str, WhilePending); 4] = [
    ("queue", WhilePending::Queue),
    ("supersede", WhilePending::Supersede),
    ("refuse", WhilePending::Refuse),
    ("deliver", WhilePending::Deliver),
];

impl AgentTable {
    pub(super) fn id(&self) -> &Spanned<String> {
        &self.id
    }

    fn check(
        self,
        source: &ConfigSource<'_>,
        models: &BTreeMap<String, ModelConfig>,
        tools: &[ToolConfig],
    ) -> Result<AgentConfig> {
        source.checked(&self.id, checks::agent_name(self.id.get_ref()))?;
        let known: Vec<&str> = models.keys().map(String::as_str).collect();
        refer(source, "model", &self.model, &known, "add a section `[models.NAME]` for it")?;
        let known: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let mut offered: Vec<Arc<str>> = Vec::new();
        for tool in &self.tools {
            if !is_tool_of_a_server(tool.get_ref(), tools) {
                refer(source, "tool", tool, &known, "add it under `[[tools]]`")?;
            }
            let name: Arc<str> = tool.get_ref().as_str().into();
            if offered.contains(&name) {
                return Err(source.error(tool.span(), format!("the tool `{name}` is listed twice")));
            }
            offered.push(name);
        }
        let while_pending = match &self.while_pending {
            Some(given) => source.word("while_pending", given, &WHILE_PENDING)?,
            None => WhilePending::default(),
        };
        let run_as_decided = match &self.parallel {
            Some(given) => {
                let known = [("when_all_decided", false), ("run_as_decided", true)];
                source.word("parallel", given, &known)?
            }
            None => false,
        };
        let prices = models.get(self.model.get_ref()).and_then(ModelConfig::prices);
        let budgets = self.budgets.check(source, prices)?;
        Ok(AgentConfig {
            id: self.id.get_ref().as_str().into(),
            model: self.model.into_inner(),
            instructions: instructions(self.instructions, self.instructions_file, source)?,
            tools: offered,
            while_pending,
            run_as_decided,
            budgets,
            prices: prices.unwrap_or_default(),
        })
    }
}

fn instructions(
    text: Option<String>,
    file: Option<Spanned<String>>,
    source: &ConfigSource<'_>,
) -> Result<Option<String>> {
    let Some(file) = file else { return Ok(text) };
    if text.is_some() {
        let message = "give `instructions` or `instructions_file`, not both";
        return Err(source.error(file.span(), message));
    }
    let path = source.path(file.get_ref());
    std::fs::read_to_string(&path).map(Some).map_err(|why| {
        let message = format!("the instructions {} cannot be read: {why}", path.display());
        source.error(file.span(), message)
    })
}

/// Something that must stand elsewhere in the file.
pub(super) fn refer(
    source: &ConfigSource<'_>,
    what: &str,
    given: &Spanned<String>,
    known: &[&str],
    remedy: &str,
) -> Result<()> {
    source.checked(given, checks::known(what, given.get_ref(), known, remedy))
}
