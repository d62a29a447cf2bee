-- The door or channel that a session was opened through, and its name there.
ALTER TABLE sessions ADD COLUMN door TEXT;
ALTER TABLE sessions ADD COLUMN place TEXT;
CREATE INDEX sessions_home ON sessions (door, place) WHERE door IS NOT NULL;
