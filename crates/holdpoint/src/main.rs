//! The `holdpoint` program.

use std::process::ExitCode;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    holdpoint::cli::main()
}
