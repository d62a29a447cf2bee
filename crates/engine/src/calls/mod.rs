//! Calls before they run: which tools there are, what may be done about a call that a model wrote, and how a call
//! looks to the people who are asked about it. Questions that come up while one runs are here too.

pub(crate) mod call_title;
pub(crate) mod changed_tools;
pub(crate) mod edit_preview;
pub(crate) mod nested_hold;
pub(crate) mod ruling;
pub(crate) mod tools;
