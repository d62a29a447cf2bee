//! Runs one call for a server that speaks to it over standard input; see `holdpoint_tools::process`.

fn main() -> std::process::ExitCode {
    holdpoint_tools::process::supervise()
}
