//! Secrets: a reference stands in their place wherever a call, a log or a model can be read. The values go to the
//! tool that they are for, and to a person who may answer and asks to see them.

mod api_keys;
pub(crate) mod references;
pub(crate) mod reveal;
