//! Decisions that a program brings.

use domain::answer::{Answer, ApprovalScope};
use domain::digest::Digest;
use ports::channel::{Busy, Inbox as _, Operator, ReportedDecision, ReportedReply};

use crate::chat::Card;
use crate::world::World;

fn approve() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
}

async fn bring(
    world: &World,
    card: &Card,
    who: &str,
    digest: Digest,
    answer: Answer,
) -> Result<ReportedReply, Busy> {
    let operator = world.press_of(who, card, ports::channel::ButtonAction::Allow).operator.unwrap();
    let decided = ReportedDecision {
        event: "webhook:msg_1".into(),
        operator,
        hold: card.hold,
        digest,
        answer,
    };
    world.board.decided("slack", decided).await
}

#[tokio::test]
async fn a_decision_runs_the_call_once_and_the_card_tells_of_it() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let digest = world.hold(card.hold).await.digest();
    let first = bring(&world, &card, "bob", digest, approve()).await;
    assert!(
        matches!(&first, Ok(ReportedReply::Taken(hold)) if hold.state.name() == "approved"),
        "{first:?}"
    );
    world.chat.card("approved+succeeded").await;
    // The same once more is told the same, another one what stands.
    let again = bring(&world, &card, "bob", digest, approve()).await;
    assert!(matches!(again, Ok(ReportedReply::Taken(_))), "{again:?}");
    let deny = Answer::Deny { reason: None, stop: false };
    let late = bring(&world, &card, "bob", digest, deny).await;
    assert!(matches!(late, Ok(ReportedReply::Already(_))), "{late:?}");
    assert_eq!(world.done(), [r#"wipe {"n":1}"#]);
}

#[tokio::test]
async fn i31_only_who_may_answer_decides_and_only_what_they_were_shown() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let digest = world.hold(card.hold).await.digest();
    for who in ["gus", "una", "stranger", ""] {
        let ruling = bring(&world, &card, who, digest, approve()).await;
        assert!(matches!(ruling, Ok(ReportedReply::NotEntitled)), "{who}: {ruling:?}");
    }
    let other = bring(&world, &card, "bob", Digest::of(b"another call"), approve()).await;
    assert!(matches!(other, Ok(ReportedReply::Changed(_))), "{other:?}");
    let unknown = ReportedDecision {
        event: "webhook:msg_2".into(),
        operator: Operator::named("U-bob"),
        hold: card.hold,
        digest,
        answer: approve(),
    };
    let elsewhere = world.board.decided("no such channel", unknown).await;
    assert!(matches!(elsewhere, Ok(ReportedReply::NotEntitled)), "{elsewhere:?}");
    assert!(world.hold(card.hold).await.is_pending() && world.done().is_empty());
}
