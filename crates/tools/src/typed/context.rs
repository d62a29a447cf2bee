//! What a running tool is told besides its arguments.

use std::sync::Arc;

use domain::call::Call;
use domain::id::{CallId, SessionId};
use tokio_util::sync::CancellationToken;

/// The call that is being carried out. There is no way from here to another call, to a hold or to
/// an answer.
#[derive(Clone, Debug)]
pub struct CallContext {
    pub(super) call: Arc<Call>,
    pub(super) attempt: u32,
    pub(super) stop: CancellationToken,
}

impl CallContext {
    /// Names the call, in logs and to people.
    pub fn call_id(&self) -> CallId {
        self.call.id
    }

    /// The session in which it was proposed.
    pub fn session(&self) -> Option<SessionId> {
        self.call.session
    }

    /// The agent that proposed it.
    pub fn agent(&self) -> &str {
        &self.call.agent
    }

    /// Rises with every start of the same call, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The same for every attempt at this call, another for any other call: hand it to whatever
    /// recognises repeats.
    pub fn idempotency_key(&self) -> String {
        self.call.idempotency_key()
    }

    /// The exact bytes of the arguments, as they were approved.
    pub fn bytes(&self) -> &[u8] {
        self.call.arguments.bytes()
    }

    /// Fires when the run is cancelled or the program closes. A tool that heeds it can end in good
    /// order and say what it did; one that does not is dropped after a moment, and then nobody knows.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}
