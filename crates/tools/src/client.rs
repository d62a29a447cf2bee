//! Tools that the caller's own side carries out: a browser, an app. We keep the schema and the hold;
//! what comes back in the `perform` answer is the result.

use async_trait::async_trait;
use domain::caption::CaptionKind;
use domain::hold::Question;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bad_tool::BadTool;
use crate::title::titled;

#[derive(Debug)]
pub struct ClientTool {
    tool: Tool,
}

impl ClientTool {
    /// `deny_values` are results that mean "no": calls with effects of the same turn then do not run.
    pub fn new(
        name: &str,
        description: &str,
        input_schema: Value,
        effects: Effects,
        deny_values: Vec<String>,
    ) -> Result<ClientTool, BadTool> {
        let mut tool = Tool::new(name, description, input_schema, effects, Place::Client, "client")
            .map_err(|why| BadTool::new(name, why))?;
        tool.deny_values = deny_values;
        Ok(ClientTool { tool })
    }
}

#[async_trait]
impl ToolHost for ClientTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, _arguments: &Arguments) -> Result<Prepared, PrepareError> {
        Ok(Prepared {
            question: Some(Question::Perform { deny_values: self.tool.deny_values.clone() }),
            title: Some(titled(CaptionKind::CarryOut { tool: self.tool.name.to_string() })),
            ..Prepared::default()
        })
    }

    async fn run(
        &self,
        _call: ClearedCall,
        _start: Start,
        _stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let why = "This tool is carried out by the client; it cannot be run here.";
        Ok(Outcome::Failed(Output::text(why)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_client_tool_asks_the_client_to_perform_it() {
        let host = ClientTool::new(
            "confirm_dialog",
            "asks in the browser",
            json!({"type": "object"}),
            Effects::AtMostOnce,
            vec!["cancelled".into()],
        )
        .unwrap();
        let prepared = host.prepare(&Arguments::parse(b"{}").unwrap()).await.unwrap();
        assert_eq!(
            prepared.question,
            Some(Question::Perform { deny_values: vec!["cancelled".into()] })
        );
        assert_eq!(host.tool().place, Place::Client);
        assert_eq!(prepared.title.as_deref(), Some("Carry out confirm_dialog"));
    }

    #[test]
    fn a_schema_that_is_none_is_refused_by_name() {
        let bad =
            ClientTool::new("x", "", json!({"type": 7}), Effects::ReadOnly, vec![]).unwrap_err();
        assert!(bad.to_string().starts_with("tool `x`: "), "{bad}");
    }
}
