//! What expires, and what people gave.

use domain::digest::Digest;
use domain::event::{Event, GlobalEvent};
use domain::id::{HoldId, SecretId, SessionId, StreamId};
use domain::person::{CredentialMaker, LinkOrigin, PersonId};
use domain::secret::{Sealed, SecretValue};
use ports::store::{LoginSecret, SecretKind, StreamRows};
use serde_json::json;
use tokio::task::JoinSet;

use super::Opener;
use super::journal::reply;
use super::stage::{at, audience, commit, hold, hold_id, node, open_outside, person, session_id};

fn secret(kind: SecretKind, text: &str, expires_ms: i64) -> LoginSecret {
    let digest = Digest::of(text.as_bytes());
    let made_by = CredentialMaker::new(person("root"));
    let origin = (kind == SecretKind::Login).then_some(LinkOrigin { made_by, channel: None });
    let ana = PersonId::new("ana");
    LoginSecret { kind, digest, person: ana, origin, made_at: at(7), expires_at: at(expires_ms) }
}

pub async fn a_secret_is_taken_once(open: &Opener) {
    let store = open(node(1));
    let login = secret(SecretKind::Login, "link", 1_000);
    store.put_secret(login.clone()).await.unwrap();
    let cookie = secret(SecretKind::Cookie, "link", 9_000);
    store.put_secret(cookie.clone()).await.unwrap();
    assert_eq!(
        store.find_secret(SecretKind::Login, login.digest).await.unwrap(),
        Some(login.clone())
    );
    let unknown = Digest::of(b"unknown");
    assert_eq!(store.find_secret(SecretKind::Login, unknown).await.unwrap(), None);

    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let (store, digest) = (store.clone(), login.digest);
        tasks.spawn(async move { store.take_secret(SecretKind::Login, digest).await.unwrap() });
    }
    let taken: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(taken, std::slice::from_ref(&login), "of many who come at once, one gets it");
    assert_eq!(store.find_secret(SecretKind::Login, login.digest).await.unwrap(), None);
    drop(store);

    let store = open(node(2));
    assert_eq!(store.take_secret(SecretKind::Login, login.digest).await.unwrap(), None);
    let kept = store.find_secret(SecretKind::Cookie, cookie.digest).await.unwrap();
    assert_eq!(kept, Some(cookie.clone()), "kinds stay apart");

    let (kind, digest) = (SecretKind::Cookie, cookie.digest);
    store.prolong_secret(kind, digest, at(9_500)).await.unwrap();
    let longer = LoginSecret { expires_at: at(9_500), ..cookie };
    assert_eq!(store.find_secret(kind, digest).await.unwrap(), Some(longer));
    store.take_secret(kind, digest).await.unwrap();
    store.prolong_secret(kind, digest, at(9_900)).await.unwrap();
    assert_eq!(store.find_secret(kind, digest).await.unwrap(), None, "what is taken stays taken");
}

pub async fn secrets_that_expired_are_swept(open: &Opener) {
    let store = open(node(1));
    let old = secret(SecretKind::Cookie, "old", 10);
    store.put_secret(old.clone()).await.unwrap();
    let mut later = commit(StreamRows::Global, 0, vec![], person("ana"));
    later.events = vec![Event::Global(GlobalEvent::Thawed { by: person("ana") })].into();
    later.at = at(10);
    store.commit(later).await.unwrap();
    assert!(store.find_secret(SecretKind::Cookie, old.digest).await.unwrap().is_some());
    store.put_secret(secret(SecretKind::Cookie, "new", 20)).await.unwrap();
    assert_eq!(store.find_secret(SecretKind::Cookie, old.digest).await.unwrap(), None);
}

pub async fn replies_are_forgotten_in_time(open: &Opener) {
    let store = open(node(1));
    for (number, key) in ["old", "new"].into_iter().enumerate() {
        let id = hold_id(number as u128);
        let mut opened = open_outside(hold(id, None, person("eve"), audience(&["ana"], &[])));
        let mut kept = reply("eve", key);
        kept.at = at(number as i64 * 100);
        opened.reply = Some(kept);
        store.commit(opened).await.unwrap();
    }
    store.forget_replies(at(100)).await.unwrap();
    assert_eq!(store.reply("eve", "old").await.unwrap(), None);
    assert!(store.reply("eve", "new").await.unwrap().is_some(), "exactly as old is young enough");
}

pub async fn i45_what_people_gave_is_kept_apart_and_for_its_own_session(open: &Opener) {
    let store = open(node(1));
    let given = |number: u128, session: SessionId| Sealed {
        id: SecretId::new(7, number),
        scope: StreamId::Session(session),
        hold: HoldId::new(7, 1),
        name: "/api_key".into(),
        by: PersonId::new("ana"),
        at: at(5),
        value: SecretValue::new(json!({"a": [format!("s3cret{number}"), 1.50, null]})),
    };
    let (mine, other) = (session_id(1), session_id(2));
    store.seal(vec![given(1, mine), given(2, mine), given(3, other)]).await.unwrap();
    let of = |session| StreamId::Session(session);
    assert_eq!(store.sealed(of(mine)).await.unwrap(), [given(1, mine), given(2, mine)]);
    store.forget_sealed(&[SecretId::new(7, 2)]).await.unwrap();
    drop(store);
    let store = open(node(2));
    assert_eq!(store.sealed(of(mine)).await.unwrap(), [given(1, mine)], "they outlive a process");
    assert_eq!(store.sealed(of(other)).await.unwrap(), [given(3, other)]);
    assert_eq!(store.sealed(StreamId::Global).await.unwrap(), []);
    assert!(store.audit(0, 100).await.unwrap().is_empty(), "the log has none of it");
}
