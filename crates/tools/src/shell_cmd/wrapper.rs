//! Programs that run other programs. Whoever approves one approves what it will run, so it is said.

/// What to warn about, in words for the person who approves. An approval, and any grant that it
/// makes, covers exactly these words and never "whatever this wrapper runs".
pub(super) fn warnings(argv: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut rest = argv;
    // A wrapper may wrap a wrapper; each step drops a word, so this ends.
    while let Some((program, args)) = rest.split_first() {
        let name = program.rsplit('/').next().unwrap_or(program);
        match wrapper_kind(name, args) {
            None => break,
            Some(ShellWrapperKind::Script) => {
                warnings.push(format!(
                    "`{name}` runs a script: read all of it, since that is what you approve"
                ));
                break;
            }
            Some(ShellWrapperKind::Elsewhere) => {
                warnings.push(format!(
                    "`{name}` runs a command in another place, where its rules and yours may differ"
                ));
                break;
            }
            Some(ShellWrapperKind::Raises) => {
                warnings.push(format!("`{name}` runs a command with another user's rights"));
            }
            Some(ShellWrapperKind::Feeds) => {
                warnings.push(format!(
                    "`{name}` runs a command on whatever it finds or reads, which is not shown here"
                ));
            }
            Some(ShellWrapperKind::Passes) => {
                warnings.push(format!("`{name}` runs the command that follows it"))
            }
        }
        rest = wrapped_command(args);
    }
    warnings
}

enum ShellWrapperKind {
    Script,
    Elsewhere,
    Raises,
    Feeds,
    Passes,
}

fn wrapper_kind(name: &str, args: &[String]) -> Option<ShellWrapperKind> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    // `-c`, also among bundled flags such as `-lc`, and with its value attached.
    let short = |letter: char| {
        args.iter()
            .any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letter))
    };
    // `python3.12` is `python`.
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match family {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "ash" | "busybox" => {
            Some(ShellWrapperKind::Script)
        }
        "python" | "pypy" if short('c') || has("-") => Some(ShellWrapperKind::Script),
        "perl" | "ruby" | "lua" if short('e') || short('E') || has("-") => {
            Some(ShellWrapperKind::Script)
        }
        "node" | "deno" | "bun" if short('e') || short('p') || has("--eval") || has("eval") => {
            Some(ShellWrapperKind::Script)
        }
        "awk" | "gawk" | "mawk" | "sed" | "eval" | "make" | "osascript" => {
            Some(ShellWrapperKind::Script)
        }
        "ssh" | "docker" | "podman" | "kubectl" | "nsenter" | "chroot" | "unshare"
        | "systemd-run" | "at" | "crontab" => Some(ShellWrapperKind::Elsewhere),
        "sudo" | "su" | "doas" | "runuser" | "setpriv" | "pkexec" => Some(ShellWrapperKind::Raises),
        "xargs" | "parallel" => Some(ShellWrapperKind::Feeds),
        "find"
            if ["-exec", "-execdir", "-ok", "-okdir", "-delete"].iter().any(|flag| has(flag)) =>
        {
            Some(ShellWrapperKind::Feeds)
        }
        "env" | "nohup" | "timeout" | "nice" | "ionice" | "time" | "setsid" | "stdbuf"
        | "strace" | "watch" | "flock" | "script" => Some(ShellWrapperKind::Passes),
        _ => None,
    }
}

/// The wrapped command, as well as it can be told: after flags and variables. A wrong guess costs a
/// warning, and nothing else hangs on it.
fn wrapped_command(args: &[String]) -> &[String] {
    let skipped = args
        .iter()
        .take_while(|arg| {
            arg.starts_with('-')
                || arg.contains('=')
                || arg.starts_with(|c: char| c.is_ascii_digit())
        })
        .count();
    &args[skipped..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(line: &str) -> Vec<String> {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        warnings(&argv)
    }

    #[test]
    fn wrappers_are_named_however_they_are_called() {
        for line in [
            "sh -c x",
            "/bin/bash -lc x",
            "env -S x",
            "env A=1 rm",
            "sudo -n rm",
            "xargs rm",
            "python3 -c x",
            "python3.12 -c x",
            "perl -e x",
            "node --eval x",
            "ssh host rm",
            "find . -exec rm {} ;",
            "find . -delete",
            "timeout 5 rm",
        ] {
            assert_eq!(warned(line).len(), 1, "{line}: {:?}", warned(line));
        }
    }

    #[test]
    fn wrappers_in_wrappers_are_all_named() {
        let warnings = warned("env A=1 sudo -n timeout 5 sh -c x");
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[3].contains("script"));
    }

    #[test]
    fn plain_programs_are_not() {
        for line in
            ["git status", "ls -c", "find . -name x", "python3 manage.py migrate", "node server.js"]
        {
            assert_eq!(warned(line), Vec::<String>::new(), "{line}");
        }
    }
}
