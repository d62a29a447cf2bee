//! Which tools there are: the fixed ones of the configuration, and those of boxes, which come and go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use domain::tool::Tool;
use ports::model::ToolOffer;
use ports::tool_host::ToolHost;
use ports::toolbox::{BoxedTools, Toolbox};
use ports::unpoisoned::Unpoisoned as _;

use crate::AgentSetup;

pub(crate) struct Tools {
    fixed: HashMap<Arc<str>, Arc<dyn ToolHost>>,
    boxes: Vec<Arc<dyn Toolbox>>,
    /// What each agent was offered last.
    offered: HashMap<Arc<str>, Mutex<Option<Arc<OfferedTools>>>>,
}

/// What an agent is offered, ready to be put to its model: making it again for every thought would cost
/// more than all that was said.
pub(crate) struct OfferedTools {
    pub(crate) hosts: Vec<Arc<dyn ToolHost>>,
    pub(crate) offers: Vec<ToolOffer>,
    /// The boxes that this was taken from.
    boxed: Vec<Arc<BoxedTools>>,
}

/// All tools as they were at one moment, for a caller that must not see them change.
pub(crate) struct ToolsNow<'a> {
    fixed: &'a HashMap<Arc<str>, Arc<dyn ToolHost>>,
    boxed: Vec<Arc<BoxedTools>>,
}

impl Tools {
    pub(crate) fn new<'a>(
        fixed: Vec<Arc<dyn ToolHost>>,
        boxes: Vec<Arc<dyn Toolbox>>,
        agents: impl Iterator<Item = &'a Arc<str>>,
    ) -> Tools {
        let fixed = fixed.into_iter().map(|host| (host.tool().name.clone(), host)).collect();
        let offered = agents.map(|id| (id.clone(), Mutex::default())).collect();
        Tools { fixed, boxes, offered }
    }

    pub(crate) fn now(&self) -> ToolsNow<'_> {
        let boxed = self.boxes.iter().map(|it| it.boxed_tools()).collect();
        ToolsNow { fixed: &self.fixed, boxed }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn ToolHost>> {
        let boxed = || self.boxes.iter().find_map(|it| it.boxed_tools().hosts.get(name).cloned());
        self.fixed.get(name).cloned().or_else(boxed)
    }

    /// What this agent is offered now. It is the same as last time until what is
    /// in a box changes.
    pub(crate) fn offered(&self, agent: &AgentSetup) -> Arc<OfferedTools> {
        let now = self.now();
        let Some(last) = self.offered.get(&agent.id) else {
            return Arc::new(self.offer(&agent.tools, now));
        };
        let mut last = last.lock().unpoisoned();
        match &*last {
            Some(offered) if offered.is_of(&now.boxed) => offered.clone(),
            _ => last.insert(Arc::new(self.offer(&agent.tools, now))).clone(),
        }
    }

    fn offer(&self, names: &[Arc<str>], now: ToolsNow<'_>) -> OfferedTools {
        let hosts = self.listed(names, &now);
        let offers = hosts.iter().map(|host| agent::tool_offer(host.tool())).collect();
        OfferedTools { hosts, offers, boxed: now.boxed }
    }

    /// The tools that these names mean. The name of a box means all that is in it.
    fn listed(&self, names: &[Arc<str>], now: &ToolsNow<'_>) -> Vec<Arc<dyn ToolHost>> {
        let mut listed: Vec<Arc<dyn ToolHost>> = Vec::with_capacity(names.len());
        for name in names {
            match self.boxes.iter().position(|it| it.name() == &**name) {
                None => listed.extend(now.get(name).cloned()),
                Some(at) => {
                    let in_box = &now.boxed[at];
                    let hosts = in_box.offered.iter().filter_map(|name| in_box.hosts.get(name));
                    listed.extend(hosts.cloned());
                }
            }
        }
        // One that is listed by itself and also with its box is offered once.
        let mut seen: Vec<Arc<str>> = Vec::with_capacity(listed.len());
        listed.retain(|host| {
            let name = host.tool().name.clone();
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
        listed
    }
}

impl OfferedTools {
    fn is_of(&self, boxed: &[Arc<BoxedTools>]) -> bool {
        self.boxed.iter().map(Arc::as_ptr).eq(boxed.iter().map(Arc::as_ptr))
    }

    pub(crate) fn host(&self, name: &str) -> Option<&Arc<dyn ToolHost>> {
        self.hosts.iter().find(|host| &*host.tool().name == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.hosts.iter().map(|host| &host.tool().name)
    }
}

impl ToolsNow<'_> {
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn ToolHost>> {
        let boxed = || self.boxed.iter().find_map(|in_box| in_box.hosts.get(name));
        self.fixed.get(name).or_else(boxed)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.get(name).map(|host| host.tool())
    }
}
