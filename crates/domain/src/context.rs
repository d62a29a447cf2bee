//! What a decision needs to know about the world, passed in by the caller.

use std::collections::BTreeMap;

use crate::budget::Budgets;
use crate::call::ExecutionContext;
use crate::caption::Caption;
use crate::hold::{Preview, Risk};
use crate::id::{Bits, CallId, GrantId, HoldId, MessageId, NodeId};
use crate::person::People;
use crate::policy::Policy;
use crate::time::Timestamp;
use crate::tool::Tool;

/// All that a decision reads beside the state.
pub struct Context<'a> {
    /// By the engine's clock. Every expiry is judged by this one moment.
    pub now: Timestamp,
    /// The process that will carry out what is decided.
    pub node: NodeId,
    /// Why nothing may start at present, if so.
    pub frozen: Option<&'a str>,
    /// Everybody whom the configuration names.
    pub people: &'a People,
    /// The rules in force on this node.
    pub policy: &'a Policy,
    /// This process is about to end, or others may be about to take it for gone: nothing may start that it could not
    /// finish.
    pub closing: bool,
    /// A tool as it is now; `None` if it is no longer configured.
    pub tool_of: &'a dyn Fn(&str) -> Option<&'a Tool>,
    /// What the hosts of changed tools say about calls that were proposed before the change.
    pub renewals: &'a BTreeMap<CallId, Renewal>,
    /// The agent's setting: a cleared call starts without waiting for the undecided calls of its turn.
    pub run_as_decided: bool,
    /// What a run may use before a person is asked whether it may go on.
    pub budgets: Budgets,
    /// What a new message does while holds are open, if the message does not say.
    pub while_pending: WhilePending,
    /// How long a question of this session waits where no rule says.
    pub expires_ms: u64,
    /// Fresh random bits for ids.
    pub rng: &'a dyn Fn() -> u128,
}

impl Context<'_> {
    /// A hold that comes after `last`, also when both are of the same millisecond: people see holds
    /// in the order of their ids, and mean the order of the calls. Nobody can guess one from the other.
    pub fn hold_id_after(&self, last: Option<HoldId>) -> HoldId {
        let fresh = HoldId::new(self.now.as_ms(), (self.rng)());
        match last {
            Some(last) if last >= fresh => {
                let step = 1 + ((self.rng)() & u128::from(u64::MAX));
                HoldId(Bits(last.0.0.saturating_add(step)))
            }
            _ => fresh,
        }
    }

    /// An id for a message that the decision itself writes.
    pub fn message_id(&self) -> MessageId {
        MessageId::new(self.now.as_ms(), (self.rng)())
    }

    /// An id for a grant that an approval makes.
    pub(crate) fn grant_id(&self) -> GrantId {
        GrantId::new(self.now.as_ms(), (self.rng)())
    }
}

/// A call that was looked at again, because its tool is another than when it was proposed.
#[derive(Clone, Debug, PartialEq)]
pub enum Renewal {
    /// The host looked again, and the call can be made.
    Prepared {
        /// As the changed tool would run it.
        context: ExecutionContext,
        /// What the host sees now. People who are asked again are shown this one.
        preview: Box<Preview>,
        /// The host's title for the call. `None`: the call is named by tool and arguments.
        title: Option<Caption>,
        /// What the tool itself says of the call, where it asks for a person.
        risk: Option<Risk>,
    },
    /// The tool as it is now cannot carry the call out; the text says why.
    Unsound(String),
}

/// What a message does that arrives while holds are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhilePending {
    /// It waits its turn.
    #[default]
    Queue,
    /// Open holds are cancelled, and it goes on at once.
    Supersede,
    /// The message is refused until the holds are answered.
    Refuse,
    /// It goes on at once if every open hold is two-phase; otherwise it waits.
    Deliver,
}

impl WhilePending {
    /// The setting of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<WhilePending> {
        match text {
            "queue" => Some(WhilePending::Queue),
            "supersede" => Some(WhilePending::Supersede),
            "refuse" => Some(WhilePending::Refuse),
            "deliver" => Some(WhilePending::Deliver),
            _ => None,
        }
    }
}
