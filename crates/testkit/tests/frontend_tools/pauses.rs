//! Pauses of the real program: answered, skipped, refused, killed in the middle, left alone.

use std::time::Duration;

use serde_json::json;

use crate::frontend_tools::stage::{Client, FORMATS, stage};

#[tokio::test]
async fn an_answer_after_a_kill_runs_everything_once() {
    let mut served = stage().await;
    for (kind, format) in FORMATS {
        let client = Client::of(&served, &served.admin());
        let before = served.witness().lines().expect("a witness").len();
        let first = client.run(kind, "both", None).await;
        first.is("awaiting_tools");
        let uuid = first.uuid();
        served.kill().await;
        served.up().await;
        // The client comes back with the same words, finds the same pause, and answers it.
        let again = client.run(kind, "both", Some(&uuid)).await;
        assert_eq!(again.pending(), first.pending(), "{format}");
        let end = client.answer(&uuid, &first, &["yes"]).await;
        end.is("complete");
        assert!(end.text("text").contains("yes"), "{:#}", end.0);
        served.kill().await;
        served.up().await;
        let repeated = client.answer(&uuid, &first, &["yes"]).await;
        repeated.is("complete");
        assert_eq!(repeated.text("text"), end.text("text"), "{format}: the same end");
        let lines = served.witness().lines().expect("a witness").len();
        assert_eq!(lines, before + 1, "{format}");
    }
}

#[tokio::test]
async fn an_effect_beside_a_no_never_happens() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    let first = client.run("agent_frontend_tools", "both", None).await;
    client.answer(&first.uuid(), &first, &["no"]).await.is("complete");
    assert!(served.witness().lines().expect("a witness").is_empty());
}

#[tokio::test]
async fn a_skipped_prompt_stays_and_is_asked_again() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    for (kind, format) in FORMATS {
        let first = client.run(kind, "two", None).await;
        let uuid = first.uuid();
        let second = client.answer(&uuid, &first, &["skipped", "b"]).await;
        second.is("awaiting_tools");
        assert_eq!(second.pending(), first.pending()[..1], "{format}");
        let end = client.answer(&uuid, &second, &["a"]).await;
        end.is("complete");
        assert_eq!(end.text("text"), "Over: a\nb");
    }
}

#[tokio::test]
async fn a_guarded_call_is_put_as_a_confirmation() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    for (kind, _) in FORMATS {
        let before = served.witness().lines().expect("a witness").len();
        let first = client.run(kind, "guarded", None).await;
        let asked = &first.is("awaiting_tools").pending()[0];
        assert_eq!(asked["name"], "user_confirm");
        let message = asked["input"]["message"].as_str().expect("a message");
        assert!(
            message.contains("tool:\n│ leave\n") && message.contains("guarded: true"),
            "{message}"
        );
        let still = client.answer(&first.uuid(), &first, &["Yes!"]).await;
        still.is("awaiting_tools");
        client.answer(&first.uuid(), &still, &["yes"]).await.is("complete");
        assert_eq!(served.witness().lines().expect("a witness").len(), before + 1);
    }
}

/// The client shows the status of what is refused, and the prompt stays open.
#[tokio::test]
async fn wrong_ids_and_strangers_are_refused_before_a_stream() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    let first = client.run("agent_frontend_tools", "two", None).await;
    let (uuid, pending) = (first.uuid(), first.pending());
    let id = |number: usize| pending[number]["tool_use_id"].clone();
    let result = |id: &serde_json::Value| json!({"tool_use_id": id, "content": "x"});
    for (results, listed) in [
        (vec![result(&id(0))], json!({"missing": [id(1)]})),
        (vec![result(&id(0)), result(&id(0))], json!({"duplicate": [id(0)], "missing": [id(1)]})),
        (vec![result(&id(0)), result(&id(1)), result(&json!("z"))], json!({"unknown": ["z"]})),
    ] {
        let refused = client.results(&uuid, results, Some("xml")).await;
        refused.is("error");
        assert_eq!(refused.0["error"], "HTTP error! status: 422");
        for (name, ids) in listed.as_object().expect("an object") {
            assert_eq!(&refused.0["problem"][name], ids);
        }
    }
    let eve = Client::of(&served, &served.person("eve").await);
    let refused = eve.answer(&uuid, &first, &["a", "b"]).await;
    assert_eq!(refused.is("error").0["error"], "HTTP error! status: 404");
    let holds = served.admin().get("/v1/holds?state=pending").await.must(200);
    assert_eq!(holds["items"].as_array().map(Vec::len), Some(2), "both are open");
    client.answer(&uuid, &first, &["a", "b"]).await.is("complete");
}

#[tokio::test]
async fn the_same_results_at_once_end_alike() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    let first = client.run("agent_frontend_tools", "both", None).await;
    let uuid = first.uuid();
    let (one, two) = tokio::join!(
        client.answer(&uuid, &first, &["yes"]),
        client.answer(&uuid, &first, &["yes"])
    );
    assert_eq!((one.text("text"), &one.0["status"]), (two.text("text"), &two.0["status"]));
    one.is("complete");
    assert_eq!(served.witness().lines().expect("a witness").len(), 1);
    let other = client.answer(&uuid, &first, &["no"]).await;
    assert_eq!(other.is("error").0["problem"]["code"], "hold_already_decided");
}

#[tokio::test]
async fn a_new_prompt_while_paused_is_shown_the_pause() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    for (kind, _) in FORMATS {
        let first = client.run(kind, "two", None).await;
        let uuid = first.uuid();
        let second = client.run(kind, "say hello", Some(&uuid)).await;
        assert_eq!(second.is("awaiting_tools").pending(), first.pending());
        let end = client.answer(&uuid, &second, &["a", "b"]).await;
        end.is("complete");
        assert_eq!(end.text("text"), "Over: a\nbhello");
    }
}

#[tokio::test]
async fn nobody_comes_and_the_model_is_told_so() {
    let served = stage().await;
    let client = Client::of(&served, &served.admin());
    let first = client.run("agent_frontend_tools", "hurry", None).await;
    let (uuid, path) = (first.uuid(), format!("/agent/{}/conversations", first.uuid()));
    let mut page = served.admin().get(&path).await.must(200);
    for _ in 0..300 {
        if page["conversations"][0]["stop_reason"] == "end_turn" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        page = served.admin().get(&path).await.must(200);
    }
    let said = page["conversations"][0]["final_response"].as_str().expect("an end");
    assert!(said.contains("Expired: nobody decided in time"), "{said}");
    let late = client.answer(&uuid, &first, &["here I am"]).await;
    assert_eq!(late.is("error").0["error"], "HTTP error! status: 410");
}
