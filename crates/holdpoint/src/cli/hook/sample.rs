//! A harmless call, put to the server as the hook would put it.

use std::path::PathBuf;

use agent_hooks::{HookProposal, HookQuestion};
use anyhow::Context as _;
use domain::hold::HoldReplyState;
use domain::visible::visible;
use serde_json::{Value, json};

use super::install;
use super::local_files::LocalFiles;
use crate::cli::args::HookTestArgs;
use crate::cli::ask::unanswered;
use crate::cli::client::Client;
use crate::cli::exit::Exit;
use crate::cli::json;
use crate::cli::output::Terminal;

/// Long enough to be withdrawn by hand if this program is killed.
const EXPIRES_S: u64 = 30;

pub(super) async fn run(
    server: &str,
    terminal: &Terminal,
    args: &HookTestArgs,
) -> anyhow::Result<Exit> {
    let client = Client::new(server)?;
    let places = install::places(args.host);
    let (status, _) = client.probe("/healthz").await?;
    let directory: PathBuf =
        std::env::current_dir().context("the current directory cannot be read")?;
    let proposal = HookProposal {
        host: args.host,
        session: "test".into(),
        use_id: None,
        tool: args.host.shell_tool().into(),
        input: json!({"command": args.command}),
        directory,
        subagent: None,
    };
    let question = HookQuestion::new(&proposal, &LocalFiles, Some(EXPIRES_S))
        .titled("Test of the hook: nothing will run, please ignore");
    let body = serde_json::to_value(&question)?;
    let hold = client.post("/v1/holds", &body).await?;
    let state = HoldReplyState::of(&hold);
    if state == HoldReplyState::Pending {
        withdraw(&client, terminal, &hold).await;
    }
    let out = terminal.out();
    if args.json {
        let settings: Vec<Value> = places
            .iter()
            .map(|(place, is_there)| json!({"file": place.display().to_string(), "hook": is_there}))
            .collect();
        let decision = match state {
            HoldReplyState::Approved => "allow",
            HoldReplyState::Pending => "ask",
            _ => "deny",
        };
        let report = json!({
            "settings": settings, "server": client.server().as_str(), "status": status,
            "rule": hold["rule"], "decision": decision,
        });
        out.print(&json::pretty(&report))?;
        return Ok(Exit::Done);
    }
    for (place, is_there) in places {
        let is_there = if is_there { "has the hook" } else { "has no hook" };
        out.line(&format!("settings: {} {is_there}", visible(&place.display().to_string())))?;
    }
    out.line(&format!("server:   {} replies with status {status}", client.server()))?;
    out.line("token:    may ask")?;
    let rule = hold["rule"].as_str().map(|rule| format!("\"{}\"", visible(rule)));
    let rule = rule.unwrap_or_else(|| "no rule, the default".to_owned());
    out.line(&format!("rule:     {rule}"))?;
    let decision = match state {
        HoldReplyState::Approved => "it would run at once".to_owned(),
        HoldReplyState::Pending => "a person would be asked".to_owned(),
        _ => format!("it would not run. {}", unanswered(&hold)),
    };
    out.line(&format!("decision: `{}`: {decision}", visible(&args.command)))?;
    Ok(Exit::Done)
}

async fn withdraw(client: &Client, terminal: &Terminal, hold: &Value) {
    let id = hold["id"].as_str().unwrap_or_default();
    let path = format!("/v1/holds/{id}/cancel");
    if let Err(error) = client.post(&path, &json!({"reason": "it was a test of the hook"})).await {
        terminal.warn(&format!(
            "the test's question was not withdrawn and expires in {EXPIRES_S} s: {error:#}"
        ));
    }
}
