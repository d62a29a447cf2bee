//! Answers that clients of other systems send as plain words: sentences that were agreed on
//! beforehand, and the values that a button posts. Only the whole of them counts, with the values of
//! the stored call in it; anything else is no answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::hold::{Hold, Question};
use domain::session::Session;
use serde_json::Value;

/// What means yes and no for one tool, as the configuration says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolWords {
    /// Sentences, with `{argument}` filled from the stored call.
    pub approve_text: Option<String>,
    pub deny_text: Option<String>,
    /// Outputs of a front end.
    pub approve_value: Option<String>,
    pub deny_value: Option<String>,
}

/// By the name of the tool.
pub type DoorWords = BTreeMap<String, ToolWords>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordsVerdict {
    Approve,
    Deny,
}

/// The one open hold that a message is the agreed answer to. Where it could mean two of them, it means
/// none.
pub(crate) fn agreed_in_text(
    words: &DoorWords,
    session: &Session,
    text: &str,
) -> Option<(Arc<Hold>, WordsVerdict)> {
    let said = folded(text);
    let mut meant = None;
    for hold in session.open_holds().filter(|hold| hold.question == Question::Approve) {
        let Some(call) = hold.call() else { continue };
        let Some(words) = words.get(&*call.tool) else { continue };
        let is = |template: &Option<String>| {
            let filled = template.as_ref().and_then(|it| filled(it, call.arguments.value()));
            // mutant: words-any-sentence
            filled.is_some_and(|sentence| folded(&sentence) == said)
        };
        let verdict = match (is(&words.approve_text), is(&words.deny_text)) {
            (true, false) => WordsVerdict::Approve,
            (false, true) => WordsVerdict::Deny,
            _ => continue,
        };
        if meant.replace((hold.clone(), verdict)).is_some() {
            return None;
        }
    }
    meant
}

/// A template with the call's values in it; `None` if one is missing or is no plain value.
fn filled(template: &str, arguments: &Value) -> Option<String> {
    let mut sentence = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        sentence.push_str(before);
        match arguments.get(name)? {
            Value::String(text) => sentence.push_str(text),
            value @ (Value::Number(_) | Value::Bool(_)) => sentence.push_str(&value.to_string()),
            _ => return None,
        }
        rest = after;
    }
    sentence.push_str(rest);
    Some(sentence)
}

/// Case, spacing and the shape of quotation marks say nothing.
pub(crate) fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain = |letter: char| match letter {
        '\u{2018}' | '\u{2019}' | '`' | '\u{b4}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        other => other,
    };
    words.join(" ").chars().map(plain).flat_map(char::to_lowercase).collect()
}

/// What an output posted for an approve hold means; `None`: it is no answer.
pub(crate) fn agreed_in_output(
    words: &DoorWords,
    tool: &str,
    output: &Value,
) -> Option<WordsVerdict> {
    let own = words.get(tool);
    let is = |value: Option<&str>| value.is_some() && output.as_str() == value;
    let value = |pick: fn(&ToolWords) -> &Option<String>| own.and_then(|own| pick(own).as_deref());
    if is(value(|own| &own.approve_value)) || is(Some("approved")) {
        return Some(WordsVerdict::Approve);
    }
    if is(value(|own| &own.deny_value)) || is(Some("denied")) {
        return Some(WordsVerdict::Deny);
    }
    // The one tool whose front end has these built in.
    if tool == "deployToShipperCloud" {
        match output.as_str() {
            Some("Yes, deploy to Shipper Cloud") => return Some(WordsVerdict::Approve),
            Some("No, cancel deployment") => return Some(WordsVerdict::Deny),
            _ => {}
        }
    }
    let confirmed = match output {
        Value::Object(map) => map.get("confirmed")?.as_bool()?,
        // JSON in a string; what else it says is not read.
        Value::String(text) => {
            let read: Value = serde_json::from_str(text).ok()?;
            read.as_object()?.get("confirmed")?.as_bool()?
        }
        _ => return None,
    };
    Some(if confirmed { WordsVerdict::Approve } else { WordsVerdict::Deny })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sentence_counts_with_the_stored_values_only() {
        let stored = json!({"projectName": "my-app", "replicas": 3, "tags": ["a"]});
        let template = "Yes, please proceed with deploying \"{projectName}\" to Shipper Cloud.";
        let sentence = filled(template, &stored).expect("a sentence");
        assert_eq!(sentence, "Yes, please proceed with deploying \"my-app\" to Shipper Cloud.");
        let said = "  yes, please proceed with deploying \u{201c}my-app\u{201d}  to Shipper Cloud.";
        assert_eq!(folded(said), folded(&sentence));
        for other in [
            "Yes, please proceed with deploying \"my-app2\" to Shipper Cloud.",
            "Yes, please proceed with deploying \"my-app\" to Shipper Cloud. Not!",
            "yes",
        ] {
            assert_ne!(folded(other), folded(&sentence), "{other}");
        }
        assert_eq!(filled("{replicas} of them", &stored).as_deref(), Some("3 of them"));
        assert_eq!(filled("{nothing}", &stored), None);
        assert_eq!(filled("{tags}", &stored), None);
        assert_eq!(filled("{projectName", &stored), None);
    }

    #[test]
    fn only_exact_values_are_answers() {
        let own = ToolWords {
            approve_value: Some("Do it".into()),
            deny_value: Some("Leave it".into()),
            ..ToolWords::default()
        };
        let words = DoorWords::from([("deploy".to_owned(), own)]);
        let check = |tool: &str, output: Value| agreed_in_output(&words, tool, &output);
        let (yes, no) = (Some(WordsVerdict::Approve), Some(WordsVerdict::Deny));
        assert_eq!(check("deploy", json!("Do it")), yes);
        assert_eq!(check("deploy", json!("Leave it")), no);
        assert_eq!(check("other", json!("Do it")), None);
        assert_eq!(check("deployToShipperCloud", json!("Yes, deploy to Shipper Cloud")), yes);
        assert_eq!(check("deployToShipperCloud", json!("No, cancel deployment")), no);
        assert_eq!(check("other", json!("Yes, deploy to Shipper Cloud")), None);
        assert_eq!(check("other", json!("approved")), yes);
        assert_eq!(check("other", json!("denied")), no);
        assert_eq!(check("other", json!({"confirmed": true, "projectName": "evil"})), yes);
        assert_eq!(check("other", json!("{\"confirmed\": false}")), no);
        for other in [
            json!("Approved"),
            json!("yes"),
            json!(true),
            json!(null),
            json!({"confirmed": "true"}),
            json!([{"confirmed": true}]),
            json!("{\"confirmed\": 1}"),
            json!("\"{\\\"confirmed\\\": true}\""),
            json!("approved "),
        ] {
            assert_eq!(check("other", other.clone()), None, "{other}");
        }
    }
}
