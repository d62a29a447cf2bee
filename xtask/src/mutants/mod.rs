//! `cargo xtask mutants`: breaks a promise of the protocol on purpose, in a copy of the tree, and
//! sees whether the tests notice.
//!
//! The mutants are hand-made data in `xtask/mutants`: each takes one promise back. A tool that
//! changes operators at random asks whether lines are tested; this asks whether promises are.

mod list;
mod page;
mod table;
mod trial;
mod workshop;

use std::fs;

use anyhow::{Context, Result, bail, ensure};

pub(crate) use list::{Mutant, read};
pub(crate) use page::{PAGE, is_told, rows};

use crate::checkout::Checkout;
use table::Table;
use workshop::Workshop;

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wish {
    names: Vec<String>,
    list: bool,
    json: bool,
    /// Keeps what comes out of it on the page.
    page: bool,
    /// Only those of which the page does not say that they were caught.
    rest: bool,
}

impl Wish {
    fn parse(words: &[String]) -> Result<Wish> {
        let mut wish = Wish::default();
        for word in words {
            match word.as_str() {
                "--list" => wish.list = true,
                "--json" => wish.json = true,
                "--page" => wish.page = true,
                "--rest" => wish.rest = true,
                other if other.starts_with('-') => {
                    bail!("`mutants` takes no `{other}`; see `cargo xtask mutants --help`")
                }
                name => wish.names.push(name.to_owned()),
            }
        }
        Ok(wish)
    }
}

pub(crate) fn run(here: &Checkout, words: &[String]) -> Result<bool> {
    let wish = Wish::parse(words)?;
    let all = list::load(here)?;
    let mut chosen = chosen(&all, &wish.names)?;
    if wish.rest {
        let page = fs::read_to_string(here.join(PAGE)).context(PAGE)?;
        let told = rows(&page);
        chosen.retain(|mutant| !is_told(&told, mutant));
    }
    if wish.list {
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
        if wish.json {
            println!("{}", table::json(mutant, &verdict));
        }
        table.add(mutant, verdict);
        // At once: whoever breaks it off goes on from there.
        if wish.page {
            page::write(here, &all, table.rows())?;
        }
    }
    if !wish.json {
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
        let wish = Wish::parse(&words(&["a", "--json", "b"])).expect("sound");
        assert_eq!(wish, Wish { names: words(&["a", "b"]), json: true, ..Wish::default() });
        assert!(Wish::parse(&words(&["--jsno"])).is_err());
    }

    #[test]
    fn an_unknown_name_is_an_error_and_no_name_is_all() {
        let text = "# words\n[[mutant]]\nname = \"a\"\nbreaks = \"x\"\npackage = \"p\"\ntarget = \"lib\"\n\
                    tests = \"t\"\n[[mutant.edit]]\nfile = \"f\"\nfind = \"g\"\nreplace = \"h\"\n";
        let all = read("m.toml", text).expect("sound");
        assert_eq!(chosen(&all, &[]).expect("all").len(), 1);
        assert!(chosen(&all, &words(&["b"])).is_err());
    }
}
