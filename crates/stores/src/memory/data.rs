//! What is remembered, and how a commit changes it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use audit::{Chain, Hash, Signer};
use domain::digest::Digest;
use domain::event::{Event, SessionEvent};
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{GrantId, HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use ports::store::{
    AuditEntry, Commit, CommitError, Committed, Entry, KeptReply, LoginSecret, SecretKind,
    SessionRow, StoreError, StreamRows, WriteBefore,
};

use super::files::Files;
use super::notes::Notes;
use super::outbox::Outbox;
use crate::record::{read_grant, read_hold, read_row, write_grant, write_hold, write_row};

/// As in the real store.
const UNVOUCHED_MAX: u64 = 1_000;

#[derive(Clone)]
pub(super) struct Data {
    /// The process that is alive.
    pub(super) nodes: std::collections::BTreeSet<NodeId>,
    journal: Vec<MemoryRow>,
    streams: HashMap<StreamId, Vec<usize>>,
    chain: Chain,
    vouched: u64,
    pub(super) sessions: BTreeMap<SessionId, SessionRow>,
    pub(super) runs: HashMap<RunId, SessionId>,
    pub(super) holds: BTreeMap<HoldId, Arc<Hold>>,
    pub(super) grants: BTreeMap<GrantId, Arc<Grant>>,
    pub(super) replies: HashMap<(String, String), KeptReply>,
    pub(super) outbox: Outbox,
    pub(super) secrets: HashMap<(SecretKind, Digest), LoginSecret>,
    pub(super) sealed: BTreeMap<SecretId, Sealed>,
    pub(super) notes: Notes,
    pub(super) files: Files,
    pub(super) checkpoints: BTreeMap<u64, Vec<u8>>,
}

#[derive(Clone)]
struct MemoryRow {
    seq: u64,
    hash: Hash,
    bytes: Arc<[u8]>,
    entry: Entry,
}

impl MemoryRow {
    fn end(&self) -> u64 {
        self.entry.first + self.entry.events.len() as u64
    }

    fn global_end(&self) -> u64 {
        self.entry.global + self.entry.events.len() as u64
    }
}

/// The same key every time, so that simulations repeat. What it signs proves nothing.
pub(super) fn signer() -> Signer {
    Signer::from_seed(&[7; 32]).expect("any 32 bytes are a seed")
}

impl Data {
    pub(super) fn new(node: NodeId) -> Data {
        Data {
            nodes: [node].into(),
            journal: Vec::new(),
            streams: HashMap::new(),
            chain: Chain::default(),
            vouched: 0,
            sessions: BTreeMap::new(),
            runs: HashMap::new(),
            holds: BTreeMap::new(),
            grants: BTreeMap::new(),
            replies: HashMap::new(),
            outbox: Outbox::default(),
            secrets: HashMap::new(),
            sealed: BTreeMap::new(),
            notes: Notes::default(),
            files: Files::default(),
            checkpoints: BTreeMap::new(),
        }
    }

    pub(super) fn commit(&mut self, commit: &Commit) -> Result<Committed, CommitError> {
        let name = |reply: &KeptReply| (reply.caller.clone(), reply.key.clone());
        if commit.reply.as_ref().is_some_and(|reply| self.replies.contains_key(&name(reply))) {
            return Err(CommitError::ReplyKept);
        }
        let actual = self.version(commit.stream());
        // mutant: check-then-act-in-memory
        if actual != commit.expected {
            return Err(CommitError::Conflict { actual });
        }
        // mutant: global-version-not-checked.memory
        if commit.global_version.is_some_and(|version| version != self.version(StreamId::Global)) {
            return Err(CommitError::GlobalStateChanged);
        }
        if commit.write_before.as_ref().is_some_and(WriteBefore::has_passed) {
            return Err(CommitError::TooLate);
        }
        // All that can fail comes before the first change.
        let global = self.last().0 + 1;
        let bytes = write_row(&commit.entry());
        let entry = read_row(&bytes, global).map_err(StoreError::from)?;
        let (session, holds, grants): (_, &[Arc<Hold>], &[Arc<Grant>]) = match &commit.rows {
            StreamRows::Session { row, holds, grants } => (Some(row), holds, grants),
            StreamRows::ExternalHold(hold) => (None, std::slice::from_ref(hold), &[]),
            StreamRows::Global => (None, &[], &[]),
        };
        let holds = through(holds, |hold| read_hold(&write_hold(hold)))?;
        let grants = through(grants, |grant| read_grant(&write_grant(grant)))?;

        let events = entry.events.len() as u64;
        if let Some(row) = session {
            for event in entry.events.iter() {
                if let Event::Session(
                    SessionEvent::RunStarted { run } | SessionEvent::MessageQueued { run, .. },
                ) = event
                {
                    self.runs.insert(*run, row.id);
                }
            }
            self.sessions.insert(row.id, SessionRow::clone(row));
        }
        if events > 0 {
            self.append(commit.stream(), entry, bytes);
        }
        self.holds.extend(holds.into_iter().map(|hold| (hold.id, hold)));
        self.grants.extend(grants.into_iter().map(|grant| (grant.id, grant)));
        self.replies.extend(commit.reply.iter().map(|reply| (name(reply), reply.clone())));
        for item in &commit.outbox {
            self.outbox.add(item, commit.at);
        }
        Ok(Committed { version: commit.expected + events, global })
    }

    fn append(&mut self, stream: StreamId, entry: Entry, bytes: Vec<u8>) {
        let (seq, hash) = self.chain.append(&bytes);
        let at = entry.at;
        self.streams.entry(stream).or_default().push(self.journal.len());
        self.journal.push(MemoryRow { seq, hash, bytes: bytes.into(), entry });
        if seq - self.vouched >= UNVOUCHED_MAX {
            let checkpoint = signer().sign_checkpoint(&self.chain, at.as_ms());
            self.checkpoints.insert(seq, checkpoint.to_string().into_bytes());
            self.vouched = seq;
        }
    }

    fn version(&self, stream: StreamId) -> u64 {
        let last = self.streams.get(&stream).and_then(|rows| rows.last());
        last.map_or(0, |row| self.journal[*row].end() - 1)
    }

    pub(super) fn last(&self) -> (u64, Option<Timestamp>) {
        let last = self.journal.last();
        last.map_or((0, None), |row| (row.global_end() - 1, Some(row.entry.at)))
    }

    pub(super) fn entries(&self, stream: Option<StreamId>, after: u64, limit: usize) -> Vec<Entry> {
        let entry = |row: &MemoryRow| row.entry.clone();
        match stream {
            None => {
                let begin = self.journal.partition_point(|row| row.global_end() <= after + 1);
                self.journal[begin..].iter().take(limit).map(entry).collect()
            }
            Some(stream) => {
                let rows = self.streams.get(&stream).map_or(&[][..], Vec::as_slice);
                let begin = rows.partition_point(|row| self.journal[*row].end() <= after + 1);
                rows[begin..].iter().take(limit).map(|row| entry(&self.journal[*row])).collect()
            }
        }
    }

    pub(super) fn due(&self, now: Timestamp, limit: usize) -> Vec<StreamId> {
        let mut overdue: Vec<_> = self.holds.values().filter(|hold| hold.is_overdue(now)).collect();
        overdue.sort_by_key(|hold| hold.expires_at);
        let mut found = Vec::new();
        for hold in overdue {
            let stream = hold.stream();
            if found.len() < limit && !found.contains(&stream) {
                found.push(stream);
            }
        }
        found
    }

    pub(super) fn put_secret(&mut self, secret: LoginSecret) {
        if let (_, Some(at)) = self.last() {
            self.secrets.retain(|_, kept| kept.expires_at > at);
        }
        self.secrets.insert((secret.kind, secret.digest), secret);
    }

    pub(super) fn audit(&self, after: u64, limit: usize) -> Vec<AuditEntry> {
        let begin = self.journal.partition_point(|row| row.seq <= after);
        let entry = |row: &MemoryRow| AuditEntry {
            seq: row.seq,
            hash: *row.hash.as_bytes(),
            bytes: row.bytes.to_vec(),
        };
        self.journal[begin..].iter().take(limit).map(entry).collect()
    }

    pub(super) fn end(&self, at: Timestamp) -> Vec<u8> {
        signer().sign_end(&self.chain, at.as_ms()).to_string().into_bytes()
    }
}

fn through<T>(
    things: &[Arc<T>],
    record: impl Fn(&T) -> Result<Arc<T>, crate::record::Broken>,
) -> Result<Vec<Arc<T>>, StoreError> {
    Ok(things.iter().map(|thing| record(thing)).collect::<Result<_, _>>()?)
}
