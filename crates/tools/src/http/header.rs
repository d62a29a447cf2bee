//! Headers: fixed, filled from arguments, or out of the operator's secrets.

use std::fmt;

use reqwest::header::{HeaderName, HeaderValue};

use super::template::{TemplateArguments, TextTemplate, secret_placeholder};

/// A header with a secret value: people are shown where the value comes from, and never the value.
#[derive(Clone)]
pub struct SecretHeader {
    name: HeaderName,
    reference: String,
    value: HeaderValue,
}

impl SecretHeader {
    /// `reference` is the environment variable or the file that holds the value. The value itself is
    /// never repeated, whatever is wrong with it.
    pub fn new(name: &str, reference: &str, value: &str) -> Result<SecretHeader, String> {
        let name = name_of(name)?;
        let value = value.trim_end_matches(['\r', '\n']);
        if value.is_empty() {
            return Err(format!("`{reference}`, the value of the header `{name}`, is empty"));
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            format!("`{reference}` cannot be the value of the header `{name}`: a header is one line of visible characters")
        })?;
        value.set_sensitive(true);
        Ok(SecretHeader { name, reference: reference.to_owned(), value })
    }

    pub(super) fn header_name(&self) -> &HeaderName {
        &self.name
    }

    pub(super) fn header_value(&self) -> &HeaderValue {
        &self.value
    }

    pub(super) fn redacted_line(&self) -> String {
        secret_placeholder(&self.reference)
    }
}

impl fmt::Debug for SecretHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.redacted_line())
    }
}

#[derive(Clone, Debug)]
pub(super) struct HeaderTemplate {
    pub(super) name: HeaderName,
    pub(super) value: TextTemplate,
}

impl HeaderTemplate {
    pub(super) fn parse(name: &str, value: &str) -> Result<HeaderTemplate, String> {
        let name = name_of(name)?;
        let template = TextTemplate::parse(value)?;
        check_one_line(name.as_str(), value)?;
        Ok(HeaderTemplate { name, value: template })
    }

    /// `None` if an argument of it was left out.
    pub(super) fn fill_header(
        &self,
        given: &TemplateArguments<'_>,
    ) -> Result<Option<String>, String> {
        self.value.fill_text(given, |name, value| check_one_line(name, value).map(str::to_owned))
    }
}

/// What the HTTP library writes by itself, or what would change how the request is read.
const OURS: [&str; 13] = [
    "host",
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "proxy-authorization",
    "proxy-connection",
    "idempotency-key",
];

fn name_of(name: &str) -> Result<HeaderName, String> {
    let Ok(read) = HeaderName::from_bytes(name.as_bytes()) else {
        return Err(format!("`{}` is not the name of a header", domain::visible::visible(name)));
    };
    match OURS.contains(&read.as_str()) {
        true => Err(format!("the header `{read}` is Holdpoint's to write; take it out")),
        false => Ok(read),
    }
}

/// One line of visible ASCII: no line of another header can be in it.
fn check_one_line<'a>(name: &str, value: &'a str) -> Result<&'a str, String> {
    let sound = value.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    if !sound {
        return Err(format!(
            "`{name}` goes into a header, which takes only visible ASCII characters"
        ));
    }
    if value.trim() != value {
        return Err(format!("`{name}` goes into a header, and must not begin or end with a space"));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_argument_is_one_line_of_one_header() {
        let none = BTreeSet::new();
        let header = HeaderTemplate::parse("X-Ticket", "T-{ticket}").unwrap();
        let filled = |ticket: &str| {
            let arguments = json!({"ticket": ticket});
            header.fill_header(&TemplateArguments { arguments: &arguments, hidden: &none })
        };
        assert_eq!(filled("42 b"), Ok(Some("T-42 b".into())));
        for ticket in
            ["a\r\nX-Admin: 1", "a\nb", "a\rb", "a\0b", "a\tb", "é", " a", "a ", "\u{2028}"]
        {
            assert!(filled(ticket).is_err(), "{ticket:?}");
        }
    }

    #[test]
    fn headers_that_are_ours_are_refused() {
        for name in
            ["Host", "content-length", "Transfer-Encoding", "Idempotency-Key", "a b", "x:y", ""]
        {
            assert!(HeaderTemplate::parse(name, "x").is_err(), "{name}");
            assert!(SecretHeader::new(name, "TOKEN", "x").is_err(), "{name}");
        }
    }

    #[test]
    fn i45_a_secret_header_is_never_printed() {
        let header = SecretHeader::new("Authorization", "API_TOKEN", "Bearer hunter2\n").unwrap();
        assert_eq!(header.header_value().to_str().unwrap(), "Bearer hunter2");
        let printed = format!("{header:?} {:?} {}", header.header_value(), header.redacted_line());
        assert!(printed.contains("API_TOKEN") && !printed.contains("hunter2"), "{printed}");
        let wrong = SecretHeader::new("Authorization", "API_TOKEN", "hunter2\nX: y").unwrap_err();
        assert!(wrong.contains("API_TOKEN") && !wrong.contains("hunter2"), "{wrong}");
        assert!(SecretHeader::new("Authorization", "API_TOKEN", "\n").is_err());
    }
}
