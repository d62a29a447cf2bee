//! A command that runs only after approval: exactly those bytes.
//!
//! What people approve is the list of arguments and the directory, and that list is what is handed
//! to the system: no shell reads it again. An approval of anything else, such as an edited command,
//! runs nothing.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context as _;
use domain::hold::HoldReplyState;
use domain::id::HoldId;
use domain::visible::visible;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::args::GateArgs;
use super::ask::unanswered;
use super::client::Client;
use super::exit::{Exit, UsageError};
use super::output::Terminal;
use super::waiting::{Interrupt, Interrupts, Waited, addressed, ask_and_wait, is_passing};

const TOOL: &str = "gate.exec";
/// As a shell says it: the command is not there, or cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;
/// A title is one line on a phone; the whole command stands below it.
const TITLE_CHARS_MAX: usize = 120;
/// How often to look whether a freeze was lifted.
const THAW: Duration = Duration::from_secs(2);

pub async fn run(client: &Client, terminal: &Terminal, args: &GateArgs) -> anyhow::Result<Exit> {
    let errand = Errand::new(&args.command)?;
    let mut interrupts = Interrupts::listen()?;
    let body = json!({
        "kind": "approve",
        "title": args.title.clone().unwrap_or_else(|| errand.title()),
        "call": {"tool": TOOL, "arguments": errand.arguments()},
    });
    let body = addressed(body, &args.asking);
    let hold = match ask_and_wait(client, terminal, &mut interrupts, &body).await? {
        Waited::Decided(hold) => hold,
        Waited::Interrupted => return Ok(Exit::Interrupted),
    };
    if HoldReplyState::of(&hold) != HoldReplyState::Approved {
        terminal.note(&format!("{} Nothing was run.", sentence(&unanswered(&hold))));
        return Ok(match Exit::of_hold(&hold) {
            // `answered`: somebody spoke in the command's place, so it did not run.
            Exit::Done => Exit::Failed,
            exit => exit,
        });
    }
    let id: HoldId = hold["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .context("the server's reply names no hold")?;
    if let Err(why) = errand.is_what_was_approved(&hold) {
        report(client, terminal, id, false, &why).await;
        anyhow::bail!(
            "{why}; nothing was run\n  → run `holdpoint gate` again with the command as it should be"
        );
    }
    if !until_thawed(client, terminal, &mut interrupts).await {
        report(client, terminal, id, false, "interrupted before it was run").await;
        return Ok(Exit::Interrupted);
    }
    let (exit, result) = errand.run(terminal, &mut interrupts).await;
    report(client, terminal, id, exit == Exit::Command(0), &result).await;
    Ok(exit)
}

/// One command and where it runs, as text: what cannot be shown exactly cannot be approved.
struct Errand {
    argv: Vec<String>,
    directory: String,
}

impl Errand {
    fn new(command: &[OsString]) -> anyhow::Result<Errand> {
        let argv = command
            .iter()
            .map(|part| {
                part.to_str().map(str::to_owned).ok_or_else(|| {
                    UsageError(format!(
                        "`{}` is not UTF-8 text, so nobody could see what they approve; nothing was asked",
                        visible(&part.to_string_lossy())
                    ))
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if argv.first().is_none_or(|program| program.is_empty()) {
            return Err(UsageError("there is no command after `--`".into()).into());
        }
        let directory = std::env::current_dir().context("the current directory cannot be read")?;
        let directory = directory.to_str().map(str::to_owned).ok_or_else(|| {
            UsageError(
                "the name of the current directory is not UTF-8 text; nothing was asked".into(),
            )
        })?;
        Ok(Errand { argv, directory })
    }

    fn arguments(&self) -> Value {
        json!({"argv": self.argv, "cwd": self.directory})
    }

    fn title(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| quoted(word)).collect();
        let mut title = format!("Run {}", words.join(" "));
        if title.chars().count() > TITLE_CHARS_MAX {
            title = title.chars().take(TITLE_CHARS_MAX - 1).chain(['…']).collect();
        }
        title
    }

    /// The approved call must be ours to the last character, whatever lies between us and the server.
    fn is_what_was_approved(&self, hold: &Value) -> Result<(), String> {
        if hold["call"]["tool"] != TOOL || hold["call"]["arguments"] != self.arguments() {
            return Err("the approval is for another command than this one".into());
        }
        Ok(())
    }

    async fn run(&self, terminal: &Terminal, interrupts: &mut Interrupts) -> (Exit, String) {
        let spawned = tokio::process::Command::new(&self.argv[0])
            .args(&self.argv[1..])
            .current_dir(&self.directory)
            // Leave to run one command is not leave to ask and answer in our name.
            .env_remove("HOLDPOINT_TOKEN")
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                let code =
                    if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE };
                let why = format!("could not be started: {error}");
                terminal.error(&format!("`{}` {why}", visible(&self.argv[0])));
                return (Exit::Command(code), why);
            }
        };
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
        loop {
            tokio::select! {
                ended = child.wait() => return match ended {
                    Ok(status) => exit_report(status),
                    Err(error) => (Exit::Failed, format!("cannot tell how it ended: {error}")),
                },
                interrupt = interrupts.next() => pass_on(interrupt, pid),
            }
        }
    }
}

/// We stay until the command ends, to report how. Ctrl-C reaches it from the terminal itself: sent
/// once more it would look like somebody who insists.
fn pass_on(interrupt: Interrupt, pid: Option<Pid>) {
    let signal = match interrupt {
        Interrupt::Interrupt => return,
        Interrupt::Terminate => Signal::SIGTERM,
        Interrupt::Hangup => Signal::SIGHUP,
    };
    if let Some(pid) = pid {
        // It may have ended this very moment.
        let _ = nix::sys::signal::kill(pid, signal);
    }
}

/// The code to end with and the words to report.
fn exit_report(status: ExitStatus) -> (Exit, String) {
    match (status.code(), status.signal()) {
        (Some(code), _) => {
            // Always in range on the systems that we run on; otherwise it must not look like 0.
            let code = u8::try_from(code).unwrap_or(1);
            (Exit::Command(code), format!("exit code {code}"))
        }
        (None, Some(signal)) => {
            let code = u8::try_from(128 + signal).unwrap_or(u8::MAX);
            (Exit::Command(code), format!("ended by signal {signal}"))
        }
        (None, None) => (Exit::Failed, "cannot tell how it ended".into()),
    }
}

async fn report(client: &Client, terminal: &Terminal, id: HoldId, succeeded: bool, result: &str) {
    let state = if succeeded { "succeeded" } else { "failed" };
    let body = json!({"state": state, "result": result});
    if let Err(error) = client.post(&format!("/v1/holds/{id}/outcome"), &body).await {
        terminal.warn(&format!("the outcome ({result}) could not be reported: {error:#}"));
    }
}

/// An approved call waits while everything is frozen, and while nobody can say whether it is.
/// A caller that may not know is not kept: the server refused it whatever it had to refuse.
async fn until_thawed(client: &Client, terminal: &Terminal, interrupts: &mut Interrupts) -> bool {
    let mut told = false;
    loop {
        let why = match client.get("/v1/freeze").await {
            Ok(freeze) if freeze["frozen"] == true => "everything is frozen".to_owned(),
            Err(error) if is_passing(&error) => format!("{error:#}"),
            _ => return true,
        };
        if !told {
            terminal.warn(&format!("approved, but not run yet: {why}"));
            told = true;
        }
        tokio::select! {
            () = tokio::time::sleep(THAW) => {}
            _ = interrupts.next() => return false,
        }
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// As a person would type it into a shell. It is only for the title: nothing is run from it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn errand(words: &[&str]) -> Errand {
        Errand::new(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn what_cannot_be_shown_is_not_asked_about() {
        let words = [OsString::from("echo"), OsString::from_vec(vec![0xff, b'x'])];
        let error = Errand::new(&words).err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("not UTF-8"), "{error}");
        assert!(Errand::new(&[OsString::new()]).is_err());
    }

    #[test]
    fn only_the_very_same_command_counts_as_approved() {
        let errand = errand(&["rm", "-r", "old"]);
        let hold =
            |tool: &str, arguments: Value| json!({"call": {"tool": tool, "arguments": arguments}});
        assert!(errand.is_what_was_approved(&hold(TOOL, errand.arguments())).is_ok());
        let mut edited = errand.arguments();
        edited["argv"][2] = json!("new");
        let mut elsewhere = errand.arguments();
        elsewhere["cwd"] = json!("/");
        let mut more = errand.arguments();
        more["env"] = json!({});
        for arguments in [edited, elsewhere, more, Value::Null] {
            assert!(errand.is_what_was_approved(&hold(TOOL, arguments)).is_err());
        }
        assert!(errand.is_what_was_approved(&hold("other", errand.arguments())).is_err());
    }

    #[test]
    fn the_title_reads_like_a_command() {
        assert_eq!(
            errand(&["rm", "-r", "my files", "it's"]).title(),
            r"Run rm -r 'my files' 'it'\''s'"
        );
        let long = errand(&["echo", &"x".repeat(500)]).title();
        assert!(long.chars().count() == TITLE_CHARS_MAX && long.ends_with('…'), "{long}");
    }

    #[test]
    fn a_command_ends_with_its_own_code() {
        assert_eq!(
            exit_report(ExitStatus::from_raw(3 << 8)),
            (Exit::Command(3), "exit code 3".into())
        );
        assert_eq!(
            exit_report(ExitStatus::from_raw(9)),
            (Exit::Command(137), "ended by signal 9".into())
        );
    }
}
