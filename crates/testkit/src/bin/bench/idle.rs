//! What a server costs that has nothing to do: many paused runs, many followers, and nobody speaks.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::{Client, Response};
use testkit::served::Served;
use tokio::task::JoinSet;

use crate::goal::Goal;
use crate::options::Options;
use crate::paused::Paused;
use crate::report::{Report, Row, number};

/// After the start and the last follower, things may settle; an idle server is idle for hours.
const SETTLE: Duration = Duration::from_secs(3);

pub(crate) async fn run(
    options: &Options,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let (runs, followers, seconds) =
        if options.quick { (500, 100, 5) } else { (10_000, 1_000, 30) };
    let mut paused = Paused::new(runs).await?;
    paused.up().await;
    let streams = follow(&paused, followers).await?;
    tokio::time::sleep(SETTLE).await;

    let name = format!(
        "idle, {} paused runs, {} followers",
        number(runs as f64),
        number(followers as f64)
    );
    let window = Duration::from_secs(seconds);
    let (start, before) = (Instant::now(), busy(&paused.served)?);
    tokio::time::sleep(window).await;
    let spent = busy(&paused.served)? - before;
    let percent = 100.0 * spent.as_secs_f64() / start.elapsed().as_secs_f64();
    report.row(Row::new("idle", format!("{name}, CPU"), percent, "%").goal(Goal::at_most(0.5)));

    // Longer than anything in the server waits before it looks by itself.
    let window = if options.quick { window } else { Duration::from_secs(70) };
    match touches(paused.served.id(), window).await? {
        Some(calls) => {
            let what = format!("{name}, system calls on SQLite's files in {} s", window.as_secs());
            report.row(Row::new("idle", what, calls as f64, "").goal(Goal::at_most(0.0)));
        }
        None => eprintln!("strace is missing here: whether the idle server polls is not measured"),
    }
    report.row(Row::new("idle", format!("{name}, RSS"), paused.memory("VmRSS"), "MB"));
    let alive = streams.len();
    drop(streams);
    if alive != followers {
        return Err(format!("{} followers were lost", followers - alive).into());
    }
    paused.served.stop().await;
    Ok(())
}

/// Half follow a session each, half follow everything. Each has a connection of its own, and reads
/// what it is sent for as long as the set lives.
async fn follow(
    paused: &Paused,
    followers: usize,
) -> Result<JoinSet<()>, Box<dyn std::error::Error>> {
    let http = Client::builder().no_proxy().http1_only().build()?;
    let mut streams = JoinSet::new();
    for number in 0..followers {
        let path = match number % 2 {
            0 => "/v1/events".to_owned(),
            _ => format!("/v1/sessions/{}/events", paused.sessions[number]),
        };
        let asked = http.get(format!("{}{path}", paused.served.url())).bearer_auth(&paused.ana);
        let reply: Response = asked.send().await?.error_for_status()?;
        let mut body = reply.bytes_stream();
        // The first words say that the stream stands.
        body.next().await.ok_or("a stream ended at once")??;
        streams.spawn(async move { while let Some(Ok(_)) = body.next().await {} });
    }
    Ok(streams)
}

/// The time that all threads of the server have spent on a processor, to the nanosecond.
fn busy(served: &Served) -> std::io::Result<Duration> {
    let mut sum = 0;
    for task in std::fs::read_dir(format!("/proc/{}/task", served.id()))? {
        let stat = std::fs::read_to_string(task?.path().join("schedstat"))?;
        sum += stat.split(' ').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    }
    Ok(Duration::from_nanos(sum))
}

/// System calls that name the database, its log or its index, over so long; `None` without strace.
async fn touches(id: u32, window: Duration) -> Result<Option<usize>, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=%desc,%file", "-p", &id.to_string(), "-o"]);
    let Ok(mut strace) = command.arg(&trace).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    else {
        return Ok(None);
    };
    tokio::time::sleep(window).await;
    if let Some(status) = strace.try_wait()? {
        return Err(format!("strace cannot attach to the server: {status}").into());
    }
    // It lets go of the server before it ends.
    let strace_id = nix::unistd::Pid::from_raw(strace.id() as i32);
    nix::sys::signal::kill(strace_id, nix::sys::signal::Signal::SIGINT)?;
    strace.wait()?;
    let text = std::fs::read_to_string(&trace)?;
    if text.lines().count() == 0 {
        return Err("strace saw nothing at all, not even a heartbeat".into());
    }
    Ok(Some(text.lines().filter(|line| line.contains("holdpoint.db")).count()))
}
