//! What is done on a platform, and how long it takes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use testkit::served::Served;
use tokio::task::JoinSet;

use super::{Failure, Platform};
use crate::goal::Goal;
use crate::report::{Report, Row, number, percentile};

/// Long enough for a thousand cards in a debug build.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) async fn pressed(
    platform: Arc<dyn Platform>,
    chats: usize,
    each: usize,
    report: &Report,
) -> Result<(), Failure> {
    // One more in each chat, which nobody answers: so no run goes on, and no tool is in the figure.
    let mut served = start(&*platform, each + 1).await;
    for chat in 0..chats {
        platform.write(&served.url(), chat, "go").await?;
    }
    until("every card", || platform.sent() >= chats * (each + 1)).await?;
    // The last ones are written down.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut pressing = JoinSet::new();
    for buttons in platform.buttons(chats) {
        if buttons.len() != each + 1 {
            return Err(format!("a chat has {} cards", buttons.len()).into());
        }
        let (platform, url) = (platform.clone(), served.url());
        pressing.spawn(async move {
            let mut took = Vec::new();
            for press in buttons.iter().take(each) {
                let began = Instant::now();
                platform.press(&url, press).await?;
                took.push(began.elapsed());
            }
            Ok::<_, Failure>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(done) = pressing.join_next().await {
        took.extend(done??);
    }
    let left = served.admin().get("/v1/holds?state=pending&limit=100").await.must(200);
    let left = left["items"].as_array().map_or(0, Vec::len);
    if left != chats.min(100) {
        return Err(format!("{left} holds are still open, and {chats} should be").into());
    }
    let of = format!("{} open holds, {chats} chats", number((chats * each) as f64));
    let what = |which: &str| format!("{}: press → acknowledged, {of}, {which}", platform.name());
    report.row(Row::new("chats", what("p50"), percentile(&took, 50), "ms"));
    let p99 = percentile(&took, 99);
    report.row(Row::new("chats", what("p99"), p99, "ms").goal(Goal::at_most(200.0)));
    report.row(Row::new("chats", what("worst"), percentile(&took, 100), "ms"));
    served.stop().await;
    Ok(())
}

pub(super) async fn quiet(
    platform: Arc<dyn Platform>,
    chats: usize,
    report: &Report,
) -> Result<(), Failure> {
    let mut served = start(&*platform, 1).await;
    // What the first ones bring into memory is not theirs: code, statements, pages of the database.
    let first = chats / 20;
    for chat in 0..first {
        platform.write(&served.url(), chat, "hello").await?;
    }
    until("the first replies", || platform.sent() >= first).await?;
    let before = resident(served.id())?;
    for chat in first..first + chats {
        platform.write(&served.url(), chat, "hello").await?;
    }
    until("every reply", || platform.sent() >= first + chats).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let what = format!("{}: {} idle chats, RSS", platform.name(), number(chats as f64));
    let grown = resident(served.id())? - before;
    report.row(Row::new("chats", what, grown, "MB").goal(Goal::at_most(50.0)));
    served.stop().await;
    Ok(())
}

async fn until(what: &str, is: impl Fn() -> bool) -> Result<(), Failure> {
    let end = Instant::now() + PATIENCE;
    while !is() {
        if Instant::now() > end {
            return Err(format!("waited in vain for {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Of another process, in millions of bytes.
fn resident(id: u32) -> Result<f64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()).ok_or("no VmRSS")?;
    Ok(kilobytes.parse::<f64>()? * 1_024.0 / 1e6)
}

/// The real program with this platform, whose agent makes so many calls at once.
async fn start(platform: &dyn Platform, calls: usize) -> Served {
    let call = |number: usize| {
        format!("    {{ tool = \"noop\", arguments = {{ number = {number} }} }},\n")
    };
    let calls: String = (0..calls).map(call).collect();
    let script = format!(
        "default = \"done\"\n\n[[turn]]\nwhen = {{ says_contains = \"go\" }}\ncalls = [\n{calls}]\n"
    );
    let (key, identity) = platform.identity();
    let section = platform.section();
    let config = format!(
        r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"

[models.scripted]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "worker"
model = "scripted"
tools = ["noop"]

[[tools]]
name = "noop"
kind = "command"
description = "Does nothing."
argv = ["/bin/true"]
input_schema = {{ type = "object" }}

[[policy.rules]]
name = "all is asked for"
match = {{ tool = "noop" }}
then = "ask"
ask = {{ people = ["bob"] }}

[[people]]
id = "root"
roles = ["admin"]

[[people]]
id = "bob"
name = "Bob"
roles = []
identities = {{ {key} = "{identity}" }}

{section}
expires = "1h"
"#
    );
    let mut served = Served::prepare(&config, &script);
    for (file, secret) in platform.secrets() {
        served.write(file, secret);
    }
    served.up().await;
    platform.connected().await;
    served
}
