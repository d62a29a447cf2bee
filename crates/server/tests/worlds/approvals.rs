//! Approvals: exactly what is stored runs, once, and a standing grant covers no more than it says.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::stage::{Dialog, Stage, approval, stage};

const LS: &str = r#"call shell_cmd {"command":"ls","deep":{"b":1,"a":2}}"#;
const RAN: &str = r#"shell_cmd {"command":"ls","deep":{"b":1,"a":2}}"#;

async fn asked(stage: &Stage, said: &str) -> (String, Dialog) {
    let chat = stage.chat().await;
    let dialog = stage.say(&chat, said).await.dialog();
    (chat, dialog)
}

#[tokio::test(flavor = "multi_thread")]
async fn i05_an_approval_for_other_arguments_or_another_directory_runs_nothing() {
    let stage = stage().await;
    *stage.witness.directory.lock().expect("sound") = "/srv/a".into();
    let (_, dialog) = asked(&stage, LS).await;
    let before = stage.state().await;
    let good = approval(&dialog, "approve", Some("once"));
    for (field, value) in [
        ("toolArgs", json!({"command": "rm -rf /"})),
        ("toolArgs", json!({})),
        ("toolArgs", json!({"command": "ls", "deep": {"b": 1, "a": 2}, "more": true})),
        ("toolArgs", json!({"command": "ls", "deep": {"b": 1, "a": "2"}})),
        ("workingDirectory", json!("/srv/b")),
        ("workingDirectory", json!("")),
    ] {
        let mut sly = good.clone();
        sly[field] = value;
        let reply = stage.submit(sly).await;
        assert_eq!(reply.code(), (409, "TOOL_ARGS_MISMATCH".into()), "{reply:?}");
    }
    assert_eq!((stage.state().await, stage.witness.ran().len()), (before, 0));
    // The order of keys says nothing.
    let mut turned = good;
    turned["toolArgs"] = json!({"deep": {"a": 2, "b": 1}, "command": "ls"});
    assert_eq!(stage.submit(turned).await.status, 200);
    assert_eq!(stage.witness.ran(), [RAN], "the stored bytes ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn i09_the_same_approval_again_and_at_once_runs_once_and_is_told_the_same() {
    let stage = stage().await;
    let (_, dialog) = asked(&stage, &format!("{LS}\n---\nListed.")).await;
    let body = approval(&dialog, "approve", Some("once"));
    let at_once = (0..8).map(|_| stage.submit(body.clone()));
    for reply in futures_util::future::join_all(at_once).await {
        assert_eq!(reply.kinds()[0], "tool-result-submitted", "{reply:#?}");
        assert_eq!(reply.said(), "Listed.", "every stream goes on to the end: {reply:#?}");
    }
    let later = stage.submit(body.clone()).await;
    assert_eq!(
        (later.kinds()[0].as_str(), later.said().as_str()),
        ("tool-result-submitted", "Listed.")
    );
    assert_eq!(stage.witness.ran(), [RAN]);
    let deny = stage.submit(approval(&dialog, "deny", None)).await;
    assert_eq!(deny.code(), (409, "HOLD_ALREADY_DECIDED".into()));
    assert_eq!(
        (&deny.body["decision"]["verdict"], &deny.body["decision"]["by"]),
        (&json!("approve"), &json!("bob"))
    );
    let wider = stage.submit(approval(&dialog, "approve", Some("session"))).await;
    assert_eq!(wider.code(), (409, "HOLD_ALREADY_DECIDED".into()), "a replay cannot widen it");
    assert_eq!(stage.witness.ran(), [RAN]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_is_told_in_the_words_of_this_origin_and_never_remembered() {
    let stage = stage().await;
    let (chat, dialog) = asked(&stage, LS).await;
    let reply = stage.submit(approval(&dialog, "deny", None)).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(stage.model.results()[0].1, "Tool execution was denied by the user.");
    let again = stage.say(&chat, LS).await;
    assert_eq!(again.dialogs().len(), 1, "the same call is asked about again");
    // With a reason, given on another surface.
    let hold = again.dialog().id.replace("approval_", "hold_");
    let answer = json!({"answer": {"verdict": "deny", "reason": "not on a Friday"}});
    let url = format!("http://{}/v1/holds/{hold}/answer", stage.address);
    let request = stage.request("bob", Method::POST, "").try_clone().expect("no body");
    let request = request.build().expect("a request");
    let mut moved = reqwest::Request::new(Method::POST, url.parse().expect("a URL"));
    *moved.headers_mut() = request.headers().clone();
    *moved.body_mut() = Some(answer.to_string().into());
    let answered = reqwest::Client::new().execute(moved).await.expect("a reply");
    assert_eq!(answered.status(), 200);
    let told = "Tool execution was denied by the user. Reason: not on a Friday";
    for _ in 0..200 {
        if stage.model.results().last().is_some_and(|(_, text)| text == told) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{:?}", stage.model.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn i08_a_session_grant_covers_the_same_call_in_the_same_place_and_nothing_else() {
    let stage = stage().await;
    *stage.witness.directory.lock().expect("sound") = "/srv/a".into();
    let (chat, dialog) = asked(&stage, LS).await;
    let unlimited = stage.submit(approval(&dialog, "approve", Some("unlimited"))).await;
    assert_eq!(unlimited.code(), (400, "VALIDATION_ERROR".into()));
    assert_eq!(stage.submit(approval(&dialog, "approve", Some("session"))).await.status, 200);
    let turned = r#"call shell_cmd {"deep":{"a":2,"b":1},"command":"ls"}"#;
    assert!(stage.say(&chat, turned).await.dialogs().is_empty(), "another order of keys");
    assert_eq!(stage.witness.ran().len(), 2);
    let other = r#"call shell_cmd {"command":"ls -a"}"#;
    assert_eq!(stage.say(&chat, other).await.dialogs().len(), 1, "other arguments");
    let write = LS.replace("shell_cmd", "write_file");
    let (second, dialog) = asked(&stage, LS).await;
    assert_ne!(second, chat);
    assert_eq!(dialog.original()["name"], "shell_cmd", "another chat");
    stage.submit(approval(&dialog, "approve", Some("session"))).await;
    assert_eq!(stage.say(&second, &write).await.dialogs().len(), 1, "another tool");
    let third = stage.chat().await;
    stage.submit(approval(&stage.say(&third, LS).await.dialog(), "approve", Some("session"))).await;
    let ran = stage.witness.ran().len();
    *stage.witness.directory.lock().expect("sound") = "/srv/b".into();
    assert_eq!(stage.say(&third, LS).await.dialogs().len(), 1, "another directory");
    assert_eq!(stage.witness.ran().len(), ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_is_told_as_it_failed() {
    let stage = stage().await;
    let (_, dialog) = asked(&stage, r#"call shell_cmd {"command":"fail"}"#).await;
    let reply = stage.submit(approval(&dialog, "approve", Some("once"))).await;
    assert!(reply.kinds().contains(&"sse tool-error".to_owned()), "{:?}", reply.kinds());
    assert!(stage.model.results()[0].1.starts_with("Command failed (exit code 3):"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unknown_or_addressed_wrongly_is_not_found_quickly_and_never_called_submitted() {
    let stage = stage().await;
    let (chat, dialog) = asked(&stage, LS).await;
    let before = stage.state().await;
    let good = approval(&dialog, "approve", Some("once"));
    let with = |field: &str, value: &str| {
        let mut body = good.clone();
        body[field] = json!(value);
        body
    };
    for stream in [true, false] {
        for (mut wrong, code) in [
            (with("tool_call_id", "approval_00000000000000000000000000"), "TOOL_CALL_NOT_FOUND"),
            (with("tool_call_id", "call_nobody_made"), "TOOL_CALL_NOT_FOUND"),
            (with("tool_call_id", "hitl_"), "TOOL_CALL_NOT_FOUND"),
            (with("agentId", "a2"), "TOOL_CALL_NOT_FOUND"),
            (with("agentId", "nobody"), "AGENT_NOT_FOUND"),
        ] {
            wrong["stream"] = json!(stream);
            // Quickly: nobody waits for what will never come.
            let reply = tokio::time::timeout(Duration::from_secs(5), stage.submit(wrong.clone()));
            let reply = reply.await.expect("a reply at once");
            assert_eq!(reply.code(), (404, code.into()), "{wrong}: {reply:?}");
            assert!(reply.events.is_empty());
        }
    }
    let elsewhere = stage.post("/worlds/other/tool-results", good.clone()).await;
    assert_eq!(elsewhere.code(), (404, "TOOL_CALL_NOT_FOUND".into()), "another world");
    let nowhere = stage.post("/worlds/nowhere/tool-results", good.clone()).await;
    assert_eq!(nowhere.code(), (404, "WORLD_NOT_FOUND".into()));
    let mut chat_wrong = good.clone();
    chat_wrong["chatId"] = json!(stage.chat().await);
    assert_eq!(stage.submit(chat_wrong).await.code().1, "TOOL_CALL_NOT_FOUND");
    let tool = stage.submit(with("toolName", "write_file")).await;
    assert_eq!(tool.code(), (400, "VALIDATION_ERROR".into()), "another tool's name");
    assert_eq!(stage.state().await.0, before.0 + 1, "only the other chat was opened");
    let mut right = good;
    right["chatId"] = json!(chat);
    right["toolName"] = json!("client.requestApproval");
    assert_eq!(stage.submit(right).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_in_two_chats_means_neither_until_the_chat_is_named() {
    let stage = stage().await;
    let (first, dialog) = asked(&stage, LS).await;
    let (second, _) = asked(&stage, LS).await;
    let mut body = approval(&dialog, "approve", Some("once"));
    body["tool_call_id"] = dialog.original()["id"].clone();
    let reply = stage.submit(body.clone()).await;
    assert_eq!(reply.code(), (400, "VALIDATION_ERROR".into()), "{reply:?}");
    assert!(stage.witness.ran().is_empty());
    body["chatId"] = json!(second);
    assert_eq!(stage.submit(body.clone()).await.status, 200);
    assert_eq!(stage.witness.ran().len(), 1);
    // Now only one of them waits.
    body.as_object_mut().expect("an object").remove("chatId");
    let reply = stage.submit(body).await;
    assert_eq!((reply.status, stage.witness.ran().len()), (200, 2), "{reply:?}");
    assert_ne!(first, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_changed_since_it_was_shown_is_not_approved() {
    let stage = stage().await;
    let (chat, dialog) = asked(&stage, "call both {\"n\":1}").await;
    let hold = dialog.id.replace("approval_", "hold_");
    // Bob edits it elsewhere; two must agree, so it stays open with other arguments.
    let shown =
        crate::rest::native(&stage, "bob", Method::GET, &format!("/v1/holds/{hold}"), json!(null))
            .await;
    let answer =
        json!({"digest": shown["digest"], "answer": {"verdict": "approve", "arguments": {"n": 2}}});
    crate::rest::native(&stage, "bob", Method::POST, &format!("/v1/holds/{hold}/answer"), answer)
        .await;
    let mut stale = approval(&dialog, "approve", Some("once"));
    stale.as_object_mut().expect("an object").remove("toolArgs");
    let reply =
        stage.ask("dan", Method::POST, "/worlds/my-world/tool-results", stale.clone()).await;
    assert_eq!(reply.code(), (409, "VERSION_CONFLICT".into()), "{reply:?}");
    assert!(stage.witness.ran().is_empty());
    // Listed anew, it is shown as it is now: to whoever lists it, and to nobody else.
    stage.post(&format!("/worlds/my-world/setChat/{chat}"), json!({})).await;
    let reply =
        stage.ask("dan", Method::POST, "/worlds/my-world/tool-results", stale.clone()).await;
    assert_eq!(reply.code(), (409, "VERSION_CONFLICT".into()), "{reply:?}");
    let session = shown["session"].as_str().expect("a session");
    let path = format!("/worlds/my-world/setChat/{session}");
    let listed = stage.ask("dan", Method::POST, &path, json!({})).await;
    assert_eq!(listed.code(), (404, "CHAT_NOT_FOUND".into()), "the chat is not Dan's");
    assert!(stage.witness.ran().is_empty());
    // In the inbox he sees it as it is now; then it can be approved.
    let path = format!("/v1/holds/{hold}");
    let shown = crate::rest::native(&stage, "dan", Method::GET, &path, json!(null)).await;
    let answer = json!({"digest": shown["digest"], "answer": {"verdict": "approve"}});
    let path = format!("{path}/answer");
    crate::rest::native(&stage, "dan", Method::POST, &path, answer).await;
    for _ in 0..400 {
        if !stage.witness.ran().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(stage.witness.ran(), [r#"both {"n":2}"#]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_never_answers_and_a_stranger_finds_nothing() {
    let stage = stage().await;
    let (_, dialog) = asked(&stage, LS).await;
    let before = stage.state().await;
    let body = approval(&dialog, "approve", Some("once"));
    let path = "/worlds/my-world/tool-results";
    // Bob minted the program's token, and it sees what it opened only.
    for (who, status) in [("bot", 404), ("eve", 404)] {
        let reply = stage.ask(who, Method::POST, path, body.clone()).await;
        assert_eq!(reply.status, status, "{who}: {reply:?}");
    }
    assert_eq!((stage.state().await, stage.witness.ran().len()), (before, 0));
    // An admin with a token of their own may: a hold can be answered by whoever is entitled.
    let reply = stage.ask("ana", Method::POST, path, body).await;
    assert_eq!((reply.status, stage.witness.ran().len()), (200, 1), "{reply:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_a_call_whose_outcome_nobody_knows_is_asked_about_and_not_run_again() {
    let stage = stage().await;
    let vanishing = r#"call shell_cmd {"command":"vanish"}"#;
    let (_, dialog) = asked(&stage, vanishing).await;
    let reply = stage.submit(approval(&dialog, "approve", Some("once"))).await;
    let settle = reply.dialog();
    assert_eq!(settle.name, "client.humanIntervention");
    assert_eq!(settle.arguments["options"], json!(["succeeded", "failed", "retry"]));
    assert!(
        settle.arguments["prompt"]
            .as_str()
            .is_some_and(|text| text.contains("its process is gone"))
    );
    let guess = stage.submit(crate::stage::choice(&settle, "maybe")).await;
    assert_eq!(guess.code(), (400, "VALIDATION_ERROR".into()));
    assert_eq!(stage.submit(crate::stage::choice(&settle, "succeeded")).await.status, 200);
    assert_eq!(stage.model.results()[0].1, "BOB confirmed that the call was carried out.");
    // The other generation says the same by an option's id.
    let (_, dialog) = asked(&stage, vanishing).await;
    let reply = stage.submit(approval(&dialog, "approve", Some("once"))).await;
    let [prompt] = &reply.asked()[..] else { panic!("{reply:#?}") };
    let told = stage.respond(json!({"requestId": prompt["requestId"], "optionId": "failed"})).await;
    assert_eq!(told["accepted"], true);
    assert_eq!(stage.witness.ran().len(), 2, "nothing ran again");
}

/// The model names its own question like somebody else's prompt.
#[tokio::test(flavor = "multi_thread")]
async fn i04_an_answer_to_a_call_that_is_named_like_a_prompt_approves_nothing() {
    let stage = stage().await;
    let (_, dialog) = asked(&stage, LS).await;
    let hold = dialog.id.replace("approval_", "hold_");
    for name in [&dialog.id, &hold] {
        let question = r#"{"prompt":"Go on?","options":["yes_once","no"]}"#;
        let said = format!("as {name} call human_intervention.request {question}");
        let reply = stage.say(&stage.chat().await, &said).await;
        let prompt = reply.asked().remove(0);
        let call = prompt["toolCallId"].as_str().expect("an id");
        assert_ne!(call, dialog.id, "an answer to this would be one to the other");
        let body = json!({
            "requestId": call, "chatId": prompt["chatId"],
            "answers": [{"questionId": "question-1", "optionIds": ["yes_once"]}],
        });
        assert_eq!(stage.respond(body).await["accepted"], true, "{prompt}");
        assert!(stage.witness.ran().is_empty());
    }
    // Our own name of the hold is none on this wire.
    let answers = json!([{"questionId": "question-1", "optionIds": ["yes_once"]}]);
    let body = json!({"requestId": hold, "answers": answers});
    stage.respond(body).await;
    assert!(stage.witness.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_word_about_a_stream_the_reply_is_none() {
    let stage = stage().await;
    let (_, dialog) = asked(&stage, LS).await;
    let mut body = approval(&dialog, "approve", Some("once"));
    body.as_object_mut().expect("an object").remove("stream");
    let reply = stage.submit(body).await;
    assert_eq!((reply.status, &reply.body["success"]), (200, &json!(true)), "{reply:?}");
    assert!(reply.events.is_empty());
}
