//! Waiting for people while a client waits for us.

use std::future::Future;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tools::mcp::RpcId;

use crate::limits::{PROGRESS_AFTER, PROGRESS_EVERY};
use crate::peer::ClientLink;
use crate::reply::notification_line;

#[derive(Serialize)]
struct ProgressParams<'a> {
    #[serde(rename = "progressToken")]
    token: &'a RawValue,
    progress: u64,
    message: &'a str,
}

/// Tells the client that we still wait, if it wants to hear that.
pub async fn with_progress<T>(
    out: &dyn ClientLink,
    about: &RpcId,
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
                let line = notification_line("notifications/progress", &params);
                out.send(Some(about), line).await;
                progress += 1;
            }
        }
    }
}
