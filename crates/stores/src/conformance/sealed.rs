//! Secrets are kept whole, each as what it was given as.

use domain::id::{HoldId, SecretId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use serde_json::{Value, json};

use super::Opener;
use super::stage::{at, hold_id, node, session_id};

/// Of any scope, and with whatever people and servers write.
fn secret(number: u128, scope: StreamId, name: &str, value: Value) -> Sealed {
    Sealed {
        id: SecretId::new(7, number),
        scope,
        hold: HoldId::new(7, number),
        name: name.into(),
        by: PersonId::new("ana"),
        at: at(5),
        value: SecretValue::new(value),
    }
}

pub async fn i45_a_secret_takes_no_other_ones_place(open: &Opener) {
    let store = open(node(1));
    let first = secret(1, StreamId::Global, "/pin", json!("first"));
    store.seal(vec![first.clone()]).await.unwrap();
    let beside = secret(2, StreamId::Global, "/pin", json!("beside"));
    let again = secret(1, StreamId::Global, "/pin", json!("second"));
    assert!(store.seal(vec![beside, again]).await.is_err(), "all of them or none");
    assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [first]);
}

pub async fn i45_secrets_come_back_as_they_were_given(open: &Opener) {
    let store = open(node(1));
    let scopes =
        [StreamId::Global, StreamId::Session(session_id(1)), StreamId::ExternalHold(hold_id(1))];
    let names = ["", "/pin", "/\u{0}/ø/\u{1f426}", "mcp.oauth/tickets"];
    let values = [
        Value::Null,
        json!(""),
        json!("\u{0}ø"),
        json!({"a": [1.5, {}]}),
        json!("x".repeat(100_000)),
    ];
    let mut all: Vec<Sealed> = Vec::new();
    for scope in scopes {
        for name in names {
            for value in &values {
                all.push(secret(all.len() as u128, scope, name, value.clone()));
            }
        }
    }
    store.seal(all.clone()).await.unwrap();
    drop(store);
    let store = open(node(2));
    for scope in scopes {
        let of_it = Vec::from_iter(all.iter().filter(|one| one.scope == scope).cloned());
        assert_eq!(store.sealed(scope).await.unwrap(), of_it);
    }
}
