//! Requests that make no sense.

use serde_json::{Value, json};
use testkit::served::{Served, run};

use crate::bad_input::{CONFIG, SCRIPT, nothing_was_lost, one_hold};

#[tokio::test]
async fn what_is_not_json_is_refused_with_line_and_column() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let answer = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
    let messages = format!("/v1/sessions/{session}/messages");
    for path in [&*answer, &*messages, "/v1/sessions", "/v1/holds", "/v1/tokens", "/v1/freeze"] {
        for body in ["{", "{\"", "{'a':1}", "approve", "\u{feff}{}", "NaN"] {
            let problem = ana.post_raw(path, body).await.problem(400, "bad_request");
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(detail.contains("not JSON (line 1, column "), "{path} {body}: {detail}");
        }
        let bytes = ana.post_raw(path, vec![b'{', 0xff, b'}']).await;
        bytes.problem(400, "bad_request");
    }
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn wrong_types_and_unknown_members_are_refused_by_name() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let answer = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
    let messages = format!("/v1/sessions/{session}/messages");
    for (path, body, says) in [
        ("/v1/sessions", json!({"agent": 7}), "expected a string"),
        (&messages, json!({"text": ["a"]}), "expected a string"),
        (&messages, json!({}), "`text` or `parts`"),
        (&answer, json!({"digest": 7, "answer": {}}), "expected a string"),
        (&answer, json!({"digest": hold["digest"]}), "missing field `answer`"),
        (&answer, json!({"verdict": "approve"}), "unknown field `verdict`"),
        ("/v1/holds", json!({"kind": 1, "title": "x"}), "expected a string"),
        ("/v1/holds", json!({"title": "x"}), "missing field `kind`"),
        (
            "/v1/holds",
            json!({"kind": "approve", "title": "x", "approved": true}),
            "unknown field `approved`",
        ),
        (
            "/v1/holds",
            json!({"kind": "approve", "title": "x", "expires_in_s": "soon"}),
            "expected a whole number",
        ),
        ("/v1/tokens", json!({"person": "ana", "scopes": "all"}), "expected a sequence"),
    ] {
        let problem = ana.post(path, &body).await.problem(400, "bad_request");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(says), "{path} {body}: {detail}");
    }
    nothing_was_lost(&served, &session, &hold).await;
}

/// Readers of JSON like to take a list for an object, member by member: then a body would mean
/// something that no document describes.
#[tokio::test]
async fn a_list_is_never_taken_for_an_object() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let answer = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
    let messages = format!("/v1/sessions/{session}/messages");
    for (path, body) in [
        (&*answer, json!([hold["digest"], {"verdict": "approve"}])),
        (&messages, json!(["note b"])),
        ("/v1/sessions", json!([])),
        ("/v1/sessions", json!(["worker", null, null])),
        ("/v1/holds", json!(["fill", "Why?"])),
        ("/v1/tokens", json!(["ana", null, ["answer"], null, null])),
    ] {
        let problem = ana.post(path, &body).await.problem(400, "bad_request");
        assert_eq!(problem["detail"], "the body is a list, and must be an object", "{body}");
    }
    only_one_hold(&served).await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn options_that_are_empty_or_stand_twice_open_no_hold() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let twice = [json!({"id": "1", "label": "a"}), json!({"id": "1", "label": "b"})];
    let crossed = [json!({"id": "b", "label": "a"}), json!({"id": "a", "label": "b"})];
    for options in [
        json!([]),
        json!(["a", "a"]),
        json!(["a", ""]),
        json!(["a", "  "]),
        json!(twice),
        // The answer `a` would mean either.
        json!(crossed),
    ] {
        let body = json!({"kind": "choose", "title": "Which?", "options": options});
        let problem = ana.post("/v1/holds", &body).await.problem(422, "answer_invalid");
        assert_eq!(problem["field"], "options", "{options}: {problem}");
    }
    let body = json!({"kind": "choose", "title": "Which?"});
    let problem = ana.post("/v1/holds", &body).await.problem(422, "answer_invalid");
    assert_eq!(problem["field"], "options", "{problem}");
    only_one_hold(&served).await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn arguments_from_outside_that_two_readers_could_read_differently_open_no_hold() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    let program = served.program();
    let deep = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(1 << 20));
    for (arguments, status, code, says) in [
        (r#"{"a":1,"a":2}"#, 422, "answer_invalid", "the key `a` stands twice"),
        (r#"{"a":{"b":1,"\u0062":2}}"#, 422, "answer_invalid", "the key `b` stands twice"),
        (r#"{"a":"x\u0000y"}"#, 422, "answer_invalid", "NUL"),
        (r#"{"a":"\ud83d"}"#, 422, "answer_invalid", "surrogate"),
        (r#"{"\udc00":1}"#, 422, "answer_invalid", "surrogate"),
        (&deep(65), 422, "answer_invalid", "deeper than 64"),
        (&deep(100_000), 422, "answer_invalid", "deeper than 64"),
        (r#"{"a":1e400}"#, 422, "answer_invalid", "number"),
        (r"[1]", 422, "answer_invalid", "must be a JSON object"),
        (&long, 413, "too_large", "at most 1048576"),
    ] {
        let body = format!(
            r#"{{"kind":"approve","title":"x","call":{{"tool":"t","arguments":{arguments}}}}}"#
        );
        let problem = program.post_raw("/v1/holds", body).await.problem(status, code);
        let detail = problem["detail"].as_str().unwrap_or_default();
        let shown: String = arguments.chars().take(40).collect();
        assert!(detail.contains(says), "{shown}: {detail}");
    }
    // So long that it is not even read to its end.
    let flood = vec![b' '; (2 << 20) + 1];
    program.post_raw("/v1/holds", flood).await.problem(413, "too_large");
    only_one_hold(&served).await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn a_quorum_that_nobody_could_reach_opens_no_hold() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let call = json!({"tool": "witness", "arguments": {"note": "dba x"}});
    for (audience, says) in [
        (json!({"quorum": 4}), "nobody could be asked"),
        (json!({"people": ["ana"], "quorum": 2}), "nobody could be asked"),
        (json!({"people": ["zoe"]}), "there is no person `zoe`"),
        (json!({"roles": ["pilot"]}), "nobody has the role `pilot`"),
    ] {
        let body = json!({"kind": "fill", "title": "Why?", "audience": audience});
        let problem = ana.post("/v1/holds", &body).await.problem(422, "answer_invalid");
        assert_eq!(problem["field"], "audience", "{problem}");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(says), "{audience}: {detail}");
    }
    // The rule asks the dba, and there is one.
    let body =
        json!({"kind": "approve", "title": "x", "call": call, "audience": {"people": ["cleo"]}});
    let problem = ana.post("/v1/holds", &body).await.problem(422, "answer_invalid");
    assert!(problem["detail"].as_str().is_some_and(|d| d.contains("policy admits none")));
    only_one_hold(&served).await;

    // The same from a terminal: its own exit code, so that a script can tell it from a no.
    let arguments = ["--server", &served.url(), "ask", "Now?", "--to", "pilot", "--option", "yes"];
    let mut command = served.binary().command();
    let token = served.tokens_file();
    let tokens: Value = serde_json::from_slice(&std::fs::read(token).expect("tokens")).expect("{}");
    let token = tokens["person_token"].as_str().expect("a token");
    let asked = command.args(arguments).env("HOLDPOINT_TOKEN", token).output().await;
    let asked = asked.expect("it starts");
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert_eq!(asked.status.code(), Some(13), "{said}");
    assert!(said.contains("nobody has the role"), "{said}");
    only_one_hold(&served).await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn a_command_line_that_makes_no_sense_ends_with_2_and_says_what_does() {
    let served = Served::prepare(CONFIG, SCRIPT);
    let here = served.path("");
    for (arguments, says) in [
        (&["approve"][..], "<ID>"),
        (&["approve", "ses_1"], "hold_"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["serve", "--port", "80"], "--port"),
    ] {
        let (code, out, said) = run(served.binary(), arguments, &here).await;
        assert_eq!((code, &*out), (2, ""), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
}

async fn only_one_hold(served: &Served) {
    let holds = served.admin().get("/v1/holds").await.must(200);
    assert_eq!(holds["items"].as_array().map(Vec::len), Some(1), "{holds:#}");
}
