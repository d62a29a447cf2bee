//! One command for checks, set-up and tests: `cargo xtask --help`.
//!
//! It depends on nothing but `anyhow`, so that a newcomer waits seconds for it and not minutes.
//! It deliberately knows nothing of the product: it starts cargo, npm and node, counts what they
//! report, and reads our own files (`tidy`).
#![expect(clippy::print_stdout, reason = "a command line tool reports on standard output")]

mod bench;
mod check;
mod checkout;
mod clients;
mod dist;
mod fuzz;
mod guard;
mod help;
mod job;
mod ledger;
mod mutants;
mod names;
mod package;
mod profile;
mod setup;
mod stopwatch;
mod tally;
mod test;
mod tidy;
mod torture;
mod web;

use std::process::ExitCode;

use anyhow::{Result, bail};
use checkout::Checkout;
use ledger::Ledger;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command that the arguments name; `false` means that it was done and that something failed.
fn run(args: &[String]) -> Result<bool> {
    let Some((verb, rest)) = args.split_first() else {
        println!("{}", help::OVERVIEW);
        return Ok(true);
    };
    if verb == "help" || verb == "--help" || verb == "-h" {
        println!("{}", help::about(rest.first().map(String::as_str))?);
        return Ok(true);
    }
    // These hand their arguments on, `--help` included: they describe their own options best.
    let hands_on = ["bench", "torture"].contains(&verb.as_str());
    if !hands_on && rest.iter().any(|word| word == "--help" || word == "-h") {
        println!("{}", help::about(Some(verb))?);
        return Ok(true);
    }
    let here = Checkout::find()?;
    match verb.as_str() {
        "test" => {
            let options = test::Options::parse(rest)?;
            if options.list {
                print!("{}", test::listing());
                return Ok(true);
            }
            let ledger = Ledger::keep(&here, &options.parts);
            ledger.print_tests();
            Ok(ledger.is_clean())
        }
        "check" => {
            let ledger = Ledger::keep(&here, &check::parts(rest)?);
            ledger.print_checks();
            Ok(ledger.is_clean())
        }
        "ci" => {
            no_more(verb, rest)?;
            let mut parts = check::parts(&[])?;
            parts.extend(test::PARTS);
            let ledger = Ledger::keep(&here, &parts);
            ledger.print_tests();
            Ok(ledger.is_clean())
        }
        "tidy" => {
            no_more(verb, rest)?;
            tidy::run(&here)
        }
        "web" => {
            no_more(verb, rest)?;
            web::refresh(&here)
        }
        "clients" => {
            no_more(verb, rest)?;
            clients::run(&here)
        }
        "bench" => bench::run(&here, rest),
        "dist" => {
            no_more(verb, rest)?;
            dist::run(&here)
        }
        "pictures" => {
            no_more(verb, rest)?;
            test::pictures(&here)
        }
        "package" => package::run(&here, rest),
        "fuzz" => fuzz::run(&here, rest),
        "mutants" => mutants::run(&here, rest),
        "names" => names::run(&here, rest),
        "torture" => torture::run(&here, rest),
        other => bail!("there is no `{other}`; `cargo xtask --help` lists what there is"),
    }
}

fn no_more(verb: &str, rest: &[String]) -> Result<()> {
    match rest.first() {
        Some(word) => bail!("`{verb}` takes no `{word}`; see `cargo xtask {verb} --help`"),
        None => Ok(()),
    }
}
