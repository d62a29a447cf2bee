//! Secrets in the open: the one shape that shows them.

use engine::Revealed;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Secrets {
    secrets: Vec<Secret>,
}

#[derive(Serialize, JsonSchema)]
struct Secret {
    /// `arguments` of the call, or the `answer` that was given.
    #[schemars(extend("enum" = ["arguments", "answer"]))]
    part: &'static str,
    /// JSON pointer into that part.
    at: String,
    value: Value,
}

impl Secrets {
    pub(crate) fn of(revealed: &[Revealed]) -> Secrets {
        let secret = |one: &Revealed| Secret {
            part: one.part,
            at: one.at.clone(),
            value: one.value.expose().clone(),
        };
        Secrets { secrets: revealed.iter().map(secret).collect() }
    }
}
