//! E-mail: a notice with a link to the page where a person logs in and decides. Programs open the
//! links of e-mails, so none of them decides anything.

mod notice;

pub use notice::{Notice, notice};
