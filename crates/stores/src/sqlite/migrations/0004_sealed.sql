-- Secrets that people gave, apart from the journal: what is told refers to them by id.
CREATE TABLE sealed (
    id BLOB NOT NULL PRIMARY KEY,
    stream BLOB NOT NULL,
    hold BLOB NOT NULL,
    name TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sealed_stream ON sealed (stream);
