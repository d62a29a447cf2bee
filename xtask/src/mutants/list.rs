//! The mutants as they are written down.
//!
//! The files are TOML, of which this reads the little that is used here: one kind of table, plain
//! and literal strings. Anything else is an error. A TOML reader would be this tool's second
//! dependency, and everybody who builds it would wait for that.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::markers::is_name_character;
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
    pub(crate) changes: Vec<Change>,
}

/// What stands in the code in place of the lines that a marker names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which of several places; empty if there is only one.
    pub(crate) part: String,
    /// Without the indentation of the marked lines. Empty if they are taken out.
    pub(crate) instead: String,
}

impl Change {
    /// The name of the marker in the code.
    pub(crate) fn marker(&self, mutant: &str) -> String {
        if self.part.is_empty() { mutant.to_owned() } else { format!("{mutant}.{}", self.part) }
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
    Ok(match key {
        "name" => &mut mutant.name,
        "breaks" => &mut mutant.breaks,
        "package" => &mut mutant.package,
        "target" => &mut mutant.target,
        "tests" => &mut mutant.tests,
        key => {
            let part = match key.split_once('.') {
                Some(("instead", part)) if !part.is_empty() => part,
                None if key == "instead" => "",
                _ => bail!("`{key}` has no place here"),
            };
            ensure!(part.chars().all(is_name_character), "`{key}`: {NAMES}");
            mutant.changes.push(Change { part: part.to_owned(), ..Change::default() });
            let change = mutant.changes.last_mut().context("it was just added")?;
            &mut change.instead
        }
    })
}

const NAMES: &str = "names are small letters, digits and hyphens";

fn check(mutant: &Mutant) -> Result<()> {
    let Mutant { group, name, breaks, package, target, tests, changes } = mutant;
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
    ensure!(name.chars().all(is_name_character), "{NAMES}");
    ensure!(!changes.is_empty(), "`instead` is missing: what stands in place of the marked lines");
    let parts: BTreeSet<&str> = changes.iter().map(|change| change.part.as_str()).collect();
    ensure!(parts.len() == changes.len(), "an `instead` is there twice");
    ensure!(
        changes.len() == 1 || !parts.contains(""),
        "of several places each has a name: `instead.NAME`"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "# words\n[[mutant]]\nname = \"no-fence\"\nbreaks = \"I-17\"\n\
        package = \"domain\"\ntarget = \"machine\"\ntests = \"i17 i20\"\n\
        instead = '''\nif \"x\" {\n    y();\n'''\n";

    #[test]
    fn a_mutant_is_read_with_what_stands_instead() {
        let read = read("m.toml", ONE).expect("sound");
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].group, "words");
        assert_eq!((read[0].name.as_str(), read[0].tests.as_str()), ("no-fence", "i17 i20"));
        let change = &read[0].changes[0];
        assert_eq!(change.marker(&read[0].name), "no-fence");
        assert_eq!(change.instead, "if \"x\" {\n    y();");
    }

    #[test]
    fn each_of_several_places_has_its_name() {
        let several = format!("{}instead.reader = 'x'\ninstead.writer = ''\n", without_instead());
        let read = read("m.toml", &several).expect("sound");
        let markers: Vec<String> =
            read[0].changes.iter().map(|change| change.marker(&read[0].name)).collect();
        assert_eq!(markers, ["no-fence.reader", "no-fence.writer"]);
        assert_eq!(read[0].changes[1].instead, "", "the marked lines are taken out");
    }

    #[test]
    fn places_that_cannot_be_told_apart_are_an_error() {
        for changes in [
            "",
            "instead = 'x'\ninstead = 'y'\n",
            "instead = 'x'\ninstead.reader = 'y'\n",
            "instead.reader = 'x'\ninstead.reader = 'y'\n",
            "instead. = 'x'\n",
            "instead.A b = 'x'\n",
        ] {
            let text = format!("{}{changes}", without_instead());
            assert!(read("m.toml", &text).is_err(), "{changes}");
        }
    }

    fn without_instead() -> &'static str {
        &ONE[..ONE.find("instead").expect("it is there")]
    }

    #[test]
    fn what_is_half_written_is_an_error() {
        for (from, to) in [
            ("name = \"no-fence\"\n", ""),
            ("tests = \"i17 i20\"\n", ""),
            ("no-fence", "No fence"),
            ("breaks =", "braeks ="),
            ("\"I-17\"", "17"),
            ("\"I-17\"", "\"I\\n17\""),
            ("# words", "words"),
            ("[[mutant]]", "[[mutant.edit]]"),
        ] {
            let broken = ONE.replacen(from, to, 1);
            assert_ne!(broken, ONE);
            assert!(read("m.toml", &broken).is_err(), "{from} → {to}");
        }
    }
}
