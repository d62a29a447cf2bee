//! Keys that a front end hands over as the result of a client tool. The tool's name is an agreement with
//! such front ends: `{"confirmed": true, "keys": {"NAME": "value"}}`. The result goes to the model, so the
//! values are taken out of it before anything is kept.

use domain::answer::Answer;
use domain::hold::Hold;
use domain::refusal::Refusal;
use serde_json::Value;

/// The one client tool whose result is known to hold secrets.
const REQUEST_API_KEYS: &str = "requestApiKeys";

/// The result of such a call and where its secrets are; `None` for every other answer. What cannot be
/// searched for secrets is refused.
pub(crate) fn handed_over(
    hold: &Hold,
    answer: &Answer,
) -> Result<Option<(Value, Vec<String>)>, Refusal> {
    let is_such = hold.call().is_some_and(|call| &*call.tool == REQUEST_API_KEYS);
    let Answer::Perform { content, is_error: false } = answer else { return Ok(None) };
    // mutant: keys-in-the-transcript
    if !is_such {
        return Ok(None);
    }
    let refused = |why: &str| Refusal::AnswerInvalid { field: "output".into(), why: why.into() };
    let mut value: Value = serde_json::from_str(content)
        .ok()
        .filter(Value::is_object)
        .ok_or_else(|| refused("send {\"confirmed\": true, \"keys\": {\"NAME\": \"value\"}}"))?;
    if let Value::Object(map) = &mut value {
        // Nothing else is expected, so nothing else is kept.
        map.retain(|key, _| key == "confirmed" || key == "keys");
    }
    let pointers = match value.get("keys") {
        None => Vec::new(),
        Some(Value::Object(keys)) => keys.keys().map(|key| pointer(key)).collect(),
        Some(_) => return Err(refused("`keys` is an object: a value for each name")),
    };
    Ok(Some((value, pointers)))
}

fn pointer(key: &str) -> String {
    format!("/keys/{}", key.replace('~', "~0").replace('/', "~1"))
}
