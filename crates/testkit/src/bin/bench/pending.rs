//! What holds cost that nobody has answered yet: on disk, in memory, at the start, in a list.

use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::Value;

use crate::goal::Goal;
use crate::options::Options;
use crate::paused::{PAYLOAD, Paused};
use crate::report::{Report, Row, number, percentile};

pub(crate) async fn run(
    options: &Options,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let many = if options.quick { 5_000 } else { 100_000 };
    weigh(many, options.quick, false, report).await?;
    if options.million {
        weigh(1_000_000, options.quick, true, report).await?;
    }
    Ok(())
}

/// Of a million holds only the memory has a figure to reach, and that is a wish.
async fn weigh(
    holds: usize,
    quick: bool,
    is_wish: bool,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let name = format!("{} pending holds", number(holds as f64));
    let row = |what: String, figure: f64, unit, goal: Option<Goal>| {
        let row = Row::new("pending", format!("{name}, {what}"), figure, unit);
        report.row(Row { goal, ..row });
    };
    let goal = |must: f64| (!is_wish).then(|| Goal::at_most(must));
    let mut paused = Paused::new(holds).await?;
    let disk = size(&paused.served.path("data"))? as f64 / holds as f64 - PAYLOAD as f64;
    row("on disk each, beyond payload".into(), disk / 1e3, "KB", goal(2.5));
    let ready = paused.up().await;
    row("start → ready".into(), ready.as_secs_f64(), "s", goal(1.0));

    let asked = if quick { 50 } else { 500 };
    let cursor = paused.holds[holds / 2];
    let middle = format!("&cursor={cursor}");
    let lists = [
        ("first page, an admin's", &paused.ana, String::new(), goal(10.0)),
        ("middle page, an admin's", &paused.ana, middle.clone(), goal(10.0)),
        ("first page, mine (one in two)", &paused.bob, "&mine=true".to_owned(), goal(10.0)),
        ("middle page, mine (one in two)", &paused.bob, format!("&mine=true{middle}"), goal(10.0)),
        ("first page, mine (one in 1,000)", &paused.carol, "&mine=true".to_owned(), goal(10.0)),
    ];
    for (what, token, query, goal) in lists {
        let times = list(&paused, token, &query, asked).await?;
        row(format!("{what}, p50"), percentile(&times, 50), "ms", goal);
        row(format!("{what}, p99"), percentile(&times, 99), "ms", None);
    }
    let memory = if is_wish { Goal::wish_at_most(200.0) } else { Goal::at_most(120.0) };
    row("RSS of the server".into(), paused.memory("VmRSS"), "MB", Some(memory));
    row("RSS of the server, at its peak".into(), paused.memory("VmHWM"), "MB", None);
    paused.served.stop().await;
    Ok(())
}

/// One after the other, as a person turns pages.
async fn list(
    paused: &Paused,
    token: &str,
    query: &str,
    times: usize,
) -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
    let http = Client::builder().no_proxy().build()?;
    let url = format!("{}/v1/holds?state=pending{query}", paused.served.url());
    let mut took = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        let reply = http.get(&url).bearer_auth(token).send().await?.error_for_status()?;
        let page: Value = serde_json::from_slice(&reply.bytes().await?)?;
        took.push(start.elapsed());
        if page["items"].as_array().is_none_or(Vec::is_empty) {
            return Err(format!("an empty page: {url}").into());
        }
    }
    Ok(took)
}

fn size(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        bytes += if kind.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
