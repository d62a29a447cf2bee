//! Cycles over HTTP on loopback: message, answer, wait.

use std::path::Path;
use std::time::{Duration, Instant};

use domain::digest::Digest;
use engine::Engine;
use server::{DoorSetup, HttpLimits, ServerSetup};

use crate::cycle::{self, Begun};
use crate::lean::{Failure, Lean, member};
use crate::report::Measured;

const CYCLES_A_SESSION: u64 = 8;

const JSON: &str = "application/json";

pub(crate) async fn run(
    folder: &Path,
    at_once: usize,
    time: Duration,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let bench = cycle::open(folder).await?;
    let serving = Serving::start(&bench.engine).await?;
    let measured = drive(&serving.address, &bench.token, &bench.begun, at_once, time).await?;
    serving.end().await?;
    bench.engine.close(Duration::from_secs(5)).await;
    bench.store.close().await;
    Ok(measured)
}

/// So many clients at an address, for so long.
pub(crate) async fn drive(
    address: &str,
    token: &str,
    begun: &Begun,
    at_once: usize,
    time: Duration,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..at_once {
        let (address, token, begun) = (address.to_owned(), token.to_owned(), begun.clone());
        clients.spawn(async move {
            client(&address, &token, &begun, start + time).await.map_err(|error| error.to_string())
        });
    }
    let mut measured = Measured { cycles: 0, took: Duration::ZERO, answer_to_start: Vec::new() };
    while let Some(client) = clients.join_next().await {
        let (cycles, times) = client??;
        measured.cycles += cycles;
        measured.answer_to_start.extend(times);
    }
    measured.took = start.elapsed();
    Ok(measured)
}

/// The server on a port of its own, for callers without number.
pub(crate) struct Serving {
    pub(crate) address: String,
    stop: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Serving {
    pub(crate) async fn start(engine: &Engine) -> Result<Serving, Box<dyn std::error::Error>> {
        Serving::with(engine, Vec::new()).await
    }

    /// With these doors open.
    pub(crate) async fn with(
        engine: &Engine,
        doors: Vec<DoorSetup>,
    ) -> Result<Serving, Box<dyn std::error::Error>> {
        let setup = ServerSetup {
            engine: engine.clone(),
            listen: ([127, 0, 0, 1], 0).into(),
            public_url: None,
            tls: None,
            trusts: None,
            demo: None,
            warnings: Vec::new(),
            limits: HttpLimits {
                requests_per_second: None,
                streams_per_caller: 100_000,
                streams: 100_000,
                ..HttpLimits::default()
            },
            audit: None,
            doors,
            words: Default::default(),
        };
        let server = server::bind(setup).await?;
        let address = server.origin().trim_start_matches("http://").to_owned();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            server
                .run(async move {
                    let _ = stopped.await;
                })
                .await;
        });
        Ok(Serving { address, stop, task })
    }

    pub(crate) async fn end(self) -> Result<(), Box<dyn std::error::Error>> {
        let _ = self.stop.send(());
        Ok(self.task.await?)
    }
}

async fn client(
    address: &str,
    token: &str,
    begun: &Begun,
    until: Instant,
) -> Result<(u64, Vec<Duration>), Failure> {
    let mut http = Lean::connect(address, token).await?;
    let (mut cycles, mut times) = (0, Vec::new());
    loop {
        let opened = http.post("/v1/sessions", JSON, r#"{"agent":"ops"}"#).await?;
        let session = member(opened, "id").ok_or("no session")?.to_owned();
        let messages = format!("/v1/sessions/{session}/messages");
        for _ in 0..CYCLES_A_SESSION {
            let events = http.post(&messages, "text/event-stream", r#"{"text":"go"}"#).await?;
            let mut lines = events.split('\n');
            let hold = lines
                .find(|line| *line == "event: hold.opened")
                .and_then(|_| lines.next()?.split_once("\"hold\":"))
                .ok_or("no hold was opened")?
                .1;
            let id = member(hold, "id").ok_or("no hold")?.to_owned();
            let digest: Digest = member(hold, "digest").ok_or("no digest")?.parse()?;
            let asked = Instant::now();
            let answer = format!(r#"{{"digest":"{digest}","answer":{{"verdict":"approve"}}}}"#);
            http.post(&format!("/v1/holds/{id}/answer"), JSON, &answer).await?;
            let settled =
                http.get(&format!("/v1/holds/{id}/wait?until=settled&timeout_s=30")).await?;
            // Nothing comes where there is no result in time: that is no cycle.
            member(settled, "id").ok_or("the call was not settled in time")?;
            // Settled, so it has begun.
            let began = begun.lock().expect("sound").remove(&digest);
            times.extend(began.map(|began| began.duration_since(asked)));
            cycles += 1;
            if Instant::now() >= until {
                return Ok((cycles, times));
            }
        }
    }
}
