//! A post with several answers is stored whole or not at all.

use domain::event::{Event, HoldEvent};
use domain::id::StreamId;
use ports::store::Entry;
use serde_json::{Value, json};

use super::{Read, assistant, opened};
use crate::world::{World, text};

const THREE: &str = "call wipe {\"rows\": 1}\ncall wipe {\"rows\": 2}\ncall wipe {\"rows\": 3}";

/// The parts that answer all approvals which a stream asked for.
fn all_answered(asked: &Read, approved: bool) -> Vec<Value> {
    let of = |kind: &'static str| asked.chunks.iter().filter(move |chunk| chunk["type"] == kind);
    let part = |request: &Value| {
        let input = of("tool-input-available")
            .find(|chunk| chunk["toolCallId"] == request["toolCallId"])
            .expect("its input");
        json!({
            "type": format!("tool-{}", text(input, "toolName")), "toolCallId": request["toolCallId"],
            "state": "approval-responded", "input": input["input"],
            "approval": {"id": request["approvalId"], "approved": approved},
        })
    };
    of("tool-approval-request").map(part).collect()
}

async fn entries(world: &World, asked: &Read) -> Vec<Entry> {
    let session = text(&asked.one("start")["messageMetadata"]["holdpoint"], "session");
    let stream = StreamId::Session(session.parse().expect("a session id"));
    world.store.load(stream).await.expect("entries")
}

fn is_decided(event: &Event) -> bool {
    matches!(event.hold_event(), Some(HoldEvent::Decided { .. }))
}

#[tokio::test]
async fn three_approvals_in_one_post_are_one_commit() {
    let world = opened(None).await;
    let asked = world.tell("bob", "c1", THREE).await;
    let parts = all_answered(&asked, true);
    assert_eq!(parts.len(), 3);
    let post = assistant("c1", json!(parts));
    let done = world.chat("bob", 6, &post).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(world.wiped(), 3);
    let decided: Vec<usize> = entries(&world, &asked)
        .await
        .iter()
        .map(|entry| entry.events.iter().filter(|event| is_decided(event)).count())
        .filter(|count| *count > 0)
        .collect();
    assert_eq!(decided, [3], "all answers are in one entry of the journal");
    // The same post again is the same answers.
    let again = world.chat("bob", 6, &post).await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert_eq!(world.wiped(), 3);
}

#[tokio::test]
async fn a_post_with_one_stale_approval_stores_none_and_says_so() {
    let world = opened(None).await;
    for (chat, stale) in [("c0", 0), ("c1", 1), ("c2", 2)] {
        let asked = world.tell("bob", chat, THREE).await;
        let parts = all_answered(&asked, true);
        let ids: Vec<String> = parts.iter().map(|part| text(&part["approval"], "id")).collect();
        let (status, _) =
            world.post("ana", &format!("/v1/holds/{}/cancel", ids[stale]), json!({})).await;
        assert_eq!(status, 200);
        let before = entries(&world, &asked).await.len();
        let refused = world.chat("bob", 6, &assistant(chat, json!(parts))).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        assert!(refused.text.contains("the hold is already cancelled"), "{}", refused.text);
        assert!(refused.text.contains(&ids[stale]), "it says which: {}", refused.text);
        assert_eq!(entries(&world, &asked).await.len(), before, "nothing was stored");
        for (n, id) in ids.iter().enumerate().filter(|(n, _)| *n != stale) {
            let (_, hold) = world.get("bob", &format!("/v1/holds/{id}")).await;
            assert_eq!(hold["state"], "pending", "{n} of {chat}");
        }
        assert_eq!(world.wiped(), 0);
    }
}

#[tokio::test]
async fn a_post_in_which_one_call_was_shown_otherwise_stores_none() {
    let world = opened(None).await;
    let asked = world.tell("bob", "c1", THREE).await;
    let parts = all_answered(&asked, true);
    let mut changed = parts.clone();
    changed[2]["approval"]["descriptor"] = json!({"digest": "sha256:00"});
    let refused = world.chat("bob", 6, &assistant("c1", json!(changed))).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let id = text(&parts[0]["approval"], "id");
    let (_, hold) = world.get("bob", &format!("/v1/holds/{id}")).await;
    assert_eq!(hold["state"], "pending");
}
