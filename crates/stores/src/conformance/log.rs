//! The journal as audit log: it verifies, and it is all there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use audit::{Checkpoint, Hash, PublicKey, checkpoint_line, entry_line, header_line};
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::external_hold::ExternalHold;
use domain::grant::ClearedBy;
use domain::hold::{CancelReason, Decision, HoldState};
use domain::id::StreamId;
use domain::outcome::ToolResult;
use domain::person::Actor;
use domain::session::Session;
use ports::durable::Replay as _;
use ports::store::{Entry, HoldQuery, SessionQuery, Store, StreamRows, Viewer};

use super::Opener;
use super::stage::{
    Stage, at, audience, call, commit, hold, hold_id, node, open_outside, person, row_of,
    session_id,
};

/// The log as a verifier gets it.
pub async fn export(store: &Arc<dyn Store>) -> (String, PublicKey) {
    let key: PublicKey = String::from_utf8(store.audit_key()).unwrap().parse().unwrap();
    let end: Checkpoint =
        String::from_utf8(store.checkpoint_now(at(9)).await.unwrap()).unwrap().parse().unwrap();
    let mut signed: BTreeMap<u64, Checkpoint> = BTreeMap::new();
    for bytes in store.checkpoints(0).await.unwrap() {
        let checkpoint: Checkpoint = String::from_utf8(bytes).unwrap().parse().unwrap();
        signed.insert(checkpoint.count, checkpoint);
    }
    let mut text = header_line(&key);
    let mut after = 0;
    loop {
        let page = store.audit(after, 7).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        for entry in page {
            text += &entry_line(entry.seq, Hash::from_bytes(entry.hash), &entry.bytes);
            if let Some(checkpoint) = signed.get(&entry.seq) {
                text += &checkpoint_line(checkpoint);
            }
        }
    }
    assert_eq!(end.count, after, "the end covers the head");
    (text + &checkpoint_line(&end), key)
}

/// A day in the life of a store, with everything that writes.
async fn live(store: &Arc<dyn Store>) {
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    store.commit(stage.say(1)).await.unwrap();
    store.commit(stage.ask(1, hold_id(1), audience(&["bob"], &["dba"]))).await.unwrap();
    let by = ClearedBy::Rule(Some("small deletes".into()));
    let approved = HoldState::Approved(Decision::Automatic { allowed: true, by, at: at(3) });
    let id = call(None, 1, "{}").id;
    let decided = vec![
        SessionEvent::Hold(HoldEvent::Decided { hold: hold_id(1), state: approved }),
        SessionEvent::CallStarted { call: id, attempt: 1, node: node(1) },
    ];
    store.commit(stage.commit(decided, Actor::Runtime)).await.unwrap();
    let run = stage.session.run.as_ref().map(|run| run.id).unwrap();
    let settled = vec![
        SessionEvent::CallSettled { call: id, result: ToolResult::output("214 rows") },
        SessionEvent::RunResumed { run },
        SessionEvent::RunCompleted { run },
    ];
    // One that comes too late changes nothing, in the log or in the tables.
    let stale = stage.clone().commit(settled.clone(), Actor::Runtime);
    store.commit(stage.commit(settled, Actor::Runtime)).await.unwrap();
    assert!(store.commit(stale).await.is_err());

    let mut outside = hold(hold_id(2), None, person("eve"), audience(&["ana"], &[]));
    store.commit(open_outside(outside.clone())).await.unwrap();
    let by = person("eve");
    let cancelled =
        HoldState::Cancelled { by, reason: CancelReason::Stated("never mind".into()), at: at(4) };
    outside.decided(cancelled.clone());
    let decided = Event::ExternalHold(HoldEvent::Decided { hold: outside.id, state: cancelled });
    let rows = StreamRows::ExternalHold(Arc::new(outside));
    let decide = commit(rows, 1, vec![decided], person("eve"));
    store.commit(decide).await.unwrap();
    let frozen = Event::Global(GlobalEvent::Frozen { by: person("ana"), reason: "smoke".into() });
    store.commit(commit(StreamRows::Global, 0, vec![frozen], person("ana"))).await.unwrap();
}

pub async fn i42_the_journal_gives_every_row_back(open: &Opener) {
    let store = open(node(1));
    live(&store).await;
    let all = HoldQuery::all(Viewer::Everything, 1_000);
    let lived = store.holds(all.clone()).await.unwrap();
    drop(store);
    let store = open(node(2));
    let mut streams: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
    for entry in store.entries(None, 0, 1_000).await.unwrap() {
        streams.entry(entry.stream).or_default().push(entry);
    }
    let (mut sessions, mut outside) = (BTreeMap::new(), BTreeMap::new());
    for (&stream, entries) in &streams {
        match stream {
            StreamId::Session(id) => {
                sessions.insert(id, Session::replay(stream, None, entries).unwrap().unwrap());
            }
            StreamId::ExternalHold(id) => {
                outside.insert(id, ExternalHold::replay(stream, None, entries).unwrap().unwrap());
            }
            StreamId::Global => {}
        }
    }
    let mut holds = BTreeMap::new();
    holds.extend(sessions.values().flat_map(|session| session.holds.clone()));
    holds.extend(outside.iter().map(|(id, outside)| (*id, outside.hold.clone())));
    let stored = store.holds(all).await.unwrap();
    assert_eq!(stored, holds.into_values().rev().collect::<Vec<_>>());
    assert_eq!(stored, lived, "what was shown before is what is on disk");
    assert_eq!(stored.len(), 2);

    let every = SessionQuery {
        viewer: Viewer::Everything,
        agent: None,
        home: None,
        after: None,
        limit: 1_000,
    };
    let folded: Vec<_> = sessions.values().rev().map(|session| row_of(session, node(1))).collect();
    let mut stored = store.sessions(every).await.unwrap();
    for row in &mut stored {
        // Who had taken the work on is not history; that they are gone is all that counts.
        assert!(store.is_gone(row.owner).await.unwrap());
        row.owner = node(1);
    }
    assert_eq!(stored, folded);
}

pub async fn i43_the_log_verifies(open: &Opener) {
    let store = open(node(1));
    let (empty, key) = export(&store).await;
    assert_eq!(audit::verify(empty.as_bytes(), Some(key), None).unwrap().entries, 0);
    live(&store).await;
    let (text, key) = export(&store).await;
    let report = audit::verify(text.as_bytes(), Some(key), None).unwrap();
    assert_eq!(report.entries, 8, "each commit is one entry, and a refused one is none");
    let known = report.end;
    drop(store);

    let store = open(node(2));
    let mut stage = Stage::new(session_id(9), node(2));
    store.commit(stage.open(person("ana"))).await.unwrap();
    let (text, again) = export(&store).await;
    assert_eq!(again, key, "the key stays");
    let report = audit::verify(text.as_bytes(), Some(key), Some(known)).unwrap();
    assert_eq!((report.entries, report.compared), (9, true), "the chain goes on where it was");

    let tampered = text.replacen("smoke", "smirk", 1);
    assert!(audit::verify(tampered.as_bytes(), Some(key), None).is_err());
}

pub async fn the_log_is_signed_as_it_grows(open: &Opener) {
    let store = open(node(1));
    let mut last = 0;
    for round in 0..21u64 {
        let commits = (0..100).map(|number| {
            let id = hold_id(u128::from(round) * 100 + number);
            open_outside(hold(id, None, person("eve"), audience(&["ana"], &[])))
        });
        for result in super::journal::at_once(&store, commits.collect()).await {
            result.unwrap();
        }
        for bytes in store.checkpoints(last).await.unwrap() {
            let checkpoint: Checkpoint = String::from_utf8(bytes).unwrap().parse().unwrap();
            assert!(checkpoint.count > last && !checkpoint.end);
            last = checkpoint.count;
        }
        // A thousand entries, and the rest of the batch in which the thousandth was written.
        assert!((round + 1) * 100 - last < 1_000 + 256, "{last} in round {round}");
    }
    assert!(last >= 1_000);
    let (text, key) = export(&store).await;
    let report = audit::verify(text.as_bytes(), Some(key), None).unwrap();
    assert_eq!(report.entries, 2_100);
    assert!(report.checkpoints >= 2, "and the end");
}
