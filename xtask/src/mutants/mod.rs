//! `cargo xtask mutants`: breaks a promise of the protocol on purpose, in a copy of the tree, and
//! sees whether the tests notice.
//!
//! The mutants are hand-made data in `xtask/mutants`: each takes one promise back, at the lines that
//! bear its name in a comment. A tool that
//! changes operators at random asks whether lines are tested; this asks whether promises are.

mod list;
mod markers;
mod page;
mod table;
mod trial;
mod workshop;

use std::fs;

use anyhow::{Context, Result, bail, ensure};

pub(crate) use list::{Mutant, read};
pub(crate) use markers::MarkerIndex;
pub(crate) use page::{PAGE, is_told, rows};

use crate::checkout::Checkout;
use table::Table;
use workshop::Workshop;

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    names: Vec<String>,
    list: bool,
    json: bool,
    /// Keeps what comes out of it on the page.
    page: bool,
    /// Only those of which the page does not say that they were caught.
    rest: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options> {
        let mut options = Options::default();
        for arg in args {
            match arg.as_str() {
                "--list" => options.list = true,
                "--json" => options.json = true,
                "--page" => options.page = true,
                "--rest" => options.rest = true,
                other if other.starts_with('-') => {
                    bail!("`mutants` takes no `{other}`; see `cargo xtask mutants --help`")
                }
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(here: &Checkout, args: &[String]) -> Result<bool> {
    let options = Options::parse(args)?;
    let all = list::load(here)?;
    let mut chosen = chosen(&all, &options.names)?;
    if options.rest {
        let page = fs::read_to_string(here.join(PAGE)).context(PAGE)?;
        let told = rows(&page);
        chosen.retain(|mutant| !is_told(&told, mutant));
    }
    if options.list {
        print!("{}", table::listing(&chosen));
        return Ok(true);
    }
    let workshop = Workshop::open(here)?;
    let sound = trial::baseline(&workshop, &chosen)?;
    ensure!(
        sound.is_empty(),
        "without any mutant these fail, so they prove nothing: {}",
        sound.join(", ")
    );
    let mut table = Table::default();
    for mutant in chosen {
        let verdict = trial::run(&workshop, mutant)?;
        if options.json {
            println!("{}", table::json(mutant, &verdict));
        }
        table.add(mutant, verdict);
        // At once, so that a run that was broken off can go on from there with `--rest`.
        if options.page {
            page::write(here, &all, table.rows())?;
        }
    }
    if !options.json {
        print!("{table}");
    }
    Ok(table.all_caught())
}

fn chosen<'a>(all: &'a [Mutant], names: &[String]) -> Result<Vec<&'a Mutant>> {
    for name in names {
        ensure!(
            all.iter().any(|mutant| mutant.name == *name),
            "there is no mutant `{name}`; `cargo xtask mutants --list` names them"
        );
    }
    let wanted = |mutant: &&Mutant| names.is_empty() || names.contains(&mutant.name);
    Ok(all.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn names_and_options_are_told_apart() {
        let options = Options::parse(&words(&["a", "--json", "b"])).expect("sound");
        assert_eq!(
            options,
            Options { names: words(&["a", "b"]), json: true, ..Options::default() }
        );
        assert!(Options::parse(&words(&["--jsno"])).is_err());
    }

    #[test]
    fn an_unknown_name_is_an_error_and_no_name_is_all() {
        let text = "# words\n[[mutant]]\nname = \"a\"\nbreaks = \"x\"\npackage = \"p\"\ntarget = \"lib\"\n\
                    tests = \"t\"\ninstead = \"h\"\n";
        let all = read("m.toml", text).expect("sound");
        assert_eq!(chosen(&all, &[]).expect("all").len(), 1);
        assert!(chosen(&all, &words(&["b"])).is_err());
    }
}
