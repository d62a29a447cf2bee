//! Runs one foreign program: shows its output while it works, keeps the lines that matter, and ends
//! it with everything that it started when it takes too long.
//!
//! It never reads from the terminal and never runs two programs at once. What it says itself goes to
//! standard error: standard output is for results, which another program may read.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::guard::{Guard, signal};
use crate::stopwatch::Stopwatch;

/// How often we look whether the program has ended; short beside any build.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// From the polite signal to the one that cannot be refused: a test runner needs a moment to end
/// the tests, which it keeps in process groups of their own.
const GRACE: Duration = Duration::from_secs(10);
/// How long output may go on after the program itself has ended.
const OUTPUT_TAIL: Duration = Duration::from_secs(2);

pub(crate) struct Job {
    command: Command,
    limit: Duration,
    keep: fn(&str) -> bool,
    quiet: bool,
    aside: bool,
}

pub(crate) struct Finished {
    pub(crate) success: bool,
    /// The lines that `Job::keep` chose, without colours.
    pub(crate) kept: Vec<String>,
}

impl Job {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        // `cargo run` describes *our* package in the environment. Build scripts of some crates watch
        // these variables, and would be built anew each time that we are the ones to call cargo.
        for (name, _) in std::env::vars_os() {
            if describes_a_package(&name) {
                command.env_remove(name);
            }
        }
        Job {
            command,
            limit: Duration::from_secs(600),
            keep: |_| false,
            quiet: false,
            aside: false,
        }
    }

    /// The cargo that runs us, so that a chosen toolchain stays chosen.
    pub(crate) fn cargo() -> Self {
        Job::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn within(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn limit_minutes(mut self, minutes: u64) -> Self {
        self.limit = Duration::from_secs(minutes * 60);
        self
    }

    /// Chooses the lines of output that the caller will read. Everything is shown in any case; not
    /// everything is remembered, because a failing suite can print without end.
    pub(crate) fn keep(mut self, keep: fn(&str) -> bool) -> Self {
        self.keep = keep;
        self
    }

    /// For questions to which only we need the answer.
    pub(crate) fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// For work on the way to a result: all that it says goes to standard error.
    pub(crate) fn aside(mut self) -> Self {
        self.aside = true;
        self
    }

    pub(crate) fn run(mut self) -> Result<Finished> {
        if !self.quiet {
            eprintln!("$ {}", shown(&self.command));
        }
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("{:?} does not start", self.command.get_program()))?;
        let group = child.id();
        let guard = Guard::watch(group)?;

        let (send, lines) = mpsc::channel();
        let mut readers = 0;
        if let Some(out) = child.stdout.take() {
            readers += 1;
            let shown: Option<Box<dyn Write + Send>> = match (self.quiet, self.aside) {
                (true, _) => None,
                (false, true) => Some(Box::new(std::io::stderr())),
                (false, false) => Some(Box::new(std::io::stdout())),
            };
            follow(out, shown, self.keep, send.clone());
        }
        if let Some(err) = child.stderr.take() {
            readers += 1;
            follow(err, (!self.quiet).then(std::io::stderr), self.keep, send.clone());
        }
        drop(send);

        let (status, timed_out) = wait(&mut child, self.limit)?;
        let kept = gather(&lines, readers, group);
        guard.release();
        if timed_out {
            eprintln!("xtask: ended after {} minutes", self.limit.as_secs() / 60);
        }
        Ok(Finished { success: status && !timed_out, kept })
    }
}

fn describes_a_package(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"]
            .contains(&name)
}

fn shown(command: &Command) -> String {
    let name =
        Path::new(command.get_program()).file_name().unwrap_or_else(|| command.get_program());
    let mut text = name.to_string_lossy().into_owned();
    for word in command.get_args() {
        text.push(' ');
        text.push_str(&word.to_string_lossy());
    }
    text
}

fn wait(child: &mut Child, limit: Duration) -> Result<(bool, bool)> {
    let watch = Stopwatch::start();
    while watch.elapsed() < limit {
        if let Some(status) = child.try_wait().context("the program cannot be waited for")? {
            return Ok((status.success(), false));
        }
        thread::sleep(LOOK_EVERY);
    }
    signal(child.id(), "TERM");
    let grace = Stopwatch::start();
    while grace.elapsed() < GRACE {
        if child.try_wait().context("the program cannot be waited for")?.is_some() {
            return Ok((false, true));
        }
        thread::sleep(LOOK_EVERY);
    }
    signal(child.id(), "KILL");
    child.wait().context("the program cannot be waited for")?;
    Ok((false, true))
}

/// What a reader reports: a line worth keeping, or that the output has ended.
enum Word {
    Line(String),
    End,
}

fn follow<W: Write + Send + 'static>(
    from: impl Read + Send + 'static,
    mut to: Option<W>,
    keep: fn(&str) -> bool,
    send: mpsc::Sender<Word>,
) {
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(from.read_until(b'\n', &mut line), Ok(read) if read > 0) {
            // When nobody reads us any more the program must still not block on a full pipe.
            if let Some(to) = &mut to {
                let _ = to.write_all(&line).and_then(|()| to.flush());
            }
            let text = without_colours(&String::from_utf8_lossy(&line));
            if keep(&text) {
                let _ = send.send(Word::Line(text));
            }
            line.clear();
        }
        let _ = send.send(Word::End);
    });
}

fn gather(lines: &mpsc::Receiver<Word>, mut readers: usize, group: u32) -> Vec<String> {
    let mut kept = Vec::new();
    let mut ended_the_rest = false;
    while readers > 0 {
        match lines.recv_timeout(OUTPUT_TAIL) {
            Ok(Word::Line(line)) => kept.push(line),
            Ok(Word::End) => readers -= 1,
            // Someone outlived the program and holds its output open. The group still has a member,
            // so its number cannot belong to anyone else yet.
            Err(RecvTimeoutError::Timeout) if !ended_the_rest => {
                signal(group, "KILL");
                ended_the_rest = true;
            }
            Err(_) => break,
        }
    }
    kept
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.trim_end_matches(['\n', '\r']).chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // `ESC [ … letter`; other sequences do not occur in what we count.
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Job {
        Job::new("sh").args(["-c", script]).keep(|line| line.starts_with("keep")).quiet()
    }

    #[test]
    fn keeps_chosen_lines_of_both_streams_and_tells_failure() {
        let finished = sh("echo keep 1; echo drop; echo keep 2 >&2; exit 3").run().unwrap();
        let mut kept = finished.kept;
        kept.sort();
        assert_eq!(kept, ["keep 1", "keep 2"]);
        assert!(!finished.success);
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_its_children() {
        let mut job = sh("sleep 300 & sleep 300");
        job.limit = Duration::from_millis(100);
        let watch = Stopwatch::start();
        let finished = job.run().unwrap();
        assert!(!finished.success);
        assert!(watch.elapsed() < GRACE, "the polite signal was enough");
    }

    #[test]
    fn a_child_left_behind_does_not_keep_us_waiting() {
        let watch = Stopwatch::start();
        let finished = sh("echo keep; sleep 300 & exit 0").run().unwrap();
        assert!(finished.success);
        assert_eq!(finished.kept, ["keep"]);
        assert!(watch.elapsed() < OUTPUT_TAIL + GRACE);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Job::new("no-such-program-here").quiet().run().err().expect("it cannot start");
        assert!(format!("{error:#}").contains("no-such-program-here"), "{error:#}");
    }

    #[test]
    fn colours_are_dropped() {
        assert_eq!(without_colours("\u{1b}[32;1m  ok\u{1b}[0m. 3 passed\r\n"), "  ok. 3 passed");
    }
}
