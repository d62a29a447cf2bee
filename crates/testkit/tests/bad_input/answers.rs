//! Answers that do not count. Each is told why, and the hold stays as it is.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::served::{Caller, Served};

use crate::bad_input::{CONFIG, SCRIPT, nothing_was_lost, one_hold};

fn path(hold: &Value) -> String {
    format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"))
}

async fn invalid(who: &Caller, hold: &Value, answer: Value, field: &str) {
    let problem = who.answer(hold, answer.clone()).await.problem(422, "answer_invalid");
    assert_eq!(problem["field"], field, "{answer}: {problem}");
}

#[tokio::test]
async fn an_answer_of_another_kind_does_not_count() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    for answer in [
        json!({"choose": ["1"]}),
        json!({"fill": {"text": "yes"}}),
        json!({"perform": {"content": "done"}}),
        json!({"settle": "succeeded"}),
    ] {
        invalid(&ana, &hold, answer, "answer").await;
    }
    let (_, _, question) = one_hold(&served, "choose").await;
    for answer in [json!({"verdict": "approve"}), json!({"verdict": "respond", "content": "red"})] {
        invalid(&ana, &question, answer, "answer").await;
    }
    invalid(&ana, &question, json!({"choose": ["green"]}), "choose").await;
    invalid(&ana, &question, json!({"choose": ["red", "blue"]}), "choose").await;
    invalid(&ana, &question, json!({"choose": []}), "choose").await;
    assert_eq!(ana.hold(&question["id"]).await, question);
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn an_answer_to_another_digest_does_not_count() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let (_, _, other) = one_hold(&served, "note b").await;
    let approve = json!({"verdict": "approve"});
    for digest in [&other["digest"], &json!(format!("sha256:{}", "0".repeat(64))), &json!("x")] {
        let body = json!({"digest": digest, "answer": approve});
        let problem = ana.post(&path(&hold), &body).await.problem(409, "version_conflict");
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains("read it again")));
        assert_eq!(problem["hold"]["digest"], hold["digest"], "what it is now is told");
    }
    let problem = ana.post(&path(&hold), &json!({"answer": approve})).await;
    assert_eq!(problem.problem(422, "answer_invalid")["field"], "digest");
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn an_answer_to_another_persons_hold_finds_nothing() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let bob = served.person("bob").await;
    let cleo = served.person("cleo").await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    for answer in [json!({"verdict": "approve"}), json!({"verdict": "deny"})] {
        bob.answer(&hold, answer.clone()).await.problem(404, "not_found");
        cleo.answer(&hold, answer.clone()).await.problem(404, "not_found");
        // Whoever sees it but may not answer it is told so: the program that opened nothing here
        // does not see it, and the one whose session it is does.
        served.program().answer(&hold, answer).await.problem(404, "not_found");
    }
    bob.get(&format!("/v1/holds/{}", hold["id"].as_str().expect("an id")))
        .await
        .problem(404, "not_found");

    let mine = cleo.session("worker").await;
    cleo.say(&mine, "note dba x").await;
    let asked = cleo.held(&mine, 1).await.remove(0);
    let approve = json!({"verdict": "approve"});
    let problem = cleo.answer(&asked, approve.clone()).await.problem(403, "not_entitled");
    assert!(problem["detail"].as_str().is_some_and(|text| text.len() > 10), "{problem}");
    let program = served.program();
    let theirs = program.session("worker").await;
    program.say(&theirs, "note of a program").await;
    let asked = program.held(&theirs, 1).await.remove(0);
    program.answer(&asked, approve).await.problem(403, "not_entitled");
    assert_eq!(served.admin().hold(&asked["id"]).await, asked);
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn an_answer_to_a_decided_hold_learns_the_decision() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note dba x").await;
    let bob = served.person("bob").await;
    let deny = json!({"verdict": "deny", "reason": "not today"});
    bob.answer(&hold, deny.clone()).await.must(200);
    ana.run_is(&session, "completed").await;
    let decided = ana.hold(&hold["id"]).await;
    // The same again is fine, and changes nothing.
    assert_eq!(bob.answer(&hold, deny.clone()).await.must(200), decided);
    for answer in [json!({"verdict": "approve"}), json!({"verdict": "deny", "reason": "never"})] {
        let problem = bob.answer(&hold, answer).await.problem(409, "hold_already_decided");
        assert_eq!(problem["decision"], decided["decision"], "{problem:#}");
        assert_eq!(problem["decision"]["by"], "bob");
        assert_eq!(problem["decision"]["reason"], "not today");
    }
    assert_eq!(ana.hold(&hold["id"]).await, decided);
    assert_eq!(served.witness().lines(), Ok(Vec::new()));

    // Withdrawn is decided, too.
    let (_, session, hold) = one_hold(&served, "note a").await;
    let cancel = path(&hold).replace("/answer", "/cancel");
    ana.post(&cancel, &json!({"reason": "a mistake"})).await.must(200);
    let approve = json!({"verdict": "approve"});
    let problem = ana.answer(&hold, approve).await.problem(409, "hold_already_decided");
    assert_eq!(problem["decision"]["state"], "cancelled", "{problem:#}");
    ana.run_is(&session, "completed").await;
    assert_eq!(served.witness().lines(), Ok(Vec::new()));
}

#[tokio::test]
async fn an_answer_to_an_expired_hold_is_too_late() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note quick x").await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let problem = ana.answer(&hold, json!({"verdict": "approve"})).await;
    let problem = problem.problem(410, "hold_expired");
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("nothing was done")));
    ana.run_is(&session, "completed").await;
    assert_eq!(ana.hold(&hold["id"]).await["state"], "expired");
    assert_eq!(served.witness().lines(), Ok(Vec::new()));
}

#[tokio::test]
async fn an_answer_to_a_hold_that_never_was_finds_nothing() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let session_id = session.replace("ses_", "hold_");
    let almost = hold["id"].as_str().expect("an id").to_uppercase();
    for id in
        ["hold_00000000000000000000000000", &session_id, &session, &almost, "1", "%00", "..%2f.."]
    {
        let body = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
        let reply = ana.post(&format!("/v1/holds/{id}/answer"), &body).await;
        reply.problem(404, "not_found");
    }
    nothing_was_lost(&served, &session, &hold).await;
}
