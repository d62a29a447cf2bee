//! `holdpoint mcp proxy`: between an MCP client and its servers.
//!
//! ```text
//! client ── stdin/stdout ──► ProxySession ── pipes ──► Upstream (one, or several under `server__tool`)
//!                               │ tools/call only
//!                               ▼
//!          DefinitionGate ──► HoldGate (POST /v1/holds, wait, use once) ──► the call, as approved
//! ```
//!
//! A call waits as its client can: as a task, in a form that the client shows, open with progress, or by coming back. What
//! is no call of a tool is passed on as it was written. In doubt a call is denied.
//!
//! What is deliberately not here: translation between the eras. One upstream's era is the client's; several are spoken
//! to with a handshake.

mod calls;
mod config;
mod definitions;
mod forms;
mod gate;
mod listing;
mod merge;
mod merge_lists;
mod outcome;
mod questions;
mod session;
mod states;
mod tasks;
mod upstream;

use std::sync::Arc;

use tokio::io::BufReader;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::mcp::{PinStore, RpcMessage};

use super::limits::{LEAVE_WITHIN, OUTBOX_MAX};
use super::peer::{PeerLine, PeerOut, read_line};
use super::reply::bad_line;
use super::std_pipes;
use crate::cli::args::McpProxyArgs;
use crate::cli::client::Client;
use crate::cli::exit::Exit;
use crate::cli::waiting::Interrupts;
use config::UpstreamConfig;
use definitions::DefinitionGate;
use gate::HoldGate;
use questions::{OpenQuestions, state_folder};
use session::{ProxyOptions, ProxySession};
use upstream::{Upstream, UpstreamPipes};

pub(super) async fn run(client: &Client, args: &McpProxyArgs) -> anyhow::Result<Exit> {
    // An upstream must not read our token out of this process. What cannot be set is set nowhere else either.
    let _ = nix::sys::prctl::set_dumpable(false);
    let (naming, configs) = UpstreamConfig::parse_all(args)?;
    let state = state_folder()?;
    let gate = HoldGate::new(client.clone(), OpenQuestions::open(&state)?);
    let mut interrupts = Interrupts::listen()?;
    let mut started: Vec<(Arc<Upstream>, UpstreamPipes)> = Vec::new();
    for config in configs {
        let mut digits = [0; 64];
        let file = format!("{}-{}", config.name, &config.scope().digits(&mut digits)[..16]);
        let pins = PinStore::open(&state.join("pins"), &file, false)?;
        started.push(Upstream::start(config, DefinitionGate::new(pins))?);
    }
    let (out, lines) = PeerOut::new();
    let (leaving, tasks) = (CancellationToken::new(), TaskTracker::new());
    let (stdout, written) = std_pipes::stdout()?;
    tasks.spawn(lines.write_to(stdout, leaving.clone()));
    let upstreams: Vec<Arc<Upstream>> =
        started.iter().map(|(upstream, _)| upstream.clone()).collect();
    let options = ProxyOptions { naming, wait: args.wait, answer_in_client: args.answer_in_client };
    let session = ProxySession::new(gate, out, upstreams, options, tasks.clone())?;
    let pumps = TaskTracker::new();
    for (index, (upstream, pipes)) in started.into_iter().enumerate() {
        let (to, from) = mpsc::channel(OUTBOX_MAX);
        pumps.spawn(async move { pipes.pump(&upstream, to).await });
        tasks.spawn(pass_messages(session.clone(), index, from));
    }
    let mut from = BufReader::new(std_pipes::stdin()?);
    loop {
        let line = tokio::select! {
            line = read_line(&mut from) => line,
            _ = interrupts.next() => PeerLine::End,
        };
        match line {
            PeerLine::Message(message) => session.clone().take_client(message).await,
            PeerLine::Bad(bad) => session.out().send(bad_line(&bad)).await,
            PeerLine::End => break,
        }
    }
    // Questions stay open, and are found again by the same call.
    session.stop();
    leaving.cancel();
    pumps.close();
    session.reports.close();
    let _ = tokio::time::timeout(LEAVE_WITHIN, async {
        tokio::join!(pumps.wait(), session.reports.wait());
        written.await
    })
    .await;
    Ok(Exit::Done)
}

async fn pass_messages(
    session: Arc<ProxySession>,
    index: usize,
    mut from: mpsc::Receiver<RpcMessage>,
) {
    while let Some(message) = from.recv().await {
        session.take_upstream(index, message).await;
    }
    session.end_upstream(index).await;
}
