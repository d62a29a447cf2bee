//! The demo's model: the script, and a shop that is put in order before each scenario, so that the
//! second try shows the same as the first.

use std::path::PathBuf;

use async_trait::async_trait;
use models::scripted::{ScriptedModel, demo_scenarios};
use ports::model::{DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn};
use tokio_util::sync::CancellationToken;
use tools::demo::reset_orders;

pub(super) struct FreshShop {
    pub(super) script: ScriptedModel,
    pub(super) orders: PathBuf,
}

/// Whether a scenario begins: the last that was said is its sentence, and nothing was done since.
fn begins_scenario(request: &ModelRequest<'_>) -> bool {
    match request.messages.last() {
        Some(ModelMessage::User { text }) => {
            demo_scenarios().iter().any(|(_, say)| text.trim() == *say)
        }
        _ => false,
    }
}

#[async_trait]
impl Model for FreshShop {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        if begins_scenario(request) {
            // If that cannot be done, the scenario goes on with what is there.
            if let Err(error) = reset_orders(self.orders.clone()).await {
                tracing::warn!(%error, "the demo's orders cannot be reset");
            }
        }
        self.script.think(request, deltas, stop).await
    }
}
