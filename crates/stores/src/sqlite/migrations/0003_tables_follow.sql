-- The tables follow the journal a little later from now on, and so does the way from a stream to its
-- commits: kept in step with every commit, it was most of what had to be written.
CREATE TABLE streams (
    stream BLOB NOT NULL,
    first INTEGER NOT NULL,
    global INTEGER NOT NULL,
    PRIMARY KEY (stream, first)
) STRICT, WITHOUT ROWID;
INSERT INTO streams (stream, first, global)
    SELECT stream, first, global FROM journal ORDER BY stream, first;
DROP INDEX journal_stream;
-- So far they were never behind.
INSERT INTO meta (key, value) SELECT 'tables_at', coalesce(max(global + n - 1), 0) FROM journal;
