//! Answers that came twice, came late, or meant something else.

use serde_json::json;
use testkit::served::{results, unsound};
use tokio::task::JoinSet;

use crate::peers::{config, inputs, note, nothing, one_hold, said, start};

/// Elsewhere an answer resumed whatever was waiting just then, so that people approved what they had
/// never seen (Mastra #19633, auxilia #307, clawpatrol #595).
#[tokio::test]
async fn a_stale_button_after_a_newer_question_decides_nothing() {
    let served = start().await;
    let (ana, bob) = (served.admin(), served.person("bob").await);
    let (session, first) = one_hold(&ana, "chain").await;
    ana.approve(&first).await;
    let newer = |read: &serde_json::Value| {
        read["pending"].as_array().is_some_and(|p| p.len() == 1 && p[0]["id"] != first["id"])
    };
    let read = ana.until(&session, "the second question", newer).await;
    let second = read["pending"][0].clone();

    let approve = json!({"verdict": "approve"});
    let problem = bob.answer(&first, approve.clone()).await.problem(409, "hold_already_decided");
    assert_eq!(problem["decision"]["by"], "ana", "the truth, to put on the card: {problem:#}");
    assert_eq!(problem["hold"]["id"], first["id"]);
    // The button of the first, pressed on the second.
    let path = format!("/v1/holds/{}/answer", second["id"].as_str().expect("an id"));
    let stale = json!({"digest": first["digest"], "answer": approve});
    bob.post(&path, &stale).await.problem(409, "version_conflict");
    assert_eq!(ana.hold(&second["id"]).await, second);
    assert_eq!(inputs(&served), [note("first")]);

    bob.approve(&second).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [note("first"), note("second")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// Elsewhere two workers each took the same approval and ran it (heym #563).
#[tokio::test]
async fn a_hundred_equal_answers_at_once_have_one_winner() {
    let served = start().await;
    let (ana, bob) = (served.admin(), served.person("bob").await);
    let (session, hold) = one_hold(&ana, "note once").await;
    let mut answers = JoinSet::new();
    for number in 0..100 {
        let (name, who) = if number % 2 == 0 { ("ana", ana.clone()) } else { ("bob", bob.clone()) };
        let hold = hold.clone();
        answers
            .spawn(async move { (name, who.answer(&hold, json!({"verdict": "approve"})).await) });
    }
    let answers = answers.join_all().await;
    let read = ana.run_is(&session, "completed").await;
    let decided = ana.hold(&hold["id"]).await;
    let winner = decided["decision"]["by"].as_str().expect("a winner").to_owned();
    for (name, heard) in answers {
        if name == winner {
            assert_eq!(heard.must(200)["decision"], decided["decision"]);
        } else {
            let problem = heard.problem(409, "hold_already_decided");
            assert_eq!(problem["decision"], decided["decision"]);
        }
    }
    assert_eq!(inputs(&served), [note("once")]);
    let events = served.audited().await;
    let count = |name: &str| events.iter().filter(|event| event.get(name).is_some()).count();
    assert_eq!((count("hold_decided"), count("call_started")), (1, 1));
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// Elsewhere a declined call ran all the same: when the policy was not there on resume, or the tool
/// was of another class (Mastra #20470, ADK #7148).
#[tokio::test]
async fn a_declined_call_never_runs_even_if_the_policy_is_gone() {
    let mut served = start().await;
    let ana = served.admin();
    let session = said(&ana, "two no yes").await;
    let holds = ana.held(&session, 2).await;
    ana.answer(&holds[0], json!({"verdict": "deny", "reason": "no"})).await.must(200);
    served.kill().await;
    // Now everything is allowed, without asking anybody.
    served.write("holdpoint.toml", &config("[policy]\ndefault = \"allow\""));
    served.up().await;
    ana.answer(&holds[0], json!({"verdict": "approve"})).await.problem(409, "hold_already_decided");
    ana.approve(&holds[1]).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [note("yes")]);
    assert_eq!(results(&read)[0].1, "Denied by Ana: no");
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// Elsewhere an approval with edited arguments kept the rule of what was asked first, so that an
/// operator could turn a harmless call into one that they may not approve (LangChain #40166).
#[tokio::test]
async fn an_edit_that_changes_the_target_is_ruled_on_again() {
    let served = start().await;
    let (ana, bob) = (served.admin(), served.person("bob").await);
    let (session, hold) = one_hold(&ana, "note x for staging").await;
    let edit =
        |target: &str| json!({"verdict": "approve", "arguments": {"note": "x", "target": target}});

    // Forbidden to everybody.
    let problem = bob.answer(&hold, edit("vault")).await.problem(422, "answer_invalid");
    assert!(
        problem["detail"].as_str().is_some_and(|text| text.contains("production is off limits"))
    );
    // Not a part of any answer: the tool.
    let another = json!({"verdict": "approve", "tool": "slow"});
    assert_eq!(bob.answer(&hold, another).await.problem(422, "answer_invalid")["field"], "tool");
    assert_eq!(ana.hold(&hold["id"]).await, hold);

    // For others to approve: it waits for them, under another digest.
    let revised = bob.answer(&hold, edit("production")).await.must(200);
    assert_eq!(revised["state"], "pending", "{revised:#}");
    assert_ne!(revised["digest"], hold["digest"]);
    assert_eq!(revised["audience"]["roles"], json!(["dba"]));
    assert_eq!(revised["call"]["arguments"]["target"], "production");
    assert_eq!(bob.answer(&revised, json!({"verdict": "approve"})).await.status / 100, 4);
    // What was shown first can no longer be approved.
    ana.answer(&hold, json!({"verdict": "approve"})).await.problem(409, "version_conflict");
    assert_eq!(inputs(&served), nothing());
    ana.approve(&revised).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [json!({"note": "x", "target": "production"})]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}
