//! Globs and regular expressions, compiled once and bounded.

use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};

use super::compare::Truth;

/// A longer pattern is a program, and belongs in a tool.
const PATTERN_BYTES_MAX: usize = 4_096;
/// What a pattern may grow to when compiled.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// A glob over the whole name of a tool or an agent; `*` matches anything.
#[derive(Clone, Debug)]
pub(super) enum NamePattern {
    Any,
    Exact(Box<str>),
    /// Text between stars, which is all that most rules have, and much faster than a regex.
    Stars {
        first: Box<str>,
        middle: Box<[Box<str>]>,
        last: Box<str>,
    },
    Glob(GlobMatcher),
}

impl NamePattern {
    pub(super) fn compile(pattern: Option<&str>) -> Result<NamePattern, String> {
        let pattern = match pattern {
            None | Some("*") => return Ok(NamePattern::Any),
            Some(pattern) => pattern,
        };
        check_length(pattern)?;
        if pattern.is_empty() {
            return Err("is empty; leave it out to match every name".into());
        }
        if pattern.contains(['?', '[', ']', '{', '}', '\\']) || pattern.contains("**") {
            return Ok(NamePattern::Glob(glob(pattern, false)?));
        }
        let mut parts = pattern.split('*').map(Box::from);
        let first: Box<str> = parts.next().unwrap_or_default();
        let mut middle: Vec<Box<str>> = parts.collect();
        Ok(match middle.pop() {
            None => NamePattern::Exact(first),
            Some(last) => NamePattern::Stars { first, middle: middle.into(), last },
        })
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            NamePattern::Any => true,
            NamePattern::Exact(exact) => **exact == *name,
            NamePattern::Stars { first, middle, last } => {
                // One byte tells most names apart without a call.
                let differ = |a: Option<&u8>, b: Option<&u8>| a.is_some() && a != b;
                if differ(first.as_bytes().first(), name.as_bytes().first())
                    || differ(last.as_bytes().last(), name.as_bytes().last())
                {
                    return false;
                }
                let Some(rest) = name.strip_prefix(&**first) else { return false };
                let Some(mut rest) = rest.strip_suffix(&**last) else { return false };
                middle.iter().all(|part| match rest.find(&**part) {
                    Some(at) => {
                        rest = &rest[at + part.len()..];
                        true
                    }
                    None => false,
                })
            }
            NamePattern::Glob(glob) => glob.is_match(name),
        }
    }
}

/// A glob over an argument, most often a path.
#[derive(Clone, Debug)]
pub(super) struct ValueGlob {
    /// `*` stays within a segment.
    narrow: GlobMatcher,
    /// `*` crosses segments.
    wide: GlobMatcher,
    is_path: bool,
}

impl ValueGlob {
    pub(super) fn compile(pattern: &str) -> Result<ValueGlob, String> {
        check_length(pattern)?;
        Ok(ValueGlob {
            narrow: glob(pattern, true)?,
            wide: glob(pattern, false)?,
            is_path: pattern.contains('/'),
        })
    }

    /// `/tmp/*` is read one way by some and another by others, and `/tmp/../etc` is not where it
    /// says it is: neither allows anything, and neither escapes a rule that forbids.
    pub(super) fn matches(&self, text: &str) -> Truth {
        if self.is_path && is_roundabout(text) {
            Truth::Doubt
        } else if self.narrow.is_match(text) {
            Truth::Yes
        } else if self.wide.is_match(text) {
            Truth::Doubt
        } else {
            Truth::No
        }
    }
}

/// Whether a path or URL may lead elsewhere than its text says.
fn is_roundabout(text: &str) -> bool {
    let path = text.split_once("://").map_or(text, |(_, path)| path);
    let inner_empty = path.contains("//");
    let dots = path.split('/').any(|segment| matches!(segment, "." | ".."));
    let encoded = text.as_bytes().windows(3).any(|escape| {
        escape[0] == b'%'
            && matches!(
                [escape[1], escape[2].to_ascii_lowercase()],
                [b'2', b'e'] | [b'2', b'f'] | [b'5', b'c']
            )
    });
    inner_empty || dots || encoded || text.contains(['\\', '\0'])
}

pub(super) fn regex(pattern: &str) -> Result<Regex, String> {
    check_length(pattern)?;
    RegexBuilder::new(pattern)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| error.to_string())
}

fn glob(pattern: &str, literal_separator: bool) -> Result<GlobMatcher, String> {
    GlobBuilder::new(pattern)
        .literal_separator(literal_separator)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

fn check_length(pattern: &str) -> Result<(), String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("is longer than {PATTERN_BYTES_MAX} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(pattern: &str, name: &str) -> bool {
        NamePattern::compile(Some(pattern)).unwrap().matches(name)
    }

    #[test]
    fn names_match_whole() {
        assert!(name("sql_modify", "sql_modify"));
        assert!(!name("sql_modify", "sql_modify_all"));
        assert!(!name("sql_modify", "xsql_modify"));
        assert!(name("sql_*", "sql_modify") && name("sql_*", "sql_") && !name("sql_*", "a.sql_x"));
        assert!(name("*.delete", "a/b.delete") && !name("*.delete", "a.delete.now"));
        assert!(name("a*b*c", "a-b-b-c") && !name("a*b*c", "acb") && !name("ab*ba", "aba"));
        assert!(name("{sql,shell}_*", "shell_cmd") && !name("{sql,shell}_*", "http_get"));
        assert!(name("tool?", "tool1") && !name("tool?", "tool12"));
        assert!(name("a*", "a\nb") && !name("a", "a\n"));
        assert!(NamePattern::compile(None).unwrap().matches("anything"));
        assert!(name("*", "") && name("*", "any/thing"));
        assert!(NamePattern::compile(Some("")).is_err());
        assert!(NamePattern::compile(Some("[a")).is_err());
        assert!(NamePattern::compile(Some(&"a".repeat(PATTERN_BYTES_MAX + 1))).is_err());
    }

    #[test]
    fn paths_that_lead_elsewhere_are_doubtful() {
        let glob = ValueGlob::compile("/tmp/*").unwrap();
        assert_eq!(glob.matches("/tmp/x"), Truth::Yes);
        assert_eq!(glob.matches("/etc/x"), Truth::No);
        for text in [
            "/tmp/x/y",
            "/tmp/..",
            "/tmp/../etc/passwd",
            "/etc/../tmp/x",
            "/tmp//x",
            "/tmp/./x",
            "/tmp/%2e%2E",
            "/tmp/a%2Fb",
            "\\tmp\\x",
            "/tmp/x\0",
        ] {
            assert_eq!(glob.matches(text), Truth::Doubt, "{text}");
        }
        let all = ValueGlob::compile("/tmp/**").unwrap();
        assert_eq!(all.matches("/tmp/x/y"), Truth::Yes);
        assert_eq!(all.matches("/tmp2/x"), Truth::No);
        let url = ValueGlob::compile("https://api.example.com/**").unwrap();
        assert_eq!(url.matches("https://api.example.com/a/b"), Truth::Yes);
        assert_eq!(url.matches("https://api.example.com/a/../b"), Truth::Doubt);
        assert_eq!(url.matches("https://api.example.com.evil/a"), Truth::No);
        // Without a slash it is text and no path.
        let text = ValueGlob::compile("stage-*").unwrap();
        assert_eq!(text.matches("stage-..2"), Truth::Yes);
    }

    #[test]
    fn patterns_are_bounded() {
        assert!(regex("(a{1000}){1000}").is_err());
        assert!(regex("(").is_err());
        assert!(regex(&"a".repeat(PATTERN_BYTES_MAX + 1)).is_err());
        assert!(regex(r"(?i)\bdrop\s+table\b").unwrap().is_match("DROP  TABLE x"));
    }

    proptest! {
        #[test]
        fn the_fast_way_agrees_with_globs(pattern in "[ab*/.]{1,6}", text in "[ab/.]{0,8}") {
            prop_assume!(!pattern.contains("**"));
            let slow = glob(&pattern, false).unwrap();
            prop_assert_eq!(name(&pattern, &text), slow.is_match(&text), "{} {}", pattern, text);
        }

        #[test]
        fn patterns_never_panic(pattern in any::<String>(), text in any::<String>()) {
            if let Ok(pattern) = NamePattern::compile(Some(&pattern)) {
                let _ = pattern.matches(&text);
            }
            if let Ok(glob) = ValueGlob::compile(&pattern) {
                let _ = glob.matches(&text);
            }
            if let Ok(regex) = regex(&pattern) {
                let _ = regex.is_match(&text);
            }
        }
    }
}
