//! After a freeze is acknowledged nothing starts, from any queue (I-52).
