//! A notice as a message with headers.

use std::time::{Duration, SystemTime};

use domain::time::Timestamp;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message};

use super::notice::Notice;

/// Programs that answer mail by themselves leave it alone.
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".into())
    }
}

/// The same key gives the same id, so that mail programs see one message if it is sent twice.
pub(super) fn id(key: &str, from: &Mailbox) -> String {
    format!("<hold.{key}@{}>", from.email.domain())
}

pub(super) fn letter(
    notice: Notice,
    from: &Mailbox,
    to: Address,
    id: &str,
    at: Timestamp,
) -> Result<Message, String> {
    let since = Duration::from_millis(u64::try_from(at.as_ms()).unwrap_or_default());
    let built = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(notice.subject)
        .message_id(Some(id.to_owned()))
        .date(SystemTime::UNIX_EPOCH + since)
        .header(AutoSubmitted)
        .multipart(MultiPart::alternative_plain_html(notice.text, notice.html));
    built.map_err(|error| format!("the message cannot be written: {error}"))
}
