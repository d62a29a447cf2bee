//! States in the server's replies, each read once. A newer server may tell one that is not known here, which is then no
//! success.

use serde::Deserialize;
use serde_json::Value;

/// What became of an approved call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeReplyState {
    Executing,
    Succeeded,
    Failed,
    Unknown,
    #[serde(other)]
    Other,
}

impl OutcomeReplyState {
    /// Of a hold in the shape of the HTTP API. `None`: the call has not begun.
    pub fn of(hold: &Value) -> Option<OutcomeReplyState> {
        let state = &hold["outcome"]["state"];
        Option::deserialize(state).unwrap_or(Some(OutcomeReplyState::Other))
    }
}

/// How an MCP server, or an attempt to connect it, stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectReplyState {
    NotConnected,
    Pending,
    Connected,
    Failed,
    #[serde(other)]
    Other,
}

impl ConnectReplyState {
    /// Of a server or an attempt in the shape of the HTTP API.
    pub fn of(reply: &Value) -> ConnectReplyState {
        ConnectReplyState::deserialize(&reply["state"]).unwrap_or(ConnectReplyState::Other)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn states_are_read_and_what_is_not_known_is_no_success() {
        let outcome = |state: Value| OutcomeReplyState::of(&json!({"outcome": {"state": state}}));
        assert_eq!(outcome(json!("failed")), Some(OutcomeReplyState::Failed));
        assert_eq!(outcome(json!("executing")), Some(OutcomeReplyState::Executing));
        assert_eq!(outcome(json!("paused")), Some(OutcomeReplyState::Other));
        assert_eq!(outcome(json!(1)), Some(OutcomeReplyState::Other));
        assert_eq!(OutcomeReplyState::of(&json!({"outcome": null})), None);
        let connect = |state: Value| ConnectReplyState::of(&json!({"state": state}));
        assert_eq!(connect(json!("pending")), ConnectReplyState::Pending);
        assert_eq!(connect(json!("connected")), ConnectReplyState::Connected);
        assert_eq!(connect(json!("not_connected")), ConnectReplyState::NotConnected);
        for unknown in [json!("reconnecting"), json!(null), json!(["connected"])] {
            assert_eq!(connect(unknown), ConnectReplyState::Other);
        }
    }
}
