//! A worker: a model, instructions, tools.

use std::sync::Arc;

use domain::budget::{Budgets, Prices};
use domain::context::WhilePending;
use ports::clock::{Clock, Rng};
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
    pub(super) model: AgentModel,
    pub(super) instructions: Option<String>,
    pub(super) tools: Vec<AgentToolRef>,
    pub(super) while_pending: WhilePending,
    pub(super) run_as_decided: bool,
    pub(super) budgets: Budgets,
    pub(super) prices: Prices,
}

/// What thinks for an agent: any [`Model`] in an `Arc`, or the setting of a vendor's model (`VendorModel`).
pub struct AgentModel(pub(super) ModelSource);

#[derive(Clone)]
pub(super) enum ModelSource {
    Ready(Arc<dyn Model>),
    #[cfg(feature = "vendor")]
    Vendor(Box<super::vendor::VendorModel>),
}

impl<M: Model + 'static> From<Arc<M>> for AgentModel {
    fn from(model: Arc<M>) -> AgentModel {
        AgentModel(ModelSource::Ready(model))
    }
}

impl From<Arc<dyn Model>> for AgentModel {
    fn from(model: Arc<dyn Model>) -> AgentModel {
        AgentModel(ModelSource::Ready(model))
    }
}

#[cfg(feature = "vendor")]
impl From<super::vendor::VendorModel> for AgentModel {
    fn from(model: super::vendor::VendorModel) -> AgentModel {
        AgentModel(ModelSource::Vendor(Box::new(model)))
    }
}

pub(super) enum AgentToolRef {
    Own(Tool),
    Named(String),
}

impl Agent {
    /// The model may be any [`Model`], which several agents may share, or a vendor's.
    pub fn new(id: impl Into<String>, model: impl Into<AgentModel>) -> Agent {
        Agent {
            id: id.into(),
            model: model.into(),
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
        self.tools.push(AgentToolRef::Own(tool.into()));
        self
    }

    /// A tool that was given to the builder, or to another agent, by its name.
    #[must_use]
    pub fn uses(mut self, tool: impl Into<String>) -> Agent {
        self.tools.push(AgentToolRef::Named(tool.into()));
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

    /// What was said of the agent, or else of its model.
    pub(super) fn known_prices(&self) -> Prices {
        match &self.model.0 {
            #[cfg(feature = "vendor")]
            ModelSource::Vendor(model) if self.prices == Prices::default() => {
                model.prices.unwrap_or_default()
            }
            _ => self.prices,
        }
    }

    pub(super) fn model_mistake(&self) -> Option<String> {
        match &self.model.0 {
            ModelSource::Ready(_) => None,
            #[cfg(feature = "vendor")]
            ModelSource::Vendor(model) => model.mistake(),
        }
    }

    pub(super) fn open_model(
        &self,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Result<Arc<dyn Model>, String> {
        // Only a vendor's client waits and tries again.
        let _ = (&clock, &rng);
        match &self.model.0 {
            ModelSource::Ready(model) => Ok(model.clone()),
            #[cfg(feature = "vendor")]
            ModelSource::Vendor(model) => model.open(clock, rng).map_err(|why| {
                format!("model `{}`: {why}", domain::visible::visible(&model.settings.model))
            }),
        }
    }
}
