//! Programs that run another one: the other one counts.

use super::reader::{ShellWord, is_name};
use super::{ShellFacts, ShellKind};

/// What is behind a wrapper.
pub(super) enum Unwrapped<'a> {
    /// No wrapper.
    Itself,
    Inner(&'a [ShellWord]),
    /// A shell reads this text.
    Text(String),
    /// It is told in full.
    Told,
}

/// Variables that change no program's meaning.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    matches!(
        name,
        "LANG"
            | "LANGUAGE"
            | "TZ"
            | "NO_COLOR"
            | "FORCE_COLOR"
            | "CLICOLOR"
            | "CI"
            | "COLUMNS"
            | "LINES"
            | "RUST_LOG"
            | "RUST_BACKTRACE"
            | "NODE_ENV"
            | "PYTHONUNBUFFERED"
            | "DEBIAN_FRONTEND"
    ) || name.starts_with("LC_")
}

pub(super) fn unwrap<'a>(
    program: &str,
    words: &'a [ShellWord],
    facts: &mut ShellFacts,
) -> Unwrapped<'a> {
    let rest = words.get(1..).unwrap_or_default();
    let first = rest.first().map_or("", |word| word.text.as_str());
    let mut unreadable = |what: &str| {
        facts.add_because(ShellKind::Uninspectable, || format!("`{program}` {what}"));
        Unwrapped::Told
    };
    match program {
        "command" if matches!(first, "-v" | "-V") => {
            facts.add(&[ShellKind::Read]);
            Unwrapped::Told
        }
        "command" | "builtin" | "time" | "nohup" | "nice" | "setsid" | "stdbuf" | "ionice"
        | "sudo" | "doas" | "xargs" | "timeout" | "env"
            if first.starts_with('-') =>
        {
            unreadable("has options that are not read here")
        }
        "env" => {
            let is_set = |word: &&ShellWord| {
                word.text.split_once('=').is_some_and(|(name, _)| is_name(name))
            };
            let set = rest.iter().take_while(is_set).count();
            for word in &rest[..set] {
                let name = word.text.split('=').next().unwrap_or_default();
                if !is_harmless_variable(name) {
                    facts
                        .add_because(ShellKind::Unknown, || format!("it sets the variable {name}"));
                }
            }
            if rest.len() == set {
                facts.add(&[ShellKind::Secret]);
                return Unwrapped::Told;
            }
            Unwrapped::Inner(&rest[set..])
        }
        "command" | "builtin" | "time" | "nohup" | "nice" | "setsid" | "stdbuf" | "ionice"
        | "sudo" | "doas" | "xargs"
            if rest.is_empty() =>
        {
            facts.add_because(ShellKind::Unknown, || format!("`{program}` alone"));
            Unwrapped::Told
        }
        "command" | "builtin" | "time" | "nice" => Unwrapped::Inner(rest),
        "nohup" => {
            facts.add(&[ShellKind::Write]);
            Unwrapped::Inner(rest)
        }
        "sudo" | "doas" => {
            facts.add_because(ShellKind::Unknown, || format!("`{program}` gives it other rights"));
            Unwrapped::Inner(rest)
        }
        "xargs" => {
            facts.add_because(ShellKind::Unknown, || {
                "`xargs` adds arguments that are not known".into()
            });
            Unwrapped::Inner(rest)
        }
        "timeout" => match rest {
            [_, inner @ ..] if !inner.is_empty() => Unwrapped::Inner(inner),
            _ => unreadable("has no command"),
        },
        "bash" | "sh" | "dash" | "zsh" | "ksh" => match rest {
            [option, text] if option.text == "-c" && !text.has_glob => {
                Unwrapped::Text(text.text.clone())
            }
            _ => unreadable("reads its commands from elsewhere"),
        },
        "fish" | "csh" | "tcsh" | "nu" | "pwsh" | "busybox" => {
            unreadable("is a shell that is not read here")
        }
        "eval" | "source" | "." | "exec" | "trap" | "alias" | "unalias" | "set" | "unset"
        | "shopt" | "setopt" | "enable" | "hash" | "export" | "declare" | "typeset" | "local"
        | "readonly" | "read" | "mapfile" | "bind" | "autoload" | "zmodload" | "noglob"
        | "nocorrect" => unreadable("changes how the shell reads what follows"),
        _ => Unwrapped::Itself,
    }
}
