//! Secrets that people gave. They are kept apart from everything that is told: events, holds and the
//! model have a reference, `secret:sec_…`, and the value takes its place only in the hands of the
//! tool that it is for.

use std::fmt;

use serde_json::Value;

use crate::id::{HoldId, SecretId, StreamId};
use crate::json::{Arguments, BadArguments};
use crate::person::PersonId;
use crate::schema::{SECRET, visit_secrets};
use crate::time::Timestamp;

const PREFIX: &str = "secret:";

/// A value that nobody may see by accident: it has no `Display`, no `Serialize`, and its `Debug`
/// says nothing. Code that needs it must ask for it by name.
///
/// ```compile_fail
/// let secret = holdpoint_domain::secret::SecretValue::new(serde_json::json!("hunter2"));
/// println!("{secret}");
/// ```
///
/// ```compile_fail
/// let secret = holdpoint_domain::secret::SecretValue::new(serde_json::json!("hunter2"));
/// serde_json::to_string(&secret).unwrap();
/// ```
///
/// ```
/// let secret = holdpoint_domain::secret::SecretValue::new(serde_json::json!("hunter2"));
/// assert_eq!(format!("{secret:?}"), "‹secret›");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
#[derive(Clone, PartialEq)]
pub struct SecretValue(Value);

impl SecretValue {
    /// Takes a value out of sight. It is never compared or shown by accident from here on.
    pub fn new(value: Value) -> SecretValue {
        SecretValue(value)
    }

    /// The value itself. Each use of this is a place where a secret leaves us.
    pub fn expose(&self) -> &Value {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::scrub::MARK)
    }
}

/// A secret that somebody gave, with what may be told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    /// What references name it by.
    pub id: SecretId,
    /// Where it may be used, and nowhere else: one session. One of an external hold is used by nobody. The global stream
    /// has tokens of connected servers, which no call refers to.
    pub scope: StreamId,
    /// In answer to this.
    pub hold: HoldId,
    /// The field of the form that it was given in, as a JSON pointer.
    pub name: String,
    /// The person who gave it.
    pub by: PersonId,
    /// When they gave it.
    pub at: Timestamp,
    /// The secret. A store keeps it apart from events, so that it can be forgotten, and encrypted on a disk.
    pub value: SecretValue,
}

/// How a secret is spoken of.
pub fn reference(id: SecretId) -> String {
    format!("{PREFIX}{id}")
}

/// The secret that a value refers to, if it is a reference and nothing else.
pub fn referred(value: &Value) -> Option<SecretId> {
    value.as_str()?.strip_prefix(PREFIX)?.parse().ok()
}

/// Where secrets are used in a value: each place, and what it refers to.
pub fn references(value: &Value, pointers: &[String]) -> Vec<(String, SecretId)> {
    let mut found = Vec::new();
    // Most tools take no secrets, and then there is nothing to copy.
    if pointers.is_empty() {
        return found;
    }
    let mut value = value.clone();
    visit_secrets(&mut value, pointers, &mut |place, inner| {
        found.extend(referred(inner).map(|id| (place.to_owned(), id)));
    });
    found
}

/// Takes every secret out of an answer: its place holds a reference from then on. `seal` is told the
/// place and the value. Placeholders and what is left out are no secrets.
#[must_use]
pub fn sealed(
    value: &Value,
    pointers: &[String],
    seal: &mut dyn FnMut(&str, SecretValue) -> SecretId,
) -> Value {
    let mut value = value.clone();
    visit_secrets(&mut value, pointers, &mut |place, inner| {
        // A reference that was shown and sent back stays what it is.
        if !inner.is_null() && inner != SECRET && referred(inner).is_none() {
            let secret = SecretValue::new(inner.take());
            *inner = Value::from(reference(seal(place, secret)));
        }
    });
    value
}

/// Why references cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUnsealed {
    /// A reference to a secret of another session, or to one that was forgotten.
    #[error("there is no secret `{}` in this session", reference(*.0))]
    Unknown(SecretId),
    /// With the true values in it the object breaks a bound of arguments.
    #[error(transparent)]
    Unsound(#[from] BadArguments),
}

/// The arguments with the true values in place of references, at secret places only. Without
/// references they are the same to the byte.
pub fn unsealed(
    arguments: &Arguments,
    pointers: &[String],
    scope: Option<StreamId>,
    known: &[Sealed],
) -> Result<Arguments, NotUnsealed> {
    let used = references(arguments.value(), pointers);
    if used.is_empty() {
        return Ok(arguments.clone());
    }
    let find = |id: SecretId| known.iter().find(|one| one.id == id && Some(one.scope) == scope);
    if let Some((_, id)) = used.iter().find(|(_, id)| find(*id).is_none()) {
        return Err(NotUnsealed::Unknown(*id));
    }
    let mut value = arguments.value().clone();
    visit_secrets(&mut value, pointers, &mut |_, inner| {
        if let Some(one) = referred(inner).and_then(find) {
            *inner = one.value.expose().clone();
        }
    });
    Ok(Arguments::from_value(value)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::SessionId;

    fn id(number: u128) -> SecretId {
        SecretId::new(1, number)
    }

    fn one(number: u128, value: Value) -> Sealed {
        Sealed {
            id: id(number),
            scope: StreamId::Session(SessionId::new(1, 1)),
            hold: HoldId::new(1, 1),
            name: "/key".into(),
            by: PersonId::new("ana"),
            at: Timestamp::from_ms(1),
            value: SecretValue::new(value),
        }
    }

    #[test]
    fn i45_what_a_person_gives_is_taken_out_and_put_back_where_it_belongs() {
        let pointers = ["/key".to_owned(), "/more/*".to_owned()];
        let form = json!({"user": "ana", "key": "s3cret", "more": [7, null, "[secret]"]});
        let mut kept = Vec::new();
        let told = sealed(&form, &pointers, &mut |place, value| {
            kept.push((place.to_owned(), value));
            id(kept.len() as u128)
        });
        assert_eq!(
            told,
            json!({"user": "ana", "key": reference(id(1)), "more": [reference(id(2)), null, "[secret]"]})
        );
        let places: Vec<_> = kept.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["/key", "/more/0"]);
        let known: Vec<_> = kept
            .into_iter()
            .zip(1..)
            .map(|((_, value), number)| one(number, value.expose().clone()))
            .collect();
        let arguments =
            Arguments::from_value(json!({"key": reference(id(1)), "user": reference(id(1))}))
                .unwrap();
        let scope = Some(known[0].scope);
        let run = unsealed(&arguments, &pointers, scope, &known).unwrap();
        assert_eq!(run.value()["key"], "s3cret");
        assert_eq!(run.value()["user"], reference(id(1)), "only where a secret may stand");
    }

    #[test]
    fn i45_a_secret_is_of_use_in_its_own_session_only() {
        let pointers = ["/key".to_owned()];
        let arguments = Arguments::from_value(json!({"key": reference(id(1))})).unwrap();
        let elsewhere = Some(StreamId::Session(SessionId::new(1, 2)));
        let known = [one(1, json!("s3cret"))];
        let refused = unsealed(&arguments, &pointers, elsewhere, &known).unwrap_err();
        assert_eq!(refused, NotUnsealed::Unknown(id(1)));
        assert!(!refused.to_string().contains("s3cret"));
        assert!(unsealed(&arguments, &pointers, None, &known).is_err());
        let bare = Arguments::parse(br#"{ "key" : "secret:sec_x" }"#).unwrap();
        assert_eq!(unsealed(&bare, &pointers, None, &[]).unwrap().bytes(), bare.bytes());
    }
}
