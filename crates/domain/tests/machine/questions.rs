//! Which answers fit a question: at both sides of every bound, and for forms in which somebody gave a secret.

use holdpoint_domain::answer::{Answer, ApprovalScope, Settlement};
use holdpoint_domain::hold::Question;
use holdpoint_domain::id::SecretId;
use holdpoint_domain::limits::{
    CONTENT_BYTES_MAX, OPTION_BYTES_MAX, OPTIONS_MAX, REASON_BYTES_MAX,
};
use holdpoint_domain::secret::reference;
use serde_json::json;

use crate::world::{deny, perform};

fn options(labels: &[&str], multiple: bool, allow_other: bool) -> Question {
    let labels = labels.iter().map(|label| ((*label).to_owned(), None));
    Question::choose(labels, multiple, allow_other).expect("sound options")
}

fn choose(texts: &[&str]) -> Answer {
    Answer::Choose(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn long(bytes: usize) -> String {
    "x".repeat(bytes)
}

#[track_caller]
fn fits_up_to(bytes_max: usize, question: &Question, answer: impl Fn(String) -> Answer) {
    for bytes in [1, bytes_max] {
        assert!(question.fits(&answer(long(bytes))).is_ok(), "{bytes} bytes fit");
    }
    for bytes in [bytes_max + 1, bytes_max + 2] {
        assert!(question.fits(&answer(long(bytes))).is_err(), "{bytes} bytes do not fit");
    }
}

#[test]
fn every_text_of_an_answer_has_a_bound() {
    fits_up_to(REASON_BYTES_MAX, &Question::Settle, |text| deny(&text));
    fits_up_to(REASON_BYTES_MAX, &Question::Approve, |text| Answer::Approve {
        scope: ApprovalScope::Once,
        arguments: None,
        note: Some(text),
    });
    let in_its_place = |content| Answer::Respond { content };
    fits_up_to(CONTENT_BYTES_MAX, &Question::Approve, in_its_place);
    let client_tool = Question::Perform { deny_values: Vec::new() };
    fits_up_to(CONTENT_BYTES_MAX, &client_tool, |text| perform(&text));
    fits_up_to(CONTENT_BYTES_MAX, &Question::Settle, |text| Answer::Settle {
        how: Settlement::Failed,
        content: Some(text),
    });
    fits_up_to(CONTENT_BYTES_MAX, &options(&["a"], false, true), |text| Answer::Choose(vec![text]));
    // A form counts as it is written: the braces, the key and the quotes are eleven bytes of it.
    let free_text = Question::Fill { schema: None };
    let around = r#"{"text":""}"#.len();
    fits_up_to(CONTENT_BYTES_MAX - around, &free_text, |text| {
        Answer::Fill(json!({ "text": text }))
    });
}

#[test]
fn options_are_asked_up_to_their_number_and_length() {
    let asked = |labels: Vec<String>| {
        Question::choose(labels.into_iter().map(|label| (label, None)), false, false).is_ok()
    };
    let labels = |count: usize| (0..count).map(|n| format!("option {n}")).collect::<Vec<_>>();
    assert!(asked(labels(OPTIONS_MAX)));
    assert!(!asked(labels(OPTIONS_MAX + 1)) && !asked(labels(OPTIONS_MAX + 2)));
    assert!(asked(vec![long(OPTION_BYTES_MAX)]));
    assert!(!asked(vec![long(OPTION_BYTES_MAX + 1)]) && !asked(vec![long(OPTION_BYTES_MAX + 2)]));
}

#[test]
fn a_form_whose_schema_is_unsound_is_not_asked() {
    let form = |schema| Question::Fill { schema: Some(schema) }.check();
    assert!(form(json!({"type": "object"})).is_ok());
    assert_eq!(form(json!({"type": "no such type"})).unwrap_err().field, "schema");
}

#[test]
fn i13_several_options_are_each_chosen_once_and_at_least_one_is() {
    let several = options(&["a", "b", "c"], true, false);
    assert!(several.fits(&choose(&[])).is_err(), "nothing was chosen");
    assert!(several.fits(&choose(&["a", "b", "c"])).is_ok());
    assert!(several.fits(&choose(&["a", "b", "a"])).is_err(), "the same label twice");
    assert!(several.fits(&choose(&["2", "b"])).is_err(), "the same option by id and by label");
    let own_words = options(&["a", "b"], true, true);
    assert!(
        own_words.fits(&choose(&["a", "b", "something else"])).is_ok(),
        "every one, and other text"
    );
    assert!(own_words.fits(&choose(&["x", "y", "z", "a"])).is_err(), "more than there are");
    assert!(own_words.fits(&choose(&["x", "x"])).is_err(), "the same words twice");
}

#[test]
fn free_text_is_one_text_and_nothing_beside_it() {
    let free_text = Question::Fill { schema: None };
    assert!(free_text.fits(&Answer::Fill(json!({"text": "hello"}))).is_ok());
    for wrong in [
        json!({"text": "hello", "more": 1}),
        json!({"text": 1}),
        json!({"words": "hello"}),
        json!({}),
        json!("hello"),
    ] {
        assert!(free_text.fits(&Answer::Fill(wrong.clone())).is_err(), "{wrong}");
    }
}

/// The answer is checked once as the person gave it, and once more after its secret became a reference.
#[test]
fn i45_a_form_with_a_secret_fits_also_when_the_secret_is_a_reference() {
    let schema = json!({
        "type": "object", "required": ["pin", "name"], "additionalProperties": false,
        "properties": {
            "pin": {"type": "string", "writeOnly": true, "pattern": "^[0-9]{4}$"},
            "name": {"type": "string"},
        },
    });
    let form = Question::Fill { schema: Some(schema) };
    assert_eq!(form.secrets(), ["/pin"]);
    assert!(Question::Fill { schema: None }.secrets().is_empty());
    let sealed = json!({"pin": reference(SecretId::new(1, 1)), "name": "door"});
    assert!(form.fits(&Answer::Fill(sealed.clone())).is_err(), "it is no four digits");
    assert!(form.fits_sealed(&Answer::Fill(sealed)).is_ok());
    let nameless = json!({"pin": reference(SecretId::new(1, 1)), "name": 7});
    assert!(form.fits_sealed(&Answer::Fill(nameless)).is_err(), "all else is still checked");
    let other = Answer::Choose(vec!["1".into()]);
    assert!(form.fits_sealed(&other).is_err(), "another kind of answer");
}
