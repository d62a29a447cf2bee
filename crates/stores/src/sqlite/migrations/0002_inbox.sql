-- Whose holds these are stands in the index, so that an inbox with little in it is found among very
-- many holds of others without reading their rows.
DROP INDEX holds_pending;
CREATE INDEX holds_pending ON holds (id, audience) WHERE state = 0;
