//! One commit on its way to disk: made ready by its caller or by the writer, and written by the writer.

use domain::id::StreamId;
use domain::time::Timestamp;
use ports::store::{Commit, CommitError, Committed, KeptReply, OutboxItem, WriteBefore};
use rusqlite::{CachedStatement, Connection, Statement, params};

use super::columns;
use super::commit_index::CommitPosition;
use super::head::Head;
use super::outbox;
use super::rows::Changes;
use super::write_behind::WriteBehind;
use crate::record::{write_grant, write_row};

/// A commit in the form of its rows: nothing is left to do but write.
pub(super) struct Prepared {
    pub(super) stream: StreamId,
    stream_column: Vec<u8>,
    expected: u64,
    /// Named by commits that let calls start.
    pub(super) global_version: Option<u64>,
    count: u64,
    at_ms: i64,
    bytes: Vec<u8>,
    /// For the tables, a little later.
    pub(super) changes: Changes,
    grants: Vec<GrantCells>,
    reply: Option<KeptReply>,
    outbox: Vec<OutboxItem>,
    write_before: Option<WriteBefore>,
}

/// What appends to the journal: to be looked up once for many commits.
pub(super) fn journal(connection: &Connection) -> Result<CachedStatement<'_>, rusqlite::Error> {
    connection.prepare_cached(
        "INSERT INTO journal (global, stream, first, n, seq, at, hash, bytes) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
}

struct GrantCells {
    id: [u8; 16],
    session: [u8; 16],
    giver: String,
    record: Vec<u8>,
}

impl Prepared {
    pub(super) fn new(commit: Commit) -> Box<Prepared> {
        let (stream, bytes) = (commit.stream(), write_row(&commit.entry()));
        let (changes, grants) = Changes::of(&commit.events, commit.rows);
        Box::new(Prepared {
            stream,
            stream_column: columns::stream(stream),
            expected: commit.expected,
            global_version: commit.global_version,
            count: commit.events.len() as u64,
            at_ms: commit.at.as_ms(),
            bytes,
            changes,
            grants: grants
                .iter()
                .map(|grant| GrantCells {
                    id: columns::id(grant.id.0),
                    session: columns::id(grant.session.0),
                    giver: grant.by.to_string(),
                    record: write_grant(grant),
                })
                .collect(),
            reply: commit.reply,
            outbox: commit.outbox,
            write_before: commit.write_before,
        })
    }

    /// Looks before it writes, so that a refused commit has left no trace. The reply comes first:
    /// a repeated request must find its reply and not be decided again.
    pub(super) fn write(
        &self,
        connection: &Connection,
        journal: &mut Statement<'_>,
        head: &mut Head,
        write_behind: &WriteBehind,
    ) -> Result<Result<Committed, CommitError>, rusqlite::Error> {
        if let Some(reply) = &self.reply
            // mutant: reply-kept-twice
            && is_kept(connection, reply)?
        {
            return Ok(Err(CommitError::ReplyKept));
        }
        let actual = head.version(connection, self.stream, write_behind)?;
        // mutant: check-then-act-in-sqlite
        if actual != self.expected {
            return Ok(Err(CommitError::Conflict { actual }));
        }
        if let Some(version) = self.global_version
            // mutant: global-version-not-checked.sqlite
            && head.version(connection, StreamId::Global, write_behind)? != version
        {
            return Ok(Err(CommitError::GlobalStateChanged));
        }
        if self.is_too_late() {
            return Ok(Err(CommitError::TooLate));
        }
        let global = head.global + 1;
        // Without events nothing has happened, and the log says nothing: a reply is kept, or a session
        // changes hands.
        let chain = if self.count > 0 { Some(self.append(journal, head)?) } else { None };
        self.write_tables(connection)?;
        if let Some(chain) = chain {
            head.advance(chain, self.stream, self.expected + self.count, self.count, self.at_ms);
        }
        Ok(Ok(Committed { version: self.expected + self.count, global }))
    }

    /// Once it is, it stays so: the clock does not go backwards.
    pub(super) fn is_too_late(&self) -> bool {
        self.write_before.as_ref().is_some_and(WriteBefore::has_passed)
    }

    /// Where it is, now that it is somewhere. Without events it is nowhere.
    pub(super) fn position(&self, committed: Committed) -> Option<CommitPosition> {
        let position = CommitPosition { first: self.expected + 1, global: committed.global };
        (self.count > 0).then_some(position)
    }

    fn append(
        &self,
        journal: &mut Statement<'_>,
        head: &Head,
    ) -> Result<audit::Chain, rusqlite::Error> {
        // A copy: the head moves only when all of the commit is written.
        let mut chain = head.chain;
        let (seq, hash) = chain.append(&self.bytes);
        journal.execute(params![
            (head.global + 1) as i64,
            self.stream_column,
            (self.expected + 1) as i64,
            self.count as i64,
            seq as i64,
            self.at_ms,
            hash.as_bytes(),
            self.bytes,
        ])?;
        Ok(chain)
    }

    /// What must be there at once: a reply that is kept, a word to send.
    fn write_tables(&self, connection: &Connection) -> Result<(), rusqlite::Error> {
        for grant in &self.grants {
            connection
                .prepare_cached(
                    "INSERT INTO grants (id, session, giver, record) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (id) DO UPDATE SET record = excluded.record",
                )?
                .execute(params![grant.id, grant.session, grant.giver, grant.record])?;
        }
        if let Some(reply) = &self.reply {
            keep(connection, reply)?;
        }
        for item in &self.outbox {
            outbox::add(connection, item, Timestamp::from_ms(self.at_ms))?;
        }
        Ok(())
    }
}

fn is_kept(connection: &Connection, reply: &KeptReply) -> Result<bool, rusqlite::Error> {
    connection
        .prepare_cached("SELECT 1 FROM replies WHERE caller = ?1 AND key = ?2")?
        .exists(params![reply.caller, reply.key])
}

fn keep(connection: &Connection, reply: &KeptReply) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "INSERT INTO replies (caller, key, request, status, at, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            reply.caller,
            reply.key,
            reply.request.as_bytes(),
            reply.status,
            reply.at.as_ms(),
            reply.body,
        ])
        .map(drop)
}
