//! One transaction: commits of many streams become durable together, or none of them does.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use audit::{Chain, Hash, Signer};
use domain::id::StreamId;
use domain::time::Timestamp;
use futures_util::future;
use ports::store::{CommitError, Committed};
use tokio_postgres::{Client, Row};

use super::cells;
use super::commit::{PreparedCommit, ReplyKey, TableChanges};
use super::connection::{PgConnection, begin};
use super::connector::{JournalMark, PgConnector};
use super::error::PgFailure;
use super::limits::UNVOUCHED_MAX;
use super::node_end::PgNodeEnd;
use super::outbox;
use super::sql::{TypedSql, run_all};
use crate::record::Broken;

/// The channel on which nodes hear that there is something new.
pub(super) const CHANNEL: &str = "holdpoint";

/// The end of the journal, while its row is ours.
#[derive(Clone, Copy)]
pub(super) struct LockedHead {
    pub(super) chain: Chain,
    pub(super) global: u64,
    pub(super) at_ms: Option<i64>,
    vouched: u64,
}

/// Waits until no other node writes, and keeps them from it until the transaction ends.
pub(super) fn lock_head() -> TypedSql {
    TypedSql::new("SELECT global, seq, at, hash, vouched FROM holdpoint.head FOR UPDATE")
}

/// A statement of its own after the lock: it must see what was written while we waited for that.
fn is_alive(node: &[u8]) -> TypedSql {
    TypedSql::new("SELECT 1 FROM holdpoint.nodes WHERE id = $1 AND NOT gone").with(node.to_vec())
}

impl LockedHead {
    pub(super) fn read(rows: &[Row]) -> Result<LockedHead, PgFailure> {
        let damaged = |what: &str| PgFailure::Broken(Broken::Damaged(what.into()));
        let row = rows.first().ok_or_else(|| damaged("the journal has no head"))?;
        let hash: Vec<u8> = row.get(3);
        let hash = hash.try_into().map_err(|_| damaged("the journal's head has no hash"))?;
        Ok(LockedHead {
            chain: Chain::resume(Hash::from_bytes(hash), row.get::<_, i64>(1) as u64),
            global: row.get::<_, i64>(0) as u64,
            at_ms: row.get(2),
            vouched: row.get::<_, i64>(4) as u64,
        })
    }

    fn mark(&self) -> JournalMark {
        JournalMark { seq: self.chain.count(), hash: self.chain.head().as_bytes().to_vec() }
    }
}

/// The node that writes, and what it knows of the journal.
pub(super) struct WritingNode {
    pub(super) id: Vec<u8>,
    pub(super) signer: Arc<Signer>,
    pub(super) connector: Arc<PgConnector>,
}

/// Begins a transaction in which no other node writes, unless this node was taken for gone, or has seen more of the
/// journal than there is.
pub(super) async fn begin_alone(
    connection: &PgConnection,
    node: &WritingNode,
) -> Result<LockedHead, PgFailure> {
    let client = &connection.client;
    let seen = node.connector.seen();
    let (lock, alive) = (lock_head(), is_alive(&node.id));
    let begin = begin();
    // Sent at once, and done by the server in this order.
    let (begun, locked, alive) =
        future::join3(client.batch_execute(&begin), lock.rows(client), alive.row(client)).await;
    begun?;
    let head = LockedHead::read(&locked?)?;
    node.connector.compare(&seen, &head.mark())?;
    if alive?.is_none() {
        let end = PgNodeEnd::Fenced;
        node.connector.end().end(&end);
        return Err(end.into());
    }
    Ok(head)
}

/// What became of the commits, and how to recognise the transaction in the journal.
pub(super) struct WrittenBatch {
    pub(super) fates: Vec<Result<Committed, CommitError>>,
    pub(super) mark: Option<JournalMark>,
    /// After which global position it begins, and with which it ends.
    pub(super) stretch: (u64, u64),
    /// Whether there is anything to make durable.
    pub(super) is_empty: bool,
}

/// Everything but the last word. Looks before it writes, so that a refused commit leaves no trace. The reply
/// comes first: a repeated request must find its reply and not be decided again.
pub(super) async fn write_commits(
    connection: &PgConnection,
    node: &WritingNode,
    commits: &[&PreparedCommit],
) -> Result<WrittenBatch, PgFailure> {
    let client = &connection.client;
    let (versions, kept) = (versions_of(commits), kept_of(commits));
    let (head, versions, kept) =
        future::join3(begin_alone(connection, node), versions.rows(client), kept.rows(client))
            .await;
    let head = head?;
    let mut versions: HashMap<Vec<u8>, u64> =
        versions?.iter().map(|row| (row.get(0), row.get::<_, i64>(1) as u64)).collect();
    let mut kept: HashSet<ReplyKey> = kept?.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut batch = JournalBatch::new(head);
    let mut changes = TableChanges::default();
    let mut outbox = Vec::new();
    let mut fates = Vec::with_capacity(commits.len());
    let mut is_empty = true;
    for commit in commits {
        let global = StreamId::Global;
        let version = |stream: &Vec<u8>| versions.get(stream).copied().unwrap_or_default();
        let actual = version(&commit.stream);
        let reply = commit.reply_key();
        let fate = if reply.as_ref().is_some_and(|reply| kept.contains(reply)) {
            Err(CommitError::ReplyKept)
        } else if actual != commit.expected {
            Err(CommitError::Conflict { actual })
        } else if commit.relies_on.is_some_and(|wanted| wanted != version(&cells::stream(global))) {
            Err(CommitError::GlobalStateChanged)
        } else if commit.is_too_late() {
            Err(CommitError::TooLate)
        } else {
            is_empty = false;
            kept.extend(reply);
            changes.add(commit);
            let at = Timestamp::from_ms(commit.at_ms);
            outbox.extend(commit.outbox.iter().map(|item| (item, at)));
            let version = commit.expected + commit.count;
            versions.insert(commit.stream.clone(), version);
            // Without events nothing has happened, and the log says nothing: a reply is kept, or a session
            // changes hands.
            let global = batch.global + 1;
            if commit.count > 0 {
                batch.append(commit);
            }
            Ok(Committed { version, global })
        };
        fates.push(fate);
    }
    if is_empty {
        return Ok(WrittenBatch {
            fates,
            mark: None,
            stretch: (head.global, head.global),
            is_empty,
        });
    }
    let mut statements = batch.statements(&node.signer);
    statements.extend(changes.statements());
    run_all(client, &statements).await?;
    for (item, at) in outbox {
        outbox::add(client, item, at).await?;
    }
    let stretch = (head.global, batch.global);
    Ok(WrittenBatch { fates, mark: batch.mark(), stretch, is_empty })
}

fn versions_of(commits: &[&PreparedCommit]) -> TypedSql {
    let mut streams: HashSet<Vec<u8>> =
        commits.iter().map(|commit| commit.stream.clone()).collect();
    streams.insert(cells::stream(StreamId::Global));
    TypedSql::new(
        "SELECT wanted.stream, last.version FROM unnest($1) AS wanted (stream) \
         CROSS JOIN LATERAL (SELECT first + n - 1 AS version FROM holdpoint.journal j \
             WHERE j.stream = wanted.stream ORDER BY first DESC LIMIT 1) last",
    )
    .with(Vec::from_iter(streams))
}

fn kept_of(commits: &[&PreparedCommit]) -> TypedSql {
    let (callers, keys): (Vec<_>, Vec<_>) =
        commits.iter().filter_map(|commit| commit.reply_key()).unzip();
    TypedSql::new(
        "SELECT r.caller, r.key FROM unnest($1, $2) AS wanted (caller, key) \
         JOIN holdpoint.replies r USING (caller, key)",
    )
    .with::<Vec<Vec<u8>>>(callers)
    .with::<Vec<Vec<u8>>>(keys)
}

/// Rows of the journal, each chained to the one before.
struct JournalBatch {
    before: LockedHead,
    chain: Chain,
    global: u64,
    at_ms: Option<i64>,
    globals: Vec<i64>,
    streams: Vec<Vec<u8>>,
    firsts: Vec<i64>,
    counts: Vec<i64>,
    seqs: Vec<i64>,
    times: Vec<i64>,
    hashes: Vec<Vec<u8>>,
    bytes: Vec<Vec<u8>>,
}

impl JournalBatch {
    fn new(head: LockedHead) -> JournalBatch {
        JournalBatch {
            before: head,
            chain: head.chain,
            global: head.global,
            at_ms: head.at_ms,
            globals: Vec::new(),
            streams: Vec::new(),
            firsts: Vec::new(),
            counts: Vec::new(),
            seqs: Vec::new(),
            times: Vec::new(),
            hashes: Vec::new(),
            bytes: Vec::new(),
        }
    }

    fn append(&mut self, commit: &PreparedCommit) {
        let (seq, hash) = self.chain.append(&commit.bytes);
        self.globals.push(self.global as i64 + 1);
        self.streams.push(commit.stream.clone());
        self.firsts.push(commit.expected as i64 + 1);
        self.counts.push(commit.count as i64);
        self.seqs.push(seq as i64);
        self.times.push(commit.at_ms);
        self.hashes.push(hash.as_bytes().to_vec());
        self.bytes.push(commit.bytes.clone());
        self.global += commit.count;
        self.at_ms = Some(commit.at_ms);
    }

    fn mark(&self) -> Option<JournalMark> {
        let hash = self.hashes.last()?.clone();
        Some(JournalMark { seq: self.chain.count(), hash })
    }

    fn statements(&self, signer: &Signer) -> Vec<TypedSql> {
        if self.seqs.is_empty() {
            return Vec::new();
        }
        let mut vouched = self.before.vouched;
        let mut statements = vec![
            TypedSql::new(
                "INSERT INTO holdpoint.journal (global, stream, first, n, seq, at, hash, bytes) \
                 SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .with(self.globals.clone())
            .with(self.streams.clone())
            .with(self.firsts.clone())
            .with(self.counts.clone())
            .with(self.seqs.clone())
            .with(self.times.clone())
            .with(self.hashes.clone())
            .with(self.bytes.clone()),
        ];
        if self.chain.count() - vouched >= UNVOUCHED_MAX {
            vouched = self.chain.count();
            let signed = signer.sign_checkpoint(&self.chain, self.at_ms.unwrap_or_default());
            statements.push(
                TypedSql::new("INSERT INTO holdpoint.checkpoints (seq, bytes) VALUES ($1, $2)")
                    .with(vouched as i64)
                    .with(signed.to_string().into_bytes()),
            );
        }
        statements.push(
            TypedSql::new(
                "UPDATE holdpoint.head SET global = $1, seq = $2, at = $3, hash = $4, vouched = $5",
            )
            .with(self.global as i64)
            .with(self.chain.count() as i64)
            .with(self.at_ms)
            .with(self.chain.head().as_bytes().to_vec())
            .with(vouched as i64),
        );
        // Once for all of them: each notice costs a lock that the whole cluster has only one of.
        statements.push(
            TypedSql::new(format!("SELECT pg_notify('{CHANNEL}', $1::bigint::text)"))
                .with(self.global as i64),
        );
        statements
    }
}

/// By what a transaction of unknown fate is recognised.
pub(super) enum TransactionMark {
    /// Where the journal ends with it.
    Journal(JournalMark),
    /// Small writes leave nothing in the journal: each such transaction of a node leaves its number.
    Side { node: Vec<u8>, number: i64 },
}

impl TransactionMark {
    /// The last thing that a transaction of small writes does.
    pub(super) async fn write(&self, connection: &PgConnection) -> Result<(), PgFailure> {
        if let TransactionMark::Side { node, number } = self {
            TypedSql::new(
                "INSERT INTO holdpoint.meta (key, number) VALUES ('side:' || encode($1, 'hex'), $2) \
                 ON CONFLICT (key) DO UPDATE SET number = excluded.number",
            )
            .with(node.clone())
            .with(*number)
            .run(&connection.client)
            .await?;
        }
        Ok(())
    }

    async fn is_there(&self, client: &Client) -> Result<bool, PgFailure> {
        match self {
            TransactionMark::Journal(mark) => {
                let hash = TypedSql::new("SELECT hash FROM holdpoint.journal WHERE seq = $1");
                let found = hash.with(mark.seq as i64).row(client).await?;
                Ok(found.is_some_and(|row| row.get::<_, Vec<u8>>(0) == mark.hash))
            }
            TransactionMark::Side { node, number } => {
                let last = TypedSql::new(
                    "SELECT number FROM holdpoint.meta WHERE key = 'side:' || encode($1, 'hex')",
                );
                let found = last.with(node.clone()).row(client).await?;
                Ok(found.is_some_and(|row| row.get::<_, i64>(0) == *number))
            }
        }
    }
}

/// Takes away the mark of a node that is gone.
pub(super) fn forget_side_mark(node: &[u8]) -> TypedSql {
    TypedSql::new("DELETE FROM holdpoint.meta WHERE key = 'side:' || encode($1, 'hex')")
        .with(node.to_vec())
}

/// Whether a transaction of unknown fate was written. The head is locked meanwhile: as long as the old
/// connection still writes, this waits for it, and so nothing can come later.
///
/// The row may be on this server alone: one that restarts shows commits that its standby does not have yet. So the
/// look ends with a write of its own, which is acknowledged when the standby has everything before it.
pub(super) async fn is_written(
    connection: &PgConnection,
    mark: Option<&TransactionMark>,
) -> Result<bool, PgFailure> {
    let client: &Client = &connection.client;
    client.batch_execute(&begin()).await?;
    lock_head().rows(client).await?;
    let found = match mark {
        Some(mark) => mark.is_there(client).await?,
        None => false,
    };
    TypedSql::new("UPDATE holdpoint.head SET at = at").run(client).await?;
    connection.commit().await?;
    Ok(found)
}
