//! Text on its way from a model to those who watch: over a real connection from a fake provider,
//! through client, engine and server, into event streams of many sessions.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::policy::PolicySpec;
use engine::{SystemClock, SystemRng};
use models::ModelSettings;
use models::anthropic::{self, Anthropic};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

use crate::cycle;
use crate::goal::Goal;
use crate::http::Serving;
use crate::lean::{Failure, Lean, member};
use crate::report::{Report, Row, percentile};

const SESSIONS: usize = 100;

/// How one turn is spoken.
#[derive(Clone, Copy)]
struct Speech {
    deltas: usize,
    /// Between two deltas of one session; nothing: as fast as anybody takes them.
    pause: Option<Duration>,
}

pub(crate) async fn run(
    quick: bool,
    folder: &Path,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let scale = if quick { 1 } else { 10 };
    let paced = Speech { deltas: 20 * scale, pause: Some(Duration::from_millis(50)) };
    let heard = measure(&folder.join("paced"), paced).await?;
    for (percent, goal) in [(50, Some(Goal::at_most(1.0))), (99, None)] {
        let what =
            format!("{SESSIONS} sessions, 20 deltas/s each, provider → event stream, p{percent}");
        let row = Row::new("deltas", what, percentile(&heard.delays, percent), "ms");
        report.row(match goal {
            Some(goal) => row.goal(goal),
            None => row,
        });
    }
    let flood = Speech { deltas: 300 * scale, pause: None };
    let heard = measure(&folder.join("flood"), flood).await?;
    let rate = heard.delays.len() as f64 / heard.took.as_secs_f64();
    let what = format!("{SESSIONS} sessions, as fast as it goes");
    report.row(Row::new("deltas", what, rate, "deltas/s").goal(Goal::at_least(10_000.0)));
    // Whoever falls behind gets several deltas in one event.
    let events = heard.events as f64 / heard.took.as_secs_f64();
    report.row(Row::new("deltas", "the same, in events of the stream", events, "events/s"));
    Ok(())
}

/// What all followers together have heard.
#[derive(Default)]
struct Heard {
    delays: Vec<Duration>,
    events: usize,
    took: Duration,
}

async fn measure(folder: &Path, speech: Speech) -> Result<Heard, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let begin = Instant::now();
    // Models are somewhere else, and so are those who watch.
    let elsewhere = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let provider = format!("http://{}", listener.local_addr()?);
    elsewhere.spawn(async move {
        let mut turns = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            turns.spawn(speak(stream, speech, begin));
        }
    });
    let settings = ModelSettings::new("bench", "bench", reqwest::Url::parse(&provider)?);
    let (clock, rng) = (Arc::new(SystemClock::new(None)), Arc::new(SystemRng::default()));
    let model = anthropic::model(Anthropic::default(), settings, clock, rng);
    let bench =
        cycle::open_thinking(folder, PolicySpec::default(), &["ops"], Vec::new(), model).await?;
    let serving = Serving::start(&bench.engine).await?;

    let mut followers = tokio::task::JoinSet::new();
    for _ in 0..SESSIONS {
        let (address, token) = (serving.address.clone(), bench.token.clone());
        let following = async move {
            follow(&address, &token, speech.deltas, begin).await.map_err(|error| error.to_string())
        };
        followers.spawn_on(following, elsewhere.handle());
    }
    let mut heard = Heard::default();
    let (mut first, mut last) = (Duration::MAX, Duration::ZERO);
    while let Some(follower) = followers.join_next().await {
        let one = follower??;
        heard.delays.extend(one.delays);
        heard.events += one.events;
        first = first.min(one.first);
        last = last.max(one.last);
    }
    heard.took = last.saturating_sub(first);
    elsewhere.shutdown_background();
    serving.end().await?;
    bench.engine.close(Duration::from_secs(5)).await;
    bench.store.close().await;
    Ok(heard)
}

/// One turn: every delta says when it was sent.
async fn speak(stream: TcpStream, speech: Speech, begin: Instant) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let mut stream = stream.into_inner();
    let event = |data: &str| format!("event: x\ndata: {data}\n\n");
    let mut head =
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n"
            .to_owned();
    head.push_str(&event(
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    ));
    stream.write_all(head.as_bytes()).await?;
    for _ in 0..speech.deltas {
        if let Some(pause) = speech.pause {
            tokio::time::sleep(pause).await;
        }
        let sent = begin.elapsed().as_nanos();
        let delta = format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{sent} "}}}}"#
        );
        stream.write_all(event(&delta).as_bytes()).await?;
    }
    let end = [
        event(r#"{"type":"content_block_stop","index":0}"#),
        event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#),
        event(r#"{"type":"message_stop"}"#),
    ];
    stream.write_all(end.concat().as_bytes()).await?;
    Ok(())
}

/// What one follower has heard, and when, from the beginning of everything.
struct One {
    delays: Vec<Duration>,
    events: usize,
    first: Duration,
    last: Duration,
}

/// Opens a session, follows it, says something and hears the answer out.
async fn follow(address: &str, token: &str, deltas: usize, begin: Instant) -> Result<One, Failure> {
    let mut http = Lean::connect(address, token).await?;
    let json = "application/json";
    let opened = http.post("/v1/sessions", json, r#"{"agent":"ops"}"#).await?;
    let session = member(opened, "id").ok_or("no session")?.to_owned();
    let mut events = BufReader::new(TcpStream::connect(address).await?);
    let request = format!(
        "GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {token}\r\n\r\n"
    );
    events.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    while !line.starts_with(": following") {
        line.clear();
        if events.read_line(&mut line).await? == 0 {
            return Err("the event stream does not begin".into());
        }
    }
    http.post(&format!("/v1/sessions/{session}/messages"), json, r#"{"text":"go"}"#).await?;
    let mut one = One {
        delays: Vec::with_capacity(deltas),
        events: 0,
        first: Duration::MAX,
        last: Duration::ZERO,
    };
    let mut is_delta = false;
    loop {
        line.clear();
        if events.read_line(&mut line).await? == 0 {
            return Err("the event stream ended".into());
        }
        if let Some(name) = line.strip_prefix("event:") {
            match name.trim() {
                "run.completed" if one.delays.len() > deltas => {
                    return Err("something was heard twice".into());
                }
                "run.completed" => return Ok(one),
                "run.failed" => return Err("the run failed".into()),
                name => is_delta = name == "message.delta",
            }
        }
        let Some(text) = member(&line, "text").filter(|_| is_delta) else { continue };
        let now = begin.elapsed();
        one.events += 1;
        for sent in text.split_whitespace() {
            let sent = Duration::from_nanos(sent.parse()?);
            one.first = one.first.min(sent);
            one.delays.push(now.saturating_sub(sent));
        }
        one.last = now;
    }
}
