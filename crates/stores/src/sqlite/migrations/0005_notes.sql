-- What doors and channels keep beside the journal.
CREATE TABLE notes (
    shelf TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER,
    forget_at INTEGER,
    PRIMARY KEY (shelf, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_due ON notes (shelf, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notes_forget ON notes (forget_at) WHERE forget_at IS NOT NULL;
