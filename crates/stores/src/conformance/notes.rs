//! Small records beside the journal.

use ports::store::{Note, PutNote};

use super::Opener;
use super::stage::{at, node};

fn put(key: &str, value: &str) -> PutNote {
    PutNote {
        shelf: "desk".into(),
        key: key.into(),
        value: Some(value.into()),
        expected: None,
        due_at: None,
        forget_at: None,
    }
}

fn expecting(version: u64, put: PutNote) -> PutNote {
    PutNote { expected: Some(version), ..put }
}

fn keys(notes: &[Note]) -> Vec<&str> {
    notes.iter().map(|note| note.key.as_str()).collect()
}

pub async fn all_are_written_or_none(open: &Opener) {
    let store = open(node(1));
    assert_eq!(store.note("desk", "a").await.unwrap(), None);
    assert!(store.put_notes(vec![expecting(0, put("a", "one")), put("b", "x")]).await.unwrap());
    // `a` is there by now, so neither is written.
    let late = vec![put("b", "y"), expecting(0, put("a", "two"))];
    assert!(!store.put_notes(late).await.unwrap());
    let b = store.note("desk", "b").await.unwrap().unwrap();
    assert_eq!((b.value.as_slice(), b.version), (&b"x"[..], 1));

    assert!(store.put_notes(vec![expecting(1, put("a", "two"))]).await.unwrap());
    assert!(!store.put_notes(vec![expecting(1, put("a", "three"))]).await.unwrap());
    let a = store.note("desk", "a").await.unwrap().unwrap();
    assert_eq!((a.value.as_slice(), a.version), (&b"two"[..], 2));

    let gone = PutNote { value: None, ..put("a", "") };
    assert!(!store.put_notes(vec![expecting(1, gone.clone())]).await.unwrap());
    assert!(store.put_notes(vec![expecting(2, gone)]).await.unwrap());
    assert_eq!(store.note("desk", "a").await.unwrap(), None);
    assert_eq!(store.note("shelf", "b").await.unwrap(), None, "shelves are apart");
}

pub async fn they_are_found_by_key_and_when_due(open: &Opener) {
    let store = open(node(1));
    let due = |key: &str, ms: i64| PutNote { due_at: Some(at(ms)), ..put(key, "") };
    let other = PutNote { shelf: "other".into(), ..due("a/0", 1) };
    let puts = vec![due("a/2", 30), due("a/1", 40), put("a/3", ""), due("b/1", 20), other];
    assert!(store.put_notes(puts).await.unwrap());

    assert_eq!(keys(&store.notes("desk", "a/", None, 9).await.unwrap()), ["a/1", "a/2", "a/3"]);
    assert_eq!(keys(&store.notes("desk", "a/", Some("a/1"), 1).await.unwrap()), ["a/2"]);
    assert_eq!(keys(&store.notes("desk", "", Some("a/3"), 9).await.unwrap()), ["b/1"]);
    assert_eq!(store.notes("desk", "c", None, 9).await.unwrap(), []);

    assert_eq!(store.next_due_note("desk").await.unwrap(), Some(at(20)));
    assert_eq!(store.next_due_note("none").await.unwrap(), None);
    assert_eq!(keys(&store.due_notes("desk", at(30), 9).await.unwrap()), ["b/1", "a/2"]);
    assert_eq!(keys(&store.due_notes("desk", at(30), 1).await.unwrap()), ["b/1"]);
    // Written again without a time, it is due no more.
    assert!(store.put_notes(vec![put("b/1", "")]).await.unwrap());
    assert_eq!(store.next_due_note("desk").await.unwrap(), Some(at(30)));
}

pub async fn they_outlive_a_process_and_are_forgotten_in_time(open: &Opener) {
    let store = open(node(1));
    let until = |key: &str, ms: i64| PutNote { forget_at: Some(at(ms)), ..put(key, "") };
    let many = (0..1_200).map(|number| until(&format!("many/{number}"), 10));
    let puts = many.chain([until("a", 50), until("b", 51), put("c", "kept")]).collect();
    assert!(store.put_notes(puts).await.unwrap());
    drop(store);

    let store = open(node(2));
    store.forget_notes(at(50)).await.unwrap();
    assert_eq!(keys(&store.notes("desk", "", None, 9).await.unwrap()), ["b", "c"]);
    let c = store.note("desk", "c").await.unwrap().unwrap();
    assert_eq!((c.value.as_slice(), c.version, c.forget_at), (&b"kept"[..], 1, None));
}
