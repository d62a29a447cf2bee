//! Commands: `/approve`, `/deny` and their other names.

use super::text::{is_separator, trim_emphasis};
use super::verdict::AmbiguityReason;

/// What a text that may begin with a slash goes on as.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SlashCommand {
    /// None: it is parsed as it is.
    No,
    /// A word of the lexicon with the same meaning, and whatever followed the command.
    GoesOn(String),
    /// `/deny` and nothing else. The word is told, because it may be what the request itself does.
    Cancels(String),
    Other(AmbiguityReason),
}

pub(super) fn parse_slash(text: &str) -> SlashCommand {
    let Some(command) = text.strip_prefix('/') else { return SlashCommand::No };
    let end = command.find(is_separator).unwrap_or(command.len());
    let (name, rest) = command.split_at(end);
    match name {
        "approve" | "confirm" | "yes" | "allow" => SlashCommand::GoesOn(format!("{name} {rest}")),
        "deny" | "cancel" | "reject" | "no" if trim_emphasis(rest).is_empty() => {
            SlashCommand::Cancels(name.to_owned())
        }
        // The rest must be covered like any other text.
        "deny" | "cancel" | "reject" | "no" => SlashCommand::GoesOn(format!("{name} {rest}")),
        _ => SlashCommand::Other(AmbiguityReason::Command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_are_known() {
        assert_eq!(parse_slash("approve"), SlashCommand::No);
        assert_eq!(parse_slash("/approve"), SlashCommand::GoesOn("approve ".into()));
        assert_eq!(parse_slash("/yes 7k3f"), SlashCommand::GoesOn("yes  7k3f".into()));
        assert_eq!(parse_slash("/deny"), SlashCommand::Cancels("deny".into()));
        assert_eq!(parse_slash("/deny please"), SlashCommand::GoesOn("deny  please".into()));
        for other in ["/", "/start", "/approved", "/approve?", "/ approve", "//approve"] {
            assert_eq!(
                parse_slash(other),
                SlashCommand::Other(AmbiguityReason::Command),
                "{other}"
            );
        }
    }
}
