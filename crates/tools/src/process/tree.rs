//! Finding and killing every process of one call.
//!
//! Three ways lead to a process, and any one is enough: it descends from a process that has no
//! other children; it carries the call's marker in its environment, which is inherited by every
//! fork, however often and into whatever session; it is in the command's process group.

use std::collections::{HashMap, HashSet};
use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::limits::{KILL_PAUSE, KILL_WITHIN};
use crate::stopwatch::Stopwatch;

/// The environment variable that every process of a call inherits.
pub const MARKER: &str = "CALL_TREE";

/// One process, never to be confused with a later one of the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: i32,
    /// In clock ticks since the machine started.
    start: u64,
    boot: String,
}

impl ProcessIdentity {
    pub(crate) fn of_pid(pid: i32) -> Option<ProcessIdentity> {
        let process = ProcessStat::read_stat(pid)?;
        Some(ProcessIdentity { pid, start: process.start, boot: boot_id() })
    }

    pub(crate) fn of_myself() -> ProcessIdentity {
        let pid = Pid::this().as_raw();
        // Where there is no /proc nothing is ever found alive, and evidence says less.
        ProcessIdentity::of_pid(pid).unwrap_or(ProcessIdentity {
            pid,
            start: 0,
            boot: String::new(),
        })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.boot == boot_id()
            && ProcessStat::read_stat(self.pid)
                .is_some_and(|it| it.start == self.start && it.is_alive())
    }
}

fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

pub(super) struct ProcessStat {
    pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) start: u64,
    state: char,
}

impl ProcessStat {
    pub(super) fn read_stat(pid: i32) -> Option<ProcessStat> {
        ProcessStat::parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    pub(super) fn parse_stat(pid: i32, stat: &[u8]) -> Option<ProcessStat> {
        // The second field is the program's name in brackets. It may itself contain brackets, and need
        // not be text: a process with an unreadable name must not live on for that.
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(ProcessStat {
            pid,
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// A zombie has stopped acting; only its parent can make it go.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }

    fn carries_marker(&self, marker: &str) -> bool {
        fs::read(format!("/proc/{}/environ", self.pid)).is_ok_and(|environ| {
            environ.split(|byte| *byte == 0).any(|entry| {
                entry.strip_prefix(MARKER.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
                    == Some(marker.as_bytes())
            })
        })
    }
}

fn all_processes() -> Vec<ProcessStat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(ProcessStat::read_stat)
        .collect()
}

/// How the processes of one call are recognised.
pub(crate) struct ProcessTree<'a> {
    pub(crate) marker: &'a str,
    /// A process all of whose descendants belong to the call.
    pub(crate) ancestor: Option<i32>,
    /// The leader of the command's process group.
    pub(crate) leader: Option<ProcessIdentity>,
    /// The supervisor itself carries the marker too, and must not kill itself.
    pub(crate) spare: Option<i32>,
}

/// What a kill achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KillResult {
    pub(crate) killed: u32,
    /// Still there after [`KILL_WITHIN`]: hanging in the kernel, or out of our power.
    pub(crate) left: u32,
}

impl<'a> ProcessTree<'a> {
    pub(crate) fn with_marker(marker: &'a str) -> ProcessTree<'a> {
        ProcessTree { marker, ancestor: None, leader: None, spare: None }
    }

    fn members(&self) -> Vec<ProcessStat> {
        let processes = all_processes();
        let parents: HashMap<i32, i32> = processes.iter().map(|it| (it.pid, it.parent)).collect();
        let descends = |pid: i32| {
            let Some(ancestor) = self.ancestor else { return false };
            // Bounded, since a snapshot of a changing tree may contain a circle.
            let mut at = pid;
            for _ in 0..parents.len() {
                match parents.get(&at) {
                    Some(parent) if *parent == ancestor => return true,
                    Some(parent) => at = *parent,
                    None => return false,
                }
            }
            false
        };
        let grouped = |it: &ProcessStat| {
            self.leader
                .as_ref()
                .is_some_and(|leader| it.group == leader.pid && it.start >= leader.start)
        };
        processes
            .into_iter()
            .filter(|it| it.is_alive() && Some(it.pid) != self.spare)
            .filter(|it| grouped(it) || descends(it.pid) || it.carries_marker(self.marker))
            .collect()
    }

    /// Kills until two looks in a row find nothing: a process can fork and end between the moments at
    /// which one look reads its child's entry and its own. That is likely to be all, and no proof that it
    /// is; see [`super::descendants`].
    pub(crate) fn kill_all(&self) -> KillResult {
        let since = Stopwatch::start();
        let mut killed = HashSet::new();
        let mut empty_looks = 0;
        loop {
            let found = self.signal_members(&mut killed);
            empty_looks = if found == 0 { empty_looks + 1 } else { 0 };
            if empty_looks == 2 {
                return KillResult { killed: killed.len() as u32, left: 0 };
            }
            if since.elapsed() > KILL_WITHIN {
                return KillResult { killed: killed.len() as u32, left: found };
            }
            std::thread::sleep(KILL_PAUSE);
        }
    }

    /// Signals all that one look finds, and says how many that were.
    pub(super) fn signal_members(&self, killed: &mut HashSet<(i32, u64)>) -> u32 {
        let members = self.members();
        for it in &members {
            // It may have ended by itself since we looked, which is as good.
            let _ = kill(Pid::from_raw(it.pid), Signal::SIGKILL);
            killed.insert((it.pid, it.start));
        }
        members.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_shift_the_fields() {
        let stat = b"7 (a) R 1 (b)) S 3 4 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0";
        let it = ProcessStat::parse_stat(7, stat).unwrap();
        assert_eq!((it.parent, it.group, it.start, it.state), (3, 4, 4242, 'S'));
        assert!(ProcessStat::parse_stat(7, b"7 (a").is_none());
    }

    #[test]
    fn i21_a_program_whose_name_is_no_text_is_found_and_killed() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe) Z 1 1"));
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let mut child =
            std::process::Command::new(&program).arg("60").env(MARKER, "unnamed").spawn().unwrap();
        assert!(ProcessIdentity::of_pid(child.id() as i32).is_some_and(|it| it.is_alive()));
        // Until it is the program, and not any more the one that starts it.
        for _ in 0..10_000 {
            if ProcessStat::read_stat(child.id() as i32)
                .is_some_and(|it| it.carries_marker("unnamed"))
            {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(
            ProcessTree::with_marker("unnamed").kill_all(),
            KillResult { killed: 1, left: 0 }
        );
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn i_am_alive_and_nobody_else_is_me() {
        let me = ProcessIdentity::of_myself();
        assert!(me.is_alive());
        assert!(
            !ProcessIdentity { start: me.start + 1, ..me.clone() }.is_alive(),
            "a reused number"
        );
        assert!(!ProcessIdentity { boot: "another".into(), ..me }.is_alive(), "before a restart");
    }

    #[test]
    fn a_marker_is_matched_whole() {
        let mut child =
            std::process::Command::new("sleep").arg("60").env(MARKER, "abc").spawn().unwrap();
        let pid = child.id() as i32;
        // The environment is in place once the program is.
        while fs::read(format!("/proc/{pid}/cmdline")).unwrap() != b"sleep\x0060\0" {
            std::thread::yield_now();
        }
        assert!(ProcessStat::read_stat(pid).unwrap().carries_marker("abc"));
        assert!(!ProcessStat::read_stat(pid).unwrap().carries_marker("ab"));
        assert!(!ProcessStat::read_stat(pid).unwrap().carries_marker(""));
        assert_eq!(ProcessTree::with_marker("abcd").kill_all(), KillResult::default());
        assert_eq!(ProcessTree::with_marker("abc").kill_all(), KillResult { killed: 1, left: 0 });
        assert!(!child.wait().unwrap().success());
    }
}
