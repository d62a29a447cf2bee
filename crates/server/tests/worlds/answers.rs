//! Answers of the first generation, in every form that its clients send.

use serde_json::{Value, json};

use crate::prompts::STRATEGY;
use crate::stage::{Dialog, Stage, choice, stage};

async fn asked(stage: &Stage, said: &str) -> Dialog {
    let chat = stage.chat().await;
    stage.say(&chat, said).await.dialog()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_four_bodies_give_the_model_the_choice_under_its_own_id() {
    let by_the_document = |dialog: &Dialog| {
        json!({
            "tool_call_id": dialog.id, "decision": "approve", "scope": "once",
            "toolName": "client.humanIntervention", "toolArgs": dialog.arguments,
            "choice": "Canary", "agentId": dialog.agent,
        })
    };
    let command_line = |dialog: &Dialog| {
        let mut body = choice(dialog, "Canary");
        body["tool_call_id"] = dialog.original()["id"].clone();
        body
    };
    let forms: [&dyn Fn(&Dialog) -> Value; 4] = [
        &|dialog| choice(dialog, "Canary"),
        &by_the_document,
        &command_line,
        // An option may also be named by its id.
        &|dialog| choice(dialog, "2"),
    ];
    for form in forms {
        let stage = stage().await;
        let dialog = asked(&stage, &format!("{STRATEGY}\n---\nI see.")).await;
        let body = form(&dialog);
        let reply = stage.submit(body.clone()).await;
        // The one of the document asks for no stream.
        if body["stream"] == true {
            assert_eq!(reply.said(), "I see.", "{reply:#?}");
            assert_eq!(reply.kinds()[0], "tool-result-submitted");
        } else {
            assert_eq!(reply.body["success"], true, "{reply:#?}");
        }
        for _ in 0..400 {
            if !stage.model.results().is_empty() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(stage.model.results(), [("call_1_0".to_owned(), "Canary".to_owned())]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_stream_the_reply_comes_as_soon_as_it_is_stored() {
    let stage = stage().await;
    let dialog = asked(&stage, STRATEGY).await;
    let mut body = choice(&dialog, "Canary");
    body["stream"] = json!(false);
    let reply = stage.submit(body.clone()).await;
    let told = json!({
        "success": true, "message": "Tool result submitted successfully",
        "data": {"tool_call_id": dialog.id, "agentId": "a1", "decision": "approve", "scope": "once"},
    });
    assert_eq!((reply.status, &reply.body), (200, &told));
    assert_eq!(stage.submit(body).await.body, told, "said again, it says the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_choice_must_be_a_stored_option_whatever_options_the_body_carries() {
    let stage = stage().await;
    let dialog = asked(&stage, STRATEGY).await;
    let before = stage.state().await;
    let mut sly = choice(&dialog, "rm -rf");
    sly["options"] = json!(["rm -rf"]);
    sly["toolArgs"] = json!({"prompt": "?", "options": ["rm -rf"], "originalToolCall": {}});
    let mut no_choice = choice(&dialog, "x");
    no_choice.as_object_mut().expect("an object").remove("choice");
    let mut approving = no_choice.clone();
    approving["decision"] = json!("approve");
    let mut torn = choice(&dialog, "Canary");
    torn["decision"] = json!("deny");
    for (wrong, field) in [
        (sly, "choice"),
        (choice(&dialog, ""), "choice"),
        (choice(&dialog, "canary"), "choice"),
        (choice(&dialog, " Canary"), "choice"),
        (no_choice, "choice"),
        (approving, "choice"),
        (torn, "decision"),
    ] {
        let reply = stage.submit(wrong.clone()).await;
        assert_eq!(reply.code(), (400, "VALIDATION_ERROR".into()), "{wrong}: {reply:?}");
        assert_eq!(reply.body["details"][0]["path"], json!([field]), "{reply:?}");
    }
    let mut several = choice(&dialog, "x");
    several["choice"] = json!(["Canary", "Blue-Green"]);
    assert_eq!(stage.submit(several).await.status, 400, "one may be chosen");
    assert_eq!(stage.state().await, before, "nothing was recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_choices_and_other_words_where_the_question_allows_them() {
    let stage = stage().await;
    let many = r#"call human_intervention_request {"prompt":"Which?","options":["a","b","c"],"multiple":true}"#;
    let dialog = asked(&stage, many).await;
    let mut body = choice(&dialog, "x");
    body["choice"] = json!(["a", "c"]);
    assert_eq!(stage.submit(body).await.status, 200);
    assert_eq!(stage.model.results()[0].1, r#"["a","c"]"#);

    let dialog = asked(&stage, many).await;
    let mut body = choice(&dialog, "x");
    body.as_object_mut().expect("an object").remove("choice");
    body["choices"] = json!(["b"]);
    assert_eq!(stage.submit(body).await.status, 200);
    assert_eq!(stage.model.results()[0].1, r#"["b"]"#);

    let other =
        r#"call human_intervention.request {"prompt":"Which?","options":["a"],"allow_other":true}"#;
    let dialog = asked(&stage, other).await;
    assert_eq!(stage.submit(choice(&dialog, "  ")).await.status, 400);
    assert_eq!(stage.submit(choice(&dialog, "neither")).await.status, 200);
    assert_eq!(stage.model.results()[0].1, "neither");
}

#[tokio::test(flavor = "multi_thread")]
async fn declining_is_a_denial_and_silence_is_another_thing() {
    let stage = stage().await;
    let dialog = asked(&stage, STRATEGY).await;
    let mut body = choice(&dialog, "x");
    body.as_object_mut().expect("an object").remove("choice");
    body["decision"] = json!("deny");
    assert_eq!(stage.submit(body).await.status, 200);
    assert_eq!(stage.model.results()[0].1, "Tool execution was denied by the user.");

    let short =
        r#"call human_intervention.request {"prompt":"Now?","options":["yes"],"timeout_s":1}"#;
    let chat = stage.chat().await;
    let dialog = stage.say(&chat, short).await.dialog();
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let late = stage.submit(choice(&dialog, "yes")).await;
    assert_eq!(late.code(), (410, "HOLD_EXPIRED".into()), "{late:?}");
    let told = stage.model.results();
    assert_eq!(told[0].1, "No decision was made in time; the tool was not run.");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_make_no_question_are_told_to_the_model_and_ask_nobody() {
    for wrong in [
        "{}",
        r#"{"prompt":"","options":["a"]}"#,
        r#"{"prompt":7,"options":["a"]}"#,
        r#"{"prompt":"x"}"#,
        r#"{"prompt":"x","options":[]}"#,
        r#"{"prompt":"x","options":[1]}"#,
        r#"{"prompt":"x","options":"a"}"#,
        r#"{"prompt":"x","options":["a"],"context":"text"}"#,
    ] {
        let stage = stage().await;
        let chat = stage.chat().await;
        let reply =
            stage.say(&chat, &format!("call human_intervention.request {wrong}\n---\nOh.")).await;
        assert!(reply.dialogs().is_empty() && reply.asked().is_empty(), "{wrong}: {reply:#?}");
        assert_eq!(reply.said(), "Oh.");
        let results = stage.model.results();
        assert_eq!(results.len(), 1, "{results:?}");
        assert!(results[0].1.starts_with("The call was not run."), "{results:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tool_as_the_model_sees_it() {
    let stage = stage().await;
    let chat = stage.chat().await;
    stage.say(&chat, "hi").await;
    let asked = stage.model.asked();
    for name in ["human_intervention.request", "human_intervention_request"] {
        let offer = asked[0].tools.iter().find(|tool| &*tool.name == name).expect("offered");
        assert!(offer.description.starts_with("Ask a person to decide"), "{}", offer.description);
        let schema = &offer.input_schema;
        assert_eq!(schema["required"], json!(["prompt", "options"]));
        assert_eq!(schema["properties"]["options"]["minItems"], 1);
        assert_eq!(schema["properties"]["options"]["items"]["type"], "string");
        assert_eq!(schema["properties"]["context"]["type"], "object");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_sees_its_own_call_and_one_result_and_nothing_of_the_protocol() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let said = format!("{STRATEGY}\n---\ncall shell_cmd {{\"command\":\"ls\"}}\n---\nI see.");
    let dialog = stage.say(&chat, &said).await.dialog();
    let second = stage.submit(choice(&dialog, "Canary")).await.dialog();
    stage.submit(crate::stage::approval(&second, "approve", Some("once"))).await;
    let asked = stage.model.asked();
    for request in &asked {
        let heard = format!("{:?}", request.messages);
        for ours in ["hitl_", "approval_", "client.", "hold_", &dialog.id, &second.id] {
            assert!(!heard.contains(ours), "{ours} in {heard}");
        }
    }
    let last = &asked.last().expect("a request").messages;
    assert_eq!(last.len(), 5, "one message, two calls, two results: {last:#?}");
    assert_eq!(stage.model.results().len(), 2);
}
