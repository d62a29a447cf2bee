-- Names and texts are stored as bytes: they compare byte by byte whatever the database's collation is, and may have any
-- character in them, also the one that PostgreSQL's own text cannot hold.

-- The end of the journal. Whoever writes holds this row until their transaction has ended: so all that is written, by
-- whichever node, has one order, and what a transaction looked at cannot change before it ends.
CREATE TABLE holdpoint.head (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    global bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint,
    hash bytea NOT NULL,
    -- Entries that the last signed checkpoint covers.
    vouched bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO holdpoint.head (global, seq, hash, vouched)
    VALUES (0, 0, decode(repeat('00', 32), 'hex'), 0);

-- The truth and the audit log at once: one row per commit, its exact bytes, and the hash that chains them.
CREATE TABLE holdpoint.journal (
    -- The position of the commit's first event among all events.
    global bigint PRIMARY KEY,
    stream bytea NOT NULL,
    -- The position of the commit's first event in its stream.
    first bigint NOT NULL,
    n bigint NOT NULL,
    -- The number of the audit entry.
    seq bigint NOT NULL,
    at bigint NOT NULL,
    hash bytea NOT NULL,
    bytes bytea NOT NULL
);
-- The head alone makes sure of both. A database that was tampered with, or a mistake of ours, is stopped by these.
CREATE UNIQUE INDEX journal_stream ON holdpoint.journal (stream, first);
CREATE UNIQUE INDEX journal_seq ON holdpoint.journal (seq);

CREATE TABLE holdpoint.sessions (
    id bytea PRIMARY KEY,
    agent bytea NOT NULL,
    creator bytea,
    -- The whole actor.
    creator_record bytea NOT NULL,
    title bytea,
    run bytea,
    run_status bigint,
    opened_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    owes boolean NOT NULL,
    owner bytea NOT NULL,
    door bytea,
    place bytea
);
CREATE INDEX sessions_owing ON holdpoint.sessions (id) WHERE owes;
CREATE INDEX sessions_home ON holdpoint.sessions (door, place) WHERE door IS NOT NULL;

CREATE TABLE holdpoint.runs (
    id bytea PRIMARY KEY,
    session bytea NOT NULL
);

CREATE TABLE holdpoint.holds (
    id bytea PRIMARY KEY,
    -- 0 is pending; partial indexes depend on it.
    state bigint NOT NULL,
    kind bigint NOT NULL,
    risk bigint NOT NULL,
    session bytea,
    expires_at bigint,
    agent bytea,
    opener bytea,
    -- Of its session, where that is somebody else than the opener.
    creator bytea,
    opened_at bigint NOT NULL,
    -- Of its call: tool, agent or program, and the beginning of its match key.
    tool bytea,
    source bytea,
    likeness bigint,
    requester bytea,
    answered_at bigint,
    decided_at bigint,
    -- A list in JSON.
    decided_by bytea,
    -- In lower case, a line each: title, tool, agent, requester, tag.
    search bytea NOT NULL,
    record bytea NOT NULL
);
CREATE INDEX holds_pending ON holdpoint.holds (id) WHERE state = 0;
CREATE INDEX holds_due ON holdpoint.holds (coalesce(expires_at, 9223372036854775807), id) WHERE state = 0;
CREATE INDEX holds_opener ON holdpoint.holds (opener) WHERE state = 0 AND opener IS NOT NULL;
CREATE INDEX holds_creator ON holdpoint.holds (creator) WHERE state = 0 AND creator IS NOT NULL;
CREATE INDEX holds_session ON holdpoint.holds (session, id) WHERE session IS NOT NULL;
CREATE INDEX holds_alike ON holdpoint.holds (tool, source, id) WHERE tool IS NOT NULL;
CREATE INDEX holds_decided ON holdpoint.holds (decided_at) WHERE decided_at IS NOT NULL;

-- Whom a hold names: `p:` a person and `r:` a role of its audience, `x:` who may look but not answer, `v:` who voted
-- already, `d:` who decided it.
CREATE TABLE holdpoint.hold_names (
    hold bytea NOT NULL,
    name bytea NOT NULL,
    pending boolean NOT NULL,
    PRIMARY KEY (hold, name)
);
CREATE INDEX hold_names_all ON holdpoint.hold_names (name, hold);
CREATE INDEX hold_names_pending ON holdpoint.hold_names (name, hold) WHERE pending;

CREATE TABLE holdpoint.grants (
    id bytea PRIMARY KEY,
    session bytea NOT NULL,
    giver bytea NOT NULL,
    record bytea NOT NULL
);

CREATE TABLE holdpoint.replies (
    caller bytea NOT NULL,
    key bytea NOT NULL,
    request bytea NOT NULL,
    status bigint NOT NULL,
    at bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (caller, key)
);
CREATE INDEX replies_at ON holdpoint.replies (at);

CREATE TABLE holdpoint.secrets (
    kind bigint NOT NULL,
    digest bytea NOT NULL,
    person bytea NOT NULL,
    expires_at bigint NOT NULL,
    origin bytea,
    made_at bigint NOT NULL,
    PRIMARY KEY (kind, digest)
);
CREATE INDEX secrets_expiry ON holdpoint.secrets (expires_at);

-- Secrets that people gave, apart from the journal: what is told refers to them by id.
CREATE TABLE holdpoint.sealed (
    id bytea PRIMARY KEY,
    stream bytea NOT NULL,
    hold bytea NOT NULL,
    name bytea NOT NULL,
    person bytea NOT NULL,
    at bigint NOT NULL,
    value bytea NOT NULL
);
CREATE INDEX sealed_stream ON holdpoint.sealed (stream);

-- What doors and channels keep beside the journal.
CREATE TABLE holdpoint.notes (
    shelf bytea NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    version bigint NOT NULL,
    due_at bigint,
    forget_at bigint,
    PRIMARY KEY (shelf, key)
);
CREATE INDEX notes_due ON holdpoint.notes (shelf, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notes_forget ON holdpoint.notes (forget_at) WHERE forget_at IS NOT NULL;

-- What leaves for the outside: callbacks, prompts, repaints and words in chats.
CREATE TABLE holdpoint.outbox (
    queue bytea NOT NULL,
    key bytea NOT NULL,
    kind bigint NOT NULL,
    lane bytea NOT NULL,
    -- Both or neither. Without an order an item waits for nobody.
    order_at bigint,
    order_number bigint,
    due_at bigint NOT NULL,
    lease_owner bytea,
    lease_until bigint,
    ready_at bigint GENERATED ALWAYS AS (greatest(due_at, coalesce(lease_until, due_at))) STORED,
    attempts bigint NOT NULL,
    version bigint NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (queue, key)
);
CREATE INDEX outbox_kind ON holdpoint.outbox (kind);
CREATE INDEX outbox_ready ON holdpoint.outbox (queue, ready_at, key);
CREATE INDEX outbox_in_order ON holdpoint.outbox (queue, lane, order_at, order_number)
    WHERE order_at IS NOT NULL;
CREATE INDEX outbox_without_order ON holdpoint.outbox (queue, lane, ready_at, key) WHERE order_at IS NULL;

-- Whose turn it is. Follows from the items, except that a lane which was served goes behind the others.
CREATE TABLE holdpoint.outbox_lanes (
    queue bytea NOT NULL,
    in_order boolean NOT NULL,
    lane bytea NOT NULL,
    due_at bigint NOT NULL,
    PRIMARY KEY (queue, in_order, lane)
);
CREATE INDEX outbox_turns ON holdpoint.outbox_lanes (queue, in_order, due_at, lane);

CREATE TABLE holdpoint.checkpoints (
    seq bigint PRIMARY KEY,
    bytes bytea NOT NULL
);

-- The processes that work on this database. A row stays after its process is gone: the id says so for ever.
CREATE TABLE holdpoint.nodes (
    id bytea PRIMARY KEY,
    -- One more with each renewal: others see that it lives, whatever their clocks say.
    beat bigint NOT NULL,
    until timestamptz NOT NULL,
    -- The version of the global state that it acts by.
    global_seen bigint NOT NULL,
    gone boolean NOT NULL
);
CREATE INDEX nodes_alive ON holdpoint.nodes (id) WHERE NOT gone;
