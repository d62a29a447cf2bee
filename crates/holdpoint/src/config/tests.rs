mod bad;
mod bad_mcp;
mod coding_agent;
mod doors;
mod example;
mod good;
mod mcp_oauth;
mod models;

use std::sync::Arc;

use engine::{SystemClock, SystemRng};
use ports::model::Model;

use super::{ConfigError, ModelConfig};

fn opened(model: &ModelConfig) -> Result<Arc<dyn Model>, ConfigError> {
    model.open(Arc::new(SystemClock::new(None)), Arc::new(SystemRng::default()))
}
