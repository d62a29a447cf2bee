//! Which files a command runs, as far as its words tell.
//!
//! Those are the program, every file up to the script that an interpreter is given (`node -r ./hook.js
//! app.js`), and what a script among the words names as a program, also after `cd`. Data is not: a log that
//! grows meanwhile is still the log that was to be read. Nor are programs of the system: an attacker who can
//! replace those needs no approval. What only the shell can tell (`$DIR/deploy.sh`) is said to the person who approves.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::visible::visible;
use domain::warning::{Warning, WarningKind};

use super::spool_file::open_regular_file;
use crate::limits::{BOUND_FILES_MAX, FILE_LOOKUPS_MAX, UNBOUND_SHOWN_MAX};

#[derive(Debug, Default)]
pub(super) struct NamedFiles {
    pub(super) files: Vec<PathBuf>,
    pub(super) warnings: Vec<Warning>,
}

/// `is_own`: whether a file is one that the tool's users could have changed.
pub(super) fn named_files(
    program: &Path,
    args: &[String],
    directory: &Path,
    is_own: &dyn Fn(&Path) -> bool,
) -> Result<NamedFiles, String> {
    let mut search = FileSearch {
        directories: vec![directory.to_owned()],
        is_own,
        known: HashMap::new(),
        lookups: 0,
        named: NamedFiles::default(),
    };
    let path = program.to_string_lossy();
    search.follow_cd(&path, args)?;
    let mut words = CommandReading::default();
    search.read_word(&mut words, &path, false)?;
    // A script of a shell: the words of other interpreters are no commands.
    let mut in_shell = is_shell(&path);
    for word in args {
        let is_file = search.read_word(&mut words, word, false)?;
        if !is_file {
            search.read_script(&mut words, word, in_shell)?;
        }
        in_shell |= is_shell(word);
    }
    Ok(search.named)
}

/// Where the reading of a command stands.
#[derive(Clone, Copy, Debug, Default)]
struct CommandReading {
    /// An interpreter was named, and its script has not come yet.
    awaits_script: bool,
    /// So a file may be the flag's value, and the script comes after it.
    after_flag: bool,
    /// Since the interpreter: the first is the script, or what it does is known to nobody.
    had_operand: bool,
    /// A variable in the place of its script is worth a warning.
    runs_files: bool,
    /// A command begins here.
    at_start: bool,
}

struct FileSearch<'a> {
    /// The working directory, and every folder that `cd` may lead to.
    directories: Vec<PathBuf>,
    is_own: &'a dyn Fn(&Path) -> bool,
    known: HashMap<String, Vec<PathBuf>>,
    lookups: usize,
    named: NamedFiles,
}

impl FileSearch<'_> {
    /// One word or token of a command; says whether it is a file of ours.
    fn read_word(
        &mut self,
        at: &mut CommandReading,
        word: &str,
        warns: bool,
    ) -> Result<bool, String> {
        let found = self.own_files(word)?;
        let is_flag = word.starts_with('-');
        for path in &found {
            if at.awaits_script || is_program(path) {
                self.add_file(path.clone())?;
            }
        }
        if !found.is_empty() && !is_flag && !at.after_flag {
            at.awaits_script = false;
        }
        if warns && is_variable(word) {
            let is_script =
                at.awaits_script && at.runs_files && !at.had_operand && found.is_empty();
            if at.at_start || is_script {
                self.warn(word);
            }
        }
        at.after_flag = is_flag && found.is_empty();
        at.had_operand |= !is_flag;
        if is_interpreter(word) || word == "." {
            *at = CommandReading {
                awaits_script: true,
                runs_files: !["awk", "gawk", "mawk", "sed", "make", "psql", "sqlite"]
                    .contains(&program_family(word)),
                ..CommandReading::default()
            };
        }
        at.at_start &= begins_command(word);
        Ok(!found.is_empty())
    }

    /// What a word that is no file names: a script, as after `sh -c`, or a file within an option.
    fn read_script(
        &mut self,
        words: &mut CommandReading,
        word: &str,
        in_shell: bool,
    ) -> Result<(), String> {
        let is_script = word.contains(|c: char| c.is_whitespace() || SEPARATORS.contains(c))
            || (in_shell && is_variable(word));
        if !is_script {
            let mut option = CommandReading { after_flag: true, ..*words };
            for token in script_tokens(word).filter(|token| token.text != word) {
                if self.read_word(&mut option, token.text, false)? {
                    // The flag has its value: what follows is the script.
                    words.after_flag = false;
                }
                option.after_flag = true;
            }
            return Ok(());
        }
        let mut at = CommandReading::default();
        for token in script_tokens(word) {
            if token.starts_command {
                at = CommandReading { at_start: true, ..CommandReading::default() };
            }
            self.read_word(&mut at, token.text, in_shell)?;
        }
        Ok(())
    }

    /// Files of ours that a token may mean: its own name, and what is attached to a flag or a list.
    fn own_files(&mut self, token: &str) -> Result<Vec<PathBuf>, String> {
        let mut found = self.resolve_name(token)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let attached = if token.starts_with('-') { token.get(2..) } else { None };
        for name in attached.into_iter().chain(token.split([':', ','])) {
            if name != token {
                found.extend(self.resolve_name(name)?);
            }
        }
        Ok(found)
    }

    fn resolve_name(&mut self, name: &str) -> Result<Vec<PathBuf>, String> {
        if name.is_empty() || name.len() > PATH_BYTES_MAX {
            return Ok(Vec::new());
        }
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for path in self.places_of(name)? {
            if path.is_file() && (self.is_own)(&path) {
                found.push(path);
            }
        }
        self.known.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// What a name leads to from each folder that the command may be in.
    fn places_of(&mut self, name: &str) -> Result<Vec<PathBuf>, String> {
        // An absolute name is the same from everywhere.
        let folders = if name.starts_with('/') { 1 } else { self.directories.len() };
        self.lookups += folders;
        if self.lookups > FILE_LOOKUPS_MAX {
            return Err(format!(
                "it has more than {FILE_LOOKUPS_MAX} words that may be programs or scripts; put long texts into \
                 `stdin` or a file"
            ));
        }
        let mut places = Vec::new();
        for folder in &self.directories[..folders] {
            if let Ok(path) = folder.join(name).canonicalize()
                && !places.contains(&path)
            {
                places.push(path);
            }
        }
        Ok(places)
    }

    /// Finds the folders that the command goes to, before anything is looked for in them: a function may be
    /// called later than it is written.
    fn follow_cd(&mut self, program: &str, args: &[String]) -> Result<(), String> {
        let (mut goes, mut in_shell) = (false, is_shell(program));
        for word in args {
            in_shell |= is_shell(word);
            for token in script_tokens(word) {
                let text = token.text;
                if ["cd", "pushd", "chdir", "-C", "--chdir", "--directory"].contains(&text) {
                    goes = true;
                } else if let Some(attached) = text.strip_prefix("-C") {
                    self.add_folder(attached)?;
                } else if goes && !text.starts_with('-') {
                    goes = false;
                    if in_shell && is_variable(text) {
                        self.warn(text);
                    }
                    self.add_folder(text)?;
                }
            }
        }
        Ok(())
    }

    fn add_folder(&mut self, name: &str) -> Result<(), String> {
        if name.len() > PATH_BYTES_MAX {
            return Ok(());
        }
        for folder in self.places_of(name)? {
            if folder.is_dir() && !self.directories.contains(&folder) {
                self.directories.push(folder);
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: PathBuf) -> Result<(), String> {
        if !self.named.files.contains(&path) {
            self.named.files.push(path);
        }
        match self.named.files.len() > BOUND_FILES_MAX {
            true => Err(format!("it names more than {BOUND_FILES_MAX} programs and scripts")),
            false => Ok(()),
        }
    }

    fn warn(&mut self, token: &str) {
        let token: String = token.chars().take(80).collect();
        let warning = Warning::new(WarningKind::NotBound { word: visible(&token) });
        if self.named.warnings.len() < UNBOUND_SHOWN_MAX && !self.named.warnings.contains(&warning)
        {
            self.named.warnings.push(warning);
        }
    }
}

/// No kernel opens a longer name.
const PATH_BYTES_MAX: usize = 4_096;

/// After each of these another command begins.
const SEPARATORS: &str = ";|&(){}`\n";

struct ScriptToken<'a> {
    text: &'a str,
    starts_command: bool,
}

/// Cuts a script into words as a shell does, but for quoting: a name in quotes is a name.
fn script_tokens(script: &str) -> impl Iterator<Item = ScriptToken<'_>> {
    let mut starts_command = true;
    script
        .split_inclusive(|c: char| {
            c.is_whitespace() || "\"'<>=".contains(c) || SEPARATORS.contains(c)
        })
        .filter_map(move |piece| {
            let last = piece
                .chars()
                .next_back()
                .filter(|c| c.is_whitespace() || "\"'<>=".contains(*c) || SEPARATORS.contains(*c));
            let text = &piece[..piece.len() - last.map_or(0, char::len_utf8)];
            let token = ScriptToken { text, starts_command };
            // Quotes and spaces at the start of a command are not a word of it.
            starts_command =
                last.is_some_and(|c| SEPARATORS.contains(c)) || (starts_command && text.is_empty());
            (!text.is_empty()).then_some(token)
        })
}

/// Only a shell knows what it will be.
fn is_variable(token: &str) -> bool {
    token.contains('$')
        || token.starts_with('~')
        || (token.contains('/') && token.contains(['*', '?']))
}

/// Words after which a command still begins.
fn begins_command(word: &str) -> bool {
    [
        "do", "then", "else", "elif", "if", "while", "until", "!", "exec", "command", "builtin",
        "eval", "nohup", "time", "sudo", "env",
    ]
    .contains(&word)
}

/// The name of a program without its version: `python3.12` is `python`.
fn program_family(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn is_shell(program: &str) -> bool {
    ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"]
        .contains(&program_family(program))
}

/// Programs that are given scripts.
fn is_interpreter(program: &str) -> bool {
    is_shell(program)
        || [
            "source",
            "python",
            "pypy",
            "perl",
            "ruby",
            "lua",
            "node",
            "deno",
            "bun",
            "php",
            "awk",
            "gawk",
            "mawk",
            "sed",
            "make",
            "tclsh",
            "Rscript",
            "osascript",
            "java",
            "psql",
            "sqlite",
        ]
        .contains(&program_family(program))
}

/// Whether a file can be run by itself.
fn is_program(path: &Path) -> bool {
    let is_executable = path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    let mut start = [0; 2];
    is_executable
        || open_regular_file(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok_and(|()| &start == b"#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Folder {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("app/bin")).unwrap();
            for (name, text, mode) in [
                ("deploy.sh", "#!/bin/sh\n", 0o755),
                ("plain", "echo x\n", 0o644),
                ("marked", "#!/bin/sh\n", 0o644),
                ("log", "a line\n", 0o644),
                ("hook.js", "1\n", 0o644),
                ("app.js", "1\n", 0o644),
                ("app/inner.sh", "#!/bin/sh\n", 0o755),
                ("app/bin/deep.py", "1\n", 0o644),
            ] {
                std::fs::write(dir.path().join(name), text).unwrap();
                let mode = PermissionsExt::from_mode(mode);
                std::fs::set_permissions(dir.path().join(name), mode).unwrap();
            }
            Folder(dir)
        }

        fn named(&self, line: &[&str]) -> Result<NamedFiles, String> {
            let dir = self.0.path().canonicalize().unwrap();
            let program = if line[0].contains('/') { dir.join(line[0]) } else { line[0].into() };
            let args: Vec<String> = line[1..].iter().map(|word| (*word).to_owned()).collect();
            named_files(&program, &args, &dir, &|path| path.starts_with(&dir))
        }

        fn check(&self, line: &[&str], bound: &[&str]) {
            let named = self.named(line).unwrap().files;
            let names: Vec<_> =
                named.iter().map(|it| it.file_name().unwrap().to_str().unwrap()).collect();
            assert_eq!(names, bound, "{line:?}");
        }
    }

    #[test]
    fn programs_and_scripts_are_bound_and_data_is_not() {
        let folder = Folder::new();
        let check = |line: &[&str], bound: &[&str]| folder.check(line, bound);
        check(&["./deploy.sh", "log"], &["deploy.sh"]);
        check(&["/usr/bin/tail", "-n", "3", "log"], &[]);
        check(&["/bin/sh", "plain", "log"], &["plain"]);
        check(&["/usr/bin/python3.12", "-u", "plain"], &["plain"]);
        check(&["/usr/bin/env", "A=1", "./marked"], &["marked"]);
        check(&["/usr/bin/timeout", "5", "sh", "plain"], &["plain"]);
        check(&["/bin/sh", "-c", "cd . && ./deploy.sh | tee log"], &["deploy.sh"]);
        check(&["/bin/sh", "-c", "sh plain; . ./marked"], &["plain", "marked"]);
        check(&["/bin/sh", "-c", "cat log"], &[]);
        check(&["/bin/cat", "/etc/passwd"], &[]);
    }

    #[test]
    fn i02_scripts_are_bound_behind_flags_folders_and_other_files() {
        let folder = Folder::new();
        let check = |line: &[&str], bound: &[&str]| folder.check(line, bound);
        // Behind flags of the interpreter.
        check(&["/bin/sh", "-c", "python3 -u plain"], &["plain"]);
        check(&["/bin/sh", "-c", "python3 -u -B plain; cat log"], &["plain"]);
        check(&["/bin/sh", "-c", "python3 -u; cat log"], &[]);
        check(&["/bin/sh", "-c", "python3 < plain"], &["plain"]);
        check(&["/bin/sh", "-c", "exec python3 'plain' log"], &["plain"]);
        // In a folder that the script goes to.
        check(&["/bin/sh", "-c", "cd app && ./inner.sh"], &["inner.sh"]);
        check(&["/bin/sh", "-c", "cd app; cd bin; python3 deep.py"], &["deep.py"]);
        check(&["/bin/sh", "-c", "run() { ./inner.sh; }; cd \"app\"; run"], &["inner.sh"]);
        check(&["/usr/bin/env", "-C", "app", "./inner.sh"], &["inner.sh"]);
        check(&["/usr/bin/env", "--chdir=app/bin", "python3", "deep.py"], &["deep.py"]);
        check(&["/usr/bin/make", "-Capp", "-f", "inner.sh"], &["inner.sh"]);
        // More than one file.
        check(&["/usr/bin/node", "-r", "./hook.js", "app.js"], &["hook.js", "app.js"]);
        check(&["/usr/bin/node", "-r./hook.js", "app.js", "log"], &["hook.js", "app.js"]);
        check(&["/usr/bin/node", "--require=./hook.js", "app.js"], &["hook.js", "app.js"]);
        check(&["/bin/sh", "-c", "node -r ./hook.js app.js log"], &["hook.js", "app.js"]);
        check(&["/bin/sh", "-c", "node --require=./hook.js app.js"], &["hook.js", "app.js"]);
        check(&["/usr/bin/java", "-cp", "plain:marked", "Main"], &["plain", "marked"]);
        check(&["/usr/bin/psql", "-f", "plain", "-f", "marked"], &["plain", "marked"]);
        // An interpreter that is a file of ours itself.
        let dir = folder.0.path();
        std::fs::copy(dir.join("deploy.sh"), dir.join("app/bin/python3")).unwrap();
        check(&["/usr/bin/env", "app/bin/python3", "plain"], &["python3", "plain"]);
    }

    #[test]
    fn what_only_a_shell_knows_is_said_not_to_be_bound() {
        let folder = Folder::new();
        let warned = |script: &str| folder.named(&["/bin/sh", "-c", script]).unwrap().warnings;
        for script in [
            "$DIR/deploy.sh",
            "cd $DIR && ./deploy.sh",
            "python3 -u \"$DIR/deploy.py\"",
            "for f in a b; do $f; done",
            "true && ~/deploy.sh",
            "./app/*/run",
        ] {
            let warnings = warned(script);
            assert!(
                warnings.len() == 1 && warnings[0].text().starts_with("not bound: "),
                "{warnings:?}"
            );
        }
        for script in [
            "echo $((1 + 1)) | cat",
            "rm -rf $HOME/x",
            "awk '{print $1}' log",
            "sed \"s/$A/b/\" log",
            "case $1 in *) echo;; esac",
            "./deploy.sh $A; cd app && ls *",
            "X=$(date); echo \"$X\"",
        ] {
            assert_eq!(warned(script), Vec::<Warning>::new(), "{script}");
        }
        let argv = ["/usr/bin/git", "commit", "-m", "a; $b"];
        assert_eq!(folder.named(&argv).unwrap().warnings, Vec::<Warning>::new());
    }

    #[test]
    fn i50_a_command_of_very_many_words_is_refused_and_not_looked_up() {
        let folder = Folder::new();
        let words = |count: usize| (0..count).map(|n| format!("w{n} ")).collect::<String>();
        let refusal = folder.named(&["/bin/sh", "-c", &words(500_000)]).unwrap_err();
        assert!(refusal.starts_with("it has more than 4000 words"), "{refusal}");
        let folders: String = (0..200).map(|n| format!("cd d{n}; ./x{n}; ")).collect();
        for n in 0..200 {
            std::fs::create_dir(folder.0.path().join(format!("d{n}"))).unwrap();
        }
        folder.named(&["/bin/sh", "-c", &folders]).unwrap_err();
        // The same words again cost nothing.
        folder.named(&["/bin/sh", "-c", &words(1_000).repeat(100)]).unwrap();
    }
}
