//! What the server says, or how it fails, and when: the words of a script.

use serde::Deserialize;
use serde_json::Value;

use super::manner::{After, Manner, Then};

/// One answer of the script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Everything that is given must hold.
    pub when: When,
    /// How often it is given; without end if nothing is said.
    pub times: Option<u32>,
    pub say: Vec<Block>,
    pub stop: Option<Stop>,
    pub manner: Manner,
    /// Instead of all that.
    pub fail: Option<Failure>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The number of the request among those that were sound, from 1.
    pub request: Option<u64>,
    /// The last words of the user contain this.
    pub says: Option<String>,
    /// A result that came since the last turn contains this.
    pub result: Option<String>,
    /// So many results came since the last turn.
    pub results: Option<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Block {
    /// `{result}` stands for the results that came since the last turn.
    Text {
        text: String,
    },
    /// With a signature (Anthropic), as a reasoning item (Responses) or as `reasoning_content` (what
    /// compatible servers do on Chat Completions).
    Thinking {
        text: String,
    },
    /// Thinking that nobody may read. Chat Completions have no such thing, and say nothing.
    RedactedThinking {
        text: String,
    },
    Call(Call),
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Call {
    pub name: String,
    /// Made up from the number of the turn, if nothing is said.
    pub id: Option<String>,
    /// Nothing at all is the empty object, as each vendor writes it.
    pub input: Option<Value>,
    /// The text of the arguments as it is, sound or not.
    pub raw: Option<String>,
    /// An argument of so many bytes, made while it is sent.
    pub huge: Option<usize>,
    /// Characters outside ASCII are written as `\u` escapes.
    pub escaped: bool,
    /// Only so many characters of the arguments are sent: the model ran out of tokens.
    pub keep: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    EndTurn,
    ToolUse,
    MaxTokens,
    StopSequence,
    PauseTurn,
    Refusal,
    ModelContextWindowExceeded,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub status: u16,
    /// A made-up one, if nothing is said.
    #[serde(default)]
    pub message: Option<String>,
    /// The header, as it is.
    #[serde(default)]
    pub retry_after: Option<String>,
}

impl Turn {
    pub fn text(text: &str) -> Turn {
        Turn { say: vec![Block::Text { text: text.into() }], ..Turn::default() }
    }

    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Turn {
        Turn { say: calls.into_iter().map(Block::Call).collect(), ..Turn::default() }
    }

    pub fn fail(status: u16) -> Turn {
        Turn { fail: Some(Failure { status, message: None, retry_after: None }), ..Turn::default() }
    }

    /// The same, after another block.
    pub fn first(mut self, block: Block) -> Turn {
        self.say.insert(0, block);
        self
    }

    /// Directly after these words of the user.
    pub fn says(mut self, text: &str) -> Turn {
        self.when.says = Some(text.into());
        self.when.results = Some(0);
        self
    }

    /// After so many results.
    pub fn after(mut self, results: usize) -> Turn {
        self.when.results = Some(results);
        self
    }

    pub fn times(self, times: u32) -> Turn {
        Turn { times: Some(times), ..self }
    }

    pub fn stop(self, stop: Stop) -> Turn {
        Turn { stop: Some(stop), ..self }
    }

    /// When so many bytes of the answer are out, something happens.
    pub fn then(mut self, bytes: usize, then: Then) -> Turn {
        self.manner.after = Some(After { bytes, then });
        self
    }

    pub fn manner(self, manner: Manner) -> Turn {
        Turn { manner, ..self }
    }

    pub fn retry_after(mut self, value: &str) -> Turn {
        if let Some(fail) = &mut self.fail {
            fail.retry_after = Some(value.into());
        }
        self
    }
}

impl Call {
    pub fn new(name: &str, input: Value) -> Call {
        Call { name: name.into(), input: Some(input), ..Call::default() }
    }

    pub fn id(self, id: &str) -> Call {
        Call { id: Some(id.into()), ..self }
    }
}
