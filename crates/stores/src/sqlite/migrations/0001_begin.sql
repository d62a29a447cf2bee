-- The journal is the truth and the audit log at once: one row per commit, its exact bytes, and the
-- hash that chains them. Everything below it can be built again from it.
CREATE TABLE journal (
    -- The position of the commit's first event among all events.
    global INTEGER PRIMARY KEY,
    stream BLOB NOT NULL,
    -- The position of the commit's first event in its stream.
    first INTEGER NOT NULL,
    n INTEGER NOT NULL,
    -- The number of the audit entry. It needs no index: it rises with `global`.
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX journal_stream ON journal (stream, first);

CREATE TABLE sessions (
    id BLOB PRIMARY KEY,
    agent TEXT NOT NULL,
    creator TEXT,
    -- The whole actor, where the key does not say everything.
    creator_record TEXT,
    title TEXT,
    run BLOB,
    run_status INTEGER,
    opened_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    owes INTEGER NOT NULL,
    owner BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_owing ON sessions (id, owner) WHERE owes = 1;

CREATE TABLE runs (
    id BLOB PRIMARY KEY,
    session BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A hold that has not changed since it was opened has no record here: it stands in the journal, in
-- the commit that opened it. The record stands last, so that filters need not read it. The table
-- has a rowid because rows of this size would spill over in one without.
CREATE TABLE holds (
    id BLOB NOT NULL,
    -- 0 is pending; partial indexes depend on it.
    state INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    risk INTEGER NOT NULL,
    session BLOB,
    expires_at INTEGER,
    agent TEXT,
    opener TEXT,
    -- Of its session, where that is somebody else than the opener.
    creator TEXT,
    audience TEXT NOT NULL,
    opened_in INTEGER NOT NULL,
    record BLOB
) STRICT;
CREATE UNIQUE INDEX holds_id ON holds (id);
CREATE INDEX holds_pending ON holds (id) WHERE state = 0;
-- For limits: how many are open of one caller.
CREATE INDEX holds_opener ON holds (opener) WHERE state = 0 AND opener IS NOT NULL;
CREATE INDEX holds_creator ON holds (creator) WHERE state = 0 AND creator IS NOT NULL;
CREATE INDEX holds_due ON holds (expires_at) WHERE state = 0 AND expires_at IS NOT NULL;
CREATE INDEX holds_session ON holds (session, id) WHERE session IS NOT NULL;

CREATE TABLE grants (
    id BLOB PRIMARY KEY,
    session BLOB NOT NULL,
    giver TEXT NOT NULL,
    record BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE replies (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    status INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX replies_key ON replies (caller, key);
CREATE INDEX replies_at ON replies (at);

CREATE TABLE deliveries (
    key TEXT PRIMARY KEY,
    hold BLOB NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (due_at);

CREATE TABLE secrets (
    kind INTEGER NOT NULL,
    digest BLOB NOT NULL,
    person TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    seq INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
