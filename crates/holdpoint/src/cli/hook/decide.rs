//! One call: asked about, waited for, and checked against what was approved.

use std::time::Duration;

use agent_hooks::{
    HoldReply, HookProposal, HookQuestion, HookReply, Judgement, judge, question_expiry_s,
};
use anyhow::Context as _;
use domain::hold::HoldReplyState;
use domain::id::HoldId;
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::local_files::LocalFiles;
use crate::cli::args::HookRunArgs;
use crate::cli::client::Client;
use crate::cli::waiting::is_passing;

/// How long to wait before a lost server is tried again.
const AGAIN: Duration = Duration::from_millis(500);
/// A question that nobody waits for is withdrawn, if the server is quick about it.
const LEAVING: Duration = Duration::from_secs(3);
/// An agent lets the call run when its own time is up, a minute after our wait.
const TAKE_UP: Duration = Duration::from_secs(20);

pub(super) async fn decide(
    client: &Client,
    proposal: &HookProposal,
    args: &HookRunArgs,
) -> anyhow::Result<HookReply> {
    let until = Instant::now() + args.wait;
    let defer = args.defer && proposal.host.can_defer();
    // Deferred, the question outlives us, for as long as the policy lets it.
    let expires_in_s = (!defer).then(|| question_expiry_s(args.wait.as_secs()));
    let question = HookQuestion::new(proposal, &LocalFiles, expires_in_s);
    let opening = tokio::time::timeout_at(until, open(client, proposal, &question));
    let opened = opening.await.context("the server did not take the question in time")??;
    let id: HoldId = opened.id.parse().context("the server's reply names no hold")?;
    let hold = match tokio::time::timeout_at(until, decided(client, id, opened)).await {
        Ok(hold) => hold?,
        Err(_) if defer => {
            return Ok(HookReply::Defer(format!("waiting for a person: {}", client.page(id))));
        }
        Err(_) => {
            let withdrawn = json!({"reason": "the agent no longer waits"});
            let path = format!("/v1/holds/{id}/cancel");
            let _ = tokio::time::timeout(LEAVING, client.post(&path, &withdrawn)).await;
            anyhow::bail!(
                "nobody answered within {}, so the question was withdrawn; ask a person to look at {} and try again",
                duration_text(args.wait),
                client.server()
            );
        }
    };
    match judge(proposal, &LocalFiles, &question, &hold)? {
        Judgement::Reply(reply) => Ok(reply),
        Judgement::TakeUp(approval) => {
            let begin = json!({"state": "executing"});
            let path = format!("/v1/holds/{id}/outcome");
            let starting = tokio::time::timeout(TAKE_UP, client.post(&path, &begin));
            let started = starting.await.context("the server did not take the start in time")?;
            approval
                .start(started)
                .context("the approval could not be taken up; it may have been used before")
        }
    }
}

async fn open(
    client: &Client,
    proposal: &HookProposal,
    question: &HookQuestion<'_>,
) -> anyhow::Result<HoldReply> {
    let body = serde_json::to_value(question)?;
    let opened = match question.key(proposal) {
        Some(key) => client.post_under(&key, "/v1/holds", &body).await?,
        None => client.post("/v1/holds", &body).await?,
    };
    understood(&opened)
}

fn understood(hold: &Value) -> anyhow::Result<HoldReply> {
    HoldReply::deserialize(hold).context("the server's reply is no hold")
}

/// Waits for as long as it takes: the caller knows how long that may be.
async fn decided(client: &Client, id: HoldId, opened: HoldReply) -> anyhow::Result<HoldReply> {
    // The reply to a repeated request is the first one: it may say `pending` of what is decided by now.
    if opened.state != HoldReplyState::Pending {
        return Ok(opened);
    }
    loop {
        match client.wait_decided(id).await {
            Ok(Some(hold)) => {
                let hold = understood(&hold)?;
                if hold.state != HoldReplyState::Pending {
                    return Ok(hold);
                }
            }
            Ok(None) => {}
            Err(error) if is_passing(&error) => tokio::time::sleep(AGAIN).await,
            Err(error) => return Err(error),
        }
    }
}

fn duration_text(wait: Duration) -> String {
    let seconds = wait.as_secs();
    match seconds % 60 {
        0 if seconds > 0 => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}
