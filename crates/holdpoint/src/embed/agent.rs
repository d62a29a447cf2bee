//! A worker: a model, instructions, tools.

use std::sync::Arc;

use domain::budget::{Budgets, Prices};
use domain::context::WhilePending;
use ports::model::Model;

use super::tool::Tool;

/// An agent, as the set-up describes it.
///
/// ```
/// use std::sync::Arc;
///
/// use holdpoint::prelude::*;
/// let model = Arc::new(ScriptedModel::parse("").unwrap());
/// let agent = Agent::new("support", model)
///     .instructions("You help customers. Ask before you promise anything.")
///     .tool(Tool::human())
///     .turns(20);
/// ```
pub struct Agent {
    pub(super) id: String,
    pub(super) model: Arc<dyn Model>,
    pub(super) instructions: Option<String>,
    pub(super) tools: Vec<Offered>,
    pub(super) while_pending: WhilePending,
    pub(super) run_as_decided: bool,
    pub(super) budgets: Budgets,
    pub(super) prices: Prices,
}

pub(super) enum Offered {
    Own(Tool),
    Named(String),
}

impl Agent {
    /// The model may be any [`Model`]; several agents may share one.
    pub fn new(id: impl Into<String>, model: Arc<dyn Model>) -> Agent {
        Agent {
            id: id.into(),
            model,
            instructions: None,
            tools: Vec::new(),
            while_pending: WhilePending::default(),
            run_as_decided: false,
            budgets: Budgets::default(),
            prices: Prices::default(),
        }
    }

    /// What the model is told before every conversation.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Agent {
        Agent { instructions: Some(instructions.into()), ..self }
    }

    /// A tool that this agent is offered, in this order.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<Tool>) -> Agent {
        self.tools.push(Offered::Own(tool.into()));
        self
    }

    /// A tool that was given to the builder, or to another agent, by its name.
    #[must_use]
    pub fn uses(mut self, tool: impl Into<String>) -> Agent {
        self.tools.push(Offered::Named(tool.into()));
        self
    }

    /// What a message does that comes while people are being asked. It waits its turn, if nothing else
    /// is said.
    #[must_use]
    pub fn while_pending(self, while_pending: WhilePending) -> Agent {
        Agent { while_pending, ..self }
    }

    /// Calls of one turn run as soon as each is decided, and not only when all are.
    #[must_use]
    pub fn run_as_decided(self) -> Agent {
        Agent { run_as_decided: true, ..self }
    }

    /// Model calls that one run may take before a person is asked whether it may go on.
    #[must_use]
    pub fn turns(mut self, turns: u32) -> Agent {
        self.budgets.turns = turns;
        self
    }

    /// Turns, tokens, money and time that one run may use before a person is asked whether it may go
    /// on. Money needs [`Agent::prices`].
    #[must_use]
    pub fn budgets(self, budgets: Budgets) -> Agent {
        Agent { budgets, ..self }
    }

    /// What the model costs.
    #[must_use]
    pub fn prices(self, prices: Prices) -> Agent {
        Agent { prices, ..self }
    }
}
