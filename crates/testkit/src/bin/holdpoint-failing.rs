//! `holdpoint` with fail points in it, for tests only: the same program, which fails where
//! `HOLDPOINT_FAIL` says (see `ports::failpoint`), and writes into the file that `HOLDPOINT_FAIL_LOG`
//! names what it did. `HOLDPOINT_FAIL=list` prints the points.

#![expect(clippy::print_stdout, reason = "the list is for whoever asks")]

use std::fs::OpenOptions;
use std::process::ExitCode;

use ports::failpoint::{Orders, POINTS, obey};

const ORDERS: &str = "HOLDPOINT_FAIL";
const LOG: &str = "HOLDPOINT_FAIL_LOG";

fn main() -> ExitCode {
    let told = setting(ORDERS).unwrap_or_default();
    if told == "list" {
        POINTS.iter().for_each(|(name, place)| println!("{name:26}{place}"));
        return ExitCode::SUCCESS;
    }
    match told.parse::<Orders>() {
        Ok(orders) => {
            let open = |path| OpenOptions::new().create(true).append(true).open(path).ok();
            obey(orders, setting(LOG).and_then(open));
            holdpoint::cli::main()
        }
        Err(why) => {
            eprintln!("{ORDERS}: {why}");
            ExitCode::from(2)
        }
    }
}

/// A server tells its supervisors nothing, on purpose; so they look up what it was told itself.
fn setting(name: &str) -> Option<String> {
    let supervises =
        std::env::args_os().nth(1).is_some_and(|first| first == holdpoint::wiring::SUPERVISE);
    if !supervises {
        return std::env::var(name).ok();
    }
    let parent = std::os::unix::process::parent_id();
    let environment = std::fs::read(format!("/proc/{parent}/environ")).ok()?;
    let find = |entry: &[u8]| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    };
    environment.split(|byte| *byte == 0).find_map(find)
}
