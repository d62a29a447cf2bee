//! One hold, any door: what is asked through one can be answered through every other, with a person's
//! token. Without one, a door answers only what was asked through it.

mod surface;

use serde_json::{Value, json};
use surface::{SURFACES, Surface};
use testkit::served::{Caller, Served, results, unsound};

const CONFIG: &str = r#"
@SERVER@
@SCRIPTED@

[[agents]]
id = "worker"
model = "scripted"
tools = ["note", "witness"]

[[tools]]
name = "note"
kind = "client"
description = "Takes a note in the browser."
input_schema = { type = "object" }

@WITNESS@

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[doors.frontend_tools]
enabled = true
@ACT_AS@

[doors.worlds]
enabled = true
worlds = { "My World" = ["worker"] }
@ACT_AS@

[doors.ai_sdk]
enabled = true
@ACT_AS@
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says_regex = '^work (\S+)$' }
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { result_contains = "" }
text = "All-done."
"#;

/// A hold that this surface opened, and the conversation by the name that it has there.
async fn opened(from: Surface, who: &Caller, ana: &Caller, note: &str) -> (String, Value) {
    let place = from.asks(who, note).await;
    let list = ana.get("/v1/holds?state=pending").await.must(200);
    let holds = list["items"].as_array().expect("items").clone();
    let [hold] = holds.as_slice() else { panic!("{} did not ask: {holds:#?}", from.name()) };
    assert_eq!(hold["call"]["arguments"], json!({"note": note}));
    (place, hold.clone())
}

#[tokio::test]
async fn what_is_asked_through_one_door_is_answered_through_every_other() {
    let served = Served::start(&CONFIG.replace("@ACT_AS@", ""), SCRIPT).await;
    let ana = served.admin();
    let mut notes = Vec::new();
    for from in SURFACES {
        for by in SURFACES {
            let note = format!("{}-{}", from.name(), by.name());
            let (place, hold) = opened(from, &ana, &ana, &note).await;
            let session = hold["session"].as_str().expect("a session");
            let named = if from == by { place.as_str() } else { session };

            let stream = by.approves(&ana, named, &hold).await.expect("it may");
            assert!(stream.contains("All-done."), "{note}: {stream}");
            let read = ana.run_is(session, "completed").await;
            assert_eq!(unsound(&read), Vec::<String>::new(), "{note}");
            assert_eq!(results(&read).len(), 1, "{note}");
            let decided = ana.hold(&hold["id"]).await;
            assert_eq!(decided["state"], "approved", "{note}");
            assert_eq!(decided["decision"]["by"], "ana", "{note}");
            assert_eq!(decided["decision"]["via"], by.via(), "{note}");
            // Its own front end learns of it, too.
            let told = from.comes_back(&ana, &place).await;
            assert!(told.contains("All-done."), "{note}: {told}");
            // The same again through another door changes nothing.
            for again in SURFACES {
                let named = if from == again { place.as_str() } else { session };
                again.approves(&ana, named, &hold).await.expect("the same answer again");
            }
            notes.push(json!({"note": note}));
        }
    }
    let lines = served.witness().lines().expect("a witness");
    assert_eq!(
        lines.iter().map(|line| &line.input).collect::<Vec<_>>(),
        notes.iter().collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn without_credentials_a_door_answers_only_what_was_asked_through_it() {
    let acting = "act_as = \"ana\"\ninsecure = true";
    let served = Served::start(&CONFIG.replace("@ACT_AS@", acting), SCRIPT).await;
    let (ana, nobody) = (served.admin(), served.stranger());
    let mut notes = Vec::new();
    for from in SURFACES {
        for by in SURFACES.into_iter().filter(|by| *by != Surface::Native) {
            let note = format!("{}-{}", from.name(), by.name());
            let who = if from == Surface::Native { &ana } else { &nobody };
            let (place, hold) = opened(from, who, &ana, &note).await;
            let session = hold["session"].as_str().expect("a session");
            let named = if from == by { place.as_str() } else { session };
            let answered = by.approves(&nobody, named, &hold).await;
            match from == by {
                true => {
                    answered.expect("its own");
                    ana.run_is(session, "completed").await;
                    notes.push(json!({"note": note}));
                }
                false => {
                    let status = answered.expect_err(&note);
                    assert_eq!(status, 404, "{note}");
                    assert_eq!(ana.hold(&hold["id"]).await, hold, "{note}: it is as it was");
                    ana.answer(&hold, json!({"verdict": "deny"})).await.must(200);
                    ana.run_is(session, "completed").await;
                }
            }
        }
    }
    let lines = served.witness().lines().expect("a witness");
    assert_eq!(
        lines.iter().map(|line| &line.input).collect::<Vec<_>>(),
        notes.iter().collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_door_for_everybody_does_not_open_beside_tools_that_could_walk_through_it() {
    let acting = "act_as = \"ana\"";
    let served = Served::prepare(&CONFIG.replace("@ACT_AS@", acting), SCRIPT);
    let (code, _, said) = testkit::served::run(
        served.binary(),
        &["serve", "--config", "holdpoint.toml"],
        &served.path("."),
    )
    .await;
    assert_ne!(code, 0);
    assert!(said.contains("insecure"), "{said}");
}
