//! Several calls of one turn.

use serde_json::json;
use testkit::served::{results, unsound};

use crate::peers::{inputs, note, nothing, said, start};

/// Elsewhere answers were matched to calls by position, one denial discarded every approval, and the
/// second approval hung for ever (Mastra #16468, LangGraph #6533 and #6626, langchainjs #10176).
#[tokio::test]
async fn three_calls_of_one_tool_answered_in_reverse_by_two_people_across_kills() {
    let mut served = start().await;
    let (ana, bob) = (served.admin(), served.person("bob").await);
    let session = said(&ana, "three").await;
    let holds = ana.held(&session, 3).await;
    let digests: std::collections::BTreeSet<_> =
        holds.iter().map(|h| h["digest"].to_string()).collect();
    assert_eq!(digests.len(), 3, "each has a digest of its own");

    let no = json!({"verdict": "deny", "reason": "two are enough"});
    bob.answer(&holds[2], no).await.must(200);
    served.kill().await;
    served.up().await;
    let edited = json!({"verdict": "approve", "arguments": {"note": "TWO"}});
    ana.answer(&holds[1], edited).await.must(200);
    served.kill().await;
    served.up().await;
    assert_eq!(inputs(&served), nothing(), "one of the turn is undecided");
    bob.approve(&holds[0]).await;

    let read = ana.run_is(&session, "completed").await;
    assert_eq!(unsound(&read), Vec::<String>::new());
    let mut ran = inputs(&served);
    ran.sort_by_key(|input| input["note"] == "TWO");
    assert_eq!(ran, [note("one"), note("TWO")]);
    // Each result belongs to its own call.
    let told = results(&read);
    let lines = served.witness().lines().expect("a witness");
    let changed = "Ana approved this call with other arguments, and it ran with these: \
                   {\"note\":\"TWO\"}\nWhat came of it:\n";
    for (index, (ran, said)) in [("one", ""), ("TWO", changed)].into_iter().enumerate() {
        let line = lines.iter().find(|line| line.input["note"] == ran).expect("an effect");
        assert_eq!(line.call, told[index].0);
        assert_eq!(told[index].1, format!("{said}did {}", line.key));
        assert!(!told[index].2);
    }
    let call = holds[2]["call"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(told[2], (call, "Denied by Bob: two are enough".to_owned(), true));
    for (hold, by) in holds.iter().zip(["bob", "ana", "bob"]) {
        assert_eq!(ana.hold(&hold["id"]).await["decision"]["by"], by);
    }
}

/// Elsewhere a call that nobody was asked about, or a sibling that was approved, ran while a card was
/// still shown (BuilderIO #3510), or one denial threw the others away.
#[tokio::test]
async fn an_approved_call_waits_for_its_undecided_sibling_and_survives_its_denial() {
    let served = start().await;
    let ana = served.admin();
    let session = said(&ana, "two left right").await;
    let holds = ana.held(&session, 2).await;
    ana.approve(&holds[1]).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(inputs(&served), nothing(), "its sibling is undecided");
    ana.answer(&holds[0], json!({"verdict": "deny"})).await.must(200);
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [note("right")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
    let errors: Vec<bool> = results(&read).into_iter().map(|(_, _, is_error)| is_error).collect();
    assert_eq!(errors, [true, false]);
}
