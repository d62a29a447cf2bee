//! The second generation: `hitl/respond`, several questions, what a chat lists, and restarts.

use reqwest::Method;
use serde_json::{Value, json};

use crate::prompts::STRATEGY;
use crate::stage::{Stage, stage, text};

const TWO: &str = r#"call ask_user_input {"allowSkip":true,"questions":[{"id":"where","header":"Place","question":"Where to?","options":[{"id":"eu","label":"Europe"},{"id":"us","label":"America"}]},{"id":"when","header":"Time","question":"When?","options":["now","later"]}]}"#;

async fn asked(stage: &Stage, said: &str) -> (String, Value) {
    let chat = stage.chat().await;
    let reply = stage.say(&chat, said).await;
    let prompts = reply.asked();
    assert_eq!(prompts.len(), 1, "{reply:#?}");
    (chat, prompts[0].clone())
}

fn answer(prompt: &Value, answers: Value) -> Value {
    json!({"requestId": prompt["requestId"], "answers": answers, "chatId": prompt["chatId"]})
}

fn one(question: &str, options: &[&str]) -> Value {
    json!({"questionId": question, "optionIds": options})
}

/// Waits until the model was told, and returns what it was told last.
async fn told(stage: &Stage, requests: usize) -> Value {
    for _ in 0..400 {
        if stage.model.asked().len() >= requests {
            let (_, text) = stage.model.results().pop().expect("a result");
            return serde_json::from_str(&text).unwrap_or(Value::String(text));
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the model was never asked again")
}

/// The page goes on listening to the stream of its message: what follows an answer comes there, whoever
/// gave it and wherever.
#[tokio::test(flavor = "multi_thread")]
async fn i55_a_stream_stays_open_over_pauses_until_the_run_is_over() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let said = format!("call shell_cmd {{\"command\":\"ls\"}}\n---\n{STRATEGY}\n---\nAll done.");
    let mut stream = stage.listen(&chat, &said).await;
    let is_prompt = |event: &Value| event["data"]["type"] == "tool-progress";
    let prompt_of = |events: &[Value]| {
        let last = events.last().expect("a prompt");
        last["data"]["toolExecution"]["metadata"]["hitlPrompt"].clone()
    };
    let first = stream.until(is_prompt).await;
    // Nothing of the first generation: this page would show it as a tool that never ends.
    assert!(!format!("{first:?}").contains("client."), "{first:#?}");
    let body = answer(&prompt_of(&first), json!([one("question-1", &["yes_once"])]));
    assert_eq!(stage.respond(body).await["accepted"], true);
    let second = stream.until(is_prompt).await;
    let result = second.iter().find(|event| event["data"]["type"] == "tool-result");
    let took = &result.expect("a result")["data"]["toolExecution"]["duration"];
    assert!(took.is_u64(), "{second:#?}");
    assert!(!second.iter().any(|event| event["type"] == "world"), "it is not idle: {second:#?}");
    // This one is answered on another surface.
    let hold = text(&prompt_of(&second)["requestId"]).replace("hitl_", "hold_");
    let path = format!("/v1/holds/{hold}/answer");
    let chosen = json!({"answer": {"choose": ["Canary"]}});
    crate::rest::native(&stage, "bob", Method::POST, &path, chosen).await;
    let third = stream.until(|event| event["data"]["type"] == "idle").await;
    let done = |event: &Value| event["data"]["content"] == "All done.";
    assert!(third.iter().any(done), "{third:#?}");
    assert!(stream.next().await.is_none(), "then the body ends");
    assert_eq!(stage.witness.ran().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_are_answered_in_one_go() {
    let stage = stage().await;
    let (_, prompt) = asked(&stage, TWO).await;
    assert_eq!(prompt["questions"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&prompt["allowSkip"], &prompt["toolName"]),
        (&json!(true), &json!("ask_user_input"))
    );
    let both = answer(&prompt, json!([one("where", &["us"]), one("when", &["opt_2"])]));
    assert_eq!(stage.respond(both.clone()).await["accepted"], true);
    assert_eq!(stage.respond(both).await["accepted"], true, "the same again");
    let told = told(&stage, 2).await;
    assert_eq!(
        told,
        json!({"ok": true, "status": "confirmed", "confirmed": true, "skipped": false,
               "answers": [{"questionId": "where", "optionIds": ["us"]},
                           {"questionId": "when", "optionIds": ["opt_2"]}],
               "selectedOption": "America", "source": "user", "requestId": "call_1_0"})
    );
    let other = answer(&prompt, json!([one("where", &["eu"]), one("when", &["opt_2"])]));
    let refused = stage.respond(other).await;
    let reason =
        format!("Request '{}' was already decided: answered by BOB.", text(&prompt["requestId"]));
    assert_eq!(refused, json!({"accepted": false, "reason": reason}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_refused_in_words_that_clients_show() {
    let stage = stage().await;
    let (chat, prompt) = asked(&stage, TWO).await;
    let id = text(&prompt["requestId"]);
    let before = stage.state().await;
    let other = stage.chat().await;
    let state = stage.state().await;
    assert_eq!(state.0, before.0 + 1);
    let now = one("when", &["opt_1"]);
    for (body, reason) in [
        (
            json!({"requestId": "hitl_x"}),
            "No pending HITL request found for requestId 'hitl_x'.".to_owned(),
        ),
        (
            json!({"requestId": id, "answers": [now], "chatId": other}),
            format!("Request '{id}' belongs to chat '{chat}', not '{other}'."),
        ),
        (json!({"requestId": id}), "answers are required when skipped is false.".into()),
        (
            json!({"requestId": id, "answers": []}),
            "answers are required when skipped is false.".into(),
        ),
        (
            answer(&prompt, json!([{"optionIds": ["eu"]}])),
            "Each HITL answer requires a questionId.".into(),
        ),
        (
            answer(&prompt, json!([one("", &["eu"])])),
            "Each HITL answer requires a questionId.".into(),
        ),
        (answer(&prompt, json!([one("why", &["eu"])])), "Invalid questionId 'why'.".into()),
        (answer(&prompt, json!([now, now])), "Duplicate answer for questionId 'when'.".into()),
        (
            answer(&prompt, json!([one("when", &[])])),
            "Question 'when' requires at least one optionId.".into(),
        ),
        (
            answer(&prompt, json!([{"questionId": "when"}])),
            "Question 'when' requires at least one optionId.".into(),
        ),
        (
            answer(&prompt, json!([one("when", &["eu"])])),
            "Invalid option 'eu' for questionId 'when'.".into(),
        ),
        (
            answer(&prompt, json!([one("when", &["opt_1", "opt_2"])])),
            "Question 'when' accepts exactly one option.".into(),
        ),
        (answer(&prompt, json!([now])), "Missing answer for questionId 'where'.".into()),
        (
            json!({"requestId": id, "optionId": "eu"}),
            "Missing answer for questionId 'when'.".into(),
        ),
    ] {
        let told = stage.respond(body.clone()).await;
        assert_eq!(told, json!({"accepted": false, "reason": reason}), "{body}");
    }
    for wrong in [
        json!({}),
        json!({"requestId": ""}),
        json!({"requestId": 7}),
        json!({"requestId": id, "answers": "x"}),
        json!({"requestId": id, "answers": ["x"]}),
        json!({"requestId": id, "answers": [{"questionId": 7, "optionIds": []}]}),
        json!({"requestId": id, "answers": [{"questionId": "when", "optionIds": [1]}]}),
        json!({"requestId": id, "skipped": "yes"}),
        json!({"requestId": id, "chatId": 7}),
    ] {
        let reply = stage.post("/worlds/my-world/hitl/respond", wrong.clone()).await;
        assert_eq!(reply.code(), (400, "VALIDATION_ERROR".into()), "{wrong}");
    }
    let nowhere = stage.post("/worlds/nowhere/hitl/respond", json!({"requestId": id})).await;
    assert_eq!(nowhere.code(), (404, "WORLD_NOT_FOUND".into()));
    let world = stage.post("/worlds/other/hitl/respond", answer(&prompt, json!([now]))).await;
    assert_eq!(world.body["accepted"], false, "another world");
    assert_eq!(stage.state().await, state, "nothing was recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn skipping_where_it_is_allowed_and_only_there() {
    let stage = stage().await;
    let (_, prompt) = asked(&stage, TWO).await;
    let skip =
        |prompt: &Value| json!({"requestId": prompt["requestId"], "skipped": true, "chatId": null});
    assert_eq!(stage.respond(skip(&prompt)).await["accepted"], true);
    let told_of = told(&stage, 2).await;
    assert_eq!((&told_of["status"], &told_of["skipped"]), (&json!("canceled"), &json!(true)));
    assert_eq!((&told_of["answers"], &told_of["confirmed"]), (&json!([]), &json!(false)));
    let (_, prompt) = asked(&stage, STRATEGY).await;
    let refused = stage.respond(skip(&prompt)).await;
    let reason = format!("Request '{}' does not allow skipping.", text(&prompt["requestId"]));
    assert_eq!(refused, json!({"accepted": false, "reason": reason}));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_question_by_its_option_alone_and_by_either_id() {
    let stage = stage().await;
    let short = r#"call ask_user_input {"question":"Which?","options":["a","b"]}"#;
    let (_, prompt) = asked(&stage, short).await;
    assert_eq!(prompt["questions"][0]["id"], "question-1");
    let body = json!({"requestId": prompt["toolCallId"], "optionId": "opt_2"});
    assert_eq!(stage.respond(body).await["accepted"], true, "the model's own id leads there too");
    assert_eq!(told(&stage, 2).await["selectedOption"], "b");
    let (_, prompt) = asked(&stage, STRATEGY).await;
    let body = answer(&prompt, json!([one("question-1", &["2"])]));
    assert_eq!(stage.respond(body).await["accepted"], true);
    assert_eq!(told(&stage, 4).await, json!("Canary"), "each tool's own result");
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_by_options_once_for_the_session_and_no() {
    let stage = stage().await;
    for (option, ran) in [("no", 0), ("yes_once", 1), ("yes_in_session", 2)] {
        let (chat, prompt) = asked(&stage, r#"call shell_cmd {"command":"ls"}"#).await;
        let body = answer(&prompt, json!([one("question-1", &[option])]));
        let requests = stage.model.asked().len();
        assert_eq!(stage.respond(body).await["accepted"], true, "{option}");
        told(&stage, requests + 1).await;
        assert_eq!(stage.witness.ran().len(), ran, "{option}");
        let again = stage.say(&chat, r#"call shell_cmd {"command":"ls"}"#).await;
        assert_eq!(again.asked().is_empty(), option == "yes_in_session", "{option}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_a_timeout_and_never_a_choice() {
    let stage = stage().await;
    let short = r#"call ask_user_input {"question":"Which?","options":["a","b"],"timeout_s":1}"#;
    let (_, prompt) = asked(&stage, short).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let late = stage.respond(json!({"requestId": prompt["requestId"], "optionId": "opt_1"})).await;
    let reason = format!("Request '{}' expired.", text(&prompt["requestId"]));
    assert_eq!(late, json!({"accepted": false, "reason": reason}));
    let told = told(&stage, 2).await;
    assert_eq!((&told["status"], &told["confirmed"]), (&json!("timeout"), &json!(false)));
    assert_eq!((&told["answers"], &told["selectedOption"]), (&json!([]), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_a_chat_lists_what_is_open_and_it_is_answered_without_being_activated() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let both = format!("call shell_cmd {{\"command\":\"ls\"}}\n{STRATEGY}");
    let before = stage.say(&chat, &both).await.asked();
    assert_eq!(before.len(), 2);
    let listed = |reply: &Value| -> Vec<Value> {
        let prompts = reply["hitlPrompts"].as_array().expect("prompts").clone();
        prompts.iter().map(|listed| listed["prompt"].clone()).collect()
    };
    let set = format!("/worlds/my-world/setChat/{chat}");
    let first = stage.post(&set, json!({})).await.body;
    assert_eq!(listed(&first), before, "all of them, oldest first");
    assert_eq!((&first["chatId"], &first["success"]), (&json!(chat), &json!(true)));

    let stage = stage.again().await;
    // Answered before anybody activated the chat.
    let no = answer(&before[0], json!([one("question-1", &["no"])]));
    assert_eq!(stage.respond(no).await["accepted"], true);
    let second = stage.post(&set, json!({})).await.body;
    assert_eq!(listed(&second), before[1..], "the same ids as before");
    assert_eq!(
        stage.post(&set, json!({})).await.body["hitlPrompts"],
        second["hitlPrompts"],
        "every time"
    );
    let body = answer(&before[1], json!([one("question-1", &["1"])]));
    assert_eq!(stage.respond(body).await["accepted"], true);
    told(&stage, 1).await;
    let results: Vec<String> = stage.model.results().into_iter().map(|(_, text)| text).collect();
    assert_eq!(results, ["Tool execution was denied by the user.", "Blue-Green"]);
    assert!(stage.witness.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_finds_no_request_and_a_program_may_not_answer() {
    let stage = stage().await;
    let (_, prompt) = asked(&stage, STRATEGY).await;
    let before = stage.state().await;
    let body = json!({"requestId": prompt["requestId"], "optionId": "1"});
    let path = "/worlds/my-world/hitl/respond";
    for who in ["eve", "dan", "bot"] {
        let reply = stage.ask(who, Method::POST, path, body.clone()).await;
        let reason = format!(
            "No pending HITL request found for requestId '{}'.",
            text(&prompt["requestId"])
        );
        assert_eq!(reply.body, json!({"accepted": false, "reason": reason}), "{who}: no oracle");
    }
    // Dan is in the audience of this one, and cannot answer for Bob where Bob alone has voted.
    assert_eq!(stage.state().await, before);
}
