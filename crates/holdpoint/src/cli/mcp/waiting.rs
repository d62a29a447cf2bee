//! Waiting for people while a client waits for us.

use std::future::Future;

use domain::id::HoldId;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::limits::{PROGRESS_AFTER, PROGRESS_EVERY, SERVER_AGAIN, WITHDRAW_WITHIN};
use super::peer::PeerOut;
use super::reply::notification_line;
use crate::cli::client::Client;
use crate::cli::waiting::is_passing;

#[derive(Serialize)]
struct ProgressParams<'a> {
    #[serde(rename = "progressToken")]
    token: &'a RawValue,
    progress: u64,
    message: &'a str,
}

/// Tells the client that we still wait, if it wants to hear that.
pub(super) async fn with_progress<T>(
    out: &PeerOut,
    token: Option<&RawValue>,
    message: &str,
    work: impl Future<Output = T>,
) -> T {
    let Some(token) = token else { return work.await };
    tokio::pin!(work);
    let mut ticks = tokio::time::interval_at(Instant::now() + PROGRESS_AFTER, PROGRESS_EVERY);
    let mut progress = 0;
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => {
                let params = ProgressParams { token, progress, message };
                out.send(notification_line("notifications/progress", &params)).await;
                progress += 1;
            }
        }
    }
}

/// The hold when it is decided; `None` when it is not by then. A server that is away for a moment is waited for.
pub(super) async fn wait_until(
    client: &Client,
    id: HoldId,
    until: Instant,
) -> anyhow::Result<Option<Value>> {
    let decided = async {
        loop {
            match client.wait_decided(id).await {
                Ok(Some(hold)) if hold["state"] != "pending" => return Ok(hold),
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

pub(super) fn hold_id(hold: &Value) -> anyhow::Result<HoldId> {
    hold["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| anyhow::anyhow!("the server's reply names no hold"))
}
