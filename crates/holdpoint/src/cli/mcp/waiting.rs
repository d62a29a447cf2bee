//! Waiting for people on a Holdpoint server that is reached over HTTP.

use domain::hold::HoldReplyState;
use domain::id::HoldId;
use mcp_gate::limits::{SERVER_AGAIN, WITHDRAW_WITHIN};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::cli::client::Client;
use crate::cli::waiting::is_passing;

/// The hold when it is decided; `None` when it is not by then. A server that is away for a moment is waited for.
pub(super) async fn wait_until(
    client: &Client,
    id: HoldId,
    until: Instant,
) -> anyhow::Result<Option<Value>> {
    let decided = async {
        loop {
            match client.wait_decided(id).await {
                Ok(Some(hold)) if HoldReplyState::of(&hold) != HoldReplyState::Pending => {
                    return Ok(hold);
                }
                Ok(_) => {}
                Err(error) if is_passing(&error) => tokio::time::sleep(SERVER_AGAIN).await,
                Err(error) => return Err(error),
            }
        }
    };
    tokio::time::timeout_at(until, decided).await.ok().transpose()
}

#[derive(Serialize)]
struct Withdrawal<'a> {
    reason: &'a str,
}

/// Nobody waits for the answer any more.
pub(super) async fn withdraw(client: &Client, id: HoldId, reason: &str) {
    let path = format!("/v1/holds/{id}/cancel");
    let body = Withdrawal { reason };
    let _ = tokio::time::timeout(WITHDRAW_WITHIN, client.post(&path, &body)).await;
}
