//! What is sent: in order, in a fair order of lanes, by one sender at a time, and never lost.

use domain::id::NodeId;
use domain::time::Timestamp;
use ports::store::{
    Commit, CommitError, OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxLease,
    OutboxOrder, OutboxWrite, PutNote, Store,
};
use tokio::task::JoinSet;

use super::Opener;
use super::stage::{at, audience, commit, hold, hold_id, node, open_outside, person};

const QUEUE: &str = "chat.test";

fn item(key: &str, due_ms: i64) -> OutboxItem {
    let item = OutboxItem::new(QUEUE, key, OutboxKind::Repaint, at(due_ms));
    OutboxItem { lane: "a chat".into(), payload: key.into(), ..item }
}

fn text_item(key: &str, chat: &str, order_ms: i64) -> OutboxItem {
    let order = Some(OutboxOrder { at: at(order_ms), number: 0 });
    let item = OutboxItem::new(QUEUE, key, OutboxKind::Text, at(order_ms));
    OutboxItem { lane: chat.into(), order, ..item }
}

fn lane(chat: &str, in_order: bool) -> OutboxLane {
    OutboxLane { queue: QUEUE.into(), in_order, name: chat.into() }
}

fn lease(owner: NodeId, until_ms: i64) -> OutboxLease {
    OutboxLease { owner, until: at(until_ms) }
}

fn committing(items: Vec<OutboxItem>) -> Commit {
    let opened = open_outside(hold(hold_id(1), None, person("eve"), audience(&["ana"], &[])));
    Commit { outbox: items, ..opened }
}

async fn add(store: &dyn Store, items: Vec<OutboxItem>, now: Timestamp) {
    let changes = items.into_iter().map(OutboxChange::add).collect();
    let write = OutboxWrite { changes, ..OutboxWrite::default() };
    assert!(store.write_outbox(write, now).await.unwrap());
}

async fn change(store: &dyn Store, change: OutboxChange, now: Timestamp) -> bool {
    store.write_outbox(change.into(), now).await.unwrap()
}

async fn read_item(store: &dyn Store, key: &str) -> Option<OutboxItem> {
    store.outbox_item(QUEUE, key).await.unwrap()
}

async fn next(store: &dyn Store, lane: &OutboxLane, now: Timestamp) -> Option<String> {
    store.outbox_next(lane, now).await.unwrap().map(|item| item.key)
}

async fn lanes(store: &dyn Store, in_order: bool) -> Vec<(String, i64)> {
    let lanes = store.outbox_lanes(QUEUE, in_order, 10).await.unwrap();
    lanes.into_iter().map(|due| (due.lane.name, due.due_at.ms_since(at(0)) as i64)).collect()
}

fn named_lanes(lanes: &[(&str, i64)]) -> Vec<(String, i64)> {
    lanes.iter().map(|(lane, at)| ((*lane).to_owned(), *at)).collect()
}

/// Claims what is next, and sends it.
async fn serve(store: &dyn Store, lane: &OutboxLane, now: Timestamp) -> Option<String> {
    let item = store.outbox_next(lane, now).await.unwrap()?;
    let lease = OutboxLease { owner: node(1), until: now.plus_ms(1_000) };
    assert!(change(store, item.claim(lease), now).await);
    let claimed = read_item(store, &item.key).await.unwrap();
    assert!(change(store, claimed.remove(), now).await);
    Some(item.key)
}

pub async fn i35_items_stay_until_they_are_done(open: &Opener) {
    let store = open(node(1));
    assert_eq!(store.outbox_lanes(QUEUE, false, 1).await.unwrap(), []);
    store.commit(committing(vec![item("b", 20), item("a", 10), item("c", 20)])).await.unwrap();
    let due = |now| {
        let store = store.clone();
        async move {
            let due = store.outbox_items(QUEUE, at(now), 10).await.unwrap();
            due.iter().map(|item| (item.key.clone(), i64::from(item.attempts))).collect::<Vec<_>>()
        }
    };
    assert_eq!(lanes(&*store, false).await, named_lanes(&[("a chat", 10)]));
    assert_eq!(due(9).await, named_lanes(&[]));
    assert_eq!(due(20).await, named_lanes(&[("a", 0), ("b", 0), ("c", 0)]));
    let first = store.outbox_items(QUEUE, at(20), 1).await.unwrap();
    assert_eq!(first, [OutboxItem { version: 1, ..item("a", 10) }]);

    let [a, b] = [read_item(&*store, "a").await.unwrap(), read_item(&*store, "b").await.unwrap()];
    assert!(change(&*store, a.retry_at(at(100)), at(20)).await);
    assert!(change(&*store, b.remove(), at(20)).await);
    assert!(!change(&*store, b.remove(), at(20)).await, "it is gone");
    assert_eq!(due(20).await, named_lanes(&[("c", 0)]));
    assert_eq!(due(100).await, named_lanes(&[("c", 0), ("a", 1)]));
    let backlog = store.outbox_backlog().await.unwrap();
    let waiting: Vec<_> = backlog.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(waiting, [(OutboxKind::Repaint, 2)]);
    drop(store);

    let store = open(node(2));
    assert_eq!(store.outbox_items(QUEUE, at(100), 10).await.unwrap().len(), 2, "after a restart");
    // The same key again is the same item.
    let rows = committing(Vec::new()).rows;
    let again = Commit { outbox: vec![item("a", 0)], ..commit(rows, 1, vec![], person("eve")) };
    store.commit(again).await.unwrap();
    let found = lanes(&*store, false).await;
    assert_eq!(
        found,
        named_lanes(&[("a chat", 10)]),
        "nothing was sent under a lease: it stays due"
    );
    assert_eq!(read_item(&*store, "a").await.unwrap().attempts, 1);
}

pub async fn a_refused_commit_leaves_nothing_in_the_outbox(open: &Opener) {
    let store = open(node(1));
    let late = Commit { expected: 5, ..committing(vec![item("a", 0)]) };
    let refused = store.commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict { actual: 0 })), "{refused:?}");
    assert_eq!(read_item(&*store, "a").await, None);
    assert_eq!(lanes(&*store, false).await, []);
    store.commit(committing(vec![item("a", 0)])).await.unwrap();
    assert!(read_item(&*store, "a").await.is_some());
}

pub async fn items_and_notes_are_written_together_or_not_at_all(open: &Opener) {
    let store = open(node(1));
    let note = |expected| PutNote {
        shelf: "desk".into(),
        key: "n".into(),
        value: Some(b"x".to_vec()),
        expected: Some(expected),
        due_at: None,
        forget_at: None,
    };
    let write = |changes, expected| OutboxWrite {
        changes,
        notes: vec![note(expected)],
        ..OutboxWrite::default()
    };
    let added = vec![OutboxChange::add(item("a", 0))];
    assert!(!store.write_outbox(write(added.clone(), 7), at(0)).await.unwrap(), "the note");
    assert_eq!(read_item(&*store, "a").await, None);
    assert!(store.write_outbox(write(added.clone(), 0), at(0)).await.unwrap());
    assert!(!store.write_outbox(write(added, 1), at(0)).await.unwrap(), "the item is there");
    assert_eq!(store.note("desk", "n").await.unwrap().unwrap().version, 1);
    let version = |item: OutboxItem| item.version;
    assert_eq!(read_item(&*store, "a").await.map(version), Some(1));
    drop(store);
    let store = open(node(2));
    assert_eq!(read_item(&*store, "a").await.map(version), Some(1), "both outlive a process");
    assert!(store.note("desk", "n").await.unwrap().is_some());
}

pub async fn of_many_senders_one_claims_an_item(open: &Opener) {
    let store = open(node(1));
    add(&*store, vec![item("a", 0)], at(0)).await;
    let found = read_item(&*store, "a").await.unwrap();
    let mut tasks = JoinSet::new();
    for number in 1..=20 {
        let (store, claim) = (store.clone(), found.claim(lease(node(number), 1_000)));
        tasks.spawn(async move { change(&*store, claim, at(1)).await });
    }
    let won = tasks.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(won, 1);
    assert!(read_item(&*store, "a").await.unwrap().is_leased(at(999)));
}

pub async fn a_leased_lane_waits_until_the_lease_ends(open: &Opener) {
    let store = open(node(1));
    for in_order in [true, false] {
        let named_so = |key: &str| format!("{key}-{in_order}");
        let make = |key: &str, ms| OutboxItem {
            order: in_order.then_some(OutboxOrder { at: at(ms), number: 0 }),
            ..item(&named_so(key), ms)
        };
        add(&*store, vec![make("a", 1), make("b", 2)], at(5)).await;
        let lane = lane("a chat", in_order);
        assert_eq!(next(&*store, &lane, at(5)).await, Some(named_so("a")));
        let a = read_item(&*store, &named_so("a")).await.unwrap();
        assert!(change(&*store, a.claim(lease(node(1), 100)), at(5)).await);
        assert_eq!(next(&*store, &lane, at(99)).await, None, "one after the other");
        assert_eq!(lanes(&*store, in_order).await, named_lanes(&[("a chat", 100)]));
        // Its sender is gone; the next one finds it when the lease is over.
        let found = next(&*store, &lane, at(100)).await.unwrap();
        assert_eq!(found, named_so(if in_order { "a" } else { "b" }), "the longest ready");
        let claimed = read_item(&*store, &named_so("a")).await.unwrap();
        assert_eq!(claimed.lease, Some(lease(node(1), 100)));
        assert!(!change(&*store, a.remove(), at(100)).await, "decided on an older version");
        assert!(change(&*store, claimed.release(), at(50)).await);
        assert_eq!(next(&*store, &lane, at(50)).await, Some(named_so("a")));
    }
}

pub async fn what_is_in_order_is_not_overtaken(open: &Opener) {
    let store = open(node(1));
    // Not in the order in which they are written, and of one moment by their numbers.
    let late = OutboxOrder { at: at(20), number: 2 };
    let items = vec![
        OutboxItem { order: Some(late), ..text_item("c", "A", 20) },
        text_item("b", "A", 20),
        text_item("a", "A", 10),
        text_item("elsewhere", "B", 30),
    ];
    add(&*store, items, at(40)).await;
    let here = lane("A", true);
    let first = read_item(&*store, "a").await.unwrap();
    assert!(change(&*store, first.retry_at(at(1_000)), at(40)).await);
    assert_eq!(next(&*store, &here, at(999)).await, None, "the first of them waits, and so do all");
    assert_eq!(next(&*store, &lane("B", true), at(40)).await.as_deref(), Some("elsewhere"));
    let mut sent = Vec::new();
    while let Some(key) = serve(&*store, &here, at(1_000)).await {
        sent.push(key);
    }
    assert_eq!(sent, ["a", "b", "c"]);
    assert_eq!(lanes(&*store, true).await, named_lanes(&[("B", 30)]));
    assert_eq!(next(&*store, &lane("A", false), at(1_000)).await, None, "lanes are apart");
}

pub async fn a_prompt_overtakes_a_text_that_cannot_be_delivered(open: &Opener) {
    let store = open(node(1));
    let prompt = |key: &str, ms| OutboxItem { kind: OutboxKind::Prompt, ..text_item(key, "A", ms) };
    let items =
        vec![text_item("words", "A", 1), text_item("more", "A", 2), prompt("p", 3), prompt("q", 4)];
    add(&*store, items, at(10)).await;
    let here = lane("A", true);
    let words = read_item(&*store, "words").await.unwrap();
    assert!(change(&*store, words.retry_at(at(1_010)), at(10)).await);
    assert_eq!(next(&*store, &here, at(10)).await, None, "one short pause is waited for");
    let words = read_item(&*store, "words").await.unwrap();
    assert!(change(&*store, words.retry_at(at(60_000)), at(1_010)).await);
    assert_eq!(lanes(&*store, true).await, named_lanes(&[("A", 1_010)]));
    assert_eq!(next(&*store, &here, at(1_010)).await.as_deref(), Some("p"));
    // While it is sent, nothing else is, also if the words are due by then.
    let p = read_item(&*store, "p").await.unwrap();
    assert!(change(&*store, p.claim(lease(node(1), 61_000)), at(1_010)).await);
    assert_eq!(next(&*store, &here, at(60_500)).await, None);
    let p = read_item(&*store, "p").await.unwrap();
    assert!(change(&*store, p.retry_at(at(70_000)), at(2_000)).await);
    assert_eq!(next(&*store, &here, at(2_000)).await, None, "prompts do not overtake each other");
    assert_eq!(next(&*store, &here, at(60_000)).await.as_deref(), Some("words"));
    assert_eq!(lanes(&*store, true).await, named_lanes(&[("A", 60_000)]));
}

pub async fn lanes_are_served_fairly(open: &Opener) {
    let store = open(node(1));
    for (chat, begin) in [("A", 1), ("B", 2)] {
        let many = (0..5).map(|n| text_item(&format!("{chat}{n}"), chat, begin));
        add(&*store, many.collect(), at(begin)).await;
    }
    add(&*store, vec![text_item("X0", "X", 3)], at(3)).await;
    let mut sent = Vec::new();
    for now in 10..17 {
        // Whatever is put into it meanwhile, a lane stays due.
        add(&*store, vec![text_item(&format!("more{now}"), "X", now)], at(now)).await;
        let first = store.outbox_lanes(QUEUE, true, 1).await.unwrap().remove(0);
        serve(&*store, &first.lane, at(now)).await.unwrap();
        sent.push(first.lane.name);
    }
    assert_eq!(sent, ["A", "B", "X", "A", "B", "X", "A"]);
    // Without an order, too.
    let many = (0..3).map(|n| OutboxItem { lane: "C".into(), ..item(&format!("c{n}"), 1) });
    add(&*store, many.collect(), at(20)).await;
    add(&*store, vec![OutboxItem { lane: "D".into(), ..item("d", 2) }], at(20)).await;
    let mut sent = Vec::new();
    for now in 21..25 {
        let first = store.outbox_lanes(QUEUE, false, 1).await.unwrap().remove(0);
        sent.extend(serve(&*store, &first.lane, at(now)).await);
    }
    assert_eq!(sent, ["c0", "d", "c1", "c2"]);
    assert_eq!(lanes(&*store, false).await, []);
}

pub async fn an_item_that_changes_its_lane_leaves_the_old_one(open: &Opener) {
    let store = open(node(1));
    add(&*store, vec![text_item("a", "A", 1), text_item("b", "A", 2)], at(2)).await;
    let a = read_item(&*store, "a").await.unwrap();
    let aside = OutboxItem { order: None, due_at: at(500), ..a.clone() };
    let write = OutboxChange { item: Some(aside), ..a.remove() };
    assert!(change(&*store, write, at(5)).await);
    assert_eq!(next(&*store, &lane("A", true), at(5)).await.as_deref(), Some("b"));
    assert_eq!(lanes(&*store, false).await, named_lanes(&[("A", 500)]));
    let b = read_item(&*store, "b").await.unwrap();
    assert!(change(&*store, b.remove(), at(6)).await);
    assert_eq!(lanes(&*store, true).await, [], "an empty lane is never due");
    // Nothing in it has changed, and it is due as it should be.
    let recheck = vec![lane("A", true), lane("A", false), lane("nobody", true)];
    let write = OutboxWrite { recheck, ..OutboxWrite::default() };
    assert!(store.write_outbox(write, at(7)).await.unwrap());
    assert_eq!(lanes(&*store, false).await, named_lanes(&[("A", 500)]));
    assert_eq!(lanes(&*store, true).await, []);
}
