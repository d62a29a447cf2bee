//! The formats, read back by readers that know of the client only what its contract says.

mod golden;
mod properties;
mod reader;
