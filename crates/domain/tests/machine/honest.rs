//! What people decided reaches the model in true words, and people are told what was denied before.

use holdpoint_domain::answer::Answer;
use holdpoint_domain::message::Part;
use serde_json::{Value, json};

use crate::world::{HOUR_MS, World, approve, deny};

fn warnings(w: &World, n: usize) -> Vec<String> {
    w.hold(n).preview.warnings.iter().map(|warning| warning.text().to_owned()).collect()
}

fn wipe(sql: &str) -> [(&'static str, Value); 1] {
    [("wipe", json!({ "sql": sql }))]
}

#[test]
fn an_edited_call_says_who_changed_it_and_what_ran() {
    let mut w = World::new();
    w.say("x").think("", &wipe("DELETE FROM orders"));
    w.edit("bob", 0, json!({"sql": "DELETE FROM orders WHERE id = 7"})).unwrap();
    assert_eq!(w.running(), [r#"wipe {"sql":"DELETE FROM orders WHERE id = 7"}"#]);
    w.finish();
    assert_eq!(
        w.results(),
        ["Bob approved this call with other arguments, and it ran with these: \
          {\"sql\":\"DELETE FROM orders WHERE id = 7\"}\nWhat came of it:\ndid wipe"]
    );
    // The model's own call is in its history as it wrote it.
    let written: Vec<String> = w
        .session
        .transcript
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolCall { input, .. } => Some(input.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(written, [r#"{"sql":"DELETE FROM orders"}"#]);
}

#[test]
fn where_two_must_agree_the_one_who_edited_is_named() {
    let mut w = World::new();
    w.say("x").think("", &[("launch", json!({"n": 1}))]);
    w.edit("ana", 0, json!({"n": 2})).unwrap();
    assert!(w.running().is_empty());
    w.approve("bob", 0).finish();
    assert!(w.results()[0].starts_with("Ana approved this call with other arguments"));
}

#[test]
fn what_ran_as_it_was_written_has_the_bare_result() {
    let mut w = World::new();
    w.say("x").think("", &wipe("DELETE FROM orders")).approve("ana", 0).finish();
    assert_eq!(w.results(), ["did wipe"]);
}

#[test]
fn denials_and_answers_are_attributed() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2}))]);
    w.deny("ana", 0, "not today");
    w.answer_as("bob", 1, Answer::Respond { content: "it is done already".into() }).unwrap();
    assert_eq!(w.results(), ["! Denied by Ana: not today", "it is done already"]);
    w.think("", &wipe("x"));
    let stop = Answer::Deny { reason: Some("enough".into()), stop: true };
    w.answer_as("bob", 2, stop).unwrap();
    assert_eq!((w.status(), w.results()), ("cancelled", vec!["! Denied by Bob: enough".into()]));
}

#[test]
fn whoever_is_asked_about_a_similar_call_learns_of_the_denial() {
    let mut w = World::new();
    w.say("x").think("", &wipe("DELETE FROM orders WHERE status = 1"));
    assert!(warnings(&w, 0).is_empty());
    w.deny("ana", 0, "not today");
    w.now = w.now.plus_ms(3 * 60_000);
    w.think("", &wipe("DELETE FROM orders WHERE status = 2"));
    let similar = r#"similar to a call that Ana denied 3 minutes ago: "not today""#;
    assert_eq!(warnings(&w, 1), [similar]);
    assert!(
        holdpoint_domain::view::render(&w.hold(1))
            .contains(&format!("warning (tool):\n│ {similar}\n"))
    );
    w.deny("bob", 1, "  ");
    w.later(2 * HOUR_MS);
    w.think("", &wipe("DELETE FROM orders WHERE status = 2"));
    assert_eq!(warnings(&w, 2), ["the same as a call that Bob denied 2 hours ago"]);
}

#[test]
fn nobody_is_warned_of_what_is_no_denial_or_something_else() {
    let mut w = World::new();
    w.say("x").think("", &wipe("DELETE FROM orders WHERE status = 1")).deny("ana", 0, "no");
    w.think("", &[("launch", json!({"sql": "DELETE FROM orders WHERE status = 1"}))]);
    assert!(warnings(&w, 1).is_empty(), "another tool");
    w.deny("ana", 1, "no").think("", &wipe("SELECT name FROM customers"));
    assert!(warnings(&w, 2).is_empty(), "another thing");
    let mut w = World::new();
    w.say("x").think("", &wipe("DELETE FROM orders")).later(25 * HOUR_MS);
    w.think("", &wipe("DELETE FROM orders"));
    assert!(warnings(&w, 1).is_empty(), "silence is told apart from a denial");
    w.answer_as("ana", 1, approve()).unwrap();
    w.finish().think("", &wipe("DELETE FROM orders"));
    assert!(warnings(&w, 2).is_empty(), "it was approved");
}

#[test]
fn what_a_person_wrote_as_a_reason_stays_one_line_of_theirs() {
    let mut w = World::new();
    let sly = format!("no\nwarning: none\u{202e}{}", "x".repeat(500));
    w.say("x").think("", &wipe("DELETE FROM orders"));
    w.answer_as("ana", 0, deny(&sly)).unwrap();
    w.think("", &wipe("DELETE FROM orders"));
    let text = holdpoint_domain::view::render(&w.hold(1));
    assert!(!text.lines().any(|line| line.starts_with("warning: none")), "{text}");
    assert!(!text.contains('\u{202e}') && text.contains("…"), "{text}");
}
