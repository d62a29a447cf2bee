//! What a shell command line does, told from its text alone, for the policy.
//!
//! A small subset of the language is read: simple commands, `|`, `&&`, `||`, `;`, plain quotes,
//! assignments and redirections ([`reader`]). Each command is looked up in a table ([`programs`]). Everything
//! else is *uninspectable*, with the reason. Nothing is run, expanded or looked up on a disk. Every input
//! gets an answer, without recursion, in time that is linear in its length.
//!
//! It does not know aliases, functions and the files behind names: who can change those can change what a
//! command does. It is a filter for what needs no person, and no sandbox.

mod paths;
mod programs;
mod reader;
mod wrappers;

use std::fmt;

pub use paths::is_secret_path;

/// A longer command line is a program, and people should see it.
pub const COMMAND_BYTES_MAX: usize = 64 << 10;
/// `sh -c "sh -c …"` beyond this is hiding something.
const NESTED_MAX: usize = 4;

/// What a command may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShellKind {
    /// Reads files or the state of the machine, and changes nothing.
    Read,
    /// Makes or changes files.
    Write,
    /// Removes files or other things.
    Delete,
    /// Speaks to other hosts.
    Network,
    /// Installs, updates or removes packages.
    Install,
    /// Publishes: pushes commits, uploads packages.
    Push,
    /// May show credentials.
    Secret,
    /// A program, or a use of one, that is not in the table.
    Unknown,
    /// The command line cannot be read.
    Uninspectable,
}

impl ShellKind {
    /// All of them.
    pub const ALL: [ShellKind; 9] = [
        ShellKind::Read,
        ShellKind::Write,
        ShellKind::Delete,
        ShellKind::Network,
        ShellKind::Install,
        ShellKind::Push,
        ShellKind::Secret,
        ShellKind::Unknown,
        ShellKind::Uninspectable,
    ];

    /// The word by which rules and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            ShellKind::Read => "read",
            ShellKind::Write => "write",
            ShellKind::Delete => "delete",
            ShellKind::Network => "network",
            ShellKind::Install => "install",
            ShellKind::Push => "push",
            ShellKind::Secret => "secret",
            ShellKind::Unknown => "unknown",
            ShellKind::Uninspectable => "uninspectable",
        }
    }

    /// The kind of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<ShellKind> {
        ShellKind::ALL.into_iter().find(|kind| kind.name() == text)
    }

    /// What is not known allows nothing.
    pub fn is_known(self) -> bool {
        !matches!(self, ShellKind::Unknown | ShellKind::Uninspectable)
    }
}

/// All kinds of all commands of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellFacts {
    kinds: Vec<ShellKind>,
    /// Why it is uninspectable, or which program is unknown; for people.
    reason: Option<String>,
}

impl ShellFacts {
    fn nothing() -> ShellFacts {
        ShellFacts { kinds: Vec::new(), reason: None }
    }

    /// It runs in a folder whose files are secrets.
    pub(crate) fn with_secrets(mut self) -> ShellFacts {
        self.add(&[ShellKind::Secret]);
        self.kinds.sort_unstable();
        self
    }

    fn add(&mut self, kinds: &[ShellKind]) {
        for kind in kinds {
            if !self.kinds.contains(kind) {
                self.kinds.push(*kind);
            }
        }
    }

    fn add_because(&mut self, kind: ShellKind, reason: impl FnOnce() -> String) {
        self.add(&[kind]);
        if self.reason.is_none() {
            self.reason = Some(reason());
        }
    }

    /// Never empty.
    pub fn kinds(&self) -> &[ShellKind] {
        &self.kinds
    }

    /// Why it is not known what the command does, or what part of it; for people.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The text of a command line.
    pub fn of_text(text: &str) -> ShellFacts {
        let mut facts = ShellFacts::nothing();
        let mut waiting = vec![(text.to_owned(), 0_usize)];
        let (mut moves, mut runs_git) = (false, false);
        while let Some((text, depth)) = waiting.pop() {
            if depth > NESTED_MAX {
                let why = || format!("shells are nested more than {NESTED_MAX} deep");
                facts.add_because(ShellKind::Uninspectable, why);
                continue;
            }
            match reader::read_commands(&text) {
                Err(why) => facts.add_because(ShellKind::Uninspectable, || why.to_string()),
                Ok(commands) => {
                    for command in &commands {
                        moves |= programs::names_program(command, &["cd", "pushd", "popd"]);
                        runs_git |= programs::names_program(command, &["git"]);
                        let inner = programs::classify(command, &mut facts);
                        waiting.extend(inner.into_iter().map(|text| (text, depth + 1)));
                    }
                }
            }
        }
        // What git runs is configured in the repository that it finds itself in.
        if moves && runs_git {
            let why = "git runs in another folder, which may be another repository";
            facts.add_because(ShellKind::Unknown, || why.into());
        }
        if facts.kinds.is_empty() {
            facts.add_because(ShellKind::Uninspectable, || "there is no command".into());
        }
        facts.kinds.sort_unstable();
        facts
    }

    /// A list of arguments that no shell reads again, as `holdpoint gate` runs it.
    pub fn of_argv(argv: &[&str]) -> ShellFacts {
        let mut facts = ShellFacts::nothing();
        let words = argv.iter().map(|word| reader::ShellWord::quoted(word)).collect();
        let command = reader::SimpleCommand { words, ..reader::SimpleCommand::default() };
        for text in programs::classify(&command, &mut facts) {
            let inner = ShellFacts::of_text(&text);
            facts.add(&inner.kinds);
            facts.reason = facts.reason.or(inner.reason);
        }
        if facts.kinds.is_empty() {
            facts.add_because(ShellKind::Uninspectable, || "there is no command".into());
        }
        facts.kinds.sort_unstable();
        facts
    }
}

/// How many simple commands a command line has. `None`: it cannot be read.
pub fn count_commands(text: &str) -> Option<u64> {
    reader::read_commands(text).ok().map(|commands| commands.len() as u64)
}

/// For people who write rules: `shell.kind = read, unknown (…)`.
impl fmt::Display for ShellFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        write!(f, "shell.kind = {}", names.join(", "))?;
        match &self.reason {
            Some(reason) => write!(f, " ({})", crate::visible::visible(reason)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
