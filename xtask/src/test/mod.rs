//! `cargo xtask test`: the parts, and which of them the user wants.

mod agents;
mod api;
mod browser;
mod channels;
mod clients;
mod doors;
mod mcp;
mod rust;
mod sdk;

use std::fmt::Write as _;

use anyhow::{Result, bail, ensure};

use crate::ledger::Part;
use crate::web;
pub(crate) use browser::pictures;
pub(crate) use rust::{binary, failing_binary};

pub(crate) const PARTS: [Part; 12] = [
    Part { name: "rust", about: "unit, property and integration tests", run: rust::all_but_crash },
    Part { name: "doc", about: "the examples in the documentation", run: rust::doc },
    Part { name: "web", about: "the page's types, and web/dist = its build", run: web::verify },
    Part { name: "browser", about: "the page in Chromium, on the real binary", run: browser::run },
    Part { name: "api", about: "schemathesis on the OpenAPI document, real binary", run: api::run },
    Part { name: "sdk", about: "the vendors' own clients on the fake model server", run: sdk::run },
    Part {
        name: "doors",
        about: "others' clients on the doors of the real binary",
        run: doors::run,
    },
    Part { name: "mcp", about: "public MCP servers and clients on the real binary", run: mcp::run },
    Part {
        name: "channels",
        about: "the chat platforms' own SDKs on our channels and fakes",
        run: channels::run,
    },
    Part {
        name: "clients",
        about: "our Python and TypeScript packages, real binary, real frameworks",
        run: clients::run,
    },
    Part {
        name: "agents",
        about: "coding agents behind the hook of the real binary",
        run: agents::run,
    },
    Part {
        name: "crash",
        about: "kills of the real binary: at random, and at every fail point",
        run: rust::crash,
    },
];

/// What `--quick` runs in place of all parts: for the minutes between two changes.
const QUICK: [Part; 2] = [
    Part {
        name: "quick",
        about: "unit and property tests, 500 simulated stories",
        run: rust::quick,
    },
    PARTS[1],
];

pub(crate) struct Options {
    pub(crate) parts: Vec<Part>,
    pub(crate) list: bool,
}

impl Options {
    /// `--only` takes names up to the next option, and may be repeated. The parts keep our order.
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut only: Vec<&str> = Vec::new();
        let (mut list, mut quick) = (false, false);
        let mut args = args.iter().map(String::as_str).peekable();
        while let Some(word) = args.next() {
            match word {
                "--list" => list = true,
                "--quick" => quick = true,
                "--only" => {
                    let before = only.len();
                    while let Some(name) = args.next_if(|word| !word.starts_with('-')) {
                        ensure!(
                            PARTS.iter().any(|part| part.name == name),
                            "there is no part `{name}`; `cargo xtask test --list` names them"
                        );
                        only.push(name);
                    }
                    ensure!(only.len() > before, "`--only` needs the name of a part");
                }
                other => bail!("`test` takes no `{other}`; see `cargo xtask test --help`"),
            }
        }
        ensure!(!quick || only.is_empty(), "`--quick` and `--only` exclude each other");
        if quick {
            return Ok(Options { parts: QUICK.to_vec(), list });
        }
        let wanted = |part: &&Part| only.is_empty() || only.contains(&part.name);
        Ok(Options { parts: PARTS.iter().filter(wanted).copied().collect(), list })
    }
}

pub(crate) fn listing() -> String {
    PARTS.iter().chain(&QUICK[..1]).fold(String::new(), |mut text, part| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<10}{}", part.name, part.about);
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, wanted: &str) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let told = match Options::parse(&args) {
            Ok(options) => options.parts.iter().map(|part| part.name).collect::<Vec<_>>().join(" "),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(told, wanted, "{line}");
    }

    #[test]
    fn parts_are_chosen_by_name_and_keep_their_order() {
        check("", "rust doc web browser api sdk doors mcp channels clients agents crash");
        check("--only web", "web");
        check("--only crash rust", "rust crash");
        check("--only doc --list --only web", "doc web");
        check("--only rusty", "there is no part `rusty`; `cargo xtask test --list` names them");
        check("--only", "`--only` needs the name of a part");
        check("--quick", "quick doc");
        check("--quick --only web", "`--quick` and `--only` exclude each other");
        check("--fast", "`test` takes no `--fast`; see `cargo xtask test --help`");
    }
}
