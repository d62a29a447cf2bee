//! The end of everything at one moment: a server, its supervisors and their commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use crate::binary::Server;

/// Signals take microseconds; a machine that is busy with something else takes longer.
const WITHIN: Duration = Duration::from_secs(10);

/// First everything is stopped, so that nothing sees the rest die: a supervisor that notices the end
/// of its server writes that down, and loses no power while it does.
pub(super) async fn off(server: Server) -> Result<(), String> {
    let until = Instant::now() + WITHIN;
    let mut all = BTreeSet::new();
    loop {
        let tree = descendants(server.id());
        for id in &tree {
            if all.insert(*id) {
                signal(*id, Signal::SIGSTOP);
            }
        }
        if tree.iter().all(|id| is_still(*id, &tree)) && descendants(server.id()) == tree {
            break;
        }
        if Instant::now() > until {
            return Err(format!("the processes {tree:?} do not stop"));
        }
        sleep(Duration::from_millis(1)).await;
    }
    for id in all.iter().filter(|id| **id != server.id()) {
        signal(*id, Signal::SIGKILL);
    }
    server.kill().await;
    while let Some(left) = all.iter().find(|id| state(**id, **id).is_some_and(|is| is != 'Z')) {
        if Instant::now() > until {
            return Err(format!("process {left} does not die"));
        }
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

fn signal(id: u32, signal: Signal) {
    // It may have ended by itself.
    let _ = kill(Pid::from_raw(id as i32), signal);
}

/// Itself, and all that it started. A supervisor adopts what its commands leave behind, so nothing
/// of a server escapes from here.
fn descendants(of: u32) -> BTreeSet<u32> {
    let mut children = BTreeMap::<u32, Vec<u32>>::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some((_, parent)) = stat(id, id).filter(|(state, _)| *state != 'Z') {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut found = BTreeSet::from([of]);
    let mut open = vec![of];
    while let Some(id) = open.pop() {
        let more = children.remove(&id).unwrap_or_default();
        found.extend(&more);
        open.extend(more);
    }
    found
}

/// Every thread of it has stopped, so no call to the system is half done. Only one that waits for its
/// child to become another program cannot stop before the child does.
fn is_still(id: u32, tree: &BTreeSet<u32>) -> bool {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let mut threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let words = |id: u32| fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let is_child = |child: u32| stat(child, child).is_some_and(|(_, parent)| parent == id);
    let forks = || tree.iter().any(|child| is_child(*child) && words(*child) == words(id));
    threads.all(|thread| match state(id, thread) {
        None | Some('T' | 'Z' | 'X') => true,
        Some('D') => forks(),
        Some(_) => false,
    })
}

fn state(id: u32, thread: u32) -> Option<char> {
    stat(id, thread).map(|(state, _)| state)
}

/// State and parent.
fn stat(id: u32, thread: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{id}/task/{thread}/stat")).ok()?;
    // The name before it may have spaces and brackets of its own.
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}
