//! What a door costs beside our own API: the time from a message to its prompt, and the memory of many
//! open streams.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::policy::PolicySpec;
use ports::model::{Delta, DeltaSink, Model, ModelError, ModelRequest, ModelTurn};
use server::{
    AgentType, AiSdk, DoorSetup, Format, FrontendTools, NamedAgent, Ui, Wire, World, Worlds,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::cycle;
use crate::goal::Goal;
use crate::http::Serving;
use crate::lean::{Failure, Lean, member};
use crate::machine::resident;
use crate::report::{Report, Row, number, percentile};

const JSON: &str = "application/json";

/// Says a word, and then nothing for ever.
struct Stalls;

#[async_trait]
impl Model for Stalls {
    async fn think(
        &self,
        _: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        deltas(Delta::Text("well ".into()));
        stop.cancelled().await;
        Err(ModelError::Stopped)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Surface {
    Native,
    FrontendTools,
    Worlds,
    AiSdk,
}

const SURFACES: [Surface; 4] =
    [Surface::Native, Surface::FrontendTools, Surface::Worlds, Surface::AiSdk];

impl Surface {
    fn name(self) -> &'static str {
        match self {
            Surface::Native => "our own API",
            Surface::FrontendTools => "frontend_tools",
            Surface::Worlds => "worlds",
            Surface::AiSdk => "ai_sdk",
        }
    }

    /// Where a message goes, and its body. `None` as conversation begins one.
    fn message(self, conversation: Option<&str>, number: usize) -> (String, String) {
        match (self, conversation) {
            (Surface::Native, id) => {
                let id = id.unwrap_or_default();
                (format!("/v1/sessions/{id}/messages"), r#"{"text":"go"}"#.into())
            }
            (Surface::FrontendTools, None) => {
                let body = format!(r#"{{"user_prompt":"go {number}","agent_type":"ops"}}"#);
                ("/agent/run".into(), body)
            }
            (Surface::FrontendTools, Some(id)) => {
                let body = format!(r#"{{"user_prompt":"go {number}","agent_uuid":"{id}"}}"#);
                ("/agent/run".into(), body)
            }
            (Surface::Worlds, chat) => {
                let chat = chat.map(|chat| format!(r#","chatId":"{chat}""#)).unwrap_or_default();
                let body = format!(r#"{{"message":"go {number}","sender":"human"{chat}}}"#);
                ("/api/worlds/bench/messages".into(), body)
            }
            (Surface::AiSdk, chat) => {
                let chat = chat.unwrap_or_default();
                let body = format!(
                    r#"{{"id":"{chat}","trigger":"submit-message","messages":[{{"id":"m{number}","role":"user","parts":[{{"type":"text","text":"go"}}]}}]}}"#
                );
                ("/api/chat".into(), body)
            }
        }
    }

    /// What its stream says when people are asked.
    fn prompt(self) -> &'static str {
        match self {
            Surface::Native => "hold.opened",
            Surface::FrontendTools => "awaiting_frontend_tools",
            Surface::Worlds => "client.requestApproval",
            Surface::AiSdk => "tool-approval-request",
        }
    }
}

fn doors() -> Vec<DoorSetup> {
    let (name, agent): (String, Arc<str>) = ("ops".into(), "ops".into());
    let named = NamedAgent { name: name.clone(), agent: agent.clone() };
    let kind = AgentType { name, agent, format: Format::Json, history: false };
    let world = World { name: "bench".into(), agents: vec![named.clone()] };
    let wires = [
        Wire::FrontendTools(FrontendTools { agents: vec![kind], bridge_approvals: true }),
        Wire::Worlds(Worlds { worlds: vec![world], files: None }),
        Wire::AiSdk(AiSdk { prefix: "/api".into(), agents: vec![named], ui: Ui::Six }),
    ];
    wires.map(|wire| DoorSetup { act_as: None, origins: Vec::new(), wire }).into()
}

pub(crate) async fn run(
    quick: bool,
    folder: &Path,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let (rounds, streams) = if quick { (20, 100) } else { (300, 1_000) };
    delays(rounds, &folder.join("delays"), report).await?;
    for surface in SURFACES.into_iter().skip(1) {
        memory(surface, streams, &folder.join(surface.name()), report).await?;
    }
    Ok(())
}

/// One after the other in turn, so that a slow moment of the machine falls on all of them.
async fn delays(
    rounds: usize,
    folder: &Path,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let bench = cycle::open(folder).await?;
    let serving = Serving::with(&bench.engine, doors()).await?;
    let mut native = Lean::connect(&serving.address, &bench.token).await.map_err(plain)?;
    let mut talks = Vec::new();
    for surface in SURFACES {
        let begun = begin(surface, &serving.address, &bench.token, &mut native).await;
        talks.push((surface, begun.map_err(plain)?, Vec::new()));
    }
    for round in 0..rounds {
        for (surface, conversation, times) in &mut talks {
            let (path, body) = surface.message(Some(conversation), round + 1);
            let prompt = surface.prompt();
            let asked = Instant::now();
            let talk = Talk::post(&serving.address, &bench.token, &path, &body).await;
            let mut talk = talk.map_err(plain)?;
            talk.until(prompt).await.map_err(plain)?;
            times.push(asked.elapsed());
            answer(&mut native).await.map_err(plain)?;
        }
    }
    let own = percentile(&talks[0].2, 50);
    for (surface, _, times) in &talks {
        let (p50, what) = (percentile(times, 50), surface.name());
        report.row(Row::new("doors", format!("message → prompt, {what}, p50"), p50, "ms"));
        if *surface != Surface::Native {
            let what = format!("{what} adds to our own API, p50");
            report.row(Row::new("doors", what, p50 - own, "ms").goal(Goal::at_most(0.5)));
        }
    }
    serving.end().await?;
    bench.engine.close(Duration::from_secs(5)).await;
    bench.store.close().await;
    Ok(())
}

/// A conversation in which something was said and decided already.
async fn begin(
    surface: Surface,
    address: &str,
    token: &str,
    native: &mut Lean,
) -> Result<String, Failure> {
    let name = match surface {
        Surface::Native => {
            let opened = native.post("/v1/sessions", JSON, r#"{"agent":"ops"}"#).await?;
            Some(member(opened, "id").ok_or("no session")?.to_owned())
        }
        Surface::Worlds => {
            let opened = native.post("/api/worlds/bench/chats", JSON, "{}").await?;
            Some(member(opened, "chatId").ok_or("no chat")?.to_owned())
        }
        Surface::AiSdk => Some("chat-bench".to_owned()),
        Surface::FrontendTools => None,
    };
    let (path, body) = surface.message(name.as_deref(), 0);
    let mut talk = Talk::post(address, token, &path, &body).await?;
    let heard = talk.until(surface.prompt()).await?;
    answer(native).await?;
    match name {
        Some(name) => Ok(name),
        None => Ok(member(&heard, "agent").ok_or("no session")?.to_owned()),
    }
}

/// Approves the one hold that waits, and waits until its run is over.
async fn answer(native: &mut Lean) -> Result<(), Failure> {
    let list = native.get("/v1/holds?state=pending&limit=1").await?;
    let of = |name: &str| member(list, name).map(str::to_owned).ok_or("nothing waits");
    let (id, digest, run) = (of("id")?, of("digest")?, of("run")?);
    let body = format!(r#"{{"digest":"{digest}","answer":{{"verdict":"approve"}}}}"#);
    native.post(&format!("/v1/holds/{id}/answer"), JSON, &body).await?;
    loop {
        let shown = native.get(&format!("/v1/runs/{run}")).await?;
        if member(shown, "status") == Some("completed") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn memory(
    surface: Surface,
    streams: usize,
    folder: &Path,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let policy = PolicySpec::default();
    let bench =
        cycle::open_thinking(folder, policy, &["ops"], Vec::new(), Arc::new(Stalls)).await?;
    let serving = Serving::with(&bench.engine, doors()).await?;
    let mut native = Lean::connect(&serving.address, &bench.token).await.map_err(plain)?;
    let mut open = Vec::with_capacity(streams);
    for number in 0..streams {
        let name = match surface {
            Surface::Worlds => {
                let opened = native.post("/api/worlds/bench/chats", JSON, "{}").await;
                let chat = member(opened.map_err(plain)?, "chatId").map(str::to_owned);
                Some(chat.ok_or("no chat")?)
            }
            Surface::AiSdk => Some(format!("chat-{number}")),
            _ => None,
        };
        let (path, body) = surface.message(name.as_deref(), number);
        let talk = Talk::post(&serving.address, &bench.token, &path, &body).await;
        let mut talk = talk.map_err(plain)?;
        // Its first words say that the stream stands.
        talk.until("data:").await.map_err(plain)?;
        open.push(talk);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let what = format!(
        "{} open streams, {}, RSS with all clients",
        number(streams as f64),
        surface.name()
    );
    let rss = resident()?;
    report.row(Row::new("doors", what, rss, "MB").goal(Goal::at_most(300.0)));
    drop(open);
    serving.end().await?;
    bench.engine.close(Duration::from_secs(5)).await;
    bench.store.close().await;
    Ok(())
}

/// One request on a connection of its own, whose reply is read as it comes.
struct Talk(BufReader<TcpStream>);

impl Talk {
    async fn post(address: &str, token: &str, path: &str, body: &str) -> Result<Talk, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut talk = Talk(BufReader::with_capacity(2 << 10, stream));
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Accept: text/event-stream\r\nContent-Type: {JSON}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        talk.0.write_all(request.as_bytes()).await?;
        Ok(talk)
    }

    /// All that was heard up to the line with this in it.
    async fn until(&mut self, wanted: &str) -> Result<String, Failure> {
        let mut heard = String::new();
        loop {
            let from = heard.len();
            if self.0.read_line(&mut heard).await? == 0 {
                return Err(format!("no `{wanted}` in: {heard}").into());
            }
            if heard[from..].contains(wanted) {
                return Ok(heard);
            }
        }
    }
}

fn plain(failure: Failure) -> Box<dyn std::error::Error> {
    failure
}
