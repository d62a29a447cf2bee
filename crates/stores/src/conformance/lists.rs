//! Who sees what, page by page; and what the runtime looks for.

use std::sync::Arc;

use domain::digest::Digest;
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::grant::{Covers, Grant};
use domain::hold::{
    Decision, Hold, HoldState, HoldStateName, Question, QuestionKind, Risk, tag_of,
};
use domain::id::{GrantId, HoldId, SessionId, StreamId};
use domain::person::{Actor, PersonId};
use domain::session::Home;
use ports::store::{HoldQuery, SessionQuery, Store, StreamRows, Viewer};

use super::Opener;
use super::stage::{
    Stage, at, audience, commit, hold, hold_id, node, open_outside, person, program, session_id,
};

pub(super) fn holds_of(viewer: Viewer) -> HoldQuery {
    HoldQuery::all(viewer, 100)
}

fn sessions_of(viewer: Viewer) -> SessionQuery {
    SessionQuery { viewer, agent: None, home: None, after: None, limit: 100 }
}

pub(super) fn roles(roles: &[&str]) -> Vec<String> {
    roles.iter().map(|role| (*role).to_owned()).collect()
}

pub(super) fn sees(name: &str, with: &[&str]) -> Viewer {
    Viewer::Caller { actor: person(name), person: Some((PersonId::new(name), roles(with))) }
}

pub(super) fn numbers(holds: &[Arc<Hold>]) -> Vec<u128> {
    holds.iter().map(|hold| hold.id.0.random_part()).collect()
}

/// Sessions 1 (ana's, asks bob and the dbas), 2 (a program of ana's, asks role `a|b`), 3 (bob's, in which gil
/// asks hal); external holds 11 (by the program, for ana) and 12 (by cleo, for dbas).
async fn furnish(store: &Arc<dyn Store>) {
    let mut one = Stage::new(session_id(1), node(1));
    store.commit(one.open(person("ana"))).await.unwrap();
    store.commit(one.say(1)).await.unwrap();
    store.commit(one.ask(1, hold_id(1), audience(&["bob"], &["dba"]))).await.unwrap();
    let mut two = Stage::new(session_id(2), node(1));
    store.commit(two.open(program(7, Some("ana")))).await.unwrap();
    store.commit(two.say(1)).await.unwrap();
    store.commit(two.ask(2, hold_id(2), audience(&[], &["a|b"]))).await.unwrap();
    let mut three = Stage::new(session_id(3), node(1));
    store.commit(three.open(person("bob"))).await.unwrap();
    let asked = three.ask_for(person("gil"), 3, hold_id(3), audience(&["hal"], &[]));
    store.commit(asked).await.unwrap();
    let eleven = hold(hold_id(11), None, program(7, Some("ana")), audience(&["ana"], &[]));
    store.commit(open_outside(eleven)).await.unwrap();
    let twelve = hold(hold_id(12), None, person("cleo"), audience(&[], &["dba"]));
    store.commit(open_outside(twelve)).await.unwrap();
}

pub async fn i30_everybody_sees_their_own_and_nothing_else(open: &Opener) {
    let store = open(node(1));
    furnish(&store).await;
    // The same token under another name is the same program; another token is not.
    let renamed = Actor::Program {
        token: domain::id::TokenId::new(1, 7),
        name: "renamed".into(),
        minted_by: None,
    };
    let machine = |actor: Actor| Viewer::Caller { actor, person: None };
    let cases: Vec<(&str, Viewer, &[u128], &[u128])> = vec![
        ("admin", Viewer::Everything, &[12, 11, 3, 2, 1], &[3, 2, 1]),
        ("ana", sees("ana", &[]), &[11, 1], &[1]),
        ("bob", sees("bob", &[]), &[3, 1], &[3, 1]),
        ("gil", sees("gil", &[]), &[3], &[]),
        ("gil's own eyes", machine(person("gil")), &[3], &[]),
        ("bob's own eyes", machine(person("bob")), &[3], &[3]),
        ("hal", sees("hal", &[]), &[3], &[3]),
        ("a dba", sees("dan", &["dba"]), &[12, 1], &[1]),
        ("cleo", sees("cleo", &[]), &[12], &[]),
        ("a role with a bar", sees("eve", &["a|b"]), &[2], &[2]),
        ("half of that role", sees("eve", &["a"]), &[], &[]),
        ("the other half", sees("eve", &["b"]), &[], &[]),
        ("a role like a person", sees("eve", &["bob", "ana"]), &[], &[]),
        ("a person like a role", sees("dba", &[]), &[], &[]),
        ("part of a name", sees("an", &["db"]), &[], &[]),
        ("a pattern", sees("%", &["%", "_", "*"]), &[], &[]),
        ("a stranger", sees("eve", &[]), &[], &[]),
        ("the program", machine(program(7, Some("ana"))), &[11, 2], &[2]),
        ("the program, renamed", machine(renamed), &[11, 2], &[2]),
        ("another program", machine(program(8, Some("ana"))), &[], &[]),
        ("the runtime", machine(Actor::Runtime), &[], &[]),
    ];
    for (who, viewer, holds, sessions) in cases {
        let found = store.holds(holds_of(viewer.clone())).await.unwrap();
        assert_eq!(numbers(&found), holds, "holds of {who}");
        assert_eq!(store.count_holds(holds_of(viewer.clone())).await.unwrap(), holds.len());
        let pending = HoldQuery { state: Some(HoldStateName::Pending), ..holds_of(viewer.clone()) };
        let count = store.count_holds(pending.clone()).await.unwrap();
        assert_eq!(count, holds.len(), "pending holds of {who}, counted");
        assert_eq!(numbers(&store.holds(pending).await.unwrap()), holds, "pending holds of {who}");
        let one = HoldQuery { session: Some(session_id(1)), ..holds_of(viewer.clone()) };
        let expected: Vec<u128> = holds.iter().copied().filter(|number| *number == 1).collect();
        assert_eq!(numbers(&store.holds(one).await.unwrap()), expected, "in session 1, {who}");
        let found = store.sessions(sessions_of(viewer)).await.unwrap();
        let found: Vec<u128> = found.iter().map(|row| row.id.0.random_part()).collect();
        assert_eq!(found, sessions, "sessions of {who}");
    }
}

pub async fn grants_are_seen_by_those_concerned(open: &Opener) {
    let store = open(node(1));
    furnish(&store).await;
    let mut stage = Stage::new(session_id(5), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    let given = |number: u128, by: &str| {
        Arc::new(Grant {
            id: GrantId::new(number as i64, number),
            session: session_id(5),
            tool: "sql_modify".into(),
            definition: Digest::of(b"definition"),
            covers: Covers::Same(Digest::of(b"call")),
            by: PersonId::new(by),
            hold: hold_id(1),
            made_at: at(0),
            expires_at: at(1_000),
            uses_left: 2,
            revoked: false,
        })
    };
    let events = [given(1, "bob"), given(2, "ana")].map(|grant| SessionEvent::GrantMade { grant });
    store.commit(stage.commit(events.to_vec(), person("bob"))).await.unwrap();
    let seen = |viewer: Viewer| {
        let store = store.clone();
        async move {
            let grants = store.grants(viewer).await.unwrap();
            grants.iter().map(|grant| grant.id.0.random_part()).collect::<Vec<_>>()
        }
    };
    assert_eq!(seen(Viewer::Everything).await, [2, 1]);
    assert_eq!(seen(sees("ana", &[])).await, [2, 1], "her session");
    assert_eq!(seen(sees("bob", &[])).await, [1], "his grant");
    assert_eq!(seen(sees("dan", &["dba"])).await, [], "nobody's business");

    let revoked = SessionEvent::GrantRevoked { grant: GrantId::new(1, 1), by: person("ana") };
    store.commit(stage.commit(vec![revoked], person("ana"))).await.unwrap();
    let grants = store.grants(Viewer::Everything).await.unwrap();
    assert!(grants[1].revoked && !grants[0].revoked);
    assert_eq!(grants[1], stage.session.grants[&GrantId::new(1, 1)]);
}

pub async fn pages_have_no_gaps(open: &Opener) {
    let store = open(node(1));
    for number in 0..23u128 {
        let shared = if number % 3 == 0 { "bob" } else { "ana" };
        let opened = hold(hold_id(number), None, person("eve"), audience(&[shared], &[]));
        store.commit(open_outside(opened)).await.unwrap();
        let mut stage = Stage::new(session_id(number), node(1));
        store.commit(stage.open(person(shared))).await.unwrap();
    }
    for viewer in [Viewer::Everything, sees("ana", &[]), sees("bob", &[])] {
        let all: Vec<HoldId> =
            store.holds(holds_of(viewer.clone())).await.unwrap().iter().map(|h| h.id).collect();
        assert!(all.is_sorted_by(|a, b| a > b), "newest first");
        let every: Vec<SessionId> = store
            .sessions(sessions_of(viewer.clone()))
            .await
            .unwrap()
            .iter()
            .map(|s| s.id)
            .collect();
        for limit in [1, 2, 5, 23] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let query = HoldQuery { after, limit, ..holds_of(viewer.clone()) };
                let page = store.holds(query).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                found.extend(page.iter().map(|hold| hold.id));
            }
            assert_eq!(found, all, "{limit} at a time");
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let query = SessionQuery { after, limit, ..sessions_of(viewer.clone()) };
                let page = store.sessions(query).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                found.extend(page.iter().map(|row| row.id));
            }
            assert_eq!(found, every, "{limit} at a time");
        }
    }
}

pub async fn filters_and_counts_agree(open: &Opener) {
    let store = open(node(1));
    furnish(&store).await;
    let mut special = hold(hold_id(20), None, person("eve"), audience(&["ana"], &["dba"]));
    special.question = Question::Settle;
    special.risk = Risk::Critical;
    special.title = "Überweisung prüfen".into();
    special.expires_at = None;
    special.requester = Some(PersonId::new("ana"));
    Arc::make_mut(&mut special.audience).exclude_requester = true;
    Arc::make_mut(&mut special.audience).login_makers = [PersonId::new("gus")].into();
    store.commit(open_outside(special)).await.unwrap();
    let all = || holds_of(Viewer::Everything);
    let asks = |name: &str, with: &[&str]| Some((PersonId::new(name), roles(with)));
    let cases: Vec<(HoldQuery, &[u128])> = vec![
        (all(), &[20, 12, 11, 3, 2, 1]),
        (HoldQuery { state: Some(HoldStateName::Pending), ..all() }, &[20, 12, 11, 3, 2, 1]),
        (HoldQuery { state: Some(HoldStateName::Approved), ..all() }, &[]),
        (HoldQuery { agent: Some("ops".into()), ..all() }, &[3, 2, 1]),
        (HoldQuery { agent: Some("other".into()), ..all() }, &[]),
        (HoldQuery { session: Some(session_id(2)), ..all() }, &[2]),
        (HoldQuery { kind: Some(QuestionKind::Fill), ..all() }, &[12, 11]),
        (HoldQuery { kind: Some(QuestionKind::Settle), ..all() }, &[20]),
        (HoldQuery { risk: Some(Risk::Critical), ..all() }, &[20]),
        (HoldQuery { audience: asks("bob", &[]), ..all() }, &[1]),
        (HoldQuery { audience: asks("dan", &["dba"]), ..all() }, &[20, 12, 1]),
        // She asked for it herself, and the rule leaves the requester out.
        (HoldQuery { audience: asks("ana", &["dba"]), ..all() }, &[12, 11, 1]),
        // He made the login by which she asked.
        (HoldQuery { audience: asks("gus", &["dba"]), ..all() }, &[12, 1]),
        (HoldQuery { text: Some("DELETE 214".into()), ..all() }, &[12, 11, 3, 2, 1]),
        (HoldQuery { text: Some("SQL_mod".into()), ..all() }, &[3, 2, 1]),
        (HoldQuery { text: Some("überweisung PRÜFEN".into()), ..all() }, &[20]),
        (HoldQuery { text: Some("%".into()), ..all() }, &[]),
        (
            HoldQuery { text: Some("rows".into()), limit: 2, after: Some(hold_id(12)), ..all() },
            &[11, 3],
        ),
        (HoldQuery { text: Some("OPS".into()), ..all() }, &[3, 2, 1]),
        (HoldQuery { text: Some("gil".into()), ..all() }, &[3]),
        (HoldQuery { text: Some(tag_of(hold_id(12)).to_lowercase()), ..all() }, &[12]),
        (HoldQuery { text: Some("orders\nsql".into()), ..all() }, &[3, 2, 1]),
        (HoldQuery { decided: true, ..all() }, &[]),
        (HoldQuery { tool: Some("sql_modify".into()), ..all() }, &[3, 2, 1]),
        (HoldQuery { tool: Some("sql".into()), ..all() }, &[]),
        (
            HoldQuery {
                tool: Some("sql_modify".into()),
                source: Some("ops".into()),
                from: Some(hold_id(2)),
                ..all()
            },
            &[3, 2],
        ),
        (HoldQuery { source: Some("other".into()), ..all() }, &[]),
        (HoldQuery { requester: Some(PersonId::new("ana")), ..all() }, &[20, 11, 2, 1]),
        (HoldQuery { risk_below: Some(Risk::Critical), ..all() }, &[12, 11, 3, 2, 1]),
        (HoldQuery { not_for: asks("dan", &["dba"]), ..all() }, &[11, 3, 2]),
        (HoldQuery { expires_by: Some(at(86_400_000)), ..all() }, &[12, 11, 3, 2, 1]),
        (HoldQuery { expires_by: Some(at(86_399_999)), ..all() }, &[]),
        (HoldQuery { expires_after: Some(at(86_400_000)), ..all() }, &[20]),
    ];
    for (query, expected) in cases {
        assert_eq!(numbers(&store.holds(query.clone()).await.unwrap()), expected, "{query:?}");
        if query.after.is_none() {
            let one = HoldQuery { limit: 1, ..query.clone() };
            assert_eq!(store.count_holds(one).await.unwrap(), expected.len(), "{query:?}");
        }
    }
    let ops = SessionQuery { agent: Some("ops".into()), ..sessions_of(Viewer::Everything) };
    assert_eq!(store.sessions(ops).await.unwrap().len(), 3);
    let other = SessionQuery { agent: Some("other".into()), ..sessions_of(Viewer::Everything) };
    assert_eq!(store.sessions(other).await.unwrap(), []);
}

pub async fn sessions_are_found_at_their_home(open: &Opener) {
    let store = open(node(1));
    let homes = [None, Some(("worlds", "a/1")), Some(("worlds", "a/2")), Some(("ai_sdk", "a/1"))];
    for (number, home) in (1..).zip(homes) {
        let mut stage = Stage::new(session_id(number), node(1));
        let mut opened = stage.open(person("ana"));
        let home = home.map(|(door, place)| Home { door: door.into(), place: place.into() });
        if let [Event::Session(SessionEvent::SessionOpened { home: at, .. })] =
            Arc::make_mut(&mut opened.events).as_mut_slice()
        {
            at.clone_from(&home);
        }
        if let StreamRows::Session { row, .. } = &mut opened.rows {
            let row = Arc::make_mut(row);
            row.home = home;
        }
        store.commit(opened).await.unwrap();
    }
    let at = async |door: &str, place: Option<&str>, viewer| {
        let home = Some((door.into(), place.map(str::to_owned)));
        let found = store.sessions(SessionQuery { home, ..sessions_of(viewer) }).await.unwrap();
        found.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(at("worlds", None, Viewer::Everything).await, [session_id(3), session_id(2)]);
    assert_eq!(at("worlds", Some("a/1"), Viewer::Everything).await, [session_id(2)]);
    assert_eq!(at("worlds", Some("a"), Viewer::Everything).await, []);
    let bob = Viewer::Caller { actor: person("bob"), person: None };
    assert_eq!(at("worlds", None, bob).await, [], "an address gives no right");
    let every = store.sessions(sessions_of(Viewer::Everything)).await.unwrap();
    assert_eq!(every.len(), 4);
    assert_eq!(every[0].home.as_ref().map(|home| home.place.as_str()), Some("a/1"));
}

pub async fn i29_what_is_due_is_found(open: &Opener) {
    let store = open(node(1));
    assert_eq!(store.next_due().await.unwrap(), None);
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    store.commit(stage.say(1)).await.unwrap();
    // Two in one session, due at 86 400 000; one by itself, earlier; one that waits for ever.
    store.commit(stage.ask(1, hold_id(1), audience(&["bob"], &[]))).await.unwrap();
    store.commit(stage.ask(2, hold_id(2), audience(&["bob"], &[]))).await.unwrap();
    let mut early = hold(hold_id(3), None, person("eve"), audience(&["ana"], &[]));
    early.expires_at = Some(at(1_000));
    store.commit(open_outside(early.clone())).await.unwrap();
    let mut patient = hold(hold_id(4), None, person("eve"), audience(&["ana"], &[]));
    patient.expires_at = None;
    store.commit(open_outside(patient)).await.unwrap();

    let (outside, session) = (StreamId::ExternalHold(hold_id(3)), StreamId::Session(session_id(1)));
    assert_eq!(store.next_due().await.unwrap(), Some(at(1_000)));
    assert_eq!(store.due(at(999), 10).await.unwrap(), []);
    assert_eq!(store.due(at(1_000), 10).await.unwrap(), [outside], "to the millisecond");
    assert_eq!(store.due(at(86_400_000), 10).await.unwrap(), [outside, session], "each once");
    assert_eq!(store.due(at(86_400_000), 1).await.unwrap(), [outside]);
    drop(store);

    let store = open(node(2));
    assert_eq!(store.next_due().await.unwrap(), Some(at(1_000)), "timers survive a restart");
    let expired = HoldState::Expired { at: at(1_000) };
    early.decided(expired.clone());
    let decided = Event::ExternalHold(HoldEvent::Decided { hold: hold_id(3), state: expired });
    let rows = StreamRows::ExternalHold(Arc::new(early));
    let decide = commit(rows, 1, vec![decided], Actor::Runtime);
    store.commit(decide).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(86_400_000)));
    assert_eq!(store.due(at(2_000), 10).await.unwrap(), [], "once");
    let expired = HoldQuery { state: Some(HoldStateName::Expired), ..holds_of(Viewer::Everything) };
    assert_eq!(numbers(&store.holds(expired).await.unwrap()), [3]);

    let by = domain::grant::ClearedBy::Rule(None);
    let approved = HoldState::Approved(Decision::Automatic { allowed: true, by, at: at(3) });
    let decided = [1, 2].map(|number| {
        SessionEvent::Hold(HoldEvent::Decided { hold: hold_id(number), state: approved.clone() })
    });
    store.commit(stage.commit(decided.to_vec(), Actor::Runtime)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), None);
}

pub async fn what_is_owed_is_found(open: &Opener) {
    let store = open(node(1));
    let mut stages: Vec<Stage> =
        (1..=5).map(|number| Stage::new(session_id(number), node(1))).collect();
    for stage in &mut stages {
        store.commit(stage.open(person("ana"))).await.unwrap();
    }
    assert_eq!(store.sessions_with_work(None, 10).await.unwrap(), []);
    for stage in &mut stages[1..] {
        store.commit(stage.say(1)).await.unwrap();
    }
    let paused = stages[2].ask(1, hold_id(1), audience(&["bob"], &[]));
    store.commit(paused).await.unwrap();
    let owing = |numbers: &[u128]| -> Vec<_> {
        numbers.iter().map(|number| (session_id(*number), node(1))).collect()
    };
    assert_eq!(
        store.sessions_with_work(None, 10).await.unwrap(),
        owing(&[2, 4, 5]),
        "a thought each"
    );
    assert_eq!(store.sessions_with_work(None, 2).await.unwrap(), owing(&[2, 4]));
    assert_eq!(store.sessions_with_work(Some(session_id(2)), 10).await.unwrap(), owing(&[4, 5]));
    drop(store);

    let store = open(node(2));
    assert_eq!(store.sessions_with_work(None, 10).await.unwrap(), owing(&[2, 4, 5]));
    let row = store.session(session_id(2)).await.unwrap().unwrap();
    assert!(row.owes && store.is_gone(row.owner).await.unwrap(), "so it may be taken over");
}
