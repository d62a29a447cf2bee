//! For models of one's own: the trait, and what it speaks of.
//!
//! ```
//! use holdpoint::model::{
//!     CancellationToken, DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn,
//! };
//! use holdpoint::{Part, async_trait};
//!
//! /// Says what it was told.
//! struct Parrot;
//!
//! #[async_trait]
//! impl Model for Parrot {
//!     async fn think(
//!         &self,
//!         request: &ModelRequest<'_>,
//!         _: DeltaSink,
//!         _: CancellationToken,
//!     ) -> Result<ModelTurn, ModelError> {
//!         let Some(ModelMessage::User { text }) = request.messages.last() else {
//!             return Err(ModelError::Malformed("nothing was said".into()));
//!         };
//!         Ok(ModelTurn { parts: vec![Part::Text(text.to_string())], ..ModelTurn::default() })
//!     }
//! }
//! ```

pub use models::scripted::{ScriptError, ScriptedModel};
pub use ports::model::{
    AssistantPart, CallResult, Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest,
    ModelTurn, ToolOffer, TurnUsage, WrittenCall,
};
pub use tokio_util::sync::CancellationToken;
