-- What has become of a hold since it was opened, if nothing else of it has changed: a row without a
-- record stands in the journal, in the commit that opened it, and has only this to add.
ALTER TABLE holds ADD COLUMN since BLOB;
