//! The sealer of a store: its keys, and the rows that it seals and opens.

use domain::id::{HoldId, SecretId, SessionId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use domain::time::Timestamp;
use ports::store::StoreError;

use super::keys::{SealingKeyId, SealingKeys};
use super::value::{NotOpened, SealedValue, open, seal};

/// All that a row says of a secret, but not the secret.
#[derive(Clone, Debug)]
pub(crate) struct SecretLabel {
    pub(crate) id: SecretId,
    pub(crate) scope: StreamId,
    pub(crate) hold: HoldId,
    pub(crate) name: String,
    pub(crate) by: PersonId,
    pub(crate) at: Timestamp,
}

/// A row as it may be written. Only [`Sealer::seal`] makes one.
pub(crate) struct SealedRow {
    label: SecretLabel,
    value: SealedValue,
}

/// A row as it was read. Whether it is what it seems is found when it is opened.
pub(crate) struct StoredSecret {
    pub(crate) label: SecretLabel,
    pub(crate) value: Vec<u8>,
}

impl SealedRow {
    pub(crate) fn label(&self) -> &SecretLabel {
        &self.label
    }

    pub(crate) fn value(&self) -> &[u8] {
        self.value.bytes()
    }
}

impl SecretLabel {
    fn of(secret: &Sealed) -> SecretLabel {
        SecretLabel {
            id: secret.id,
            scope: secret.scope,
            hold: secret.hold,
            name: secret.name.clone(),
            by: secret.by.clone(),
            at: secret.at,
        }
    }

    /// With lengths, so that no two labels look alike.
    fn bytes(&self) -> Vec<u8> {
        let (kind, scope) = match self.scope {
            StreamId::Global => (b'H', 0),
            StreamId::Session(SessionId(bits)) => (b's', bits.0),
            StreamId::ExternalHold(HoldId(bits)) => (b'h', bits.0),
        };
        let mut bytes = Vec::with_capacity(96);
        bytes.extend(self.id.0.0.to_be_bytes());
        bytes.push(kind);
        bytes.extend(scope.to_be_bytes());
        bytes.extend(self.hold.0.0.to_be_bytes());
        bytes.extend(self.at.as_ms().to_be_bytes());
        for text in [self.name.as_str(), self.by.as_str()] {
            bytes.extend((text.len() as u64).to_be_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    pub(crate) fn with(self, value: SecretValue) -> Sealed {
        let SecretLabel { id, scope, hold, name, by, at } = self;
        Sealed { id, scope, hold, name, by, at, value }
    }
}

/// Seals and opens with the keys of one store. Without keys it refuses both.
#[derive(Clone, Debug)]
pub(crate) struct Sealer {
    keys: Option<SealingKeys>,
}

impl Sealer {
    pub(crate) fn new(keys: Option<SealingKeys>) -> Sealer {
        Sealer { keys }
    }

    pub(crate) fn keys(&self) -> Option<&SealingKeys> {
        self.keys.as_ref()
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.keys.as_ref().map(drop).ok_or_else(no_key)
    }

    /// All of them, or none.
    pub(crate) fn seal(&self, secrets: &[Sealed]) -> Result<Vec<SealedRow>, StoreError> {
        let keys = self.keys.as_ref().ok_or_else(no_key)?;
        secrets.iter().map(|secret| seal_one(keys, secret)).collect()
    }

    pub(crate) fn open(&self, stored: StoredSecret) -> Result<Sealed, StoreError> {
        let StoredSecret { label, value } = stored;
        let unreadable =
            |why: &str| StoreError::Unreadable(format!("the sealed secret {} {why}", label.id));
        let find = |id| self.keys.as_ref().and_then(|keys| keys.find(id));
        let opened = open(find, &label.bytes(), &value).map_err(|why| match why {
            NotOpened::Key(id) => key_missing(id),
            NotOpened::Version => unreadable("was stored by a newer version of Holdpoint"),
            NotOpened::Damaged => unreadable("was changed, or belongs to another row"),
        })?;
        // What is wrong with it is told without a word of what it says.
        let value = serde_json::from_slice(&opened).map_err(|_| unreadable("is no value"))?;
        Ok(label.with(SecretValue::new(value)))
    }

    /// Sealed anew by the key that seals now. `None` if it is.
    pub(crate) fn reseal(&self, stored: StoredSecret) -> Result<Option<SealedRow>, StoreError> {
        let keys = self.keys.as_ref().ok_or_else(no_key)?;
        match stored.key_id() == Some(keys.sealing()) {
            true => Ok(None),
            false => seal_one(keys, &self.open(stored)?).map(Some),
        }
    }

    /// Which of these keys are not there.
    pub(crate) fn lacks(&self, needed: &[SealingKeyId]) -> Vec<SealingKeyId> {
        let known = |id| self.keys.as_ref().is_some_and(|keys| keys.find(id).is_some());
        needed.iter().copied().filter(|id| !known(*id)).collect()
    }
}

impl StoredSecret {
    fn key_id(&self) -> Option<SealingKeyId> {
        let (first, count) = super::KEY_ID_PLACE;
        SealingKeyId::read(self.value.get(first - 1..first - 1 + count)?)
    }
}

fn seal_one(keys: &SealingKeys, secret: &Sealed) -> Result<SealedRow, StoreError> {
    let label = SecretLabel::of(secret);
    let text = secret.value.expose().to_string().into_bytes();
    let value = seal(keys.first(), &label.bytes(), text)
        .ok_or_else(|| StoreError::Unavailable("the system has no random numbers".into()))?;
    Ok(SealedRow { label, value })
}

/// Keys that are not there, in the words of a start.
pub(crate) fn lacking(ids: &[SealingKeyId]) -> String {
    let keys = if ids.len() == 1 { "key" } else { "keys" };
    let ids = Vec::from_iter(ids.iter().map(SealingKeyId::to_string)).join(", ");
    format!(
        "the {keys} {ids} that sealed them; put it back, as a line of its own, from where you keep a copy. Nothing was \
         changed"
    )
}

fn no_key() -> StoreError {
    StoreError::SealingKey(
        "secrets are kept only sealed, and there is no key that seals: set `sealing_key_file` under `[store]`, to the \
         same key on all nodes"
            .into(),
    )
}

fn key_missing(id: SealingKeyId) -> StoreError {
    StoreError::SealingKey(format!(
        "a secret is sealed with the key {id}, which is not there: put that key back, as a line of the file with the \
         sealing key"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret() -> Sealed {
        Sealed {
            id: SecretId::new(7, 1),
            scope: StreamId::Session(SessionId::new(7, 2)),
            hold: HoldId::new(7, 3),
            name: "/pin".into(),
            by: PersonId::new("ana"),
            at: Timestamp::from_ms(5),
            value: SecretValue::new(json!({"pin": "hunter2"})),
        }
    }

    fn sealer(keys: &[u8]) -> Sealer {
        let text: String = keys.iter().map(|key| format!("{key:064x}\n")).collect();
        Sealer::new(Some(SealingKeys::parse(&text).unwrap()))
    }

    fn stored(sealer: &Sealer) -> StoredSecret {
        let row = sealer.seal(&[secret()]).unwrap().remove(0);
        StoredSecret { label: row.label().clone(), value: row.value().to_vec() }
    }

    #[test]
    fn i45_a_sealed_secret_is_bound_to_all_that_its_row_says() {
        let sealer = sealer(&[1]);
        assert_eq!(sealer.open(stored(&sealer)).unwrap(), secret());
        let changes: [fn(&mut SecretLabel); 9] = [
            |label| label.id = SecretId::new(7, 9),
            |label| label.scope = StreamId::Session(SessionId::new(7, 9)),
            |label| label.scope = StreamId::ExternalHold(HoldId::new(7, 2)),
            |label| label.scope = StreamId::Global,
            |label| label.hold = HoldId::new(7, 9),
            |label| label.name = "/pi".into(),
            |label| (label.name, label.by) = ("/pi".into(), PersonId::new("nana")),
            |label| label.by = PersonId::new("eve"),
            |label| label.at = Timestamp::from_ms(6),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut moved = stored(&sealer);
            change(&mut moved.label);
            let refused = sealer.open(moved);
            assert!(matches!(refused, Err(StoreError::Unreadable(_))), "{number}: {refused:?}");
        }
    }

    #[test]
    fn a_key_that_is_not_there_is_named_and_nothing_is_sealed_without_one() {
        let (old, new, none) = (sealer(&[1]), sealer(&[2]), Sealer::new(None));
        let id = old.keys().unwrap().sealing();
        for lacking in [&new, &none] {
            let refused = lacking.open(stored(&old)).unwrap_err();
            assert!(matches!(refused, StoreError::SealingKey(_)), "{refused}");
            assert!(refused.to_string().contains(&id.to_string()), "{refused}");
            assert_eq!(lacking.lacks(&[id]), [id]);
        }
        let Err(refused) = none.seal(&[secret()]) else { panic!("it was sealed without a key") };
        assert!(refused.to_string().contains("set `sealing_key_file`"), "{refused}");
    }

    #[test]
    fn keys_are_changed_one_after_the_other() {
        let (old, both, new) = (sealer(&[1]), sealer(&[2, 1]), sealer(&[2]));
        assert_eq!(both.open(stored(&old)).unwrap(), secret(), "the old one opens");
        let row = both.reseal(stored(&old)).unwrap().expect("sealed anew");
        let resealed = || StoredSecret { label: row.label().clone(), value: row.value().to_vec() };
        assert!(both.reseal(resealed()).unwrap().is_none(), "once is enough");
        assert_eq!(new.open(resealed()).unwrap(), secret(), "the old one can go");
    }

    #[test]
    fn an_error_says_nothing_of_the_secret() {
        let sealer = sealer(&[1]);
        let label = SecretLabel::of(&secret());
        let value = seal(
            sealer.keys().unwrap().first(),
            &label.bytes(),
            b"hunter2, which is no JSON".to_vec(),
        );
        let value = value.unwrap().bytes().to_vec();
        let refused = sealer.open(StoredSecret { label, value }).unwrap_err();
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
    }
}
