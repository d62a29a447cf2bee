//! Secrets encrypted at rest: the one way from a secret to the bytes that a store keeps of it, and back.
//!
//! ```text
//! Sealed (the port's) ─► Sealer::seal ─► SealedRow ─► an adapter's table
//! Sealed (the port's) ◄─ Sealer::open ◄─ StoredSecret ◄─ an adapter's table
//! ```
//!
//! An adapter writes [`SealedRow`]s and nothing else, and only the sealer makes one: so no adapter can put a secret
//! into its table as it is ([why](../../../../docs/decisions/0027-secrets-sealed-at-rest.md)). The tables refuse it, too:
//! no JSON text begins as a sealed value does.
//!
//! What is deliberately not here: where a key comes from (the adapter's directory, or the configuration), and the memory
//! of the process, in which a secret that is used lies open.

mod keys;
mod sealer;
mod value;

pub use keys::{BadSealingKeys, SealingKeyId, SealingKeys};

pub(crate) use sealer::{SealedRow, Sealer, SecretLabel, StoredSecret, lacking};
pub(crate) use value::KEY_ID_PLACE;
