//! Killing every process below this one, and knowing that it is done.
//!
//! Only for a supervisor: it is a child subreaper, so whatever a command starts, and however its parents
//! end, has the supervisor above it. When the kernel says that the supervisor has no child left
//! (`ECHILD`), nothing of the call runs. A look at `/proc` alone proves nothing: a tree whose processes
//! fork and end at once can be missed by any number of looks.

use std::collections::HashSet;
use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tree::{KillResult, ProcessStat, ProcessTree};
use crate::limits::{KILL_PAUSE, KILL_WITHIN};
use crate::stopwatch::Stopwatch;

/// Says once that no child is left. See [`super::watch::wait_in_background`].
pub(super) type NoneLeft = Receiver<()>;

/// Kills until it is proved that nothing is left. Without proof `left` is at least one.
pub(super) fn kill_descendants(marker: &str, none_left: &NoneLeft) -> KillResult {
    let since = Stopwatch::start();
    let me = Pid::this().as_raw();
    let mut killed = HashSet::new();
    // Mostly the command was the last one, and the news of that is on its way.
    let mut pause = KILL_PAUSE;
    loop {
        match none_left.recv_timeout(pause) {
            Ok(()) => return KillResult { killed: killed.len() as u32, left: 0 },
            // The thread that waits for children failed: then there is no proof.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let signalled = signal_below(me, &mut killed);
        let found = signalled.unwrap_or_else(|| {
            // A kernel without lists of children.
            let tree = ProcessTree { marker, ancestor: Some(me), leader: None, spare: Some(me) };
            tree.signal_members(&mut killed)
        });
        if since.elapsed() > KILL_WITHIN {
            return KillResult { killed: killed.len() as u32, left: found.max(1) };
        }
        // As fast as we can while something moves: what forks and ends at once is met by luck only.
        pause = if found == 0 { KILL_PAUSE } else { std::time::Duration::ZERO };
    }
}

/// Signals all that is below a process, from the top, and says how many lived. `None` if the kernel keeps
/// no lists of children.
fn signal_below(ancestor: i32, killed: &mut HashSet<(i32, u64)>) -> Option<u32> {
    let mut found = 0;
    let mut seen = HashSet::from([ancestor]);
    let mut above = vec![ancestor];
    while let Some(parent) = above.pop() {
        let children = match children_of(parent) {
            Some(children) => children,
            None if parent == ancestor => return None,
            // It has ended since.
            None => continue,
        };
        for child in children {
            // A number may be used again while we look.
            if !seen.insert(child) {
                continue;
            }
            // mutant: only-the-group-is-killed
            if let Some(process) = ProcessStat::read_stat(child).filter(ProcessStat::is_alive) {
                let _ = kill(Pid::from_raw(child), Signal::SIGKILL);
                killed.insert((child, process.start));
                found += 1;
            }
            above.push(child);
        }
    }
    Some(found)
}

/// The children of every thread of a process.
fn children_of(process: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    let mut has_list = false;
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
        if let Ok(list) = fs::read_to_string(thread.path().join("children")) {
            has_list = true;
            children
                .extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }
    has_list.then_some(children)
}
