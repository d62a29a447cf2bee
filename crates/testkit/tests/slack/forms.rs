//! Forms open in a modal, and come back from there.

use domain::hold::Question;
use ports::channel::PressReply;
use serde_json::{Value, json};
use testkit::asked::Asked;

use crate::slack::stage::{ANA, OPS, Stage, eventually};

fn fill() -> Asked {
    let properties = json!({
        "region": {"type": "string"}, "count": {"type": "integer"}, "dry_run": {"type": "boolean"},
        "tier": {"enum": ["small", "large"]},
    });
    let schema = json!({"type": "object", "required": ["region"], "properties": properties});
    Asked::question(Question::Fill { schema: Some(schema) })
}

#[tokio::test]
async fn a_form_opens_is_objected_to_and_is_taken() {
    let stage = Stage::socket().await;
    let asked = fill();
    let posted = stage.show(&asked).await;
    stage.inbox.open(asked.redraw(&posted));
    let press = stage.fake.press(ANA, OPS, &posted.message, "Answer…");
    let id = stage.fake.line.send("interactive", &press);
    stage.fake.line.ack(&id).await;
    eventually("a form", || !stage.fake.views().is_empty()).await;
    assert!(stage.inbox.presses().is_empty(), "opening it says nothing");

    let values = json!({
        "region": {"region": {"type": "plain_text_input", "value": "eu"}},
        "count": {"count": {"type": "number_input", "value": "3"}},
        "dry_run": {"dry_run": {"type": "radio_buttons", "selected_option": {"value": "true"}}},
        "tier": {"tier": {"type": "static_select", "selected_option": {"value": "large"}}},
    });
    stage.inbox.reply(PressReply::Invalid("`count` must be at most 2".into()));
    let sent = stage.fake.submit(ANA, &values);
    let id = stage.fake.line.send("interactive", &sent);
    let ack = stage.fake.line.ack(&id).await;
    assert_eq!(ack["payload"]["response_action"], "errors");
    let first = stage.fake.views()[0]["blocks"][0]["block_id"].as_str().unwrap().to_owned();
    assert_eq!(ack["payload"]["errors"], json!({first: "`count` must be at most 2"}));

    stage.inbox.reply(PressReply::Taken(asked.approved().redraw(&posted)));
    let id = stage.fake.line.send("interactive", &sent);
    assert_eq!(stage.fake.line.ack(&id).await, json!({"envelope_id": id}), "it closes");
    let press = stage.inbox.presses().remove(1);
    assert_eq!(press.pointer.to_string(), "h1:7Q2:f:k3x9ab");
    assert_eq!((press.chat, press.message), (posted.chat, posted.message));
    let fields = json!({"region": "eu", "count": 3, "dry_run": true, "tier": "large"});
    assert_eq!(Value::Object(press.form.fields), fields);
}

#[tokio::test]
async fn several_are_chosen_by_their_numbers() {
    let stage = Stage::http().await;
    let labels = (1..=8).map(|n| (format!("Strategy {n}"), None));
    let asked = Asked::question(Question::choose(labels, true, false).unwrap());
    let posted = stage.show(&asked).await;
    stage.inbox.open(asked.redraw(&posted));
    let press = stage.fake.press(ANA, OPS, &posted.message, "Answer…");
    assert_eq!(stage.bring("interactions", &press).await.status, 200);
    eventually("a form", || !stage.fake.views().is_empty()).await;
    let selected = json!([{"value": "h1:7Q2:2:k3x9ab"}, {"value": "h1:7Q2:8:k3x9ab"}]);
    let values = json!({"choices": {"choices": {"type": "multi_static_select", "selected_options": selected}}});
    stage.inbox.reply(PressReply::Taken(asked.clone().approved().redraw(&posted)));
    let reply = stage.bring("interactions", &stage.fake.submit(ANA, &values)).await;
    assert_eq!((reply.status, reply.body.len()), (200, 0));
    assert_eq!(stage.inbox.presses()[0].form.options, [2, 8]);
    // Whoever may not answer sees why in the form.
    stage.inbox.reply(PressReply::NotEntitled);
    let reply = stage.bring("interactions", &stage.fake.submit("U0BOB", &values)).await;
    let told: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(told["errors"]["choices"], "You may not answer this. Nothing was changed.");
}

#[tokio::test]
async fn a_form_is_not_opened_for_everybody() {
    let stage = Stage::http().await;
    let posted = stage.show(&fill()).await;
    let press = stage.fake.press("U0BOB", OPS, &posted.message, "Answer…");
    stage.bring("interactions", &press).await;
    eventually("a word", || !stage.fake.ephemerals().is_empty()).await;
    assert_eq!(stage.fake.ephemerals()[0]["text"], "You may not answer this. Nothing was changed.");
    assert!(stage.fake.views().is_empty());
}
