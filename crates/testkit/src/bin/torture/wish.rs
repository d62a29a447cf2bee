//! What the command line asks for.

use testkit::rng::Rng;

pub(crate) const HELP: &str = "\
cargo xtask torture [--kills N] [--cuts N] [--points [NAME]] [--seeds N] [--seed S] [--json] [--release]

Kills the real program at random moments, or stops it, N times over; cuts its power; kills it at every
fail point; plays seeded stories with the engine. Then compares what clients were told, what tools did, and what is on disk.
Ends with 1 if anything is wrong, and keeps the data.

  --kills N    so many kills, in worlds of 200 each
  --cuts N     so many power cuts
  --points     kills at every fail point, or at those whose names begin with NAME (`recover.`)
  --seeds N    so many simulated stories
  --seed S     begin with this seed; every world prints its own
  --json       one JSON object for each world, and one for the whole
  --release    a release build of the program, instead of the debug build

Examples:
  cargo xtask torture --kills 10000
  cargo xtask torture --seeds 100000
  cargo xtask torture --points execute.
  cargo xtask torture --kills 200 --seed 42 --json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) kills: u64,
    pub(crate) cuts: u64,
    pub(crate) seeds: u64,
    /// Fail points whose names begin so; all of them, if it is empty.
    pub(crate) points: Option<String>,
    pub(crate) seed: u64,
    pub(crate) json: bool,
}

impl Wish {
    /// `None` if somebody only wants to know what there is.
    pub(crate) fn parse(words: &[String]) -> Result<Option<Wish>, String> {
        let mut wish = Wish { kills: 0, cuts: 0, seeds: 0, points: None, seed: 0, json: false };
        let mut seed = None;
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let mut number = || {
                let given = words.next().ok_or_else(|| format!("`{word}` needs a number"))?;
                given.parse().map_err(|_| format!("`{word}` needs a number, not `{given}`"))
            };
            match word {
                "--help" | "-h" => return Ok(None),
                "--kills" => wish.kills = number()?,
                "--cuts" => wish.cuts = number()?,
                "--seeds" => wish.seeds = number()?,
                "--points" => {
                    let name = words.next_if(|word| !word.starts_with("--"));
                    wish.points = Some(name.unwrap_or_default().to_owned());
                }
                "--seed" => seed = Some(number()?),
                "--json" => wish.json = true,
                other => return Err(format!("`{other}` is not an option; --help names them")),
            }
        }
        if wish.kills + wish.cuts + wish.seeds == 0 && wish.points.is_none() {
            return Err("say what: --kills N, --cuts N, --seeds N or --points".into());
        }
        Ok(Some(Wish { seed: seed.unwrap_or_else(Rng::fresh_seed), ..wish }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Wish>, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Wish::parse(&words)
    }

    #[test]
    fn wishes_are_read_or_refused() {
        let wish = Wish { kills: 5, cuts: 0, seeds: 3, points: None, seed: 7, json: true };
        assert_eq!(read("--kills 5 --seeds 3 --seed 7 --json"), Ok(Some(wish)));
        let points = |line| read(line).unwrap().unwrap().points;
        assert_eq!(points("--points --seed 7").as_deref(), Some(""));
        assert_eq!(points("--points recover. --seed 7").as_deref(), Some("recover."));
        assert_eq!(read("--help"), Ok(None));
        for (line, why) in [
            ("", "say what: --kills N, --cuts N, --seeds N or --points"),
            ("--kills", "`--kills` needs a number"),
            ("--kills x", "`--kills` needs a number, not `x`"),
            ("--fast", "`--fast` is not an option; --help names them"),
        ] {
            assert_eq!(read(line), Err(why.to_owned()), "{line}");
        }
    }
}
