//! A modern upstream asks in its result, and wants the request once more with the answers. A client with a handshake is asked by
//! requests of ours, in the course of its own.

use domain::id::HoldId;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tools::mcp::{RawObject, RpcId, RpcMessage};

use super::shapes::answer_for;
use crate::calls::GatedCall;
use crate::era::ClientEra;
use crate::limits::{CONTINUATIONS_MAX, QUESTION_WITHIN};
use crate::outcome::CallOutcome;
use crate::session::ProxySession;
use crate::upstream::{Upstream, UpstreamError};

/// Why the upstream got no answer to what it asked.
pub(crate) enum RoundsEnd {
    Answered(RpcMessage),
    /// It did what it did before it asked, and no more.
    Unanswered(String),
    Upstream(UpstreamError),
    /// The client does not want the answer any more.
    Cancelled,
}

impl ProxySession {
    /// Puts what the upstream asks to the client, and its answers to the upstream, until there is a result. `may_go_on` is asked
    /// before each round.
    pub(crate) async fn answer_rounds<F, G>(
        &self,
        upstream: &Upstream,
        id: &RpcId,
        request: &RawObject,
        first: RpcMessage,
        may_go_on: F,
    ) -> RoundsEnd
    where
        F: Fn() -> G,
        G: Future<Output = Result<(), String>>,
    {
        let mut answer = first;
        for _ in 0..CONTINUATIONS_MAX {
            if !matches!(CallOutcome::of(&answer), CallOutcome::NeedsInput { .. }) {
                return RoundsEnd::Answered(answer);
            }
            let result = answer.object.get_object("result").unwrap_or_default();
            let asked = result.get_object("inputRequests").unwrap_or_default();
            let responses = match self.put_to_client(id, &asked).await {
                Ok(responses) => responses,
                Err(why) => return RoundsEnd::Unanswered(why),
            };
            if !self.lock_requests().contains_key(id) {
                return RoundsEnd::Cancelled;
            }
            if let Err(why) = may_go_on().await {
                return RoundsEnd::Unanswered(why);
            }
            let mut object = request.clone();
            let mut params = object.get_object("params").unwrap_or_default();
            super::shapes::put_member(&mut params, "inputResponses", &responses);
            params.remove("requestState");
            if let Some(state) = result.get("requestState") {
                params.set("requestState", state.to_owned());
            }
            super::shapes::put_member(&mut object, "params", &params);
            answer = match upstream.request(id, &object).await {
                Ok(answer) => answer,
                Err(error) => return RoundsEnd::Upstream(error),
            };
        }
        RoundsEnd::Unanswered(format!("it asked more than {CONTINUATIONS_MAX} times"))
    }

    /// A call of a client with a handshake to an upstream without one.
    pub(crate) async fn call_modern_upstream(
        &self,
        call: &GatedCall,
        wire: &RpcId,
        object: &RawObject,
        hold: HoldId,
    ) -> RoundsEnd {
        let first = match call.upstream.request(wire, object).await {
            Ok(first) => first,
            Err(error) => return RoundsEnd::Upstream(error),
        };
        let go_on =
            || async { self.gate.check_going_on(hold).await.map_err(|error| format!("{error:#}")) };
        match self.answer_rounds(&call.upstream, wire, object, first, go_on).await {
            RoundsEnd::Answered(answer) => {
                RoundsEnd::Answered(answer_for(ClientEra::Legacy, "tools/call", answer))
            }
            other => other,
        }
    }

    async fn put_to_client(&self, about: &RpcId, asked: &RawObject) -> Result<RawObject, String> {
        let mut responses = RawObject::default();
        for key in asked.keys() {
            let question = asked.get_object(&key).unwrap_or_default();
            let method = question.get_text("method").unwrap_or_default();
            if !self.client_declares(&method) {
                let method = domain::visible::visible(&method);
                return Err(format!("it asked something that the client does not do: `{method}`"));
            }
            let params = question.get_object("params").unwrap_or_default();
            let asking = self.ask_client(about, &method, &params);
            let answer = tokio::time::timeout(QUESTION_WITHIN, asking).await.ok().flatten();
            let result =
                answer.and_then(|answer| answer.object.get("result").map(ToOwned::to_owned));
            let result = match (result, method.as_str()) {
                (Some(result), _) => result,
                (None, "elicitation/create") => cancelled(),
                (None, _) => return Err("the client did not answer what it asked".into()),
            };
            responses.set(&key, result);
        }
        Ok(responses)
    }
}

fn cancelled() -> Box<RawValue> {
    to_raw_value(&json!({"action": "cancel"})).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
