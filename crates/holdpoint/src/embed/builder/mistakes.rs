//! What the builder refuses, before anything is opened.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::budget::{Budgets, Prices};
use domain::person::People;
use domain::policy::{Policy, PolicySpec};
use domain::visible::visible;
#[cfg(feature = "mcp")]
use tools::mcp::McpConfig;

use super::Builder;
use crate::checks;
use crate::embed::agent::AgentToolRef;
use crate::embed::person::Person;
use crate::embed::policy::Rule;
use crate::embed::tool::{Tool, ToolSource};

/// What was found wrong so far: all of it is told at once.
#[derive(Default)]
pub(super) struct Mistakes {
    pub(super) found: Vec<String>,
}

/// The names of an agent's tools, in its order.
pub(super) type OfferedNames = Vec<Arc<str>>;

impl Mistakes {
    fn note(&mut self, found: Result<(), String>) {
        self.found.extend(found.err());
    }

    /// What a part of the set-up needs from another.
    pub(super) fn surroundings(&mut self, builder: &Builder) {
        #[cfg(not(feature = "sqlite"))]
        if builder.data.is_some() && builder.store.is_none() {
            self.found.push(
                "a data folder needs the feature `sqlite`, or a `store` of the program's own"
                    .into(),
            );
        }
        #[cfg(feature = "process")]
        if builder.data.is_none() && super::open::needs_a_folder(builder) {
            self.found.push(
                "commands, shell lines and MCP servers leave traces in a folder: name one with `data`"
                    .into(),
            );
        }
        let _ = builder;
    }

    pub(super) fn people(&mut self, people: &[Person]) -> People {
        let mut known: HashSet<&str> = HashSet::new();
        let mut accounts: HashMap<(&str, &str), &str> = HashMap::new();
        for person in people {
            for (on, account) in person.accounts() {
                if account.trim().is_empty() {
                    let (who, on) = (visible(person.id()), visible(on));
                    self.found.push(format!("the account of `{who}` on `{on}` is empty"));
                } else if let Some(other) = accounts.insert((on, account), person.id()) {
                    let (one, other) = (visible(person.id()), visible(other));
                    let on = visible(on);
                    self.found
                        .push(format!("`{other}` and `{one}` have the same account on `{on}`"));
                }
            }
            self.note(checks::person_name(person.id()));
            for role in person.roles() {
                self.note(checks::role_name(role));
            }
            if !known.insert(person.id()) {
                self.found.push(format!("there are two people `{}`", visible(person.id())));
            }
        }
        let people = People::new(people.iter().cloned().map(Person::known));
        self.note(checks::has_admin(&people));
        people
    }

    pub(super) fn policy(
        &mut self,
        spec: PolicySpec,
        rules: &[Rule],
        people: &People,
    ) -> Option<Policy> {
        let before = self.found.len();
        let mut specs = Vec::new();
        for rule in rules {
            match rule.clone().checked(people) {
                Ok(rule) => specs.push(rule),
                Err(why) => self.found.push(why),
            }
        }
        if self.found.len() > before {
            return None;
        }
        match Policy::compile(PolicySpec { rules: specs, ..spec }) {
            Ok(policy) => {
                let bad = policy.check(people).into_iter();
                self.found
                    .extend(bad.map(|bad| format!("rule `{}`: {}", visible(&bad.rule), bad.why)));
                Some(policy)
            }
            Err(bad) => {
                self.found.push(format!("rule `{}`: {}", visible(&bad.rule), bad.why));
                None
            }
        }
    }

    /// The names of each agent's tools, and all tools.
    pub(super) fn agents(&mut self, builder: &Builder) -> (Vec<OfferedNames>, Vec<ToolSource>) {
        let mut sources: Vec<ToolSource> = Vec::new();
        for tool in &builder.tools {
            self.tool(tool, &mut sources);
        }
        // Own tools first, so that agents may refer to one another's in any order.
        let mut offers = Vec::new();
        for agent in &builder.agents {
            let names = agent.tools.iter().map(|offered| match offered {
                AgentToolRef::Own(tool) => self.tool(tool, &mut sources),
                AgentToolRef::Named(name) => Some(name.as_str().into()),
            });
            offers.push(names.collect::<Vec<Option<Arc<str>>>>());
        }
        let names: Vec<Arc<str>> = sources.iter().map(ToolSource::name).collect();
        #[cfg(feature = "mcp")]
        self.servers(&builder.mcp, &names);
        let known: Vec<&str> = names.iter().map(|name| &**name).collect();
        let mut ids: HashSet<&str> = HashSet::new();
        let mut offered_names = Vec::new();
        for (agent, offered) in builder.agents.iter().zip(offers) {
            self.note(checks::agent_name(&agent.id));
            let shown = visible(&agent.id);
            let of_agent = |why: String| format!("agent `{shown}`: {why}");
            if !ids.insert(&agent.id) {
                self.found.push(format!("there are two agents `{shown}`"));
            }
            let Budgets { turns, tokens, money, time_ms } = agent.budgets;
            self.note(checks::turns(turns).map_err(of_agent));
            for (key, amount) in [("tokens", tokens), ("money", money), ("time_ms", time_ms)] {
                self.note(checks::more_than_nothing(key, amount).map_err(of_agent));
            }
            if money.is_some() && agent.known_prices() == Prices::default() {
                let why = "a budget of `money` needs to know what the model costs: `prices`";
                self.found.push(of_agent(why.into()));
            }
            self.found.extend(agent.model_mistake().map(of_agent));
            let mut tools: OfferedNames = Vec::new();
            for name in offered.into_iter().flatten() {
                if !is_tool_of_a_server(&name, builder) {
                    let remedy = "give it to the builder or to the agent";
                    self.note(checks::known("tool", &name, &known, remedy).map_err(of_agent));
                }
                if tools.contains(&name) {
                    self.found.push(of_agent(format!("the tool `{name}` is listed twice")));
                }
                tools.push(name);
            }
            offered_names.push(tools);
        }
        (offered_names, sources)
    }

    #[cfg(feature = "mcp")]
    fn servers(&mut self, servers: &[McpConfig], tools: &[Arc<str>]) {
        let mut known: HashSet<&str> = HashSet::new();
        for server in servers {
            let name = server.name.as_str();
            self.note(checks::tool_name(name));
            if !known.insert(name) || tools.iter().any(|tool| **tool == *name) {
                self.found.push(format!("there are two tools `{}`", visible(name)));
            }
            self.note(checks::server_name(name, tools.iter().map(|tool| &**tool)));
            if server.only.as_ref().is_some_and(Vec::is_empty) {
                self.found.push(format!(
                    "MCP server `{name}`: `only` is empty, and so nothing would be offered; name tools, or \
                     leave it out"
                ));
            }
        }
    }

    #[cfg(feature = "chats")]
    pub(super) fn channels(&mut self, builder: &Builder) {
        let agents: Vec<&str> = builder.agents.iter().map(|agent| agent.id.as_str()).collect();
        let mut known: HashSet<&str> = HashSet::new();
        for channel in &builder.channels {
            self.note(channel.checked(&agents));
            if !known.insert(channel.name()) {
                self.found.push(format!("there are two channels `{}`", visible(channel.name())));
            }
        }
    }

    #[cfg(feature = "server")]
    pub(super) fn doors(&mut self, builder: &Builder, people: &People) {
        let agents: Vec<&str> = builder.agents.iter().map(|agent| agent.id.as_str()).collect();
        let own =
            builder.agents.iter().flat_map(|agent| &agent.tools).filter_map(
                |offered| match offered {
                    AgentToolRef::Own(tool) => Some(tool),
                    AgentToolRef::Named(_) => None,
                },
            );
        let reaching = builder.tools.iter().chain(own).filter(|tool| tool.reaches());
        let names = reaching.filter_map(|tool| Some(tool.checked().ok()?.name().to_string()));
        let names: Vec<String> = names.collect();
        #[cfg(feature = "mcp")]
        let names: Vec<String> =
            names.into_iter().chain(builder.mcp.iter().map(|server| server.name.clone())).collect();
        self.found.extend(builder.doors.mistakes(people, &agents, &names));
    }

    /// The tool's name, if it can be used.
    fn tool(&mut self, tool: &Tool, sources: &mut Vec<ToolSource>) -> Option<Arc<str>> {
        let source = match tool.checked() {
            Ok(source) => source,
            Err(why) => {
                self.found.push(why);
                return None;
            }
        };
        let name = source.name();
        match sources.iter().find(|known| known.name() == name) {
            // The same one, given to several agents.
            Some(known) if known.is_same(source) => {}
            Some(_) => self.found.push(format!(
                "there are two tools `{name}`; clone one, or let agents use it by name"
            )),
            None => sources.push(source.clone()),
        }
        Some(name)
    }
}

/// Whether an agent may list this: a tool of a server, which need not be there yet.
#[cfg(feature = "mcp")]
fn is_tool_of_a_server(name: &str, builder: &Builder) -> bool {
    let Some((server, tool)) = name.split_once(checks::BETWEEN) else { return false };
    let mut servers = builder.mcp.iter().filter(|config| config.name == server);
    servers.any(|config| match &config.only {
        Some(only) => only.iter().any(|it| it == tool),
        None => true,
    })
}

#[cfg(not(feature = "mcp"))]
fn is_tool_of_a_server(_: &str, _: &Builder) -> bool {
    false
}
