//! Cycles over HTTP on loopback: message, answer, wait.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};
use server::{HttpLimits, ServerSetup};

use crate::cycle::{self, Begun};
use crate::report::Measured;

const CYCLES_A_SESSION: u64 = 8;

type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) async fn run(
    folder: &Path,
    at_once: usize,
    time: Duration,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let bench = cycle::open(folder).await?;
    let setup = ServerSetup {
        engine: bench.engine.clone(),
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
    };
    let server = server::bind(setup).await?;
    let base = server.origin().to_owned();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async move {
        let _ = stopped.await;
    }));
    let start = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..at_once {
        let (base, token, begun) = (base.clone(), bench.token.clone(), bench.begun.clone());
        clients.spawn(async move {
            client(&base, &token, &begun, start + time).await.map_err(|error| error.to_string())
        });
    }
    let mut measured = Measured { cycles: 0, took: Duration::ZERO, answer_to_start: Vec::new() };
    while let Some(client) = clients.join_next().await {
        let (cycles, times) = client??;
        measured.cycles += cycles;
        measured.answer_to_start.extend(times);
    }
    measured.took = start.elapsed();
    let _ = stop.send(());
    serving.await?;
    bench.engine.close(Duration::from_secs(5)).await;
    bench.store.close().await;
    Ok(measured)
}

async fn client(
    base: &str,
    token: &str,
    begun: &Begun,
    until: Instant,
) -> Result<(u64, Vec<Duration>), Failure> {
    // A client of its own: its connections are kept, as a program's are.
    let http = Client::builder().no_proxy().build()?;
    let post = |path: String, body: Value| {
        http.post(format!("{base}{path}")).bearer_auth(token).json(&body)
    };
    let (mut cycles, mut times) = (0, Vec::new());
    loop {
        let session: Value =
            checked(post("/v1/sessions".into(), json!({"agent": "ops"})).send().await?)
                .await?
                .json()
                .await?;
        let session = session["id"].as_str().ok_or("no session")?.to_owned();
        for _ in 0..CYCLES_A_SESSION {
            let said = post(format!("/v1/sessions/{session}/messages"), json!({"text": "go"}));
            let events = checked(said.header("accept", "text/event-stream").send().await?).await?;
            let hold = opened(events).await?;
            let (id, digest) = (
                hold["id"].as_str().unwrap_or_default(),
                hold["digest"].as_str().unwrap_or_default(),
            );
            let asked = Instant::now();
            let answer = json!({"digest": digest, "answer": {"verdict": "approve"}});
            checked(post(format!("/v1/holds/{id}/answer"), answer).send().await?)
                .await?
                .bytes()
                .await?;
            let wait = http
                .get(format!("{base}/v1/holds/{id}/wait?until=settled&timeout_s=30"))
                .bearer_auth(token);
            checked(wait.send().await?).await?.bytes().await?;
            // Settled, so it has begun.
            let began = begun.lock().expect("sound").remove(digest);
            times.extend(began.map(|began| began.duration_since(asked)));
            cycles += 1;
            if Instant::now() >= until {
                return Ok((cycles, times));
            }
        }
    }
}

async fn checked(reply: reqwest::Response) -> Result<reqwest::Response, Failure> {
    match reply.status().is_success() {
        true => Ok(reply),
        false => Err(format!("{}: {}", reply.status(), reply.text().await?).into()),
    }
}

/// The hold that the run's events tell of, read to the end of the stream.
async fn opened(reply: reqwest::Response) -> Result<Value, Failure> {
    let mut stream = reply.bytes_stream();
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        text.push_str(std::str::from_utf8(&chunk?)?);
    }
    let event = text
        .split("\n\n")
        .find(|event| event.contains("event: hold.opened"))
        .ok_or("no hold was opened")?;
    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).ok_or("no data")?;
    let value: Value = serde_json::from_str(data)?;
    Ok(value["hold"].clone())
}
