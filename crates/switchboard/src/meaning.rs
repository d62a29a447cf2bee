//! What a press or a reply says to a hold, as an answer. Whether it counts is judged elsewhere.

use domain::answer::{Answer, Scope};
use domain::hold::{Hold, Question};
use ports::channel::{Form, Said};
use replies::{Asked, Chosen, Verdict};
use serde_json::Value;

/// Why a press is no answer.
#[derive(Debug, PartialEq)]
pub(crate) enum NoAnswer {
    /// There is no such button on this prompt.
    NoSuchButton,
    Invalid(&'static str),
}

pub(crate) fn of_press(
    hold: &Hold,
    said: Said,
    form: &Form,
    takes_a_yes: bool,
) -> Result<Answer, NoAnswer> {
    match (&hold.question, said) {
        (Question::Settle, _) => Err(NoAnswer::NoSuchButton),
        (_, Said::Deny) => {
            let reason = form.fields.get("reason").and_then(Value::as_str);
            let reason = reason.filter(|reason| !reason.trim().is_empty()).map(str::to_owned);
            Ok(Answer::Deny { reason, stop: false })
        }
        // A card that had to be cut has no such button, and none is believed of it.
        _ if !takes_a_yes => Err(NoAnswer::NoSuchButton),
        (Question::Approve, Said::Allow) => Ok(approve()),
        (Question::Choose { .. }, Said::Option(number)) => chosen(hold, &[number.into()]),
        (Question::Choose { .. }, Said::Form) => {
            let numbers: Vec<usize> = form.options.iter().map(|number| (*number).into()).collect();
            chosen(hold, &numbers)
        }
        (Question::Fill { schema: None }, Said::Form) => {
            let text = form.fields.get("text").and_then(Value::as_str);
            let text = text.ok_or(NoAnswer::Invalid("write something"))?;
            Ok(Answer::Fill(Value::String(text.to_owned())))
        }
        (Question::Fill { schema: Some(_) }, Said::Form) => {
            Ok(Answer::Fill(Value::Object(form.fields.clone())))
        }
        _ => Err(NoAnswer::NoSuchButton),
    }
}

/// `None`: this is no answer to such a question.
pub(crate) fn of_verdict(hold: &Hold, verdict: &Verdict) -> Option<Answer> {
    match (&hold.question, verdict) {
        (Question::Approve, Verdict::Confirm(_)) => Some(approve()),
        (_, Verdict::Cancel(_)) => Some(Answer::Deny { reason: None, stop: false }),
        (Question::Choose { .. }, Verdict::Choice(Chosen::One(number), _)) => {
            chosen(hold, &[*number]).ok()
        }
        (Question::Choose { .. }, Verdict::Choice(Chosen::Several(numbers), _)) => {
            chosen(hold, numbers).ok()
        }
        _ => None,
    }
}

/// What was asked, as far as words answer it.
pub(crate) fn asked(hold: &Hold) -> Asked {
    match &hold.question {
        Question::Choose { options, multiple, .. } => Asked::Choice {
            options: options.iter().map(|option| option.label.clone()).collect(),
            multi: *multiple,
        },
        _ => Asked::Confirm { numbered: false },
    }
}

fn approve() -> Answer {
    Answer::Approve { scope: Scope::Once, arguments: None, note: None }
}

/// Options by their place, from 1.
fn chosen(hold: &Hold, numbers: &[usize]) -> Result<Answer, NoAnswer> {
    let Question::Choose { options, .. } = &hold.question else {
        return Err(NoAnswer::NoSuchButton);
    };
    if numbers.is_empty() {
        return Err(NoAnswer::Invalid("choose something"));
    }
    let id = |number: &usize| number.checked_sub(1).and_then(|index| options.get(index));
    let ids: Option<Vec<String>> =
        numbers.iter().map(|number| id(number).map(|option| option.id.clone())).collect();
    ids.map(Answer::Choose).ok_or(NoAnswer::NoSuchButton)
}
