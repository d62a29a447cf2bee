-- The tables follow the journal a little later from now on. So far they were never behind.
INSERT INTO meta (key, value) SELECT 'tables_at', coalesce(max(global + n - 1), 0) FROM journal;
