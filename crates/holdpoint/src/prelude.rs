//! What most programs that embed Holdpoint use: `use holdpoint::prelude::*;`.

#[cfg(feature = "vendor")]
pub use crate::VendorModel;
pub use crate::{
    Acting, Agent, Answer, Ask, Budgets, BuildError, Builder, CallContext, Decision, Effects,
    Error, Event, Events, Followed, Hold, HoldId, HoldState, Holdpoint, Is, Opinion, Person,
    Preview, Program, Question, Refusal, Rest, Risk, Rule, ScriptedModel, Session, SessionEvent,
    SessionId, Settlement, Spoken, Then, Tool, ToolError, Who, Whom,
};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
