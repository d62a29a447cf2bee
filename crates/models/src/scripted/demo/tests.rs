use crate::scripted::ScriptedModel;
use crate::scripted::tests::{Talk, answer_to};

use super::*;

fn demo() -> ScriptedModel {
    // The pauses are for people.
    let hurried = DEMO_SCRIPT.replace("delay_ms = 15", "delay_ms = 0");
    assert_ne!(hurried, DEMO_SCRIPT);
    ScriptedModel::parse(&hurried).expect("the demo's script is sound")
}

fn say(name: &str) -> &'static str {
    let found = demo_scenarios().into_iter().find(|(known, _)| *known == name);
    found.expect("a known scenario").1
}

/// Plays a scenario up to its calls, gives them these results, and returns what is said then.
async fn play(name: &str, results: &[(&str, bool)]) -> String {
    let mut talk = Talk::new().user(say(name));
    let turn = answer_to(&demo(), &talk).await;
    assert_eq!(turn.calls.len(), results.len(), "{name} makes one call for each result");
    talk = talk.turn(&turn).results(&turn, results);
    let last = answer_to(&demo(), &talk).await;
    assert!(last.calls.is_empty(), "{name} ends");
    Talk::text_of(&last)
}

#[tokio::test]
async fn every_scenario_calls_what_it_is_there_to_show() {
    for (name, tools) in [
        ("approve", vec![r#"sql_modify {"sql":"DELETE FROM orders WHERE status=1"}"#]),
        ("perform", vec![r#"browser_location {"accuracy":"city"}"#]),
        (
            "two_phase",
            vec![r#"deployToShipperCloud {"projectName":"my-app","reason":"Store user data"}"#],
        ),
        (
            "parallel",
            vec![
                r#"sql_modify {"sql":"UPDATE orders SET status=3 WHERE status=2"}"#,
                r#"sql_modify {"sql":"UPDATE orders SET total_cents=total_cents-100 WHERE customer='customer-7'"}"#,
            ],
        ),
    ] {
        let turn = answer_to(&demo(), &Talk::new().user(say(name))).await;
        let calls: Vec<String> =
            turn.calls.iter().map(|call| format!("{} {}", call.tool, call.input)).collect();
        assert_eq!(calls, tools, "{name}");
    }
    for (name, has) in [("choose", "options"), ("choose_many", "multiple"), ("fill", "schema")] {
        let turn = answer_to(&demo(), &Talk::new().user(say(name))).await;
        assert_eq!(&*turn.calls[0].tool, "human_intervention.request");
        let input: serde_json::Value = serde_json::from_str(&turn.calls[0].input).expect("JSON");
        assert!(input.get(has).is_some() && input.get("prompt").is_some(), "{name}: {input}");
    }
}

#[tokio::test]
async fn the_last_word_depends_on_the_answer() {
    for (name, results, wanted) in [
        ("approve", vec![("214 rows deleted", false)], "Done. The database says: 214 rows deleted"),
        (
            "approve",
            vec![("Denied by Ana: not today", true)],
            "All right, the orders stay. Ana said: not today",
        ),
        (
            "approve",
            vec![("Denied by Ana. No reason was given. The call was not run.", true)],
            "All right, the orders stay: the answer was no.",
        ),
        (
            "approve",
            vec![("Expired: nobody decided in time. The call was not run.", true)],
            "Nobody answered in time, so nothing was deleted.",
        ),
        (
            "approve",
            vec![("no such table: orders", true)],
            "Nothing more to do here. This is what I was told: no such table: orders",
        ),
        ("choose", vec![("Canary", false)], "Canary it is. Thank you."),
        ("choose_many", vec![("Europe, Asia", false)], "The release goes to: Europe, Asia"),
        ("fill", vec![("{}", false)], "Thank you, I wrote it down: {}"),
        ("perform", vec![("Lisbon", false)], "You are here: Lisbon"),
        (
            "parallel",
            vec![("3 rows", false), ("Denied by Ana: no", true)],
            "Both are settled.\nShipping: 3 rows\nDiscount: Denied by Ana: no",
        ),
    ] {
        assert_eq!(play(name, &results).await, wanted, "{name}");
    }
    for name in ["choose", "choose_many", "fill", "perform"] {
        let text = play(name, &[("Denied by Ana: no", true)]).await;
        assert!(text.ends_with("This is what I was told: Denied by Ana: no"), "{name}: {text}");
    }
}

const HOLD: &str = "hold_01jd0000000000000000000000";

/// The two-phase scenario up to the runtime's word that somebody decided.
async fn decided(word: &str) -> (Talk, ports::model::ModelTurn) {
    let talk = Talk::new().user(say("two_phase"));
    let first = answer_to(&demo(), &talk).await;
    let pending = r#"{"status":"pending_confirmation","message":"Awaiting user confirmation"}"#;
    let talk = talk.turn(&first).results(&first, &[(pending, false)]).user(word);
    let turn = answer_to(&demo(), &talk).await;
    (talk, turn)
}

#[tokio::test]
async fn a_confirmed_two_phase_call_is_made_again_and_reported() {
    let word = format!(
        "The person approved deployToShipperCloud ({HOLD}). Call it again with the same arguments and confirmed=true."
    );
    let (talk, turn) = decided(&word).await;
    let input: serde_json::Value = serde_json::from_str(&turn.calls[0].input).expect("JSON");
    let wanted = serde_json::json!(
        {"projectName": "my-app", "reason": "Store user data", "confirmed": true});
    assert_eq!(input, wanted);
    let done =
        r#"{"status":"success","success":true,"message":"Done","url":"https://my-app.example"}"#;
    let last = answer_to(&demo(), &talk.turn(&turn).results(&turn, &[(done, false)])).await;
    assert_eq!(Talk::text_of(&last), "It is on Shipper Cloud now: https://my-app.example");
    assert!(last.calls.is_empty());
}

#[tokio::test]
async fn an_edited_two_phase_call_is_made_as_the_person_wants_it() {
    let word = format!(
        r#"The person approved deployToShipperCloud ({HOLD}) with changes. Call it again with these arguments and confirmed=true: {{"projectName":"staging","reason":"try: it"}}"#
    );
    let (_, turn) = decided(&word).await;
    let input: serde_json::Value = serde_json::from_str(&turn.calls[0].input).expect("JSON");
    let wanted =
        serde_json::json!({"projectName": "staging", "reason": "try: it", "confirmed": true});
    assert_eq!(input, wanted);
}

#[tokio::test]
async fn a_two_phase_call_that_nobody_confirmed_is_let_go() {
    for (word, wanted) in [
        (
            format!("The person denied deployToShipperCloud ({HOLD}): too late today"),
            "All right, I will not deploy it. The reason: too late today",
        ),
        (
            format!("Nobody decided on deployToShipperCloud ({HOLD}) in time; nothing was done."),
            "Nobody confirmed in time, so nothing was deployed.",
        ),
    ] {
        let (_, turn) = decided(&word).await;
        assert!(turn.calls.is_empty(), "{word}");
        assert_eq!(Talk::text_of(&turn), wanted);
    }
}

#[tokio::test]
async fn anything_else_gets_a_list_of_what_can_be_said() {
    let turn = answer_to(&demo(), &Talk::new().user("Hello?")).await;
    let text = Talk::text_of(&turn);
    for (name, say) in demo_scenarios() {
        assert!(text.contains(say), "{name}");
    }
}
