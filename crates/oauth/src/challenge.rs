//! What a resource says when it wants a token: the header `WWW-Authenticate` of a 401 (RFC 6750, RFC 9728).

use crate::limits::{CHALLENGE_BYTES_MAX, SCOPES_MAX};

/// The challenge of the scheme `Bearer`. What cannot be read is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BearerChallenge {
    /// Where the resource's metadata is.
    pub resource_metadata: Option<String>,
    /// What the resource wants the token to be good for.
    pub scopes: Vec<String>,
    pub error: Option<String>,
}

impl BearerChallenge {
    /// `None` if no challenge of the header is one for bearer tokens.
    pub fn parse(header: &str) -> Option<BearerChallenge> {
        let mut rest = header.get(..CHALLENGE_BYTES_MAX.min(header.len())).unwrap_or_default();
        // The scheme stands at the beginning, or after the comma that ends another challenge.
        loop {
            rest = rest.trim_start_matches([',', ' ', '\t']);
            let word = rest.find([' ', ',', '=']).unwrap_or(rest.len());
            if rest.is_empty() {
                return None;
            }
            let (scheme, after) = rest.split_at(word);
            if scheme.eq_ignore_ascii_case("bearer") && !after.starts_with('=') {
                return Some(BearerChallenge::parse_parameters(after));
            }
            rest = match after.strip_prefix('=') {
                Some(value) => skip_value(value),
                None => after,
            };
            if word == 0 {
                return None;
            }
        }
    }

    fn parse_parameters(mut rest: &str) -> BearerChallenge {
        let mut challenge = BearerChallenge::default();
        loop {
            rest = rest.trim_start_matches([',', ' ', '\t']);
            let Some(at) = rest.find('=') else { return challenge };
            let name = rest[..at].trim_end();
            // Another scheme begins here.
            if name.is_empty() || name.contains([' ', ',']) {
                return challenge;
            }
            let (value, after) = take_value(&rest[at + 1..]);
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => challenge.resource_metadata = Some(value),
                "scope" => challenge.scopes = split_scopes(&value),
                "error" => challenge.error = Some(value),
                _ => {}
            }
            rest = after;
        }
    }
}

/// Scopes as they are written everywhere: with blanks between them.
pub(crate) fn split_scopes(text: &str) -> Vec<String> {
    let scopes = text.split(' ').filter(|scope| is_scope(scope));
    scopes.take(SCOPES_MAX).map(str::to_owned).collect()
}

/// RFC 6749, 3.3.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
}

fn skip_value(text: &str) -> &str {
    take_value(text).1
}

/// A value, quoted or not, and what follows it.
fn take_value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    // The quote never ends: what stands there is not a value.
    (String::new(), "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(header: &str) -> (Option<String>, Vec<String>) {
        let challenge = BearerChallenge::parse(header).unwrap_or_default();
        (challenge.resource_metadata, challenge.scopes)
    }

    #[test]
    fn metadata_and_scopes_are_found_however_the_header_is_written() {
        let address = Some("https://mcp.example/.well-known/x".to_owned());
        for header in [
            r#"Bearer resource_metadata="https://mcp.example/.well-known/x", scope="a b""#,
            r#"bearer error="invalid_token",scope="a b",resource_metadata=https://mcp.example/.well-known/x"#,
            r#"Basic realm="a, Bearer b=c", Bearer scope="a b", resource_metadata="https://mcp.example/.well-known/x""#,
            r#"BEARER realm="x \" y", scope = "a  b", resource_metadata="https://mcp.example/.well-known/x", Digest q="1""#,
        ] {
            assert_eq!(found(header), (address.clone(), vec!["a".into(), "b".into()]), "{header}");
        }
        for header in ["", "Basic", "Basic realm=\"Bearer x\"", "bearer=1", "=,=", "\"Bearer"] {
            assert_eq!(BearerChallenge::parse(header), None, "{header}");
        }
        assert_eq!(BearerChallenge::parse("Bearer"), Some(BearerChallenge::default()));
        assert_eq!(found(r#"Bearer scope="never ends"#), (None, vec![]));
    }

    proptest! {
        #[test]
        fn any_header_is_read_to_its_end(header in r#"[Bbearer =",\\a-z]{0,60}|\PC{0,40}"#) {
            let _ = BearerChallenge::parse(&header);
        }
    }
}
