//! Runs one call for a server that speaks to it over standard input; see `tools::process`.

fn main() -> std::process::ExitCode {
    tools::process::supervise()
}
