//! The mutants as they are written down.
//!
//! The files are TOML, of which this reads the little that is used here: two kinds of tables, plain
//! and literal strings. Anything else is an error. A TOML reader would be this tool's second
//! dependency, and everybody who builds it would wait for that.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::checkout::Checkout;

/// One promise taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// What the file is about that it stands in.
    pub(crate) group: String,
    pub(crate) name: String,
    /// The promise, in the words of the documentation.
    pub(crate) breaks: String,
    pub(crate) package: String,
    /// `lib`, or the name of an integration test.
    pub(crate) target: String,
    /// The tests that must notice: parts of their names, by spaces.
    pub(crate) tests: String,
    pub(crate) edits: Vec<Edit>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) file: String,
    /// Stands exactly once in the file.
    pub(crate) find: String,
    pub(crate) replace: String,
}

impl Edit {
    /// The file's text with the edit made.
    pub(crate) fn apply(&self, text: &str) -> Result<String> {
        match text.matches(self.find.as_str()).count() {
            1 => Ok(text.replacen(self.find.as_str(), &self.replace, 1)),
            count => bail!("{}: the text to find stands {count} times, not once", self.file),
        }
    }
}

/// Where the lists are.
pub(crate) const FOLDER: &str = "xtask/mutants";

pub(crate) fn load(here: &Checkout) -> Result<Vec<Mutant>> {
    let mut paths: Vec<_> = fs::read_dir(here.join(FOLDER))
        .context(FOLDER)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.sort();
    let mut mutants = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")) {
        let name = path.display().to_string();
        mutants.extend(read(&name, &fs::read_to_string(path).with_context(|| name.clone())?)?);
    }
    let mut names: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("two mutants are called `{}`", twice[0]);
    }
    Ok(mutants)
}

pub(crate) fn read(path: &str, text: &str) -> Result<Vec<Mutant>> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
    let group = first.unwrap_or_default().trim_end_matches('.');
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let at = || format!("{path}:{number}");
        match line.trim() {
            "" => {}
            comment if comment.starts_with('#') => {}
            "[[mutant]]" => {
                mutants.push(Mutant { group: group.to_owned(), ..Mutant::default() });
            }
            "[[mutant.edit]]" => {
                let mutant = mutants.last_mut().with_context(|| format!("{}: no mutant", at()))?;
                mutant.edits.push(Edit::default());
            }
            line => {
                let (key, value) = line.split_once(" = ").with_context(at)?;
                let value = match value {
                    "'''" => {
                        let block: Vec<&str> = lines
                            .by_ref()
                            .map(|(_, line)| line)
                            .take_while(|line| *line != "'''")
                            .collect();
                        block.join("\n")
                    }
                    value => inline(value).with_context(at)?.to_owned(),
                };
                let mutant = mutants.last_mut().with_context(|| format!("{}: no mutant", at()))?;
                *field(mutant, key).with_context(at)? = value;
            }
        }
    }
    for mutant in &mutants {
        check(mutant).with_context(|| format!("{path}: mutant `{}`", mutant.name))?;
    }
    Ok(mutants)
}

/// A string on one line, in which nothing is escaped.
fn inline(value: &str) -> Result<&str> {
    let quote = value.chars().next().filter(|quote| "\"'".contains(*quote));
    let inner = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let inner = inner.context("a value is \"…\", '…' or a block of ''' lines")?;
    ensure!(
        !inner.contains(['"', '\\']) || quote == Some('\''),
        "write it in '…': no escapes here"
    );
    Ok(inner)
}

fn field<'a>(mutant: &'a mut Mutant, key: &str) -> Result<&'a mut String> {
    Ok(match (key, mutant.edits.last_mut()) {
        ("file", Some(edit)) => &mut edit.file,
        ("find", Some(edit)) => &mut edit.find,
        ("replace", Some(edit)) => &mut edit.replace,
        ("name", None) => &mut mutant.name,
        ("breaks", None) => &mut mutant.breaks,
        ("package", None) => &mut mutant.package,
        ("target", None) => &mut mutant.target,
        ("tests", None) => &mut mutant.tests,
        _ => bail!("`{key}` has no place here"),
    })
}

fn check(mutant: &Mutant) -> Result<()> {
    let Mutant { group, name, breaks, package, target, tests, edits } = mutant;
    ensure!(
        !group.is_empty(),
        "the first line of the file is no comment that says what it is about"
    );
    for (key, value) in [
        ("name", name),
        ("breaks", breaks),
        ("package", package),
        ("target", target),
        ("tests", tests),
    ] {
        ensure!(!value.is_empty(), "`{key}` is missing");
    }
    ensure!(
        name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
        "names are small letters, digits and hyphens"
    );
    ensure!(!edits.is_empty(), "it changes nothing");
    for edit in edits {
        ensure!(!edit.file.is_empty() && !edit.find.is_empty(), "an edit lacks `file` or `find`");
        ensure!(edit.find != edit.replace, "an edit of {} changes nothing", edit.file);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "# words\n[[mutant]]\nname = \"no-fence\"\nbreaks = \"I-17\"\n\
        package = \"domain\"\ntarget = \"machine\"\ntests = \"i17 i20\"\n\n[[mutant.edit]]\n\
        file = \"a.rs\"\nfind = 'if \"x\" {'\nreplace = '''\nif true {\n    y();\n'''\n";

    #[test]
    fn a_mutant_is_read_with_its_edits() {
        let read = read("m.toml", ONE).expect("sound");
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].group, "words");
        assert_eq!((read[0].name.as_str(), read[0].tests.as_str()), ("no-fence", "i17 i20"));
        let edit = &read[0].edits[0];
        assert_eq!(edit.find, "if \"x\" {");
        assert_eq!(edit.replace, "if true {\n    y();");
    }

    #[test]
    fn an_edit_is_made_where_it_fits_exactly_once() {
        let edit = Edit { file: "a.rs".into(), find: "b".into(), replace: "c".into() };
        assert_eq!(edit.apply("abd").expect("once"), "acd");
        assert!(edit.apply("ad").is_err());
        assert!(edit.apply("bb").is_err());
    }

    #[test]
    fn what_is_half_written_is_an_error() {
        for (from, to) in [
            ("name = \"no-fence\"\n", ""),
            ("tests = \"i17 i20\"\n", ""),
            ("no-fence", "No fence"),
            ("file = \"a.rs\"\n", ""),
            ("[[mutant.edit]]\n", ""),
            ("breaks =", "braeks ="),
            ("\"I-17\"", "17"),
            ("\"I-17\"", "\"I\\n17\""),
            ("# words", "words"),
        ] {
            let broken = ONE.replacen(from, to, 1);
            assert_ne!(broken, ONE);
            assert!(read("m.toml", &broken).is_err(), "{from} → {to}");
        }
    }
}
