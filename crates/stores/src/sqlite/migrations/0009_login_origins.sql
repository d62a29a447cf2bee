-- Who made a login link, and when the login that came by it began. Logins from before this are kept, and
-- nothing says who made their links.
ALTER TABLE secrets ADD COLUMN origin BLOB;
ALTER TABLE secrets ADD COLUMN made_at INTEGER;
