//! The `holdpoint` program.

use std::process::ExitCode;

use clap::Parser as _;
use holdpoint::cli::{self, Cli};

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Not a command for people: this process only watches over one child of a server.
    if std::env::args_os().nth(1).is_some_and(|first| first == holdpoint::wiring::SUPERVISE) {
        return tools::process::supervise();
    }
    let cli = Cli::parse();
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(cli::run(cli)),
        Err(error) => {
            eprintln!("holdpoint: no threads are to be had: {error}");
            ExitCode::FAILURE
        }
    }
}
