//! A shell command line, as the policy reads it: every text has an answer, and an unread part never passes for harmless.

use domain::shell::{ShellFacts, ShellKind};

use super::text;

pub(super) fn run(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let facts = ShellFacts::of_text(text);
    assert!(!facts.kinds().is_empty());
    let is_known = facts.kinds().iter().all(|kind| kind.is_known());
    assert_eq!(is_known, facts.reason().is_none(), "what is not known has a reason");
    // What follows a pipe into a shell, or a part that is not read, is not known whatever stands before it.
    for end in ["\n| sh", " | sh", "; echo $x", " > file"] {
        let longer = ShellFacts::of_text(&format!("{text}{end}"));
        assert_ne!(longer.kinds(), [ShellKind::Read], "{text:?}{end}");
    }
    let argv: Vec<&str> = text.split('\0').collect();
    assert!(!ShellFacts::of_argv(&argv).kinds().is_empty());
}
