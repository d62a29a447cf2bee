//! Who may answer, and what is kept of how they proved it.

use holdpoint::prelude::*;

use crate::world::{Till, one, shop};

#[tokio::test]
async fn i44_the_programs_word_is_kept_with_the_answer() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let joe = holdpoint.vouch("joe", "a test").unwrap();
    let session = holdpoint.open(&joe, "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    let bob = holdpoint.vouch("bob", "single sign-on, badge 17").unwrap();
    let decided = holdpoint.answer(&bob, &hold, Answer::approve().note("fine")).await.unwrap();
    let vote = decided.state.decision().unwrap().vote().unwrap();
    assert_eq!((vote.by.as_str(), &*vote.via, vote.proof.name()), ("bob", "program", "door"));
    assert!(format!("{:?}", vote.proof).contains("single sign-on, badge 17"));
}

#[tokio::test]
async fn i30_strangers_and_the_unentitled_change_nothing() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    assert!(matches!(
        holdpoint.vouch("mallory", "I say so").unwrap_err(),
        Error::Refused(Refusal::NotFound { what: "person" })
    ));
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    // Joe sees his own session's hold and may not answer it.
    let refused = holdpoint.answer(&vouch("joe"), &hold, Answer::approve()).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::NotEntitled { .. })), "{refused}");
    let other = holdpoint.program("other").await.unwrap();
    let hidden = holdpoint.session(&other, session.id()).await.err().unwrap();
    assert!(matches!(hidden, Error::Refused(Refusal::NotFound { .. })), "{hidden}");
    let spoken = holdpoint.session(&vouch("bob"), session.id()).await.unwrap().say("hi").await;
    assert!(spoken.is_err(), "only its creator speaks in a session");
    assert_eq!(till.paid(), []);
}

#[tokio::test]
async fn i02_an_approval_of_what_was_shown_before_an_edit_counts_for_nothing() {
    let till = Till::default();
    let rule = Rule::ask("two of finance", Whom::role("finance").quorum(2)).tool("refund");
    let holdpoint = crate::world::people(Holdpoint::builder())
        .agent(Agent::new("shop", crate::world::script()).tool(till.tool()))
        .rule(rule)
        .build()
        .await
        .unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let shown = one(&session.ask("Refund 7: 5").await.unwrap());
    let edit = serde_json::json!({"order": 7, "amount": 4});
    holdpoint.answer(&vouch("bob"), &shown, Answer::approve_edited(&edit)).await.unwrap();
    let stale = holdpoint.answer(&vouch("eva"), &shown, Answer::approve()).await.unwrap_err();
    let Error::Refused(Refusal::VersionConflict { hold }) = stale else { panic!("{stale}") };
    assert_eq!(till.paid(), []);
    holdpoint.answer(&vouch("eva"), &hold, Answer::approve()).await.unwrap();
    session.wait().await.unwrap();
    assert_eq!(till.paid(), [(7, 4)]);
}

#[tokio::test]
async fn i09_of_two_answers_the_first_wins_and_the_second_is_told() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    let (bob, eva) = (vouch("bob"), vouch("eva"));
    let (yes, no) = tokio::join!(
        holdpoint.answer(&bob, &hold, Answer::approve()),
        holdpoint.answer(&eva, &hold, Answer::deny("no")),
    );
    assert!(yes.is_ok() != no.is_ok(), "{yes:?} {no:?}");
    let approved = yes.is_ok();
    let lost = yes.err().or_else(|| no.err()).unwrap();
    let Error::Refused(Refusal::AlreadyDecided { hold }) = lost else { panic!("{lost}") };
    assert_eq!(hold.state.name(), if approved { "approved" } else { "denied" });
    session.wait().await.unwrap();
    assert_eq!(till.paid().len(), usize::from(approved));
}
