//! From a set-up in code to a running Holdpoint.

mod mistakes;
mod open;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::id::NodeId;
use domain::policy::{Decider, Facts, Opinion, PolicySpec, Then};
use ports::clock::Clock;
use ports::store::Store;
#[cfg(feature = "server")]
use server::{DoorSetup, ToolWords};
#[cfg(feature = "mcp")]
use tools::mcp::McpConfig;
#[cfg(feature = "process")]
use tools::process::Supervisor;

use super::agent::Agent;
#[cfg(feature = "chats")]
use super::channel::ChannelSetup;
#[cfg(feature = "server")]
use super::doors::Doors;
use super::error::BuildError;
use super::handle::Holdpoint;
use super::person::Person;
use super::policy::Rule;
use super::tool::Tool;

use mistakes::Mistakes;

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
    store: Option<OpenStore>,
    #[cfg(feature = "process")]
    supervisor: Option<Supervisor>,
    #[cfg(feature = "mcp")]
    mcp: Vec<McpConfig>,
    #[cfg(feature = "chats")]
    channels: Vec<ChannelSetup>,
    #[cfg(feature = "chats")]
    origin: Option<String>,
    #[cfg(feature = "server")]
    doors: Doors,
}

type OpenStore = Box<dyn FnOnce(NodeId) -> Arc<dyn Store> + Send>;

impl Builder {
    /// The folder that holds everything: it is made if need be, and one process at a time may have it.
    /// Without it all is in memory, and gone when the process ends. Beside a [`Builder::store`] of the
    /// program's own it holds only the traces of commands and what was pinned of MCP servers.
    ///
    /// Needs the feature `sqlite`, or a store.
    pub fn data(self, folder: impl Into<PathBuf>) -> Builder {
        Builder { data: Some(folder.into()), ..self }
    }

    /// A person who can answer. At least one must be an admin.
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

    /// A store of the program's own: anything that implements [`Store`], and passes the conformance suite of
    /// the crate `holdpoint-stores`. It is opened when everything was checked, for the node that this process
    /// is, and the program closes it after [`Holdpoint::close`].
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() -> anyhow::Result<()> {
    /// use std::sync::Arc;
    ///
    /// use holdpoint::prelude::*;
    /// use holdpoint::store::MemoryStore;
    ///
    /// let holdpoint = Holdpoint::builder()
    ///     .person(Person::new("ana").admin())
    ///     .store(|node| Arc::new(MemoryStore::new(node)))
    ///     .build()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(self, open: impl FnOnce(NodeId) -> Arc<dyn Store> + Send + 'static) -> Builder {
        Builder { store: Some(Box::new(open)), ..self }
    }

    /// The program that watches over the processes of commands, shell lines and MCP servers: mostly the
    /// embedding program itself, which then calls [`crate::settings::supervise`] when it is started with
    /// these arguments. Without one, processes that left their group may outlive a stop.
    #[cfg(feature = "process")]
    pub fn supervisor(self, supervisor: Supervisor) -> Builder {
        Builder { supervisor: Some(supervisor), ..self }
    }

    /// All tools of an MCP server, which agents refer to as `NAME__TOOL` ([`Agent::uses`]). What it says
    /// about them is pinned in the data folder when it is first seen.
    #[cfg(feature = "mcp")]
    pub fn mcp(mut self, server: McpConfig) -> Builder {
        self.mcp.push(server);
        self
    }

    /// A chat or a mailbox in which people are asked.
    #[cfg(feature = "chats")]
    pub fn channel(mut self, channel: ChannelSetup) -> Builder {
        self.channels.push(channel);
        self
    }

    /// Where people reach the page, such as `https://shop.example.com`: links in chats point there, and
    /// channels begin at once. Without it they begin with `Holdpoint::serve` or `Holdpoint::mount`.
    #[cfg(feature = "chats")]
    pub fn origin(self, origin: impl Into<String>) -> Builder {
        Builder { origin: Some(origin.into().trim_end_matches('/').to_owned()), ..self }
    }

    /// A door of our own server ([`Holdpoint::serve`]) for clients that were written for another system.
    #[cfg(feature = "server")]
    pub fn door(mut self, door: DoorSetup) -> Builder {
        self.doors.open.push(door);
        self
    }

    /// What means yes and no for a tool, on doors whose wires know only words.
    #[cfg(feature = "server")]
    pub fn words(mut self, tool: &str, words: ToolWords) -> Builder {
        self.doors.say(tool, words);
        self
    }

    /// Checks everything, takes up what an earlier process left in the folder, and starts.
    pub async fn build(self) -> Result<Holdpoint, BuildError> {
        let mut mistakes = Mistakes::default();
        mistakes.surroundings(&self);
        let people = mistakes.people(&self.people);
        let spec = PolicySpec {
            default: self.otherwise.unwrap_or_default(),
            default_expires_ms: self.expires.map_or_else(
                || PolicySpec::default().default_expires_ms,
                |after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            ),
            rules: Vec::new(),
        };
        let policy = mistakes.policy(spec, &self.rules, &people);
        let (agents, tools) = mistakes.agents(&self);
        #[cfg(feature = "chats")]
        mistakes.channels(&self);
        #[cfg(feature = "server")]
        mistakes.doors(&self, &people);
        let (true, Some(policy)) = (mistakes.found.is_empty(), policy) else {
            return Err(BuildError::Mistakes(mistakes.found));
        };
        let policy = match &self.decider {
            Some(decider) => policy.with_decider(decider.clone()),
            None => policy,
        };
        self.open(open::SoundParts { people, policy, agents, tools })
            .await
            .map_err(BuildError::Unready)
    }
}
