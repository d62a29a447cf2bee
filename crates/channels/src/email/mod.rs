//! E-mail: a notice with a link to the page where a person logs in and decides. Programs open the
//! links of e-mails, so none of them decides anything, and nothing that comes back is read.

mod channel;
mod letter;
mod notice;
mod settings;
mod smtp;

pub use channel::Email;
pub use notice::{Notice, notice};
pub use settings::{EmailSettings, Login, Tls};
