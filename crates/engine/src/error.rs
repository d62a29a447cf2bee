//! Why a command did not do what it was meant to.

use domain::refusal::Refusal;
use ports::store::{KeptReply, StoreError};

/// A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rules say no. Nothing is broken.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The same request was carried out before: this was the reply.
    #[error("this request was answered before")]
    Replayed(Box<KeptReply>),
    /// The same idempotency key came with another request.
    #[error("this idempotency key was used for another request")]
    KeyReused,
    /// Nothing was changed, or it will be found by reading again. Try later.
    #[error("{0}")]
    Unavailable(String),
    /// The operator has to give the store a key for secrets: the text says which. Nothing was changed.
    #[error("{0}")]
    SealingKey(String),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::SealingKey(_) => Error::SealingKey(error.to_string()),
            StoreError::Unavailable(_) | StoreError::Unreadable(_) => {
                Error::Unavailable(error.to_string())
            }
        }
    }
}
