//! Tools that come and go: those of a server that we did not write.

use std::collections::HashMap;
use std::sync::Arc;

use crate::tool_host::ToolHost;

/// The tools of one box, as they were when somebody looked.
#[derive(Clone, Default)]
pub struct BoxedTools {
    /// By the name that a model calls. Also what is not offered any more: a call that was proposed
    /// before is told so by its own host.
    pub hosts: HashMap<Arc<str>, Arc<dyn ToolHost>>,
    /// What a model is offered, in the order in which it is offered.
    pub offered: Vec<Arc<str>>,
}

/// A set of tools that may change while the engine runs. A tool whose definition changes is another
/// host under the same name, so that a holder of the earlier one still has what they looked at.
pub trait Toolbox: Send + Sync {
    /// An agent that lists this name is offered everything in the box.
    fn name(&self) -> &str;

    /// What is in it now.
    fn boxed_tools(&self) -> Arc<BoxedTools>;
}
