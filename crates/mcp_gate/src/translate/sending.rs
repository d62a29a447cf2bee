//! A call that may be made goes to its upstream, of whichever era that is, and so does the word that nobody waits for it.

use domain::id::HoldId;
use tools::mcp::{RawObject, RpcId, RpcMessage};

use super::held_calls::HeldCall;
use super::rounds::RoundsEnd;
use crate::calls::GatedCall;
use crate::era::ClientEra;
use crate::session::{ProxySession, cancellation_line};

impl ProxySession {
    /// The answer, or why there is none, in whichever way the two eras speak with each other.
    pub(crate) async fn send_call(
        &self,
        call: &GatedCall,
        wire: &RpcId,
        object: RawObject,
        held: Option<Box<HeldCall>>,
        hold: HoldId,
    ) -> RoundsEnd {
        let sent = match (call.upstream.era.differs_from(call.meta.era), call.meta.era) {
            (false, _) => call.upstream.request(wire, &object).await,
            (true, ClientEra::Modern) => self.call_legacy_upstream(call, wire, object, held).await,
            (true, ClientEra::Legacy) => {
                return self.call_modern_upstream(call, wire, &object, hold).await;
            }
        };
        sent.map_or_else(RoundsEnd::Upstream, RoundsEnd::Answered)
    }

    /// A call that is held for a client of the other era tells its upstream by itself, when it is given up.
    pub(crate) fn cancel_sent(&self, call: &GatedCall, wire: &RpcId) {
        if !call.upstream.era.differs_from(call.meta.era)
            && let Ok(message) =
                RpcMessage::parse(&cancellation_line(wire, "the client cancelled the task"))
        {
            let _ = call.upstream.send(&message.object);
        }
    }
}
