//! Programs that run other programs. Whoever approves one approves what it will run, so it is said.

use domain::warning::{Warning, WarningKind, WrapperRuns};

/// What to warn about, for the person who approves. An approval, and any grant that it
/// makes, covers exactly these words and never "whatever this wrapper runs".
pub(super) fn warnings(argv: &[String]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut rest = argv;
    // A wrapper may wrap a wrapper; each step drops a word, so this ends.
    while let Some((program, args)) = rest.split_first() {
        let name = program.rsplit('/').next().unwrap_or(program);
        let Some(runs) = wrapper_runs(name, args) else { break };
        let program = name.to_owned();
        warnings.push(WarningKind::Wrapper { program, runs }.into());
        if matches!(runs, WrapperRuns::Script | WrapperRuns::Elsewhere) {
            break;
        }
        rest = wrapped_command(args);
    }
    warnings
}

fn wrapper_runs(name: &str, args: &[String]) -> Option<WrapperRuns> {
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
            Some(WrapperRuns::Script)
        }
        "python" | "pypy" if short('c') || has("-") => Some(WrapperRuns::Script),
        "perl" | "ruby" | "lua" if short('e') || short('E') || has("-") => {
            Some(WrapperRuns::Script)
        }
        "node" | "deno" | "bun" if short('e') || short('p') || has("--eval") || has("eval") => {
            Some(WrapperRuns::Script)
        }
        "awk" | "gawk" | "mawk" | "sed" | "eval" | "make" | "osascript" => {
            Some(WrapperRuns::Script)
        }
        "ssh" | "docker" | "podman" | "kubectl" | "nsenter" | "chroot" | "unshare"
        | "systemd-run" | "at" | "crontab" => Some(WrapperRuns::Elsewhere),
        "sudo" | "su" | "doas" | "runuser" | "setpriv" | "pkexec" => {
            Some(WrapperRuns::AsAnotherUser)
        }
        "xargs" | "parallel" => Some(WrapperRuns::OnFindings),
        "find"
            if ["-exec", "-execdir", "-ok", "-okdir", "-delete"].iter().any(|flag| has(flag)) =>
        {
            Some(WrapperRuns::OnFindings)
        }
        "env" | "nohup" | "timeout" | "nice" | "ionice" | "time" | "setsid" | "stdbuf"
        | "strace" | "watch" | "flock" | "script" => Some(WrapperRuns::Command),
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

    fn warned(line: &str) -> Vec<Warning> {
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
        assert!(warnings[3].text().contains("script"));
    }

    #[test]
    fn plain_programs_are_not() {
        for line in
            ["git status", "ls -c", "find . -name x", "python3 manage.py migrate", "node server.js"]
        {
            assert_eq!(warned(line), Vec::<Warning>::new(), "{line}");
        }
    }
}
