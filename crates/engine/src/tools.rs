//! Which tools there are: the fixed ones of the configuration, and those of boxes, which come and go.

use std::collections::HashMap;
use std::sync::Arc;

use domain::tool::Tool;
use ports::tool_host::ToolHost;
use ports::toolbox::{Shelf, Toolbox};

pub(crate) struct Tools {
    fixed: HashMap<Arc<str>, Arc<dyn ToolHost>>,
    boxes: Vec<Arc<dyn Toolbox>>,
}

/// All tools as they were at one moment, for whoever must not see them change.
pub(crate) struct ToolsNow<'a> {
    fixed: &'a HashMap<Arc<str>, Arc<dyn ToolHost>>,
    shelves: Vec<Arc<Shelf>>,
}

impl Tools {
    pub(crate) fn new(fixed: Vec<Arc<dyn ToolHost>>, boxes: Vec<Arc<dyn Toolbox>>) -> Tools {
        let fixed = fixed.into_iter().map(|host| (host.tool().name.clone(), host)).collect();
        Tools { fixed, boxes }
    }

    pub(crate) fn now(&self) -> ToolsNow<'_> {
        let shelves = self.boxes.iter().map(|it| it.shelf()).collect();
        ToolsNow { fixed: &self.fixed, shelves }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn ToolHost>> {
        let boxed = || self.boxes.iter().find_map(|it| it.shelf().hosts.get(name).cloned());
        self.fixed.get(name).cloned().or_else(boxed)
    }

    /// What an agent that lists these names is offered. The name of a box means all that is in it.
    pub(crate) fn offered(&self, names: &[Arc<str>]) -> Vec<Arc<dyn ToolHost>> {
        let mut offered: Vec<Arc<dyn ToolHost>> = Vec::with_capacity(names.len());
        for name in names {
            match self.boxes.iter().find(|it| it.name() == &**name) {
                None => offered.extend(self.get(name)),
                Some(toolbox) => {
                    let shelf = toolbox.shelf();
                    let hosts = shelf.offered.iter().filter_map(|name| shelf.hosts.get(name));
                    offered.extend(hosts.cloned());
                }
            }
        }
        // One that is listed by itself and also with its box is offered once.
        let mut seen: Vec<Arc<str>> = Vec::with_capacity(offered.len());
        offered.retain(|host| {
            let name = host.tool().name.clone();
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
        offered
    }
}

impl ToolsNow<'_> {
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn ToolHost>> {
        let boxed = || self.shelves.iter().find_map(|shelf| shelf.hosts.get(name));
        self.fixed.get(name).or_else(boxed)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.get(name).map(|host| host.tool())
    }
}
