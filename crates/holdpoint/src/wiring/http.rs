//! HTTP tools: their secrets are read here, once, at the start.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use domain::tool::Confirm;
use ports::tool_host::ToolHost;
use tools::http::{HttpTool, SecretHeader};

use super::secret;
use crate::config;

pub(super) fn host(
    name: &str,
    http: &config::HttpTool,
    confirm: Confirm,
) -> Result<Arc<dyn ToolHost>> {
    let mut setup = http.setup.clone();
    for (header, source) in &http.secret_headers {
        let (reference, value) = secret::read_secret(source)
            .with_context(|| format!("tool `{name}`: the header `{header}` has no value"))?;
        let header = SecretHeader::new(header, &reference, &value)
            .map_err(|why| anyhow::anyhow!("tool `{name}`: {why}"))?;
        setup.secret_headers.push(header);
    }
    setup.confirm = confirm;
    Ok(Arc::new(HttpTool::new(setup)?))
}
