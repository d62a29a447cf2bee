//! Commands: `/approve`, `/deny` and their other names.

use super::text::{is_separator, trimmed};
use super::verdict::Reason;

/// What a text that may begin with a slash goes on as.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slash {
    /// None: it is parsed as it is.
    No,
    /// A word of the lexicon with the same meaning, and whatever followed the command.
    GoesOn(String),
    /// `/deny` and nothing else. The word is told, because it may be what the request itself does.
    Cancels(String),
    Other(Reason),
}

pub(super) fn read(text: &str) -> Slash {
    let Some(command) = text.strip_prefix('/') else { return Slash::No };
    let end = command.find(is_separator).unwrap_or(command.len());
    let (name, rest) = command.split_at(end);
    match name {
        "approve" | "confirm" | "yes" | "allow" => Slash::GoesOn(format!("{name} {rest}")),
        "deny" | "cancel" | "reject" | "no" if trimmed(rest).is_empty() => {
            Slash::Cancels(name.to_owned())
        }
        // The rest must be covered like any other text.
        "deny" | "cancel" | "reject" | "no" => Slash::GoesOn(format!("{name} {rest}")),
        _ => Slash::Other(Reason::Command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_are_known() {
        assert_eq!(read("approve"), Slash::No);
        assert_eq!(read("/approve"), Slash::GoesOn("approve ".into()));
        assert_eq!(read("/yes 7k3f"), Slash::GoesOn("yes  7k3f".into()));
        assert_eq!(read("/deny"), Slash::Cancels("deny".into()));
        assert_eq!(read("/deny please"), Slash::GoesOn("deny  please".into()));
        for other in ["/", "/start", "/approved", "/approve?", "/ approve", "//approve"] {
            assert_eq!(read(other), Slash::Other(Reason::Command), "{other}");
        }
    }
}
