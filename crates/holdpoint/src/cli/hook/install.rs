//! Writes the hook into an agent's settings, and takes it out again. Nothing is written that was not shown.

use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_hooks::{AgentHost, HTTP_WAIT_S_MAX, PEOPLE_WAIT_S, agent_timeout_s, unified_diff};
use anyhow::Context as _;
use domain::visible::{visible, visible_multiline};
use serde_json::json;

use super::settings::{self, AgentCall};
use super::toml_block;
use crate::cli::args::{HookInstallArgs, HookPlaceArgs, HookUninstallArgs};
use crate::cli::client::Client;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::json;
use crate::cli::output::Terminal;

/// A longer wait is a question that nobody answers today. And the timers of Node, on which two of the agents run, end at
/// once if they are set for more than 24 days, so that a call would run without an answer.
const WAIT_MAX: Duration = Duration::from_secs(24 * 3600);

pub(super) fn install(
    server: &str,
    terminal: &Terminal,
    args: &HookInstallArgs,
) -> anyhow::Result<Exit> {
    let host = args.place.host;
    let waits = HookWaits::of(args)?;
    if args.http {
        return install_http(server, terminal, &args.place, waits);
    }
    let program = std::env::current_exe().context("this program does not know where it lies")?;
    let program = program.to_str().context("the path of this program is not text")?;
    let command = hook_command(program, host, server, waits)?;
    change(terminal, &args.place, |text| match host {
        AgentHost::Codex => toml_block::with_hook(text, &command, waits.agent_timeout_s()),
        host => {
            let call = AgentCall::Command(&command);
            settings::with_hook(host, text, call, waits.agent_timeout_s())
        }
    })?;
    if !args.place.user && matches!(host, AgentHost::Codex | AgentHost::Gemini) {
        terminal.warn(&format!(
            "{} reads these settings only in projects that you trust; in others nothing is held. `--user` holds in all",
            host.title()
        ));
    }
    let next = match host {
        AgentHost::Codex => {
            "Codex asks at its next start whether it may trust this hook: say yes. "
        }
        _ => "",
    };
    terminal.note(&format!("{next}Try it: holdpoint hook test {}", host.name()));
    Ok(Exit::Done)
}

fn install_http(
    server: &str,
    terminal: &Terminal,
    place: &HookPlaceArgs,
    waits: HookWaits,
) -> anyhow::Result<Exit> {
    if place.host != AgentHost::Claude {
        let why = "only Claude Code has hooks over HTTP; leave --http out for the others";
        return Err(UsageError(why.into()).into());
    }
    let client = Client::with_token(server, None)?;
    let url = client.page_at(settings::HTTP_PATH) + &waits.as_query();
    change(terminal, place, |text| {
        settings::with_hook(place.host, text, AgentCall::Http(&url), waits.agent_timeout_s())
    })?;
    terminal.note(
        "Start Claude Code with a program's token in HOLDPOINT_TOKEN: without it, every call is denied. \
         Try it: holdpoint hook test claude",
    );
    Ok(Exit::Done)
}

pub(super) fn uninstall(terminal: &Terminal, args: &HookUninstallArgs) -> anyhow::Result<Exit> {
    change(terminal, &args.place, |text| match args.place.host {
        AgentHost::Codex => toml_block::without_hook(text),
        _ if text.trim().is_empty() => Ok(text.to_owned()),
        host => settings::without_hook(host, text),
    })?;
    Ok(Exit::Done)
}

/// How long the hook waits for people, and what happens then, as the settings say it.
#[derive(Clone, Copy, Debug, Default)]
struct HookWaits {
    /// `None`: as long as the hook waits by itself.
    wait_s: Option<u64>,
    defer: bool,
}

impl HookWaits {
    fn of(args: &HookInstallArgs) -> anyhow::Result<HookWaits> {
        let host = args.place.host;
        let refused = |why: String| anyhow::Error::new(UsageError(why));
        if args.defer && !host.can_defer() {
            return Err(refused(format!(
                "{} cannot be ended and resumed while a question is open; leave --defer out, and give people longer with --wait",
                host.title()
            )));
        }
        let longest = if args.http { Duration::from_secs(HTTP_WAIT_S_MAX) } else { WAIT_MAX };
        if args.wait.is_some_and(|wait| wait > longest) {
            let later = if host.can_defer() { ", or add --defer to a short one" } else { "" };
            return Err(refused(format!(
                "this hook waits for at most {} h; take a shorter --wait{later}",
                longest.as_secs() / 3600
            )));
        }
        Ok(HookWaits { wait_s: args.wait.map(|wait| wait.as_secs()), defer: args.defer })
    }

    fn agent_timeout_s(self) -> u64 {
        agent_timeout_s(self.wait_s.unwrap_or(PEOPLE_WAIT_S))
    }

    /// For `holdpoint hook AGENT`.
    fn as_options(self) -> String {
        let wait = self.wait_s.map(|wait| format!(" --wait {wait}s")).unwrap_or_default();
        wait + if self.defer { " --defer" } else { "" }
    }

    /// For the address of the server.
    fn as_query(self) -> String {
        let wait = self.wait_s.map(|wait| format!("wait_s={wait}"));
        let options = wait.into_iter().chain(self.defer.then(|| "defer=true".to_owned()));
        let options: Vec<String> = options.collect();
        if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) }
    }
}

/// Where the hook may be, and whether it is there.
pub(super) fn places(host: AgentHost) -> Vec<(PathBuf, bool)> {
    let places = [false, true].into_iter().filter_map(|user| settings_file(host, user).ok());
    places
        .map(|place| {
            let text = std::fs::read_to_string(&place).unwrap_or_default();
            let is_there = match host {
                AgentHost::Codex => toml_block::has_hook(&text),
                host => settings::has_hook(host, &text),
            };
            (place, is_there)
        })
        .collect()
}

/// Agents hand it to a shell. Whatever keeps the program from answering, such as its having been removed, blocks.
fn hook_command(
    program: &str,
    host: AgentHost,
    server: &str,
    waits: HookWaits,
) -> anyhow::Result<String> {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    // The address is always written: otherwise the agent's environment would say which server is believed.
    // Gemini CLI takes exit code 2 for a denial only if something was said. The call is read to its
    // end, as an agent that cannot hand all of it over may take the hook for failed.
    let command = format!(
        "{} hook {}{} --server {} || {{ cat >/dev/null; echo 'Holdpoint: the hook did not let this pass.' >&2; exit 2; }}",
        quoted(program),
        host.name(),
        waits.as_options(),
        quoted(server)
    );
    anyhow::ensure!(
        settings::is_our_command(host, &command),
        "the program must be named holdpoint, so that its hook can be found again; it is `{}`",
        visible(program)
    );
    Ok(command)
}

fn settings_file(host: AgentHost, user: bool) -> anyhow::Result<PathBuf> {
    let folder = match (host, user) {
        (AgentHost::Claude, _) => ".claude",
        (AgentHost::Codex, _) => ".codex",
        (AgentHost::Gemini, _) => ".gemini",
        (AgentHost::Cursor, _) => ".cursor",
    };
    let of_user = match host {
        AgentHost::Claude => std::env::var_os("CLAUDE_CONFIG_DIR"),
        AgentHost::Codex => std::env::var_os("CODEX_HOME"),
        AgentHost::Gemini | AgentHost::Cursor => None,
    };
    let folder = match (user, of_user) {
        (true, Some(folder)) => PathBuf::from(folder),
        (true, None) => {
            let home = std::env::var_os("HOME")
                .context("there is no HOME; name the project's settings instead")?;
            PathBuf::from(home).join(folder)
        }
        (false, _) => {
            std::env::current_dir().context("the current directory cannot be read")?.join(folder)
        }
    };
    Ok(folder.join(match host {
        AgentHost::Claude | AgentHost::Gemini => "settings.json",
        AgentHost::Codex => "config.toml",
        AgentHost::Cursor => "hooks.json",
    }))
}

fn change(
    terminal: &Terminal,
    args: &HookPlaceArgs,
    edit: impl FnOnce(&str) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let place = settings_file(args.host, args.user)?;
    let shown = match place.canonicalize() {
        Ok(target) if place.is_symlink() => {
            visible(&format!("{} (a link to {})", place.display(), target.display()))
        }
        _ => visible(&place.display().to_string()),
    };
    let before = match std::fs::read_to_string(&place) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("{shown} cannot be read")),
    };
    let after = edit(&before).with_context(|| format!("{shown} was left as it is"))?;
    let diff = unified_diff([(place.display().to_string(), &*before, &*after)].into_iter());
    if args.json {
        let report =
            json!({"file": place.display().to_string(), "changed": diff.is_some(), "diff": diff});
        terminal.out().print(&json::pretty(&report))?;
    }
    let Some(diff) = diff else {
        terminal.note(&format!("{shown} is already so; nothing to write."));
        return Ok(());
    };
    if !args.json {
        terminal.out().line(&visible_multiline(&diff))?;
    }
    if !args.yes {
        confirm(terminal)?;
    }
    write(&place, &after).with_context(|| format!("{shown} cannot be written"))?;
    terminal.note(&format!("Written: {shown}"));
    Ok(())
}

fn confirm(terminal: &Terminal) -> anyhow::Result<()> {
    if !terminal.can_ask() {
        return Err(UsageError("nothing was written: there is nobody to ask here; look at the change above and add --yes".into()).into());
    }
    write!(std::io::stderr(), "Write this? [y/N] ").context("cannot ask")?;
    let mut said = String::new();
    std::io::stdin().lock().read_line(&mut said).context("cannot read an answer")?;
    match said.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => anyhow::bail!("nothing was written"),
    }
}

/// The whole file or nothing, through links, with the permissions that it had.
fn write(place: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let target = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let aside = target.with_extension(format!("holdpoint-{}", std::process::id()));
    // A file of that name may be a planted link: it is removed, and never written through.
    let _ = std::fs::remove_file(&aside);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    options.mode(0o600);
    options.open(&aside)?.write_all(text.as_bytes())?;
    let permissions = match std::fs::metadata(&target) {
        Ok(about) => about.permissions(),
        Err(_) => std::fs::Permissions::from_mode(0o644),
    };
    std::fs::set_permissions(&aside, permissions)?;
    std::fs::rename(&aside, &target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_link_is_not_written_through() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("settings.json");
        let victim = home.path().join("victim");
        std::fs::write(&victim, "mine").unwrap();
        let planted = place.with_extension(format!("holdpoint-{}", std::process::id()));
        std::os::unix::fs::symlink(&victim, planted).unwrap();
        write(&place, "{}").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "{}");
        assert!(!place.is_symlink());
    }

    #[test]
    fn the_command_blocks_if_the_program_is_gone() {
        let command = |program: &str, waits: HookWaits| {
            hook_command(program, AgentHost::Codex, "http://h:1", waits)
        };
        let plain = command("/opt/it's/holdpoint", HookWaits::default()).unwrap();
        assert!(
            plain.starts_with(r"'/opt/it'\''s/holdpoint' hook codex --server 'http://h:1' || ")
        );
        assert!(plain.ends_with(">&2; exit 2; }"), "{plain}");
        assert!(command("/opt/other", HookWaits::default()).is_err());
        let waiting = command("/opt/holdpoint", HookWaits { wait_s: Some(1800), defer: true });
        let begins = "'/opt/holdpoint' hook codex --wait 1800s --defer --server 'http://h:1' || ";
        assert!(waiting.unwrap().starts_with(begins));
    }

    #[test]
    fn the_agent_waits_longer_than_the_hook() {
        let timeout = |wait_s| HookWaits { wait_s, defer: false }.agent_timeout_s();
        assert_eq!([timeout(None), timeout(Some(5)), timeout(Some(540))], [600; 3]);
        assert_eq!([timeout(Some(541)), timeout(Some(3600))], [601, 3660]);
    }
}
