//! `cargo xtask bench`: full cycles per second (message → hold → approve → no-op tool → final text),
//! everything durable, each as a ratio to what raw SQLite does on this machine in the same run; and
//! what holds, finished runs, rules and followers cost when there are many. docs/benchmarks.md
//! explains each measure.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, and its tasks end with it"
)]
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod bare;
mod chats;
mod cycle;
mod deltas;
mod doors;
mod floor;
mod goal;
mod growth;
mod hooks;
mod http;
mod idle;
mod lean;
mod machine;
mod mcp;
mod options;
mod page;
mod paused;
mod pending;
mod platforms;
mod policy;
mod report;

use std::process::ExitCode;

use options::Options;
use report::Report;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// With as many threads as the program has.
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == mcp::UPSTREAM) {
        return mcp::answer_as_upstream().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let options = match Options::parse(&words) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("bench: {why}");
            return ExitCode::from(2);
        }
    };
    let ended = holdpoint::threads::runtime()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(run(options)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    if options.help {
        println!("{}", options::HELP);
        return Ok(());
    }
    if options.dry_run {
        println!("{}", options.wanted().join(" "));
        return Ok(());
    }
    let time = options.time();
    let _ = rustls::crypto::ring::default_provider().install_default();

    let folder = tempfile::tempdir()?;
    let report = Report::new(options.json);
    let around = floor::Around::new(folder.path(), time, options.wants("floor"));
    if options.wants("floor") {
        let a = floor::grouped(&folder.path().join("floor-a.db"), time)?;
        report.floor("A: raw SQLite, 64 cycles of 2 statements a transaction", a);
        let large = floor::grouped_like_ours(&folder.path().join("floor-a-large.db"), time)?;
        report.floor("A with as many bytes a cycle as ours takes on disk", large);
        let all = floor::everywhere(folder.path(), time)?;
        report.floor("A on every processor at once, all together", all);
        let b = floor::single(&folder.path().join("floor-b.db"), time)?;
        report.floor("B: raw SQLite, 5 single commits a cycle", b);
    }
    if options.wants("cycle") {
        for at_once in options.at_once() {
            let folder = folder.path().join(format!("in-process-{at_once}"));
            let (measured, floors) = around.measure(cycle::run(&folder, at_once, time)).await?;
            report.cycles("cycle", at_once, &measured, &floors);
        }
    }
    if options.wants("http") {
        for at_once in options.at_once() {
            report.bare(at_once, &bare::run(at_once, time).await?);
        }
        for at_once in options.at_once() {
            let folder = folder.path().join(format!("http-{at_once}"));
            let (measured, floors) = around.measure(http::run(&folder, at_once, time)).await?;
            report.cycles("http", at_once, &measured, &floors);
        }
    }
    if options.wants("deltas") {
        deltas::run(options.quick, &folder.path().join("deltas"), &report).await?;
    }
    if options.wants("doors") {
        doors::run(options.quick, &folder.path().join("doors"), &report).await?;
    }
    if options.wants("chats") {
        chats::run(options.quick, &folder.path().join("chats"), &report).await?;
        platforms::run(options.quick, &report).await.map_err(|failure| failure.to_string())?;
    }
    if options.wants("policy") {
        policy::run(options.quick, &report)?;
    }
    if options.wants("hooks") {
        hooks::run(options.quick, &report).await?;
    }
    if options.wants("mcp") {
        mcp::run(options.quick, &report).await?;
    }
    if options.wants("pending") {
        pending::run(&options, &report).await?;
    }
    if options.wants("growth") {
        growth::run(&options, &folder.path().join("growth"), &report).await?;
    }
    if options.wants("idle") {
        idle::run(&options, &report).await?;
    }
    let (rows, missed) = report.end();
    if options.page {
        page::write(rows, folder.path())?;
    }
    // Seconds say nothing about goals.
    if missed > 0 && !options.quick {
        return Err(format!("{missed} of the figures are not what they must be").into());
    }
    Ok(())
}
