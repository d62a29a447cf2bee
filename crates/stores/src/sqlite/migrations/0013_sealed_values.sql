-- Secrets are kept sealed from here on. Those from before wait in a table of their own: the start seals them, overwrites
-- what is left of them in the file, and takes that table away.
DROP INDEX sealed_stream;
ALTER TABLE sealed RENAME TO clear_secrets;

CREATE TABLE sealed (
    id BLOB NOT NULL PRIMARY KEY,
    stream BLOB NOT NULL,
    hold BLOB NOT NULL,
    name TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- Its first byte is the version of the seal. No JSON text begins like that, so no secret stands here as it is.
    value BLOB NOT NULL CHECK (value >= x'01' AND value < x'09')
) STRICT, WITHOUT ROWID;
CREATE INDEX sealed_stream ON sealed (stream);
