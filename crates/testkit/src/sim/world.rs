//! What the nodes of a story share: the disk, the time, the lot, and everything that is written down
//! about them from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use domain::id::NodeId;
use futures_util::FutureExt as _;
use ports::store::{Commit, Store as _};
use stores::MemoryStore;

use super::chat::Platform;
use super::counts::Counts;
use super::executor::Executors;
use super::node::NodeNo;
use super::records::Records;
use super::trace::Trace;
use super::waits::Waits;
use super::weather::Weather;
use crate::rng::Rng;

/// The simulated time begins here.
pub(super) const EPOCH_MS: i64 = 1_800_000_000_000;

pub(super) struct World {
    /// What survives every crash. Only what was written is in it.
    pub(super) disk: MemoryStore,
    inside: Mutex<Inside>,
}

pub(super) struct Inside {
    /// True time, in milliseconds since the story began.
    pub(super) now: u64,
    pub(super) rng: Rng,
    pub(super) weather: Weather,
    pub(super) waits: Waits,
    pub(super) nodes: BTreeMap<NodeId, Standing>,
    pub(super) paused: BTreeSet<NodeNo>,
    /// One of them fell asleep between its intent and the first word of its tool.
    pub(super) asleep_at_work: bool,
    /// Commits on their way to the disk: a crash decides what becomes of each.
    pub(super) under_way: BTreeMap<u64, (NodeNo, Commit)>,
    pub(super) full_until: u64,
    /// How far the wall clock of the machine is off, and each node's own beside that.
    pub(super) wall_ms: i64,
    pub(super) skew_ms: BTreeMap<NodeNo, i64>,
    /// Whether any clock was ever set back or differed: then true time says nothing about deadlines.
    pub(super) clocks_lied: bool,
    pub(super) executors: Executors,
    pub(super) records: Records,
    /// There are chats in this story.
    pub(super) has_chats: bool,
    pub(super) platform: Platform,
    pub(super) trace: Trace,
    pub(super) counts: Counts,
    /// What was asked for under a key.
    pub(super) asked_keys: BTreeSet<String>,
    /// Numbers that make each call and message of the story another.
    pub(super) serial: u64,
}

/// How a process stands with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Alive,
    /// Others may take its work over. If it is a zombie, it can still write.
    Gone,
    /// Gone, and refused by the store whatever it tries.
    Fenced,
}

impl World {
    pub(super) fn new(mut rng: Rng, whole_trace: bool) -> Arc<World> {
        let weather = Weather::of(&mut rng);
        let disk = MemoryStore::new(NodeId::new(0, 0));
        let inside = Inside {
            now: 0,
            rng,
            weather,
            waits: Waits::default(),
            nodes: BTreeMap::new(),
            paused: BTreeSet::new(),
            asleep_at_work: false,
            under_way: BTreeMap::new(),
            full_until: 0,
            wall_ms: 0,
            skew_ms: BTreeMap::new(),
            clocks_lied: false,
            executors: Executors::default(),
            records: Records::default(),
            has_chats: false,
            platform: Platform::default(),
            trace: Trace::new(whole_trace),
            counts: Counts::default(),
            asked_keys: BTreeSet::new(),
            serial: 0,
        };
        Arc::new(World { disk, inside: Mutex::new(inside) })
    }

    pub(super) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits until the story goes on with this, `ms` of true time from now at the earliest.
    pub(super) fn wait(self: &Arc<World>, node: NodeNo, what: &'static str, ms: u64) -> Wait {
        let mut inside = self.inside();
        let (due, lot) = (inside.now + ms, inside.rng.bits());
        let id = inside.waits.begin(node, what, due, lot);
        drop(inside);
        Wait { world: self.clone(), id }
    }

    /// Writes a commit to the disk now, as the store or a crash wants it.
    pub(super) fn write(
        &self,
        node: NodeNo,
        commit: Commit,
    ) -> Result<ports::store::Committed, ports::store::CommitError> {
        let names: Vec<&str> = commit.events.iter().map(|event| event.name()).collect();
        let line =
            format!("n{node} writes {} {}: {}", commit.stream(), commit.expected, names.join(" "));
        let result = at_once(self.disk.commit(commit));
        let mut inside = self.inside();
        match &result {
            Ok(_) => {
                let now = inside.now;
                inside.records.written_at.push(now);
                inside.note(line);
            }
            Err(error) => inside.note(format!("{line}: {error}")),
        }
        result
    }
}

impl Inside {
    pub(super) fn note(&mut self, line: impl AsRef<str>) {
        let line = format!("{:>7} ms  {}", self.now, line.as_ref());
        self.trace.note(line);
    }

    pub(super) fn fault(&mut self, kind: &'static str) {
        debug_assert!(super::weather::FAULTS.contains(&kind), "{kind}");
        self.counts.fault(kind);
        self.note(format!("FAULT {kind}"));
    }

    /// Commits on disk.
    pub(super) fn journal(&self) -> usize {
        self.records.written_at.len()
    }

    /// A commit or a tool is on its way, or somebody sleeps through what others do.
    pub(super) fn is_in_the_middle(&self) -> bool {
        !self.under_way.is_empty()
            || !self.paused.is_empty()
            || self.executors.is_busy()
            || self.waits.has("tool begins")
    }

    pub(super) fn standing(&self, node: NodeId) -> Standing {
        self.nodes.get(&node).copied().unwrap_or(Standing::Gone)
    }

    pub(super) fn bits(&mut self) -> u128 {
        (u128::from(self.rng.bits()) << 64) | u128::from(self.rng.bits())
    }

    pub(super) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}

/// A future of the memory store, which never waits.
pub(super) fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the memory store never waits")
}

/// Ends when the story says so. Dropped with its task if the node crashes.
pub(super) struct Wait {
    world: Arc<World>,
    id: u64,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.world.inside().waits.poll(self.id, context.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.world.inside().waits.forget(self.id);
    }
}
