-- What leaves for the outside: callbacks, prompts, repaints and words in chats.
CREATE TABLE outbox (
    queue TEXT NOT NULL,
    key TEXT NOT NULL,
    kind INTEGER NOT NULL,
    lane TEXT NOT NULL,
    -- Both or neither. Without an order an item waits for nobody.
    order_at INTEGER,
    order_number INTEGER,
    due_at INTEGER NOT NULL,
    lease_owner BLOB,
    lease_until INTEGER,
    ready_at INTEGER GENERATED ALWAYS AS (max(due_at, coalesce(lease_until, due_at))) VIRTUAL,
    attempts INTEGER NOT NULL,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX outbox_key ON outbox (queue, key);
-- For operators: how many of each kind wait.
CREATE INDEX outbox_kind ON outbox (kind);
CREATE INDEX outbox_ready ON outbox (queue, ready_at, key);
CREATE INDEX outbox_in_order ON outbox (queue, lane, order_at, order_number)
    WHERE order_at IS NOT NULL;
-- 1 is a prompt, which may overtake.
CREATE INDEX outbox_prompts ON outbox (queue, lane, order_at, order_number)
    WHERE order_at IS NOT NULL AND kind = 1;
CREATE INDEX outbox_without_order ON outbox (queue, lane, ready_at, key) WHERE order_at IS NULL;
CREATE INDEX outbox_leased ON outbox (queue, lane, lease_until) WHERE lease_until IS NOT NULL;

-- Whose turn it is. Follows from the items, except that a lane which was served goes behind the others.
CREATE TABLE outbox_lanes (
    queue TEXT NOT NULL,
    in_order INTEGER NOT NULL,
    lane TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (queue, in_order, lane)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_turns ON outbox_lanes (queue, in_order, due_at);

-- Callbacks that are still to be sent. Their addresses are known to their holds alone, so each is in a
-- lane of its own. What is to be sent to chats is moved by them: their records say where it goes.
INSERT INTO outbox (queue, key, kind, lane, due_at, attempts, version, payload)
    SELECT 'callbacks', key, 0, key, due_at, attempts, 1, hold FROM deliveries;
INSERT INTO outbox_lanes (queue, in_order, lane, due_at)
    SELECT 'callbacks', 0, key, due_at FROM deliveries;
DROP TABLE deliveries;
