//! The whole circle: say, hold, answer, run, result.

use serde_json::{Value, json};

use crate::world::{list, text, world};

fn part<'a>(session: &'a Value, kind: &str) -> &'a Value {
    let parts = list(session, "messages").iter().flat_map(|message| list(message, "parts"));
    parts
        .into_iter()
        .find(|part| part["type"] == kind)
        .unwrap_or_else(|| panic!("no {kind} in {session}"))
}

#[tokio::test]
async fn a_call_waits_for_a_person_runs_once_and_the_model_goes_on() {
    let world = world().await;
    let (session, hold) = world.held("bob", r#"call wipe {"rows": 214}"#).await;
    assert_eq!(world.wiped(), 0);
    assert_eq!(hold["kind"], "approve");
    assert_eq!(hold["state"], "pending");
    assert_eq!(hold["call"]["tool"], "wipe");
    assert_eq!(hold["call"]["arguments"], json!({"rows": 214}));
    assert_eq!(hold["call"]["effects"], "at_most_once");
    assert_eq!(
        hold["audience"],
        json!({"people": [], "roles": ["dba"], "quorum": 1, "exclude_requester": false})
    );
    assert_eq!(hold["rule"], "about wipe");
    assert_eq!(hold["requester"], "bob");
    assert_eq!(
        (&hold["two_phase"], &hold["outcome"], &hold["decision"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    let view = domain::view::digest_of(&hold["view"]["parts"], &text(&hold["view"], "text"));
    assert_eq!(hold["view"]["digest"], view.to_string());
    let (_, shown) = world.get("bob", &format!("/v1/sessions/{session}")).await;
    assert_eq!(shown["run"]["status"], "paused");
    assert_eq!(part(&shown, "tool-call")["state"], "approval-requested");
    assert_eq!(part(&shown, "tool-call")["hold"], hold["id"]);
    assert_eq!(part(&shown, "tool-call")["toolCallId"], hold["call"]["id"]);

    let (status, answered) =
        world.answer("dan", &hold, json!({"verdict": "approve", "note": "go"})).await;
    assert_eq!(status, 200, "{answered}");
    assert_eq!(answered["state"], "approved");
    assert_eq!(answered["decision"]["by"], "dan");
    assert_eq!(answered["decision"]["verdict"], "approve");
    assert_eq!(answered["decision"]["via"], "api");
    let over = world.until_over("bob", &session).await;
    assert_eq!(over["run"]["status"], "completed");
    assert_eq!(over["pending"], json!([]));
    assert_eq!(part(&over, "tool-call")["state"], "output-available");
    assert_eq!(part(&over, "tool-result")["output"], "wiped 1");
    assert_eq!(part(&over, "tool-result")["isError"], false);
    assert_eq!(world.wiped(), 1);
    let (_, hold) = world.get("bob", &format!("/v1/holds/{}", text(&hold, "id"))).await;
    assert_eq!(hold["outcome"], json!({"state": "succeeded", "result": "wiped 1"}));
}

#[tokio::test]
async fn a_denial_does_not_look_like_success_and_runs_nothing() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let (status, denied) =
        world.answer("dan", &hold, json!({"verdict": "deny", "reason": "not today"})).await;
    assert_eq!((status, &denied["state"]), (200, &json!("denied")));
    let over = world.until_over("bob", &session).await;
    assert_eq!(part(&over, "tool-call")["state"], "output-denied");
    assert_eq!(part(&over, "tool-result")["output"], "Denied by DAN: not today");
    assert_eq!(world.wiped(), 0);
}

#[tokio::test]
async fn i09_the_first_answer_stands_and_later_ones_learn_it() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let (first, _) = world.answer("bob", &hold, json!({"verdict": "deny", "reason": "no"})).await;
    let (again, same) =
        world.answer("bob", &hold, json!({"verdict": "deny", "reason": "no"})).await;
    assert_eq!((first, again), (200, 200));
    assert_eq!(same["state"], "denied");
    for (who, answer) in [
        ("dan", json!({"verdict": "deny", "reason": "no"})),
        ("bob", json!({"verdict": "approve"})),
    ] {
        let (status, problem) = world.answer(who, &hold, answer).await;
        assert_eq!((status, &problem["code"]), (409, &json!("hold_already_decided")));
        assert_eq!(problem["decision"]["by"], "bob");
        assert_eq!(problem["decision"]["verdict"], "deny");
        assert_eq!(problem["hold"]["state"], "denied");
    }
}

#[tokio::test]
async fn edited_arguments_are_a_new_call_that_runs_to_the_byte() {
    let world = world().await;
    let (session, hold) = world.held("bob", r#"call wipe {"rows": 214}"#).await;
    let edited = json!({"verdict": "approve", "arguments": {"rows": 2}});
    let (status, answered) = world.answer("dan", &hold, edited).await;
    assert_eq!(status, 200, "{answered}");
    assert_eq!(answered["state"], "approved");
    assert_ne!(answered["digest"], hold["digest"]);
    assert_eq!(answered["call"]["arguments"], json!({"rows": 2}));
    world.until_over("bob", &session).await;
    assert_eq!(world.wiped(), 1);
}

#[tokio::test]
async fn a_session_grant_lets_the_same_call_pass_and_can_be_taken_back() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let (status, _) =
        world.answer("dan", &hold, json!({"verdict": "approve", "scope": "session"})).await;
    assert_eq!(status, 200);
    world.until_over("bob", &session).await;
    world.say("bob", &session, "call wipe {}").await;
    world.until("bob", &session, |_| world.wiped() == 2).await;
    let (_, grants) = world.get("dan", "/v1/grants").await;
    let grant = &list(&grants, "items")[0];
    assert_eq!((&grant["tool"], &grant["by"]), (&json!("wipe"), &json!("dan")));
    let path = format!("/v1/grants/{}", text(grant, "id"));
    assert_eq!(world.delete("eve", &path).await.0, 404);
    assert_eq!(world.delete("dan", &path).await.0, 204);
    world.until_over("bob", &session).await;
    world.say("bob", &session, "call wipe {}").await;
    world.until("bob", &session, |session| !list(session, "pending").is_empty()).await;
    assert_eq!(world.wiped(), 2);
}

#[tokio::test]
async fn i08_a_grant_says_what_it_covers_and_what_it_was_cut_to() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let empty = json!({"verdict": "approve", "scope": "session", "grant": {"args": []}});
    let (status, problem) = world.answer("dan", &hold, empty).await;
    assert_eq!((status, &problem["field"]), (422, &json!("grant.args")), "{problem}");
    let much = json!({"args": "any", "expires_in_s": 864_000, "uses": 9_999});
    let any = json!({"verdict": "approve", "scope": "session", "grant": much});
    let (status, answered) = world.answer("dan", &hold, any).await;
    assert_eq!(status, 200, "{answered}");
    assert_eq!(
        answered["decision"]["grant_clamped"],
        "the grant is shorter than asked for: it ends after 86400 s, and 864000 s were asked for; \
         it has 1000 uses, and 9999 were asked for"
    );
    world.until_over("bob", &session).await;
    let (_, grants) = world.get("dan", "/v1/grants").await;
    let grant = &list(&grants, "items")[0];
    assert_eq!(grant["covers"], "every call of `wipe`, with any arguments");
    assert_eq!(grant["uses_left"], 1_000);
}

#[tokio::test]
async fn a_program_may_call_its_own_hold_harmless_and_is_told_which_rule_is_missing() {
    let world = world().await;
    let call = json!({"tool": "echo", "arguments": {}});
    let open = |more: Value| {
        let mut body = json!({"kind": "approve", "title": "Say hello", "call": call});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    };
    for (risk, wanted) in [(json!("low"), "low"), (json!("high"), "high"), (Value::Null, "medium")]
    {
        let (status, hold) = world.post("gate", "/v1/holds", open(json!({"risk": risk}))).await;
        assert_eq!((status, &hold["risk"]), (201, &json!(wanted)), "{hold}");
    }
    let asked = open(json!({"audience": {"people": ["eve"]}}));
    let (status, problem) = world.post("gate", "/v1/holds", asked).await;
    assert_eq!((status, &problem["field"]), (422, &json!("audience")), "{problem}");
    let told = text(&problem, "detail");
    assert!(told.contains("policy admits none of those"), "{told}");
    assert!(told.contains("match = { tool = \"echo\" }, then = \"ask\""), "{told}");
    assert!(told.contains("ask = { people = [\"eve\"] }"), "{told}");
}

#[tokio::test]
async fn an_outside_program_asks_waits_and_reports() {
    let world = world().await;
    let body =
        r#"{"kind":"approve","title":"Deploy","call":{"tool":"wipe","arguments":{ "n" : 1.50 }}}"#;
    let reply = world
        .request("gate", reqwest::Method::POST, "/v1/holds")
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .expect("a reply");
    assert_eq!(reply.status(), 201);
    let location = reply.headers()["location"].to_str().expect("text").to_owned();
    let hold: Value = reply.json().await.expect("json");
    assert_eq!(location, format!("/v1/holds/{}", text(&hold, "id")));
    let stored =
        world.store.hold(text(&hold, "id").parse().expect("an id")).await.expect("a store");
    let stored = stored.expect("a hold").call().cloned().expect("a call");
    assert_eq!(stored.arguments.bytes(), br#"{ "n" : 1.50 }"#);

    let wait = |until: &str, seconds| format!("{location}/wait?until={until}&timeout_s={seconds}");
    assert_eq!(world.get("gate", &wait("decided", 0)).await.0, 204);
    let (waited, answered) =
        tokio::join!(async { world.get("gate", &wait("decided", 20)).await }, async {
            world.answer("bob", &hold, json!({"verdict": "approve"})).await
        });
    assert_eq!((waited.0, answered.0), (200, 200));
    assert_eq!(waited.1["state"], "approved");
    assert_eq!(world.get("gate", &wait("settled", 0)).await.0, 204);
    let outcome = json!({"state": "succeeded", "result": {"rows": 3}});
    let (status, reported) =
        world.post("gate", &format!("{location}/outcome"), outcome.clone()).await;
    assert_eq!((status, &reported["outcome"]["state"]), (200, &json!("succeeded")));
    assert_eq!(world.post("gate", &format!("{location}/outcome"), outcome).await.0, 200);
    let failed = json!({"state": "failed"});
    assert_eq!(world.post("gate", &format!("{location}/outcome"), failed).await.0, 409);
    assert_eq!(world.get("gate", &wait("settled", 0)).await.0, 200);
}

#[tokio::test]
async fn an_outside_approval_is_used_once() {
    let world = world().await;
    let ask = json!({"kind": "approve", "title": "x", "call": {"tool": "wipe", "arguments": {}}});
    let hold = world.open_hold("gate", ask).await;
    let outcome = format!("/v1/holds/{}/outcome", text(&hold, "id"));
    let start = json!({"state": "executing"});
    let start_as = async |key: &str| {
        let request = world.request("gate", reqwest::Method::POST, &outcome);
        let reply = request.header("idempotency-key", key).json(&start).send().await;
        let reply = reply.expect("a reply");
        (reply.status().as_u16(), reply.json::<Value>().await.expect("json"))
    };
    assert_eq!(start_as("early").await.0, 422, "nobody has approved it");
    assert_eq!(world.answer("bob", &hold, json!({"verdict": "approve"})).await.0, 200);
    let with_result = json!({"state": "executing", "result": "done"});
    assert_eq!(world.post("gate", &outcome, with_result).await.0, 422);
    assert_eq!(world.post("bob", &outcome, start.clone()).await.0, 403, "not the opener");

    assert_eq!(world.post("ana", "/v1/freeze", json!({"reason": "an incident"})).await.0, 200);
    let (status, problem) = start_as("frozen").await;
    assert_eq!((status, &problem["code"]), (423, &json!("frozen")));
    let thaw = world.request("ana", reqwest::Method::DELETE, "/v1/freeze").send().await;
    assert!(thaw.expect("a reply").status().is_success());

    let (status, started) = start_as("one").await;
    assert_eq!((status, &started["outcome"]["state"]), (200, &json!("executing")));
    assert_eq!(start_as("one").await.0, 200, "the reply was lost, and the request is repeated");
    let (status, problem) = start_as("two").await;
    assert_eq!((status, &problem["code"]), (409, &json!("hold_already_decided")));
    assert_eq!(world.post("gate", &outcome, start.clone()).await.0, 409);
    let done = json!({"state": "succeeded", "result": "7 rows"});
    assert_eq!(world.post("gate", &outcome, done).await.0, 200);
    assert_eq!(start_as("three").await.0, 409, "it has run");
}

#[tokio::test]
async fn a_programs_diff_is_shown_as_the_programs() {
    let world = world().await;
    let ask = |preview: Value, call: Value| json!({"kind": "approve", "title": "x", "call": call, "preview": preview});
    let call = json!({"tool": "wipe", "arguments": {}});
    let hold = world.open_hold("gate", ask(json!({"diff": "*** a\n-b\n+c"}), call.clone())).await;
    assert_eq!(hold["preview"]["diff"], "*** a\n-b\n+c");
    let parts = hold["view"]["parts"].as_array().expect("parts");
    let diff = parts.iter().find(|part| part["type"] == "diff").expect("a diff");
    assert_eq!(diff["by"], "program", "{diff}");
    // A program cannot word what people changed, nor a diff of no call.
    let forged = json!({"diff": "--- as proposed\n+++ as edited\n+x"});
    for (preview, call) in
        [(forged, call.clone()), (json!({"diff": "+x"}), Value::Null), (json!({"rows": 3}), call)]
    {
        let (status, problem) = world.post("gate", "/v1/holds", ask(preview, call)).await;
        assert!(matches!(status, 400 | 422), "{status} {problem}");
    }
}

#[tokio::test]
async fn policy_may_answer_an_outside_hold_at_once() {
    let world = world().await;
    let ask = |tool: &str| json!({"kind": "approve", "title": "x", "call": {"tool": tool, "arguments": {}}});
    let free = world.open_hold("gate", ask("free")).await;
    assert_eq!(
        (&free["state"], &free["decision"]["rule"]),
        (&json!("approved"), &json!("about free"))
    );
    assert_eq!(free["decision"]["by"], Value::Null);
    let never = world.open_hold("gate", ask("never")).await;
    assert_eq!(
        (&never["state"], &never["decision"]["verdict"]),
        (&json!("denied"), &json!("deny"))
    );
}

#[tokio::test]
async fn questions_are_chosen_and_filled() {
    let world = world().await;
    let options = json!(["Blue-Green", {"label": "Canary", "description": "slow", "id": "c"}]);
    let hold = world
        .open_hold(
            "gate",
            json!({"kind": "choose", "title": "How?", "options": options, "multiple": true}),
        )
        .await;
    assert_eq!(hold["options"][0], json!({"id": "1", "label": "Blue-Green", "description": null}));
    assert_eq!(hold["options"][1], json!({"id": "c", "label": "Canary", "description": "slow"}));
    assert_eq!(hold["call"], Value::Null);
    let (status, chosen) = world.answer("bob", &hold, json!({"choose": ["c", "Blue-Green"]})).await;
    assert_eq!((status, &chosen["state"]), (200, &json!("answered")));
    assert_eq!(chosen["decision"]["choose"], json!(["c", "Blue-Green"]));

    let schema = json!({"type": "object", "required": ["pin"],
        "properties": {"pin": {"type": "string", "writeOnly": true}, "n": {"type": "integer"}}});
    let hold =
        world.open_hold("gate", json!({"kind": "fill", "title": "Pin?", "schema": schema})).await;
    let (status, problem) = world.answer("bob", &hold, json!({"fill": {"pin": 7}})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("answer_invalid")));
    assert_eq!(problem["field"], "fill/pin");
    let (status, filled) =
        world.answer("bob", &hold, json!({"fill": {"pin": "hunter2", "n": 3}})).await;
    assert_eq!((status, &filled["decision"]["fill"]["n"]), (200, &json!(3)));
    assert!(!filled.to_string().contains("hunter2"), "{filled}");
}

#[tokio::test]
async fn i12_two_people_must_agree_where_the_rule_says_so() {
    let world = world().await;
    let ask = json!({"kind": "approve", "title": "x", "call": {"tool": "both", "arguments": {}}});
    let hold = world.open_hold("gate", ask).await;
    let approve = json!({"verdict": "approve"});
    let (status, once) = world.answer("bob", &hold, approve.clone()).await;
    assert_eq!((status, &once["state"]), (200, &json!("pending")));
    assert_eq!(list(&once, "answers").len(), 1);
    let (status, again) = world.answer("bob", &hold, approve.clone()).await;
    assert_eq!((status, &again["state"]), (200, &json!("pending")));
    let (status, problem) =
        world.answer("bob", &hold, json!({"verdict": "approve", "note": "really"})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("already_voted")));
    let (status, both) = world.answer("dan", &hold, approve).await;
    assert_eq!((status, &both["state"]), (200, &json!("approved")));
    assert_eq!(both["decision"]["voters"], json!(["bob", "dan"]));
}

#[tokio::test]
async fn claims_are_shown_and_let_go() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let path = format!("/v1/holds/{}/claim", text(&hold, "id"));
    let first = world.post("dan", &path, json!({})).await.1;
    assert_eq!((&first["claimed_by"], first.get("claimed_from")), (&json!("dan"), None));
    assert_eq!(world.post("dan", &path, json!({})).await.1.get("claimed_from"), None);
    let second = world.post("bob", &path, json!({})).await.1;
    assert_eq!((&second["claimed_by"], &second["claimed_from"]), (&json!("bob"), &json!("dan")));
    assert_eq!(world.delete("dan", &path).await.0, 403);
    assert_eq!(world.delete("bob", &path).await.1["claimed_by"], Value::Null);
}

#[tokio::test]
async fn a_caller_who_says_superseded_does_not_make_the_model_hear_of_a_new_message() {
    let world = world().await;
    let session = world.session("bob").await;
    world.say("bob", &session, "call wipe {}").await;
    let paused = world.until("bob", &session, |session| session["run"]["status"] == "paused").await;
    let path = format!("/v1/holds/{}/cancel", text(&list(&paused, "pending")[0], "id"));
    let (status, hold) = world.post("bob", &path, json!({"reason": "superseded"})).await;
    assert_eq!((status, &hold["cancelled"]["reason"]), (200, &json!("superseded")), "{hold}");
    let shown = world.until_over("bob", &session).await["messages"].to_string();
    assert!(shown.contains("Cancelled: superseded. The call was not run."), "{shown}");
    assert!(!shown.contains("a new message arrived"), "{shown}");
}

#[tokio::test]
async fn a_failed_run_is_retried_and_a_paused_one_cancelled() {
    let world = world().await;
    let session = world.session("bob").await;
    let (run, _) = world.say("bob", &session, "fail").await;
    let failed = world.until_over("bob", &session).await;
    assert_eq!(failed["run"]["status"], "failed");
    assert!(failed["run"]["error"].as_str().is_some_and(|error| error.contains("told to")));
    assert_eq!(world.get("bob", &format!("/v1/runs/{run}")).await.1["status"], "failed");
    assert_eq!(world.post("eve", &format!("/v1/runs/{run}/retry"), json!({})).await.0, 404);
    assert_eq!(world.post("bob", &format!("/v1/runs/{run}/retry"), json!({})).await.0, 200);
    world.until_over("bob", &session).await;

    let (other, _) = world.say("bob", &session, "call wipe {}").await;
    let paused = world.until("bob", &session, |session| session["run"]["status"] == "paused").await;
    let hold = list(&paused, "pending")[0].clone();
    let endless = json!({"reason": "x".repeat(10_001)});
    let (status, problem) = world.post("bob", &format!("/v1/runs/{other}/cancel"), endless).await;
    assert_eq!((status, &problem["field"]), (422, &json!("reason")), "{problem}");
    let (status, cancelled) =
        world.post("bob", &format!("/v1/runs/{other}/cancel"), json!({"reason": "oops"})).await;
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")), "{cancelled}");
    let (status, problem) = world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("hold_already_decided")));
    assert_eq!(problem["decision"]["state"], "cancelled");
    assert_eq!(world.wiped(), 0);
    assert_eq!(
        world.get("bob", &format!("/v1/runs/{run}")).await.1["status"],
        "failed",
        "the earlier run"
    );
    let (status, problem) = world.post("bob", &format!("/v1/runs/{other}/retry"), json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("version_conflict")));
}

#[tokio::test]
async fn i45_secrets_are_shown_nowhere() {
    let world = world().await;
    let (session, hold) =
        world.held("bob", r#"call connect {"host": "db", "password": "hunter2"}"#).await;
    assert_eq!(hold["call"]["arguments"]["host"], "db");
    let edited = json!({"verdict": "approve", "arguments": {"host": "db2", "password": "hunter2"}});
    let (status, answered) = world.answer("bob", &hold, edited).await;
    assert_eq!(status, 200, "{answered}");
    let over = world.until_over("bob", &session).await;
    let (_, holds) = world.get("bob", "/v1/holds").await;
    for shown in [&hold, &answered, &holds] {
        assert!(!shown.to_string().contains("hunter2"), "{shown}");
    }
    // What the user typed is theirs; what the model wrote into the call is redacted.
    let parts = list(&over, "messages").iter().skip(1).flat_map(|message| list(message, "parts"));
    for part in parts {
        assert!(!part.to_string().contains("hunter2"), "{part}");
    }
}

#[tokio::test]
async fn i45_an_approver_reveals_secrets_and_the_log_says_who_did() {
    let world = world().await;
    let (_, hold) =
        world.held("bob", r#"call connect {"host": "db", "password": "hunter2"}"#).await;
    let path = format!("/v1/holds/{}/reveal", text(&hold, "id"));
    let before = world.state().await;
    assert_eq!(world.get("ana", &path).await.0, 405, "never by looking");
    assert_eq!(world.post("eve", &path, json!({})).await.0, 404, "she does not see the hold");
    assert_eq!(world.state().await, before);
    let (status, shown) = world.post("ana", &path, json!({})).await;
    assert_eq!(status, 200, "{shown}");
    let secret = json!({"part": "arguments", "at": "/password", "value": "hunter2"});
    assert_eq!(shown, json!({"secrets": [secret]}));
    let (_, log) = world.get("ana", "/v1/audit?limit=200").await;
    assert!(log.to_string().contains("revealed"), "{log}");
    let (_, after) = world.get("bob", &format!("/v1/holds/{}", text(&hold, "id"))).await;
    assert_eq!(after["digest"], hold["digest"], "what is asked is the same");
    assert!(!after.to_string().contains("hunter2"));
}

#[tokio::test]
async fn i05_a_message_never_answers_a_hold() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    for say in
        ["yes", "approve", "{\"verdict\":\"approve\"}", &format!("/approve {}", text(&hold, "id"))]
    {
        world.say("bob", &session, say).await;
    }
    let (_, hold) = world.get("bob", &format!("/v1/holds/{}", text(&hold, "id"))).await;
    assert_eq!((&hold["state"], world.wiped()), (&json!("pending"), 0));
}
