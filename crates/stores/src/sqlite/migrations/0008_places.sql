-- All commits of a stream that come to the table together stand in one row: the first of them in its
-- own columns, and here how far each of the others is from the one before it.
ALTER TABLE streams ADD COLUMN more BLOB NOT NULL DEFAULT x'';
-- Commits that are ahead of what the tables are true for come again, together with those after them.
-- They must not stand there twice, alone and in company.
DELETE FROM streams WHERE global > (SELECT value FROM meta WHERE key = 'tables_at');
