//! What the programs do that coding agents run most. A program that is not here, and a use of one that is not
//! understood, is unknown.

use super::paths::{is_harmless_glob, is_secret_path};
use super::reader::{ShellWord, SimpleCommand};
use super::wrappers::{Unwrapped, is_harmless_variable, unwrap};
use super::{ShellFacts, ShellKind};

use ShellKind::{Delete, Install, Network, Push, Read, Secret, Unknown, Write};

/// Programs that read: name, letters of short options and beginnings of long options that do more.
const READERS: &[(&str, &str, &[&str])] = &[
    ("ls", "", &[]),
    ("cat", "", &[]),
    ("head", "", &[]),
    ("tail", "", &[]),
    ("wc", "", &[]),
    ("pwd", "", &[]),
    ("whoami", "", &[]),
    ("id", "", &[]),
    ("groups", "", &[]),
    ("echo", "", &[]),
    ("printf", "v", &[]),
    ("true", "", &[]),
    ("false", "", &[]),
    (":", "", &[]),
    ("test", "", &[]),
    ("[", "", &[]),
    ("cd", "", &[]),
    ("basename", "", &[]),
    ("dirname", "", &[]),
    ("realpath", "", &[]),
    ("readlink", "", &[]),
    ("stat", "", &[]),
    ("file", "C", &["--com"]),
    ("du", "", &[]),
    ("df", "", &[]),
    ("free", "", &[]),
    ("uptime", "", &[]),
    ("uname", "", &[]),
    ("nproc", "", &[]),
    ("arch", "", &[]),
    ("ps", "", &[]),
    ("sleep", "", &[]),
    ("which", "", &[]),
    ("type", "", &[]),
    ("whereis", "", &[]),
    ("tree", "oR", &["--o", "--fromf", "--fromt"]),
    ("diff", "", &[]),
    ("cmp", "", &[]),
    ("comm", "", &[]),
    ("join", "", &[]),
    ("paste", "", &[]),
    ("cut", "", &[]),
    ("tr", "", &[]),
    ("nl", "", &[]),
    ("tac", "", &[]),
    ("rev", "", &[]),
    ("fold", "", &[]),
    ("fmt", "", &[]),
    ("column", "", &[]),
    ("expand", "", &[]),
    ("seq", "", &[]),
    ("sort", "oT", &["--o", "--co", "--t"]),
    ("grep", "", &[]),
    ("egrep", "", &[]),
    ("fgrep", "", &[]),
    ("rg", "", &["--pre", "--hostname", "--config"]),
    ("md5sum", "", &[]),
    ("sha1sum", "", &[]),
    ("sha256sum", "", &[]),
    ("sha512sum", "", &[]),
    ("cksum", "", &[]),
    ("od", "", &[]),
    ("hexdump", "", &[]),
    ("strings", "", &[]),
    ("jq", "fL", &["--fr", "--l"]),
];

/// They show names and sizes, not what is in a file, so a pattern tells no secret.
const NAMES_ONLY: &[&str] = &[
    "ls", "test", "[", "du", "stat", "basename", "dirname", "echo", "printf", "realpath",
    "readlink", "tree",
];

/// No option of theirs does harm, so a file whose name is an option cannot make them do any.
const WITHOUT_HARMFUL_OPTIONS: &[&str] = &["ls", "echo", "cat", "head", "tail", "wc", "cd"];

/// Programs of which every use is of these kinds.
const OTHERS: &[(&str, &[ShellKind])] = &[
    ("mkdir", &[Write]),
    ("touch", &[Write]),
    ("cp", &[Write]),
    ("mv", &[Write]),
    ("ln", &[Write]),
    ("tee", &[Write]),
    ("install", &[Write]),
    ("chmod", &[Write]),
    ("chown", &[Write]),
    ("chgrp", &[Write]),
    ("patch", &[Write]),
    ("dd", &[Write, Delete]),
    ("mktemp", &[Write]),
    ("split", &[Write]),
    ("zip", &[Write]),
    ("unzip", &[Write]),
    ("gzip", &[Write, Delete]),
    ("gunzip", &[Write, Delete]),
    ("rm", &[Delete]),
    ("rmdir", &[Delete]),
    ("unlink", &[Delete]),
    ("shred", &[Delete]),
    ("truncate", &[Write, Delete]),
    ("curl", &[Network, Write]),
    ("wget", &[Network, Write]),
    ("aria2c", &[Network, Write]),
    ("http", &[Network, Write]),
    ("https", &[Network, Write]),
    ("scp", &[Network, Write]),
    ("sftp", &[Network, Write]),
    ("ftp", &[Network, Write]),
    ("rsync", &[Network, Write, Delete]),
    ("ssh", &[Network, Unknown]),
    ("telnet", &[Network, Unknown]),
    ("nc", &[Network, Unknown]),
    ("ncat", &[Network, Unknown]),
    ("netcat", &[Network, Unknown]),
    ("socat", &[Network, Unknown]),
    ("ping", &[Network]),
    ("dig", &[Network]),
    ("nslookup", &[Network]),
    ("host", &[Network]),
    ("whois", &[Network]),
    ("gh", &[Network, Unknown]),
    ("glab", &[Network, Unknown]),
    ("aws", &[Network, Unknown]),
    ("gcloud", &[Network, Unknown]),
    ("az", &[Network, Unknown]),
    ("kubectl", &[Network, Unknown]),
    ("helm", &[Network, Unknown]),
    ("terraform", &[Network, Unknown]),
    ("npx", &[Install, Network, Unknown]),
    ("bunx", &[Install, Network, Unknown]),
    ("uvx", &[Install, Network, Unknown]),
    ("pipx", &[Install, Network, Unknown]),
    ("apt", &[Install, Network]),
    ("apt-get", &[Install, Network]),
    ("dpkg", &[Install]),
    ("dnf", &[Install, Network]),
    ("yum", &[Install, Network]),
    ("apk", &[Install, Network]),
    ("pacman", &[Install, Network]),
    ("brew", &[Install, Network]),
    ("snap", &[Install, Network]),
    ("conda", &[Install, Network]),
    ("rustup", &[Install, Network]),
    ("twine", &[Push, Network]),
    ("printenv", &[Secret]),
    ("gpg", &[Secret, Unknown]),
    ("pass", &[Secret, Unknown]),
    ("vault", &[Secret, Network, Unknown]),
    ("op", &[Secret, Network, Unknown]),
    ("security", &[Secret, Unknown]),
    ("ssh-add", &[Secret, Unknown]),
    ("ssh-keygen", &[Secret, Write, Unknown]),
];

/// Package managers: the words that install, and those that publish. Every other use runs code of the project.
const PACKAGES: &[(&str, &[&str], &[&str])] = &[
    (
        "npm",
        &[
            "install",
            "i",
            "add",
            "ci",
            "update",
            "up",
            "upgrade",
            "uninstall",
            "remove",
            "rm",
            "link",
            "exec",
            "x",
        ],
        &["publish", "unpublish", "deprecate", "dist-tag", "access", "owner"],
    ),
    ("pnpm", &["install", "i", "add", "update", "up", "remove", "rm", "link", "dlx"], &["publish"]),
    ("yarn", &["install", "add", "upgrade", "up", "remove", "link", "dlx"], &["publish"]),
    ("bun", &["install", "i", "add", "update", "remove", "rm", "link", "x"], &["publish"]),
    ("pip", &["install", "uninstall", "download"], &[]),
    ("pip3", &["install", "uninstall", "download"], &[]),
    ("uv", &["add", "remove", "sync", "pip", "tool", "lock"], &["publish"]),
    ("poetry", &["install", "add", "remove", "update", "lock"], &["publish"]),
    ("gem", &["install", "uninstall", "update"], &["push", "yank"]),
    ("bundle", &["install", "add", "update", "remove"], &[]),
    ("composer", &["install", "require", "update", "remove"], &[]),
    ("go", &["install", "get"], &[]),
    (
        "cargo",
        &["install", "uninstall", "add", "remove", "update", "fetch"],
        &["publish", "yank", "owner"],
    ),
    ("docker", &["pull"], &["push"]),
    ("podman", &["pull"], &["push"]),
];

/// Whether one of these programs is named anywhere in the command, also behind a wrapper.
pub(super) fn names_program(command: &SimpleCommand, wanted: &[&str]) -> bool {
    command.words.iter().any(|word| wanted.contains(&known_name(&word.text)))
}

/// Adds what the command does. Returns texts that a shell inside it reads.
pub(super) fn classify(command: &SimpleCommand, facts: &mut ShellFacts) -> Vec<String> {
    for name in &command.assignments {
        match is_harmless_variable(name) {
            true => facts.add(&[Read]),
            false => facts.add_because(Unknown, || format!("it sets the variable {name}")),
        }
    }
    for redirection in &command.redirections {
        let target = redirection.target.text.as_str();
        if target.starts_with("/dev/tcp") || target.starts_with("/dev/udp") {
            facts.add(&[Network]);
        }
        let kind = if redirection.writes && target != "/dev/null" { Write } else { Read };
        facts.add(&[kind]);
        if tells_secret(&redirection.target) {
            facts.add(&[Secret]);
        }
    }
    let mut words = command.words.as_slice();
    loop {
        let Some(first) = words.first() else { return Vec::new() };
        let program = known_name(&first.text);
        match unwrap(program, words, facts) {
            Unwrapped::Inner(inner) => words = inner,
            Unwrapped::Text(text) => return vec![text],
            Unwrapped::Told => return Vec::new(),
            Unwrapped::Itself => {
                arguments(program, words.get(1..).unwrap_or_default(), facts);
                return Vec::new();
            }
        }
    }
}

/// The name of a program of the system. A program from another folder is not known.
fn known_name(word: &str) -> &str {
    let system = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];
    system
        .iter()
        .find_map(|folder| word.strip_prefix(folder))
        .filter(|name| !name.contains('/'))
        .unwrap_or(word)
}

fn tells_secret(word: &ShellWord) -> bool {
    is_secret_path(&word.text) || (word.has_glob && !is_harmless_glob(&word.text))
}

fn arguments(program: &str, words: &[ShellWord], facts: &mut ShellFacts) {
    let names_only = NAMES_ONLY.contains(&program) || program == "find";
    if !names_only && words.iter().any(tells_secret) {
        facts.add(&[Secret]);
    }
    if !WITHOUT_HARMFUL_OPTIONS.contains(&program)
        && let Some(glob) = words.iter().take_while(|word| word.text != "--").find(may_be_an_option)
    {
        facts.add_because(Unknown, || {
            let glob = &glob.text;
            format!("`{glob}` may match a file whose name is an option; `./{glob}` cannot")
        });
    }
    let told = match program {
        "git" => git(words),
        "find" => find(words),
        "sed" => sed(words),
        // Shells work out subscripts and numbers in these, and run what is in them: `test -v 'a[$(rm b)]'`.
        "test" | "[" | "printf" if words.iter().any(|word| word.text.contains(['$', '`'])) => None,
        _ => table(program, words),
    };
    match told {
        Some(kinds) => facts.add(&kinds),
        None => facts.add_because(Unknown, || {
            let second = words.first().map(|word| format!(" {}", word.text)).unwrap_or_default();
            format!("what `{program}{second}` does is not known")
        }),
    }
}

/// A pattern that a file named `--output=x` can fit.
fn may_be_an_option(word: &&ShellWord) -> bool {
    word.has_glob && word.text.starts_with(['*', '?', '[', '-'])
}

fn table(program: &str, words: &[ShellWord]) -> Option<Vec<ShellKind>> {
    if let Some((_, letters, longs)) = READERS.iter().find(|(name, ..)| *name == program) {
        let does_more = words.iter().any(|word| has_option(&word.text, letters, longs));
        return (!does_more).then(|| reads(program, words));
    }
    if let Some((_, kinds)) = OTHERS.iter().find(|(name, _)| *name == program) {
        return Some(kinds.to_vec());
    }
    let (_, installs, publishes) = PACKAGES.iter().find(|(name, ..)| *name == program)?;
    let verb = words.first()?.text.as_str();
    if installs.contains(&verb) {
        Some(vec![Install, Network])
    } else if publishes.contains(&verb) {
        Some(vec![Push, Network])
    } else {
        None
    }
}

/// A search through whole folders finds secrets, too, unless it leaves out what is hidden and ignored.
fn reads(program: &str, words: &[ShellWord]) -> Vec<ShellKind> {
    let has = |letters: &str, longs: &[&str]| {
        words.iter().any(|word| has_option(&word.text, letters, longs))
    };
    let finds_secrets = match program {
        "grep" | "egrep" | "fgrep" => has("rRd", &["--r", "--de", "--dir"]),
        "rg" => has(".u", &["--hid", "--no-ig", "--unr"]) || !globs_are_harmless(words),
        "diff" => has("r", &["--rec"]) || words.iter().any(|word| may_be_folder(&word.text)),
        // It sees the environment, also by way of a module.
        "jq" => words.iter().any(|word| {
            let text = word.text.to_ascii_lowercase();
            ["env", "import", "include"].iter().any(|name| text.contains(name))
        }),
        "ps" => words.iter().any(|word| {
            word.text.contains('E') || (word.text.contains('e') && !word.text.starts_with('-'))
        }),
        _ => false,
    };
    if finds_secrets { vec![Read, Secret] } else { vec![Read] }
}

/// `rg -g PATTERN` also looks into hidden files that the pattern matches.
fn globs_are_harmless(words: &[ShellWord]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let attached = ["--glob=", "--iglob="].iter().find_map(|option| text.strip_prefix(option));
        let pattern = match (attached, text) {
            (Some(pattern), _) => pattern,
            (None, "-g" | "--glob" | "--iglob") => words.next().map_or("", |word| &word.text),
            // Joined with other letters, or shortened: it would have to be read as the program reads it.
            (None, _) if has_option(text, "g", &["--gl", "--ig"]) => return false,
            (None, _) => continue,
        };
        if !pattern.starts_with('!') && !is_harmless_glob(pattern) {
            return false;
        }
    }
    true
}

/// `diff` of folders shows every file in them, hidden ones too.
fn may_be_folder(operand: &str) -> bool {
    let name = operand.rsplit('/').next().unwrap_or_default();
    !operand.starts_with('-') && !name.trim_start_matches('.').contains('.')
}

/// `longs` are beginnings, as programs let long options be shortened.
fn has_option(word: &str, letters: &str, longs: &[&str]) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        return !long.is_empty() && longs.iter().any(|start| word.starts_with(start));
    }
    match word.strip_prefix('-') {
        Some(short) => short.chars().any(|letter| letters.contains(letter)),
        None => false,
    }
}

fn find(words: &[ShellWord]) -> Option<Vec<ShellKind>> {
    let mut kinds = vec![Read];
    for word in words {
        match word.text.as_str() {
            "-delete" => kinds.push(Delete),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-files0-from" => return None,
            text if text.starts_with("-fprint") || text.starts_with("-fls") => kinds.push(Write),
            _ => {}
        }
    }
    Some(kinds)
}

/// Only `sed -n 'A,Bp' FILE…` is certain to read; `-i` writes; a script may write files and run programs.
fn sed(words: &[ShellWord]) -> Option<Vec<ShellKind>> {
    match words {
        [quiet, script, files @ ..] if quiet.text == "-n" => {
            let range = script.text.strip_suffix('p')?;
            let plain =
                range.bytes().all(|byte| byte.is_ascii_digit() || byte == b',' || byte == b'$');
            (plain && files.iter().all(|file| !file.text.starts_with('-'))).then(|| vec![Read])
        }
        _ => None,
    }
}

fn git(words: &[ShellWord]) -> Option<Vec<ShellKind>> {
    let mut words = words;
    // Not `-C`: in another folder there may be another repository, whose configuration names programs.
    while let [option, rest @ ..] = words
        && option.text == "--no-pager"
    {
        words = rest;
    }
    let (verb, rest) = words.split_first()?;
    let has = |letters: &str, longs: &[&str]| {
        rest.iter().any(|word| has_option(&word.text, letters, longs))
    };
    // They write files, or run a program that the configuration or the option names.
    // `--no-index` reads files that are none of the repository's.
    if has("", &["--ou", "--ext", "--op", "--upl", "--rece", "--exe", "--no-ind"]) {
        return None;
    }
    let first = rest.first().map_or("", |word| word.text.as_str());
    Some(match verb.text.as_str() {
        "status" | "log" | "diff" | "show" | "blame" | "rev-parse" | "rev-list" | "ls-files"
        | "ls-tree" | "describe" | "shortlog" | "cat-file" | "merge-base" | "name-rev"
        | "whatchanged" | "version" | "check-ignore" | "for-each-ref" | "show-ref"
        | "count-objects" => vec![Read],
        "grep" => match has("O", &[]) {
            true => return None,
            false => vec![Read],
        },
        "branch" | "tag" if rest.iter().all(|word| is_listing(&word.text)) => vec![Read],
        "branch" | "tag" if has("dD", &["--d"]) => vec![Write, Delete],
        "remote" if first == "get-url" => vec![Read],
        // `git remote -v add …` is an `add`.
        "remote" if rest.len() <= 1 && matches!(first, "" | "-v" | "--verbose") => vec![Read],
        "reflog" if matches!(first, "" | "show") => vec![Read],
        "stash" if matches!(first, "list" | "show") => vec![Read],
        "stash" if matches!(first, "drop" | "clear") => vec![Write, Delete],
        "worktree" if first == "list" => vec![Read],
        "config" if matches!(first, "--get" | "--list" | "-l" | "get" | "list") => {
            vec![Read, Secret]
        }
        "rebase" if has("xi", &["--in"]) => return None,
        // Hooks of the repository run at some of these; they are files that an agent may not change unasked.
        "add" | "commit" | "checkout" | "switch" | "merge" | "rebase" | "cherry-pick"
        | "revert" | "tag" | "branch" | "stash" | "mv" | "init" | "apply" | "am" | "worktree" => {
            vec![Write]
        }
        "restore" | "reset" => vec![Write, Delete],
        "rm" | "clean" | "gc" | "prune" => vec![Write, Delete],
        "fetch" | "pull" | "clone" | "ls-remote" | "remote" => vec![Network, Write],
        "push" | "send-pack" | "send-email" => vec![Push, Network],
        "credential" => vec![Secret],
        _ => return None,
    })
}

fn is_listing(word: &str) -> bool {
    matches!(
        word,
        "-a" | "-r"
            | "-v"
            | "-vv"
            | "-av"
            | "-avv"
            | "-l"
            | "-n"
            | "--list"
            | "--all"
            | "--remotes"
            | "--show-current"
            | "--merged"
            | "--no-merged"
    )
}
