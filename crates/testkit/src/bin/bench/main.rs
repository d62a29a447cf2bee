//! `cargo xtask bench`: full cycles per second (message → hold → approve → no-op tool → final text),
//! everything durable, each as a ratio to what raw SQLite does on this machine in the same run.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, and its tasks end with it"
)]
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod cycle;
mod floor;
mod http;
mod report;

use std::time::Duration;

use report::Report;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = args.iter().any(|arg| arg == "--quick");
    let json = args.iter().any(|arg| arg == "--json");
    if let Some(unknown) = args.iter().find(|arg| !["--quick", "--json"].contains(&arg.as_str())) {
        return Err(format!("`{unknown}` is not an option; there are --quick and --json").into());
    }
    let time = if quick { Duration::from_secs(1) } else { Duration::from_secs(5) };
    let _ = rustls::crypto::ring::default_provider().install_default();

    let folder = tempfile::tempdir()?;
    let report = Report::new(json);
    let a = floor::grouped(folder.path(), time)?;
    report.floor("A: raw SQLite, 64 cycles of 2 statements a transaction", a);
    let b = floor::single(folder.path(), time)?;
    report.floor("B: raw SQLite, 5 single commits a cycle", b);

    for at_once in [1, 64] {
        let measured =
            cycle::run(&folder.path().join(format!("in-process-{at_once}")), at_once, time).await?;
        report.cycles("in process", at_once, &measured, a, b);
    }
    for at_once in [1, 64] {
        let measured =
            http::run(&folder.path().join(format!("http-{at_once}")), at_once, time).await?;
        report.cycles("over HTTP", at_once, &measured, a, b);
    }
    report.end();
    Ok(())
}
