//! What the server says to whom. The first turn that fits is the one.

use serde::Deserialize;

use super::asked::Asked;
use super::turn::Turn;

/// The key that opens it, unless the script names another.
pub const KEY: &str = "fake-key";
/// The model that there is, unless the script names others.
pub const MODEL: &str = "fake-model";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    pub key: String,
    pub models: Vec<String>,
    pub turns: Vec<Turn>,
}

impl Default for Script {
    fn default() -> Script {
        Script { key: KEY.into(), models: vec![MODEL.into()], turns: Vec::new() }
    }
}

impl Script {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Script {
        Script { turns: turns.into_iter().collect(), ..Script::default() }
    }

    /// A script as JSON, as the program and its control door take it.
    pub fn parse(text: &[u8]) -> Result<Script, String> {
        serde_json::from_slice(text).map_err(|error| format!("the script cannot be read: {error}"))
    }
}

/// A script under way.
#[derive(Debug)]
pub(super) struct Playing {
    pub(super) script: Script,
    /// How often each turn was given.
    given: Vec<u32>,
    /// Sound requests so far.
    asked: u64,
}

impl Playing {
    pub(super) fn new(script: Script) -> Playing {
        let given = vec![0; script.turns.len()];
        Playing { script, given, asked: 0 }
    }

    /// The turn for this request, and the request's number.
    pub(super) fn choose(&mut self, asked: &Asked) -> (u64, Option<Turn>) {
        self.asked += 1;
        let number = self.asked;
        let fits = |turn: &Turn, given: u32| {
            let when = &turn.when;
            turn.times.is_none_or(|times| given < times)
                && when.request.is_none_or(|wanted| wanted == number)
                && when.results.is_none_or(|wanted| wanted == asked.results.len())
                && when.says.as_ref().is_none_or(|text| asked.says.contains(text.as_str()))
                && when.result.as_ref().is_none_or(|text| {
                    asked.results.iter().any(|result| result.contains(text.as_str()))
                })
        };
        let turns = self.script.turns.iter().zip(&mut self.given);
        for (turn, given) in turns {
            if fits(turn, *given) {
                *given += 1;
                return (number, Some(turn.clone()));
            }
        }
        (number, None)
    }
}
