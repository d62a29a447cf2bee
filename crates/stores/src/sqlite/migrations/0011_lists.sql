-- What lists are filtered, searched and counted by stands in columns of its own, before the record, so that
-- no record has to be read for it.
CREATE TABLE holds_of_11 (
    id BLOB NOT NULL,
    -- 0 is pending; partial indexes depend on it.
    state INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    risk INTEGER NOT NULL,
    session BLOB,
    expires_at INTEGER,
    agent TEXT,
    opener TEXT,
    creator TEXT,
    audience TEXT NOT NULL,
    opened_in INTEGER NOT NULL,
    -- NULL only where the hold could not be read.
    opened_at INTEGER,
    -- Of its call: tool, agent or program, and the beginning of its match key.
    tool TEXT,
    source TEXT,
    likeness INTEGER,
    requester TEXT,
    answered_at INTEGER,
    decided_at INTEGER,
    -- As in `audience`: everybody whose vote counted.
    decided_by TEXT,
    -- In lower case, a line each: title, tool, agent, requester, tag.
    search TEXT,
    since BLOB,
    record BLOB
) STRICT;
INSERT INTO holds_of_11 (id, state, kind, risk, session, expires_at, agent, opener, creator, audience, opened_in, since, record)
    SELECT id, state, kind, risk, session, expires_at, agent, opener, creator, audience, opened_in, since, record
    FROM holds ORDER BY rowid;
DROP TABLE holds;
ALTER TABLE holds_of_11 RENAME TO holds;
CREATE UNIQUE INDEX holds_id ON holds (id);
CREATE INDEX holds_pending ON holds (id, audience) WHERE state = 0;
CREATE INDEX holds_opener ON holds (opener) WHERE state = 0 AND opener IS NOT NULL;
CREATE INDEX holds_creator ON holds (creator) WHERE state = 0 AND creator IS NOT NULL;
-- What never expires is last, so that an inbox can be read by urgency.
CREATE INDEX holds_due ON holds (coalesce(expires_at, 9223372036854775807), id) WHERE state = 0;
CREATE INDEX holds_session ON holds (session, id) WHERE session IS NOT NULL;
-- For "how often was this asked before".
CREATE INDEX holds_alike ON holds (tool, source, id) WHERE tool IS NOT NULL;
CREATE INDEX holds_decided ON holds (decided_at) WHERE decided_at IS NOT NULL;
-- Filled from the records themselves when the database is opened.
INSERT INTO meta (key, value) VALUES ('holds_to_fill', 1);
