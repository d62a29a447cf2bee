//! What a press or a reply says to a hold, as an answer. Whether it counts is judged elsewhere.

use domain::answer::{Answer, ApprovalScope, DenyReason};
use domain::hold::{Hold, Question};
use ports::channel::{ButtonAction, Form};
use reply_parser::{
    AmbiguityReason, ChosenOptions, ExpectedReply, ReplyContext, ReplyVerdict, VerdictSource,
    fold_text, parse_reply,
};
use serde_json::{Value, json};

/// Why a press is no answer.
#[derive(Debug, PartialEq)]
pub(crate) enum NoAnswer {
    /// There is no such button on this prompt.
    NoSuchButton,
    NothingWritten,
    NothingChosen,
}

pub(crate) fn of_press(
    hold: &Hold,
    said: ButtonAction,
    form: &Form,
    accepts_approval: bool,
) -> Result<Answer, NoAnswer> {
    match (&hold.question, said) {
        (Question::Settle, _) => Err(NoAnswer::NoSuchButton),
        (_, ButtonAction::Deny) => {
            let reason = form.fields.get("reason").and_then(Value::as_str);
            let reason = reason.filter(|reason| !reason.trim().is_empty()).map(DenyReason::from);
            Ok(Answer::Deny { reason, stop: false })
        }
        (_, ButtonAction::Arm | ButtonAction::Back | ButtonAction::Explain) => {
            Err(NoAnswer::NoSuchButton)
        }
        // A card that had to be cut has no such button, and none is believed of it.
        // mutant: press-yes-on-a-cut-card
        _ if !accepts_approval => Err(NoAnswer::NoSuchButton),
        (Question::Approve, ButtonAction::Allow) => Ok(approve()),
        (Question::Choose { .. }, ButtonAction::Option(number)) => chosen(hold, &[number.into()]),
        (Question::Choose { .. }, ButtonAction::Form) => {
            let numbers: Vec<usize> = form.options.iter().map(|number| (*number).into()).collect();
            chosen(hold, &numbers)
        }
        (Question::Fill { schema: None }, ButtonAction::Form) => {
            let text = form.fields.get("text").and_then(Value::as_str);
            let text = text.ok_or(NoAnswer::NothingWritten)?;
            Ok(Answer::Fill(json!({ "text": text })))
        }
        (Question::Fill { schema: Some(schema) }, ButtonAction::Form) => {
            let typed = |(name, value): (&String, &Value)| {
                (name.clone(), typed(value, &schema["properties"][name]["type"]))
            };
            Ok(Answer::Fill(Value::Object(form.fields.iter().map(typed).collect())))
        }
        _ => Err(NoAnswer::NoSuchButton),
    }
}

/// Forms of chats carry texts. What the schema wants to be a number or a yes is made one, if it is
/// written like one; anything else stays as it is, and is refused for what it is.
fn typed(value: &Value, kind: &Value) -> Value {
    let Some(text) = value.as_str().map(str::trim) else { return value.clone() };
    let read = match kind.as_str() {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => serde_json::from_str::<serde_json::Number>(text).ok().map(Value::Number),
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    };
    read.unwrap_or_else(|| value.clone())
}

/// `deny: the wrong table`: a clear no, and what the agent is told as its reason.
pub(crate) fn reasoned_denial(text: &str, context: &ReplyContext) -> Option<Answer> {
    let (no, reason) = text.split_once([':', '：'])?;
    let reason = reason.trim();
    let is_no = matches!(parse_reply(no, context), ReplyVerdict::Cancel(_));
    (is_no && !reason.is_empty()).then(|| Answer::Deny { reason: Some(reason.into()), stop: false })
}

/// `None`: this is no answer to such a question.
pub(crate) fn of_verdict(hold: &Hold, verdict: &ReplyVerdict) -> Option<Answer> {
    match (&hold.question, verdict) {
        (Question::Approve, ReplyVerdict::Confirm(_)) => Some(approve()),
        (_, ReplyVerdict::Cancel(_)) => Some(Answer::Deny { reason: None, stop: false }),
        (Question::Choose { .. }, ReplyVerdict::Choice(ChosenOptions::One(number), _)) => {
            chosen(hold, &[*number]).ok()
        }
        (Question::Choose { .. }, ReplyVerdict::Choice(ChosenOptions::Several(numbers), _)) => {
            chosen(hold, numbers).ok()
        }
        _ => None,
    }
}

/// A label that is the number of another place, as in "1. 3, 2. 5, 3. 7": a reply `3` may mean either.
pub(crate) fn without_doubt(hold: &Hold, verdict: ReplyVerdict) -> ReplyVerdict {
    let Question::Choose { options, .. } = &hold.question else { return verdict };
    let ReplyVerdict::Choice(ChosenOptions::One(place), VerdictSource::Label) = &verdict else {
        return verdict;
    };
    let label = place.checked_sub(1).and_then(|index| options.get(index)).map(|it| &it.label);
    let number = label.and_then(|label| fold_text(label).trim().parse::<usize>().ok());
    match number {
        Some(number) if number != *place && (1..=options.len()).contains(&number) => {
            ReplyVerdict::Ambiguous(AmbiguityReason::WhichOption)
        }
        _ => verdict,
    }
}

/// What was asked, as far as words answer it.
pub(crate) fn expected_reply(hold: &Hold) -> ExpectedReply {
    match &hold.question {
        Question::Choose { options, multiple, .. } => ExpectedReply::Choice {
            options: options.iter().map(|option| option.label.clone()).collect(),
            multi: *multiple,
        },
        _ => ExpectedReply::Confirm { numbered: false },
    }
}

fn approve() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
}

/// Options by their place, from 1.
fn chosen(hold: &Hold, numbers: &[usize]) -> Result<Answer, NoAnswer> {
    let Question::Choose { options, .. } = &hold.question else {
        return Err(NoAnswer::NoSuchButton);
    };
    if numbers.is_empty() {
        return Err(NoAnswer::NothingChosen);
    }
    // mutant: every-option-is-the-first
    let id = |number: &usize| number.checked_sub(1).and_then(|index| options.get(index));
    let ids: Option<Vec<String>> =
        numbers.iter().map(|number| id(number).map(|option| option.id.clone())).collect();
    ids.map(Answer::Choose).ok_or(NoAnswer::NoSuchButton)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_may_have_a_reason() {
        let reason = |text: &str| match reasoned_denial(text, &ReplyContext::default()) {
            Some(Answer::Deny { reason, stop: false }) => reason,
            None => None,
            other => panic!("{other:?}"),
        };
        for (text, wanted) in [
            ("deny: the wrong table", Some("the wrong table")),
            ("No: yes, but only on staging", Some("yes, but only on staging")),
            ("拒绝：表不对", Some("表不对")),
            ("/deny: not today", Some("not today")),
            ("deny:", None),
            ("deny the wrong table", None),
            ("yes: do it", None),
            ("not no: maybe", None),
            ("see https://example.org", None),
            ("don't deny: approve", None),
        ] {
            assert_eq!(reason(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn what_was_typed_becomes_what_the_schema_wants_or_stays() {
        for (value, kind, wanted) in [
            (json!("3"), "integer", json!(3)),
            (json!(" -3 "), "integer", json!(-3)),
            (json!("3.5"), "integer", json!("3.5")),
            (json!("3.5"), "number", json!(3.5)),
            (json!("1e3"), "number", json!(1000.0)),
            (json!("NaN"), "number", json!("NaN")),
            (json!("true"), "boolean", json!(true)),
            (json!("yes"), "boolean", json!("yes")),
            (json!("3"), "string", json!("3")),
            (json!("true"), "null", json!("true")),
            (json!(4), "integer", json!(4)),
        ] {
            assert_eq!(typed(&value, &json!(kind)), wanted, "{value} {kind}");
        }
        assert_eq!(typed(&json!("3"), &Value::Null), json!("3"));
    }
}
