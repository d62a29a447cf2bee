//! From a set-up in code to a running Holdpoint.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::budget::{Budgets, Prices};
use domain::person::People;
use domain::policy::{Decider, Facts, Opinion, Policy, PolicySpec, Then};
use domain::visible::visible;
use engine::AgentSetup;
use ports::clock::Clock;
use ports::tool_host::ToolHost;

use super::agent::{Agent, Offered};
use super::error::BuildError;
use super::handle::Holdpoint;
use super::person::Person;
use super::policy::Rule;
use super::tool::Tool;
use crate::checks;
use crate::config::CallbacksConfig;
use crate::wiring::{Base, Plan};

/// Takes the parts, checks them together, and starts.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> anyhow::Result<()> {
/// use std::sync::Arc;
///
/// use holdpoint::prelude::*;
///
/// # let data = tempfile::tempdir()?;
/// # let folder = data.path();
/// let model = Arc::new(ScriptedModel::parse("")?);
/// let holdpoint = Holdpoint::builder()
///     .data(folder)
///     .person(Person::new("ana").admin().role("dba"))
///     .agent(Agent::new("ops", model).instructions("Keep the shop in shape.").tool(Tool::human()))
///     .rule(Rule::ask("changes need a dba", Whom::role("dba")).tool("sql_*"))
///     .build()
///     .await?;
/// # holdpoint.close(std::time::Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
#[must_use]
#[derive(Default)]
pub struct Builder {
    data: Option<PathBuf>,
    people: Vec<Person>,
    agents: Vec<Agent>,
    tools: Vec<Tool>,
    rules: Vec<Rule>,
    otherwise: Option<Then>,
    expires: Option<Duration>,
    decider: Option<Decider>,
    clock: Option<Arc<dyn Clock>>,
}

impl Builder {
    /// The folder that holds everything: it is made if need be, and one process at a time may have it.
    /// Without it all is in memory, and gone when the process ends.
    pub fn data(self, folder: impl Into<PathBuf>) -> Builder {
        Builder { data: Some(folder.into()), ..self }
    }

    /// Somebody who can answer. At least one must be an admin.
    pub fn person(mut self, person: Person) -> Builder {
        self.people.push(person);
        self
    }

    /// A worker. There may be several.
    pub fn agent(mut self, agent: Agent) -> Builder {
        self.agents.push(agent);
        self
    }

    /// A tool that agents refer to by name ([`Agent::uses`]).
    pub fn tool(mut self, tool: impl Into<Tool>) -> Builder {
        self.tools.push(tool.into());
        self
    }

    /// The next rule of the policy. The first that matches decides.
    pub fn rule(mut self, rule: Rule) -> Builder {
        self.rules.push(rule);
        self
    }

    /// What happens to calls that no rule matches: [`Then::Ask`], if nothing is said.
    pub fn otherwise(self, then: Then) -> Builder {
        Builder { otherwise: Some(then), ..self }
    }

    /// How long a question waits if its rule does not say: a day, if nothing is said.
    pub fn expires(self, after: Duration) -> Builder {
        Builder { expires: Some(after), ..self }
    }

    /// Code that has an opinion on every call. The stricter of its opinion and the rules' verdict counts:
    /// code that is to decide alone says so with [`Builder::otherwise`]`(Then::Allow)`. If it fails or
    /// panics, a person is asked. It must not wait for anything; it is asked again before a call starts.
    ///
    /// The name is shown to people, and is part of the policy's version.
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use holdpoint::prelude::*;
    ///
    /// let builder = Holdpoint::builder().otherwise(Then::Allow).decider("money", |facts| {
    ///     let amount = facts.arguments["amount"].as_u64().unwrap_or(u64::MAX);
    ///     Ok::<_, Infallible>(match (facts.tool, amount) {
    ///         ("refund", 0..=500) => Opinion::Fine,
    ///         ("refund", _) => Opinion::ask(Whom::role("finance")),
    ///         _ => Opinion::Deny,
    ///     })
    /// });
    /// ```
    pub fn decider<E: std::fmt::Display>(
        self,
        name: &str,
        judge: impl Fn(&Facts<'_>) -> Result<Opinion, E> + Send + Sync + 'static,
    ) -> Builder {
        let judge = move |facts: &Facts<'_>| judge(facts).map_err(|error| error.to_string());
        Builder { decider: Some(Decider::new(name, judge)), ..self }
    }

    /// Another clock than the system's, for tests ([`crate::testing::TestClock`]).
    pub fn clock(self, clock: Arc<dyn Clock>) -> Builder {
        Builder { clock: Some(clock), ..self }
    }

    /// Checks everything, takes up what an earlier process left in the folder, and starts.
    pub async fn build(self) -> Result<Holdpoint, BuildError> {
        let mut mistakes = Mistakes::default();
        let people = mistakes.people(self.people);
        let policy = mistakes.policy(
            PolicySpec {
                default: self.otherwise.unwrap_or_default(),
                default_expires_ms: self.expires.map_or_else(
                    || PolicySpec::default().default_expires_ms,
                    |after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
                ),
                rules: Vec::new(),
            },
            self.rules,
            &people,
        );
        let (agents, tools) = mistakes.agents(self.agents, self.tools);
        let (true, Some(policy)) = (mistakes.0.is_empty(), policy) else {
            return Err(BuildError::Mistakes(mistakes.0));
        };
        let policy = match self.decider {
            Some(decider) => policy.with_decider(decider),
            None => policy,
        };
        let callbacks = CallbacksConfig::default();
        let plan = Plan {
            people,
            policy,
            agents,
            tools,
            companions: Vec::new(),
            callbacks,
            lines: Vec::new(),
            home_expires_ms: Default::default(),
            session_ms: engine::Limits::default().session_ms,
        };
        let mut base = match &self.data {
            Some(folder) => Base::on_disk(folder).await.map_err(BuildError::Unready)?,
            None => Base::in_memory(),
        };
        if let Some(clock) = self.clock {
            base.clock = clock;
        }
        let house = base.build(plan).await.map_err(BuildError::Unready)?;
        Ok(Holdpoint::new(house))
    }
}

/// What was found wrong so far: all of it is told at once.
#[derive(Default)]
struct Mistakes(Vec<String>);

impl Mistakes {
    fn note(&mut self, found: Result<(), String>) {
        self.0.extend(found.err());
    }

    fn people(&mut self, people: Vec<Person>) -> People {
        let mut known: HashMap<String, ()> = HashMap::new();
        for person in &people {
            self.note(checks::person_name(person.id()));
            for role in person.roles() {
                self.note(checks::role_name(role));
            }
            if known.insert(person.id().to_owned(), ()).is_some() {
                self.0.push(format!("there are two people `{}`", visible(person.id())));
            }
        }
        let people = People::new(people.into_iter().map(Person::known));
        self.note(checks::has_admin(&people));
        people
    }

    fn policy(&mut self, spec: PolicySpec, rules: Vec<Rule>, people: &People) -> Option<Policy> {
        let before = self.0.len();
        let mut specs = Vec::new();
        for rule in rules {
            match rule.checked(people) {
                Ok(rule) => specs.push(rule),
                Err(why) => self.0.push(why),
            }
        }
        if self.0.len() > before {
            return None;
        }
        match Policy::compile(PolicySpec { rules: specs, ..spec }) {
            Ok(policy) => {
                let bad = policy.check(people).into_iter();
                self.0.extend(bad.map(|bad| format!("rule `{}`: {}", visible(&bad.rule), bad.why)));
                Some(policy)
            }
            Err(bad) => {
                self.0.push(format!("rule `{}`: {}", visible(&bad.rule), bad.why));
                None
            }
        }
    }

    fn agents(
        &mut self,
        agents: Vec<Agent>,
        tools: Vec<Tool>,
    ) -> (Vec<AgentSetup>, Vec<Arc<dyn ToolHost>>) {
        let mut hosts: Vec<Arc<dyn ToolHost>> = Vec::new();
        for tool in &tools {
            self.tool(tool, &mut hosts);
        }
        // Own tools first, so that agents may refer to one another's in any order.
        let mut offers = Vec::new();
        for agent in &agents {
            let names = agent.tools.iter().map(|offered| match offered {
                Offered::Own(tool) => self.tool(tool, &mut hosts),
                Offered::Named(name) => Some(name.as_str().into()),
            });
            offers.push(names.collect::<Vec<Option<Arc<str>>>>());
        }
        let known: Vec<&str> = hosts.iter().map(|host| &*host.tool().name).collect();
        let mut setups: Vec<AgentSetup> = Vec::new();
        for (agent, offered) in agents.into_iter().zip(offers) {
            self.note(checks::agent_name(&agent.id));
            let id: Arc<str> = agent.id.into();
            let shown = visible(&id);
            let of_agent = |why: String| format!("agent `{shown}`: {why}");
            if setups.iter().any(|other| other.id == id) {
                self.0.push(format!("there are two agents `{shown}`"));
            }
            let Budgets { turns, tokens, money, time_ms } = agent.budgets;
            self.note(checks::turns(turns).map_err(of_agent));
            for (key, amount) in [("tokens", tokens), ("money", money), ("time_ms", time_ms)] {
                self.note(checks::more_than_nothing(key, amount).map_err(of_agent));
            }
            if money.is_some() && agent.prices == Prices::default() {
                let why = "a budget of `money` needs to know what the model costs: `prices`";
                self.0.push(of_agent(why.into()));
            }
            let mut tools: Vec<Arc<str>> = Vec::new();
            for name in offered.into_iter().flatten() {
                let remedy = "give it to the builder or to the agent";
                self.note(checks::known("tool", &name, &known, remedy).map_err(of_agent));
                if tools.contains(&name) {
                    self.0.push(of_agent(format!("the tool `{name}` is listed twice")));
                }
                tools.push(name);
            }
            setups.push(AgentSetup {
                id,
                instructions: agent.instructions,
                model: agent.model,
                tools,
                while_pending: agent.while_pending,
                run_as_decided: agent.run_as_decided,
                budgets: agent.budgets,
                prices: agent.prices,
            });
        }
        (setups, hosts)
    }

    /// The tool's name, if it can be used.
    fn tool(&mut self, tool: &Tool, hosts: &mut Vec<Arc<dyn ToolHost>>) -> Option<Arc<str>> {
        let host = match tool.checked() {
            Ok(host) => host,
            Err(why) => {
                self.0.push(why);
                return None;
            }
        };
        let name = host.tool().name.clone();
        match hosts.iter().find(|known| known.tool().name == name) {
            // The same one, given to several agents.
            Some(known) if Arc::ptr_eq(known, host) => {}
            Some(_) => self.0.push(format!(
                "there are two tools `{name}`; clone one, or let agents use it by name"
            )),
            None => hosts.push(host.clone()),
        }
        Some(name)
    }
}
