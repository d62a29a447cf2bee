-- Files that were uploaded. Their bytes are beside the database, by digest.
CREATE TABLE files (
    id BLOB NOT NULL PRIMARY KEY,
    digest BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    -- Of images.
    width INTEGER,
    height INTEGER,
    -- As the sender said it; nothing on a disk is called so.
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    -- The idempotency key of the upload.
    key TEXT,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX files_by_digest ON files (digest);
CREATE UNIQUE INDEX files_by_key ON files (owner, key) WHERE key IS NOT NULL;
CREATE INDEX files_by_owner ON files (owner, bytes);
CREATE INDEX files_by_age ON files (at);

-- Which streams refer to them. Noted before the commit that does, and certain after it.
CREATE TABLE file_uses (
    file BLOB NOT NULL,
    stream BLOB NOT NULL,
    is_certain INTEGER NOT NULL,
    PRIMARY KEY (file, stream)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_uses_uncertain ON file_uses (file) WHERE is_certain = 0;
