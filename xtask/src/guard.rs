//! Ends the process group of a program that we started, also when we are the ones to die.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};

/// Ends the program when *we* are ended (Ctrl-C, a closed terminal, a kill). Its process group is its
/// own, so the terminal's signals do not reach it. The guard waits on a pipe that closes with us.
pub(crate) struct Guard {
    sentry: Child,
    line: Option<ChildStdin>,
}

/// Polite first. It stops as soon as the group is gone, before its number can be given to another.
const SENTRY: &str = "\
read -r released && exit
kill -s TERM -- -$1
for second in 1 2 3 4 5; do
    sleep 1
    kill -s 0 -- -$1 || exit
done
kill -s KILL -- -$1";

impl Guard {
    pub(crate) fn watch(group: u32) -> Result<Self> {
        let mut sentry = Command::new("sh")
            .args(["-c", SENTRY, "guard", &group.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("`sh` does not start")?;
        let line = sentry.stdin.take();
        Ok(Guard { sentry, line })
    }

    pub(crate) fn release(mut self) {
        if let Some(mut line) = self.line.take() {
            let _ = line.write_all(b"released\n");
        }
        let _ = self.sentry.wait();
    }
}

/// The standard library cannot signal a group, and a crate for one call would slow every first build
/// down. `-s` and not `-TERM`: some shells take no `--` after the short form.
pub(crate) fn signal(group: u32, name: &str) {
    let _ = Command::new("kill")
        .args(["-s", name, "--", &format!("-{group}")])
        .stderr(Stdio::null())
        .status();
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const TERM: i32 = 15;

    fn sleeper() -> Child {
        Command::new("sleep").arg("300").process_group(0).spawn().expect("sleep starts")
    }

    #[test]
    fn when_we_are_gone_the_program_ends() {
        let mut program = sleeper();
        let mut guard = Guard::watch(program.id()).unwrap();
        // What the system does with our end of the pipe when we die.
        drop(guard.line.take());
        // Without the guard this waits until the test runner gives up on us.
        assert_eq!(program.wait().unwrap().signal(), Some(TERM));
        guard.sentry.wait().unwrap();
    }

    #[test]
    fn a_released_guard_ends_nothing() {
        let mut program = sleeper();
        Guard::watch(program.id()).unwrap().release();
        assert!(program.try_wait().unwrap().is_none(), "it still runs");
        signal(program.id(), "TERM");
        assert_eq!(program.wait().unwrap().signal(), Some(TERM));
    }
}
