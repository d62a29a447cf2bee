//! What was asked for on the command line.

use std::time::Duration;

pub(crate) const HELP: &str = "\
cargo xtask bench [--quick] [--json] [--only NAME…] [--at-once N] [--million] [--page] [--dry-run]

Measures what Holdpoint does on this machine, with everything durable, and says for each figure
whether it is what it must be. The last lines of the table are the misses, if there are any; then
the exit code is 1, except with --quick.

  --quick      seconds instead of minutes; for seeing that it works, not for figures
  --json       JSON lines instead of a table
  --only       some of: floor cycle http deltas doors chats policy hooks mcp pending growth idle
               (without `floor` there is nothing to compare cycle and http with)
  --at-once N  cycle and http with so many clients instead of 1 and then 64
  --million    pending: 1,000,000 holds after the 100,000
  --page       also puts the figures into docs/benchmarks.md, in the place of older ones
  --dry-run    says what would be measured, and measures nothing

Examples:
  cargo xtask bench
  cargo xtask bench --only policy idle
  cargo xtask bench --only cycle --at-once 64

`cargo xtask bench --profile` draws flame graphs instead; see `cargo xtask help bench`.";

/// In the order in which they are measured.
const NAMES: [&str; 12] = [
    "floor", "cycle", "http", "deltas", "doors", "chats", "policy", "hooks", "mcp", "pending",
    "growth", "idle",
];

pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) json: bool,
    pub(crate) help: bool,
    pub(crate) million: bool,
    pub(crate) page: bool,
    pub(crate) dry_run: bool,
    at_once: Option<usize>,
    only: Vec<String>,
}

impl Options {
    pub(crate) fn parse(words: &[String]) -> Result<Options, String> {
        let mut options = Options {
            quick: false,
            json: false,
            help: false,
            million: false,
            page: false,
            dry_run: false,
            at_once: None,
            only: Vec::new(),
        };
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            match word {
                "--quick" => options.quick = true,
                "--json" => options.json = true,
                "--help" | "-h" => options.help = true,
                "--million" => options.million = true,
                "--page" => options.page = true,
                "--dry-run" => options.dry_run = true,
                "--at-once" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    options.at_once = Some(number.ok_or("`--at-once` needs a number")?);
                }
                "--only" => {
                    while let Some(name) = words.next_if(|word| !word.starts_with("--")) {
                        if !NAMES.contains(&name) {
                            return Err(format!("there is no measure `{name}`; see --help"));
                        }
                        options.only.push(name.to_owned());
                    }
                    if options.only.is_empty() {
                        return Err(format!("`--only` needs some of: {}", NAMES.join(" ")));
                    }
                }
                unknown => return Err(format!("`{unknown}` is not an option; see --help")),
            }
        }
        if options.quick && options.page {
            return Err("figures of a quick run are not for the page".into());
        }
        Ok(options)
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// What is measured, one after the other.
    pub(crate) fn wanted(&self) -> Vec<&'static str> {
        NAMES.into_iter().filter(|name| self.wants(name)).collect()
    }

    /// How many clients, one after the other.
    pub(crate) fn at_once(&self) -> Vec<usize> {
        self.at_once.map_or_else(|| vec![1, 64], |number| vec![number])
    }

    /// How long a rate is measured.
    pub(crate) fn time(&self) -> Duration {
        if self.quick { Duration::from_secs(1) } else { Duration::from_secs(5) }
    }
}
