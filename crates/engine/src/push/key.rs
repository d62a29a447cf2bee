//! The key with which notices are signed: made once, and sealed in the store. What kind of key it is only its maker knows.

use std::sync::Arc;

use domain::id::{HoldId, SecretId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use ports::store::{Store, StoreError};
use serde_json::json;

use crate::{Engine, Error};

/// Among all that is sealed for the global stream.
const NAME: &str = "push.vapid";
const FIELD: &str = "pkcs8";

impl Engine {
    /// The key of notices as text, made at the first start of a store. Of two processes that make one at once, the
    /// older key counts, and both use that.
    pub async fn sealed_push_key(
        &self,
        make: impl FnOnce() -> Option<String>,
    ) -> Result<String, Error> {
        let store = &self.0.store;
        let found = find_oldest(store).await.map_err(|error| match error {
            // A damaged secret is the operator's to take away, and no reason to ask nobody.
            StoreError::Unreadable(why) => Error::SealingKey(why),
            error => error.into(),
        })?;
        if let Some(kept) = found {
            return Ok(kept);
        }
        let made = make().ok_or_else(|| Error::Unavailable("no key can be made".into()))?;
        let at = self.now();
        let sealed = Sealed {
            id: SecretId::new(at.as_ms(), self.0.rng.bits()),
            scope: StreamId::Global,
            // No hold asked for it, and no person gave it.
            hold: HoldId::new(0, 0),
            name: NAME.to_owned(),
            by: PersonId::new("runtime"),
            at,
            value: SecretValue::new(json!({ FIELD: made })),
        };
        store.seal(vec![sealed]).await?;
        let kept = find_oldest(store).await?;
        kept.ok_or_else(|| Error::Unavailable("the key of notices cannot be read".into()))
    }
}

async fn find_oldest(store: &Arc<dyn Store>) -> Result<Option<String>, StoreError> {
    let mut sealed = store.sealed(StreamId::Global).await?;
    sealed.retain(|one| one.name == NAME);
    sealed.sort_by_key(|one| one.id);
    let text = |one: &Sealed| one.value.expose()[FIELD].as_str().map(str::to_owned);
    Ok(sealed.iter().find_map(text))
}
