//! One call: asked about, waited for, and checked against what was approved.

use std::time::Duration;

use anyhow::Context as _;
use domain::digest::Framed;
use domain::id::HoldId;
use domain::visible::visible;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::host::{HookReply, wanted};
use super::proposal::HookProposal;
use crate::cli::args::{HookHost, HookRunArgs};
use crate::cli::ask::unanswered;
use crate::cli::client::Client;
use crate::cli::waiting::is_passing;

/// How long to wait before a lost server is tried again.
const AGAIN: Duration = Duration::from_millis(500);
/// A question that nobody waits for is withdrawn, if the server is quick about it.
const LEAVING: Duration = Duration::from_secs(3);

pub(super) async fn decide(
    client: &Client,
    host: HookHost,
    proposal: &HookProposal,
    args: &HookRunArgs,
) -> anyhow::Result<HookReply> {
    let until = Instant::now() + args.wait;
    let arguments = proposal.arguments(&proposal.input);
    let diff = proposal.diff(&proposal.input);
    let mut body = json!({
        "kind": "approve",
        "title": proposal.title(host),
        "call": {"tool": proposal.tool, "arguments": arguments},
        "context": proposal.context(host),
    });
    if let Some(diff) = &diff {
        body["preview"] = json!({"diff": diff});
    }
    // Deferred, the question outlives us, for as long as the policy lets it.
    if !args.defer {
        body["expires_in_s"] = json!(args.wait.as_secs().max(1));
    }
    let opening = client_key(host, proposal, &body);
    let opening = tokio::time::timeout_at(until, open(client, opening.as_deref(), &body));
    let opened = opening.await.context("the server did not take the question in time")??;
    let id: HoldId = opened["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .context("the server's reply names no hold")?;
    let hold = match tokio::time::timeout_at(until, decided(client, id, opened)).await {
        Ok(hold) => hold?,
        Err(_) if args.defer && host == HookHost::Claude => {
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
    judged(client, host, proposal, id, &hold, diff.as_deref()).await
}

/// The same call of the same session is one question, also when the hook runs again after `--resume`.
/// Other arguments, or a file that changed meanwhile, make it another.
fn client_key(host: HookHost, proposal: &HookProposal, body: &Value) -> Option<String> {
    let use_id = proposal.use_id.as_deref()?;
    let digest = Framed::new("holdpoint.hook.v1")
        .field("host", host.name().as_bytes())
        .field("session", proposal.session.as_bytes())
        .field("tool_use_id", use_id.as_bytes())
        .field("body", body.to_string().as_bytes())
        .finish();
    Some(format!("hook-{}", digest.digits(&mut [0; 64])))
}

async fn open(client: &Client, key: Option<&str>, body: &Value) -> anyhow::Result<Value> {
    match key {
        Some(key) => client.post_under(key, "/v1/holds", body).await,
        None => client.post("/v1/holds", body).await,
    }
}

/// Waits for as long as it takes: the caller knows how long that may be.
async fn decided(client: &Client, id: HoldId, opened: Value) -> anyhow::Result<Value> {
    // The reply to a repeated request is the first one: it may say `pending` of what is decided by now.
    if opened["state"] != "pending" {
        return Ok(opened);
    }
    loop {
        match client.wait_decided(id).await {
            Ok(Some(hold)) if hold["state"] != "pending" => return Ok(hold),
            Ok(_) => {}
            Err(error) if is_passing(&error) => tokio::time::sleep(AGAIN).await,
            Err(error) => return Err(error),
        }
    }
}

async fn judged(
    client: &Client,
    host: HookHost,
    proposal: &HookProposal,
    id: HoldId,
    hold: &Value,
    diff: Option<&str>,
) -> anyhow::Result<HookReply> {
    let rule = hold["rule"].as_str().map(|rule| format!(" (rule \"{}\")", visible(rule)));
    let rule = rule.unwrap_or_default();
    match hold["state"].as_str() {
        Some("approved") => {}
        // A person's own words in the tool's place: the model gets them, and nothing runs.
        Some("answered") => {
            let said = hold["decision"]["content"]
                .as_str()
                .or_else(|| hold["decision"]["respond"].as_str());
            let said = said.map_or_else(|| unanswered(hold), visible);
            return Ok(HookReply::Deny(format!("A person answered in place of this call: {said}")));
        }
        _ => return Ok(HookReply::Deny(super::denial(&format!("{}{rule}", unanswered(hold))))),
    }
    anyhow::ensure!(hold["call"]["tool"] == proposal.tool, "the approval is for another tool");
    let approved = &hold["call"]["arguments"];
    let input = &approved["input"];
    anyhow::ensure!(
        *approved == proposal.arguments(input),
        "the arguments that were approved are not of this call, or lead to other files by now; try again"
    );
    let is_edited = *input != proposal.input;
    anyhow::ensure!(
        is_edited || proposal.diff(&proposal.input).as_deref() == diff,
        "the file has changed since the question was asked; read it again, and try again"
    );
    if is_edited && !can_take(host, proposal, input) {
        return Ok(HookReply::Deny(wanted(input)));
    }
    let by = hold["decision"]["by"].as_str().map(visible);
    // An approval by a person is used once. What a rule allows, it allows each time.
    if by.is_some() {
        let begin = json!({"state": "executing"});
        client
            .post(&format!("/v1/holds/{id}/outcome"), &begin)
            .await
            .context("the approval could not be taken up; it may have been used before")?;
    }
    let reason = match by {
        Some(by) => format!("approved by {by} in Holdpoint ({id})"),
        None => format!("allowed by Holdpoint's policy{rule}"),
    };
    Ok(HookReply::Allow { input: is_edited.then(|| input.clone()), reason })
}

/// Gemini merges what it is handed into its own arguments, so none can be taken away.
fn can_take(host: HookHost, proposal: &HookProposal, input: &Value) -> bool {
    let keeps_all = || {
        let own = proposal.input.as_object().into_iter().flatten();
        own.map(|(key, _)| key).all(|key| input.get(key).is_some())
    };
    match host {
        HookHost::Claude | HookHost::Codex => true,
        HookHost::Gemini => keeps_all(),
        HookHost::Cursor => false,
    }
}

fn duration_text(wait: Duration) -> String {
    let seconds = wait.as_secs();
    match seconds % 60 {
        0 if seconds > 0 => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn one_call_is_one_question_and_another_call_another() {
        let proposal = |use_id: Option<&str>, session: &str| HookProposal {
            session: session.into(),
            use_id: use_id.map(str::to_owned),
            tool: "Bash".into(),
            input: json!({"command": "ls"}),
            directory: PathBuf::from("/r"),
            subagent: None,
        };
        let key =
            |host, id, session: &str, body: Value| client_key(host, &proposal(id, session), &body);
        let one = key(HookHost::Claude, Some("t1"), "s", json!({"a": 1}));
        assert!(one.is_some());
        assert_eq!(one, key(HookHost::Claude, Some("t1"), "s", json!({"a": 1})));
        for other in [
            key(HookHost::Codex, Some("t1"), "s", json!({"a": 1})),
            key(HookHost::Claude, Some("t2"), "s", json!({"a": 1})),
            key(HookHost::Claude, Some("t1"), "z", json!({"a": 1})),
            key(HookHost::Claude, Some("t1"), "s", json!({"a": 2})),
            key(HookHost::Claude, None, "s", json!({"a": 1})),
        ] {
            assert_ne!(one, other);
        }
    }
}
