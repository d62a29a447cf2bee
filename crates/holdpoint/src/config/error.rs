//! What is wrong with a configuration, where, and what to do about it.

use std::fmt;

/// One mistake. The message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub file: String,
    /// Counted from 1; `None` where the file as a whole is meant.
    pub line: Option<usize>,
    pub message: String,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// All mistakes of one file, in the order of its lines. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl std::error::Error for ConfigErrors {}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, mistake) in self.0.iter().enumerate() {
            let between = if number == 0 { "" } else { "\n" };
            write!(f, "{between}{mistake}")?;
        }
        Ok(())
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(one: ConfigError) -> ConfigErrors {
        ConfigErrors(vec![one])
    }
}

/// Says in our words what the reader of TOML found.
pub(super) fn reworded(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut names = quoted(rest);
        let unknown = names.next().unwrap_or_default();
        return unknown_key(unknown, &names.collect::<Vec<_>>());
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("`{}` is missing", quoted(rest).next().unwrap_or_default());
    }
    if let Some((found, wanted)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.split_once(", expected "))
    {
        return format!("{wanted} is expected here, and not {found}");
    }
    message.replace('\n', ", ")
}

pub(super) fn unknown_key(unknown: &str, known: &[&str]) -> String {
    // The one mistake that must not be mended by trying other spellings.
    for (suffix, other) in [("_env", "_file"), ("_file", "_env")] {
        let by_reference = format!("{unknown}{suffix}");
        if known.contains(&by_reference.as_str()) {
            let or = match known.contains(&format!("{unknown}{other}").as_str()) {
                true => format!(" or `{unknown}{other}`"),
                false => String::new(),
            };
            return format!(
                "secrets do not belong in this file: take `{unknown}` out and use \
                 `{by_reference}`{or}"
            );
        }
    }
    match nearest(unknown, known) {
        Some(near) => format!("unknown key `{unknown}`; did you mean `{near}`?"),
        None => format!("unknown key `{unknown}`; the keys here are {}", listed(known)),
    }
}

/// `a`, `b` and `c`.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        None => "none".into(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// The one that was probably meant, if any is near enough.
pub(crate) fn nearest<'a>(text: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|name| (distance(text, name), *name)).min()?;
    (near.0 <= (text.len() / 3).max(1)).then_some(near.1)
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// How many characters must be inserted, removed, replaced or swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_offered() {
        let known = ["listen", "public_url", "tls"];
        assert_eq!(nearest("lisetn", &known), Some("listen"));
        assert_eq!(nearest("publicurl", &known), Some("public_url"));
        assert_eq!(nearest("tsl", &known), Some("tls"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn distances_are_counted() {
        for (a, b, count) in
            [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("kitten", "sitting", 3), ("é", "e", 1)]
        {
            assert_eq!(distance(a, b), count, "{a} {b}");
            assert_eq!(distance(b, a), count, "{b} {a}");
        }
    }

    #[test]
    fn plain_secrets_are_sent_elsewhere() {
        assert_eq!(
            unknown_key("api_key", &["model", "api_key_env", "api_key_file"]),
            "secrets do not belong in this file: take `api_key` out and use `api_key_env` or `api_key_file`"
        );
    }
}
