-- Secrets are kept sealed from here on. Those from before wait in a table of their own: the node that brings this about
-- seals them, and empties that table by giving its file up.
ALTER INDEX holdpoint.sealed_stream RENAME TO clear_secrets_stream;
ALTER TABLE holdpoint.sealed RENAME CONSTRAINT sealed_pkey TO clear_secrets_pkey;
ALTER TABLE holdpoint.sealed RENAME TO clear_secrets;

CREATE TABLE holdpoint.sealed (
    id bytea PRIMARY KEY,
    stream bytea NOT NULL,
    hold bytea NOT NULL,
    name bytea NOT NULL,
    person bytea NOT NULL,
    at bigint NOT NULL,
    -- Its first byte is the version of the seal. No JSON text begins like that, so no secret stands here as it is.
    value bytea NOT NULL CHECK (value >= '\x01' AND value < '\x09')
);
CREATE INDEX sealed_stream ON holdpoint.sealed (stream);
