//! The headers of a request, as far as signatures need them.

use super::SignatureRefusal;

/// Names and values as they arrived. Names are compared without regard to case.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a>(pub &'a [(&'a str, &'a str)]);

impl<'a> Headers<'a> {
    /// A header that must be there, once: of two signatures nobody can say which one counts.
    pub(crate) fn one(&self, name: &'static str) -> Result<&'a str, SignatureRefusal> {
        let mut values = self.0.iter().filter(|(is, _)| is.eq_ignore_ascii_case(name));
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Ok(value),
            _ => Err(SignatureRefusal::Header(name)),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(is, _)| is.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_counts_once_or_not_at_all() {
        let headers = Headers(&[("X-Sign", "a"), ("other", "b"), ("Twice", "c"), ("twice", "c")]);
        assert_eq!(headers.one("x-sign"), Ok("a"));
        assert_eq!(headers.one("twice"), Err(SignatureRefusal::Header("twice")));
        assert_eq!(headers.one("missing"), Err(SignatureRefusal::Header("missing")));
        assert!(headers.has("OTHER") && !headers.has("missing"));
    }
}
