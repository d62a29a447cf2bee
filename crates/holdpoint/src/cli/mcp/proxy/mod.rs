//! `holdpoint mcp proxy`: the gate between an MCP client on standard input and output, and its servers.
//!
//! All that is decided is in `mcp_gate`; here are the command line, the pipes, and Holdpoint over HTTP.

mod config;
mod hold_client;
mod questions;

use std::sync::{Arc, Mutex};

use mcp_gate::gate::HoldGate;
use mcp_gate::limits::{LEAVE_WITHIN, OUTBOX_MAX};
use mcp_gate::peer::{PeerLine, PeerOut, read_line};
use mcp_gate::reply::bad_line;
use mcp_gate::session::{ProxyOptions, ProxySession};
use mcp_gate::upstream::{Upstream, UpstreamWire};
use tokio::io::BufReader;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::mcp::PinStore;

use super::std_pipes;
use crate::cli::args::McpProxyArgs;
use crate::cli::client::Client;
use crate::cli::exit::Exit;
use crate::cli::waiting::Interrupts;
use hold_client::HoldClient;
use questions::{OpenQuestions, state_folder};

pub(super) async fn run(client: &Client, args: &McpProxyArgs) -> anyhow::Result<Exit> {
    // An upstream must not read our token out of this process. What cannot be set is set nowhere else either.
    let _ = nix::sys::prctl::set_dumpable(false);
    let (naming, configs) = config::parse_all(args)?;
    let state = state_folder()?;
    let service = HoldClient::new(client.clone(), OpenQuestions::open(&state)?);
    let gate = HoldGate::new(Arc::new(service), Arc::default());
    let mut interrupts = Interrupts::listen()?;
    let mut started: Vec<(Arc<Upstream>, UpstreamWire)> = Vec::new();
    for config in configs {
        let pins = PinStore::open(&state.join("pins"), &config.pin_file(), false)?;
        started.push(Upstream::start(config, Arc::new(Mutex::new(pins)))?);
    }
    let (out, lines) = PeerOut::new();
    let (leaving, tasks) = (CancellationToken::new(), TaskTracker::new());
    let (stdout, written) = std_pipes::stdout()?;
    tasks.spawn(lines.write_to(stdout, leaving.clone()));
    let upstreams: Vec<Arc<Upstream>> =
        started.iter().map(|(upstream, _)| upstream.clone()).collect();
    let (wait, answer_in_client) = (args.wait, args.answer_in_client);
    let warn = |what: &str| eprintln!("holdpoint: {what}");
    let options = ProxyOptions { naming, wait, answer_in_client, reuses_ids: true, warn };
    let session =
        ProxySession::new(gate, Arc::new(out.clone()), upstreams, options, tasks.clone())?;
    let pumps = TaskTracker::new();
    for (index, (upstream, wire)) in started.into_iter().enumerate() {
        let (to, from) = mpsc::channel(OUTBOX_MAX);
        pumps.spawn(async move { wire.pump(&upstream, to).await });
        tasks.spawn(session.clone().pass_messages(index, from));
    }
    let mut from = BufReader::new(std_pipes::stdin()?);
    loop {
        let line = tokio::select! {
            line = read_line(&mut from) => line,
            _ = interrupts.next() => PeerLine::End,
        };
        match line {
            PeerLine::Message(message) => session.clone().take_client(message).await,
            PeerLine::Bad(bad) => out.send_line(bad_line(&bad)).await,
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
