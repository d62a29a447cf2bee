//! What a transcript must be like for any provider to take it.

use serde_json::Value;

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn ids<'a>(message: &'a Value, kind: &'a str) -> Vec<&'a str> {
    let parts = items(&message["parts"]).filter(|part| part["type"] == kind);
    parts.map(|part| part["toolCallId"].as_str().unwrap_or_default()).collect()
}

/// What is wrong with a session's transcript: every call has exactly one result, in the next message
/// and in the order of the calls, no result is without a call, and no call stands twice. Calls of
/// the last message may still wait.
pub fn unsound(session: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in items(&session["messages"]).enumerate() {
        let results = ids(message, "tool-result");
        if results != open {
            wrong.push(format!("message {at}: the calls {open:?} got the results {results:?}"));
        }
        open = ids(message, "tool-call");
        for call in &open {
            if !known.insert(*call) {
                wrong.push(format!("message {at}: the call {call} stands twice"));
            }
        }
        let role = message["role"].as_str().unwrap_or_default();
        if role != "assistant" && !open.is_empty() || role != "tool" && !results.is_empty() {
            wrong.push(format!("message {at}: a {role} message has parts of another role"));
        }
    }
    wrong
}

/// All results in order: the call, what the model was told, and whether it is an error.
pub fn results(session: &Value) -> Vec<(String, String, bool)> {
    let parts = items(&session["messages"]).flat_map(|message| items(&message["parts"]));
    let results = parts.filter(|part| part["type"] == "tool-result");
    let text = |part: &Value, key: &str| part[key].as_str().unwrap_or_default().to_owned();
    results
        .map(|part| {
            let is_error = part["isError"].as_bool().unwrap_or_default();
            (text(part, "toolCallId"), text(part, "output"), is_error)
        })
        .collect()
}

/// Everything that somebody of this role said, message by message.
pub fn words(session: &Value, role: &str) -> Vec<String> {
    let said = items(&session["messages"]).filter(|message| message["role"] == role);
    said.map(|message| {
        let parts = items(&message["parts"]).filter(|part| part["type"] == "text");
        parts.filter_map(|part| part["text"].as_str()).collect()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(change: impl Fn(&mut Vec<Value>)) -> Value {
        let call = |id: &str| json!({"type": "tool-call", "toolCallId": id});
        let result = |id: &str| json!({"type": "tool-result", "toolCallId": id, "output": id});
        let mut messages = vec![
            json!({"role": "user", "parts": [{"type": "text", "text": "go"}]}),
            json!({"role": "assistant", "parts": [call("a"), call("b")]}),
            json!({"role": "tool", "parts": [result("a"), result("b")]}),
            json!({"role": "assistant", "parts": [{"type": "text", "text": "done"}]}),
        ];
        change(&mut messages);
        json!({"messages": messages})
    }

    #[test]
    fn what_no_provider_takes_is_found() {
        assert_eq!(unsound(&session(|_| {})), Vec::<String>::new());
        assert_eq!(unsound(&session(|messages| messages.truncate(2))), Vec::<String>::new());
        let breaks: [fn(&mut Vec<Value>); 6] = [
            |messages| messages[2]["parts"].as_array_mut().unwrap().reverse(),
            |messages| drop(messages[2]["parts"].as_array_mut().unwrap().pop()),
            |messages| drop(messages.remove(2)),
            |messages| messages.insert(3, messages[2].clone()),
            |messages| messages.insert(2, messages[0].clone()),
            |messages| {
                let again = messages[1].clone();
                let results = messages[2].clone();
                messages.extend([again, results]);
            },
        ];
        for (number, broken) in breaks.into_iter().enumerate() {
            assert!(!unsound(&session(broken)).is_empty(), "{number}");
        }
    }

    #[test]
    fn results_and_words_are_read_in_order() {
        let session = session(|_| {});
        assert_eq!(results(&session)[1], ("b".to_owned(), "b".to_owned(), false));
        assert_eq!(words(&session, "assistant"), ["", "done"]);
    }
}
