//! Every case of `vectors/reply_cases.json` and `vectors/reply_cases_2.json`.

use serde_json::{Value, json};

use super::super::{
    ApprovalCode, ChosenOptions, ExpectedReply, ReplyContext, ReplyVerdict, parse_reply,
};

const CASES: &str = include_str!("../../vectors/reply_cases.json");

fn context(of: &Value) -> ReplyContext {
    let texts = |key: &str| {
        let items = of[key].as_array().expect("a list").iter();
        items.map(|item| item.as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    let is = |key: &str| of[key].as_bool().expect("yes or no");
    let asked = match of["kind"].as_str() {
        Some("confirm") => ExpectedReply::Confirm { numbered: is("numbered") },
        Some("choice") => ExpectedReply::Choice { options: texts("options"), multi: is("multi") },
        other => panic!("{other:?}"),
    };
    ReplyContext {
        asked,
        code: of["code"].as_str().map(ApprovalCode::new),
        weak_ok: is("weak_ok"),
        reserved: texts("reserved"),
        ..ReplyContext::default()
    }
}

fn value(verdict: &ReplyVerdict) -> Value {
    match verdict {
        ReplyVerdict::Choice(ChosenOptions::One(one), _) => json!(one),
        ReplyVerdict::Choice(ChosenOptions::Several(several), _) => json!(several),
        _ => Value::Null,
    }
}

/// The second round: what a strict reader found to be read as a yes that was none.
#[test]
fn i48_every_case_of_the_second_round_comes_out() {
    const SECOND: &str = include_str!("../../vectors/reply_cases_2.json");
    let cases: Vec<Value> = serde_json::from_str(SECOND).expect("the cases");
    assert_eq!(cases.len(), SECOND.matches("\"text\"").count());
    let mut wrong = Vec::new();
    for case in &cases {
        let text = case["text"].as_str().expect("a text");
        let verdict = parse_reply(text, &context(&case["ctx"]));
        let lists = |key: &str| {
            let names = case[key].as_array();
            names.is_some_and(|names| names.contains(&json!(verdict.name())))
        };
        let must = case["must"].is_null() || lists("must");
        let valued = case["value"].is_null() || case["value"] == value(&verdict);
        if !must || lists("never") || !valued {
            wrong.push(format!("{text:?}: {} {}", verdict.name(), verdict.reason_name()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn i13_every_listed_case_comes_out() {
    let cases: Vec<Value> = serde_json::from_str(CASES).expect("the cases");
    assert_eq!(cases.len(), CASES.matches("\"expect\"").count());
    let mut wrong = Vec::new();
    for case in &cases {
        let text = case["text"].as_str().expect("a text");
        let verdict = parse_reply(text, &context(&case["ctx"]));
        let came = json!([verdict.name(), verdict.reason_name(), value(&verdict)]);
        if came != json!([case["expect"], case["why"], case["value"]]) {
            wrong.push(format!("{text:?}: {came}, not {}/{}", case["expect"], case["why"]));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
