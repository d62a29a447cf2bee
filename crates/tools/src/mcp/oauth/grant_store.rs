//! Where a grant is kept: among the sealed secrets of the store, which are in no log, no export and no event.

use std::sync::Arc;

use domain::id::{HoldId, SecretId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use domain::time::Timestamp;
use ports::clock::Rng;
use ports::mcp_connections::ConnectedBy;
use ports::store::{Store, StoreError};

use super::grant::{GRANT_VERSION, OauthGrant};

/// The grants of one server. There is at most one that counts: the newest.
pub(crate) struct GrantStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) rng: Arc<dyn Rng>,
    /// Its name among the sealed secrets of the global stream.
    name: String,
}

/// A grant, and who connected the server.
#[derive(Clone, Debug)]
pub(crate) struct KeptGrant {
    pub(crate) grant: OauthGrant,
    pub(crate) by: PersonId,
    pub(crate) since: Timestamp,
}

impl KeptGrant {
    pub(crate) fn connected_by(&self) -> ConnectedBy {
        ConnectedBy {
            person: self.by.clone(),
            at: self.since,
            issuer: self.grant.issuer.clone(),
            scope: self.grant.scope.clone(),
        }
    }
}

impl GrantStore {
    pub(crate) fn new(store: Arc<dyn Store>, rng: Arc<dyn Rng>, server: &str) -> GrantStore {
        GrantStore { store, rng, name: format!("mcp.oauth/{server}") }
    }

    async fn kept(&self) -> Result<Vec<Sealed>, StoreError> {
        let mut sealed = self.store.sealed(StreamId::Global).await?;
        sealed.retain(|one| one.name == self.name);
        Ok(sealed)
    }

    /// `None` also for a record that this program cannot read: the server has to be connected again.
    pub(crate) async fn load(&self) -> Result<Option<KeptGrant>, StoreError> {
        let newest = self.kept().await?.into_iter().max_by_key(|one| one.id);
        Ok(newest.and_then(|one| {
            let grant: OauthGrant = serde_json::from_value(one.value.expose().clone()).ok()?;
            let known = grant.version == GRANT_VERSION;
            known.then_some(KeptGrant { grant, by: one.by, since: one.at })
        }))
    }

    /// Durable when it returns. The new one is written before the old one goes: a crash in between leaves both, and
    /// the newest counts.
    pub(crate) async fn save(&self, kept: &KeptGrant, now: Timestamp) -> Result<(), StoreError> {
        let old = self.kept().await?;
        let value = serde_json::to_value(&kept.grant).map_err(|_| unwritable())?;
        // Ids order by time, and two of the same millisecond by chance: the new one must be the newest.
        let newest = old.iter().map(|one| one.id).max();
        let id = SecretId::new(now.as_ms(), self.rng.bits());
        let id = match newest {
            Some(newest) if id <= newest => SecretId::new(now.as_ms() + 1, self.rng.bits()),
            _ => id,
        };
        let sealed = Sealed {
            id,
            scope: StreamId::Global,
            // Nobody was asked by a hold.
            hold: HoldId::new(0, 0),
            name: self.name.clone(),
            by: kept.by.clone(),
            at: kept.since,
            value: SecretValue::new(value),
        };
        self.store.seal(vec![sealed]).await?;
        self.forget_all(old).await
    }

    pub(crate) async fn forget(&self) -> Result<(), StoreError> {
        let old = self.kept().await?;
        self.forget_all(old).await
    }

    async fn forget_all(&self, old: Vec<Sealed>) -> Result<(), StoreError> {
        let ids: Vec<SecretId> = old.iter().map(|one| one.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.store.forget_sealed(&ids).await
    }
}

fn unwritable() -> StoreError {
    StoreError::Unavailable("a grant cannot be written".into())
}
