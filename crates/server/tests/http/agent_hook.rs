//! Claude Code's hooks over HTTP: every reply has status 200, and says no unless somebody allowed exactly this call.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, text, world};

const HOOK: &str = "/hooks/claude";

/// `wipe` asks a DBA, `free` passes, `never` is denied.
fn call(tool: &str, command: &str) -> Value {
    json!({
        "session_id": "s1", "cwd": "/repo", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": {"command": command}, "tool_use_id": "toolu_1", "permission_mode": "default",
    })
}

/// Decision, reason and new arguments.
fn told(reply: &(u16, Value)) -> (String, String, Value) {
    assert_eq!(reply.0, 200, "anything else lets the call run: {}", reply.1);
    let output = &reply.1["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    let (decision, reason) = (&output["permissionDecision"], &output["permissionDecisionReason"]);
    (
        decision.as_str().unwrap().into(),
        reason.as_str().unwrap().into(),
        output["updatedInput"].clone(),
    )
}

async fn denied(world: &World, who: &str, path: &str, call: Value) -> String {
    let (decision, reason, _) = told(&world.post(who, path, call).await);
    assert_eq!(decision, "deny", "{reason}");
    reason
}

/// The one hold that waits, as soon as it does.
async fn waiting(world: &World) -> Value {
    loop {
        let (_, page) = world.get("ana", "/v1/holds?state=pending").await;
        if let Some(hold) = page["items"].get(0) {
            return hold.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn i06_whatever_is_wrong_is_a_denial_with_status_200() {
    let world = world().await;
    assert!(denied(&world, "gate", HOOK, call("never", "x")).await.contains("about never"));
    for (who, said) in [("bob", "a person's token"), ("", "HOLDPOINT_TOKEN")] {
        assert!(denied(&world, who, HOOK, call("free", "x")).await.contains(said), "{who}");
    }
    for body in [json!({}), json!([]), json!("x"), json!({"hook_event_name": "Stop"})] {
        denied(&world, "gate", HOOK, body).await;
    }
    let mut nowhere = call("free", "x");
    nowhere.as_object_mut().unwrap().remove("cwd");
    assert!(denied(&world, "gate", HOOK, nowhere).await.contains("directory"));
    for query in ["?wait_s=0", "?wait_s=99999", "?wait_s=soon", "?defer=perhaps", "?approve=true"] {
        denied(&world, "gate", &format!("{HOOK}{query}"), call("free", "x")).await;
    }
    let raw = |method: Method, body: Vec<u8>| world.request("gate", method, HOOK).body(body).send();
    for (method, body) in [
        (Method::POST, Vec::new()),
        (Method::POST, b"{".to_vec()),
        (Method::POST, b"\xff".to_vec()),
        (Method::POST, vec![b' '; 3 << 20]),
        (Method::GET, Vec::new()),
        (Method::PUT, Vec::new()),
    ] {
        let reply = raw(method, body).await.unwrap();
        let reply = (reply.status().as_u16(), reply.json().await.unwrap());
        assert_eq!(told(&reply).0, "deny");
    }
    assert_eq!(world.post("ana", "/v1/freeze", json!({"reason": "an incident"})).await.0, 200);
    assert!(denied(&world, "gate", HOOK, call("free", "x")).await.contains("an incident"));
}

#[tokio::test]
async fn what_a_rule_allows_passes_each_time() {
    let world = world().await;
    let again = |id: &str| {
        let mut call = call("free", "ls");
        call["tool_use_id"] = json!(id);
        call
    };
    for id in ["toolu_1", "toolu_2"] {
        let (decision, reason, input) = told(&world.post("gate", HOOK, again(id)).await);
        assert_eq!((decision.as_str(), input), ("allow", Value::Null));
        assert!(reason.contains("about free"), "{reason}");
    }
    // The very same call is answered from the record, which does not know about a freeze.
    denied(&world, "gate", HOOK, again("toolu_1")).await;
}

#[tokio::test]
async fn i08_an_approval_is_used_once_and_only_for_its_own_arguments() {
    let world = world().await;
    let (reply, hold) = tokio::join!(world.post("gate", HOOK, call("wipe", "rm a")), async {
        let hold = waiting(&world).await;
        assert_eq!(hold["title"], "Claude Code wants to run: rm a");
        assert_eq!(
            hold["call"]["arguments"],
            json!({"cwd": "/repo", "input": {"command": "rm a"}})
        );
        assert_eq!(world.answer("bob", &hold, json!({"verdict": "approve"})).await.0, 200);
        hold
    });
    let (decision, reason, input) = told(&reply);
    assert_eq!((decision.as_str(), input), ("allow", Value::Null));
    assert!(reason.contains("approved by bob"), "{reason}");
    let (_, after) = world.get("gate", &format!("/v1/holds/{}", text(&hold, "id"))).await;
    assert_eq!(after["outcome"]["state"], "executing");
    // The same call once more finds its hold, and that its approval is used up.
    denied(&world, "gate", HOOK, call("wipe", "rm a")).await;
    // Other arguments under the same id are another question.
    let path = format!("{HOOK}?wait_s=1&defer=true");
    let (decision, ..) = told(&world.post("gate", &path, call("wipe", "rm b")).await);
    assert_eq!(decision, "defer");
}

#[tokio::test]
async fn a_persons_words_reach_the_agent() {
    let world = world().await;
    let (reply, ()) = tokio::join!(world.post("gate", HOOK, call("wipe", "rm a")), async {
        let answer = json!({"verdict": "deny", "reason": "not on a Friday"});
        assert_eq!(world.answer("bob", &waiting(&world).await, answer).await.0, 200);
    });
    let (decision, reason, _) = told(&reply);
    assert_eq!(decision, "deny");
    assert!(reason.contains("Denied by bob: not on a Friday"), "{reason}");
    let mut other = call("wipe", "rm a");
    other["tool_use_id"] = json!("toolu_2");
    let (reply, ()) = tokio::join!(world.post("gate", HOOK, other), async {
        let edited = json!({"cwd": "/repo", "input": {"command": "ls"}});
        let answer = json!({"verdict": "approve", "arguments": edited});
        assert_eq!(world.answer("bob", &waiting(&world).await, answer).await.0, 200);
    });
    let (decision, _, input) = told(&reply);
    assert_eq!((decision.as_str(), input), ("allow", json!({"command": "ls"})));
}

#[tokio::test]
async fn deferred_the_question_stays_and_the_next_request_finds_the_answer() {
    let world = world().await;
    let path = format!("{HOOK}?wait_s=1&defer=true");
    let (decision, reason, _) = told(&world.post("gate", &path, call("wipe", "rm a")).await);
    assert_eq!(decision, "defer");
    let hold = waiting(&world).await;
    assert!(reason.contains(&text(&hold, "id")), "{reason}");
    assert_eq!(world.answer("bob", &hold, json!({"verdict": "approve"})).await.0, 200);
    assert_eq!(told(&world.post("gate", &path, call("wipe", "rm a")).await).0, "allow");
    assert_eq!(told(&world.post("gate", &path, call("wipe", "rm a")).await).0, "deny", "once");
}

#[tokio::test]
async fn nobody_answers_and_the_question_ends_with_the_wait() {
    let world = world().await;
    let path = format!("{HOOK}?wait_s=1");
    denied(&world, "gate", &path, call("wipe", "rm a")).await;
    let (_, page) = world.get("ana", "/v1/holds?state=pending").await;
    assert_eq!(page["items"], json!([]));
    // Withdrawn before the agent hears of it, and not expired: that would be the policy's end.
    let (_, page) = world.get("ana", "/v1/holds?state=cancelled").await;
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn an_agent_that_hangs_up_takes_its_question_back() {
    let world = world().await;
    let asking = world.request("gate", Method::POST, HOOK).json(&call("wipe", "rm a")).send();
    let hold = tokio::select! {
        _ = asking => panic!("nobody answered"),
        hold = waiting(&world) => hold,
    };
    let path = format!("/v1/holds/{}/wait?timeout_s=20", text(&hold, "id"));
    let (status, after) = world.get("gate", &path).await;
    assert_eq!((status, &after["state"]), (200, &json!("cancelled")));
    let (status, _) = world.answer("bob", &hold, json!({"verdict": "approve"})).await;
    assert_eq!(status, 409, "it is too late for an approval");
}

#[tokio::test]
async fn a_server_that_stops_denies_what_waits() {
    let world = world().await;
    let (reply, ()) = tokio::join!(world.post("gate", HOOK, call("wipe", "rm a")), async {
        waiting(&world).await;
        world.stop();
    });
    let (decision, reason, _) = told(&reply);
    assert_eq!(decision, "deny");
    assert!(reason.contains("stopping"), "{reason}");
}

#[tokio::test]
async fn files_are_not_looked_at_and_the_card_says_so() {
    let world = world().await;
    let mut write = call("wipe", "");
    write["tool_input"] = json!({"file_path": "/etc/hostname", "content": "x"});
    let path = format!("{HOOK}?wait_s=1&defer=true");
    world.post("gate", &path, write).await;
    let hold = waiting(&world).await;
    assert_eq!(hold["call"]["arguments"]["files_in"], "unknown");
    assert_eq!(hold["preview"]["diff"], Value::Null);
    assert!(hold["context"]["not_known"].as_str().unwrap().contains("There is no diff"));
}
