//! Elsewhere the card was gone after a refresh, on a second device, or after a deployment, while the
//! run still waited for it (Cloudflare #922, letta-code #1128, Mastra #10369).

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::Value;
use testkit::served::{Caller, Served};

use crate::peers::{inputs, note, one_hold, start};

/// One event of a stream: its position, type and data.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    id: u64,
    name: String,
    data: Value,
}

/// Follows a session after a position until an event of this type, and hangs up.
async fn follow(who: &Caller, session: &str, after: u64, until: &str) -> Vec<Event> {
    let request = who.request(Method::GET, &format!("/v1/sessions/{session}/events"));
    let request = request.header("Last-Event-ID", after.to_string());
    let reading = async {
        let reply = request.send().await.expect("a stream");
        assert_eq!(reply.status(), 200);
        let mut stream = reply.bytes_stream();
        let (mut text, mut events) = (String::new(), Vec::new());
        while let Some(chunk) = stream.next().await {
            text.push_str(std::str::from_utf8(&chunk.expect("a chunk")).expect("UTF-8"));
            while let Some((event, rest)) = text.split_once("\n\n") {
                events.extend(read(event));
                text = rest.to_owned();
            }
            if events.iter().any(|event| event.name == until) {
                return events;
            }
        }
        panic!("the stream ended without `{until}`: {events:?}")
    };
    let within = tokio::time::timeout(Duration::from_secs(20), reading).await;
    within.unwrap_or_else(|_| panic!("`{until}` does not come"))
}

/// Only what is stored has an id; comments and deltas have none.
fn read(event: &str) -> Option<Event> {
    let field = |name: &str| {
        event
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    Some(Event {
        id: field("id")?.parse().ok()?,
        name: field("event")?,
        data: serde_json::from_str(&field("data")?).ok()?,
    })
}

fn opened(events: &[Event]) -> &Event {
    events.iter().find(|event| event.name == "hold.opened").expect("a hold")
}

#[tokio::test]
async fn a_refresh_a_second_device_and_a_restart_show_the_same_pending_question() {
    let mut served: Served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note first").await;
    let first = follow(&ana, &session, 0, "run.paused").await;
    let ids: Vec<u64> = first.iter().map(|event| event.id).collect();
    assert_eq!(
        ids,
        (1..=ids.len() as u64).collect::<Vec<_>>(),
        "from the beginning, without a gap"
    );
    let card = opened(&first).clone();
    assert_eq!(card.data["hold"], hold);

    // The connection broke just before the card came.
    let again = follow(&ana, &session, card.id - 1, "run.paused").await;
    assert_eq!(again, first[card.id as usize - 1..]);
    // Another device, which knows nothing yet.
    let bob = served.person("bob").await;
    assert_eq!(follow(&bob, &session, 0, "run.paused").await, first);

    served.kill().await;
    served.up().await;
    let after = follow(&ana, &session, card.id - 1, "run.paused").await;
    assert_eq!(opened(&after), &card);
    assert_eq!(ana.hold(&hold["id"]).await, hold);
    let inbox = bob.get("/v1/holds?state=pending&mine=true").await.must(200);
    assert_eq!(inbox["items"], Value::Array(vec![hold.clone()]));

    // And whoever follows on sees how it ends.
    bob.approve(&hold).await;
    let last = first.last().expect("events").id;
    let rest = follow(&ana, &session, last, "run.completed").await;
    assert_eq!(rest[0].id, last + 1);
    let decided = rest.iter().find(|event| event.name == "hold.decided").expect("a decision");
    assert_eq!(decided.data["decision"]["by"], "bob");
    assert_eq!(inputs(&served), [note("first")]);
}
