//! One tool of an MCP server, under one definition.

use std::sync::Weak;

use async_trait::async_trait;
use domain::call::{Call, ExecutionContext};
use domain::caption::CaptionKind;
use domain::hold::{Preview, Risk};
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{PhraseCode, RunDetail};
use domain::tool::{Effects, Tool};
use domain::visible::visible;
use domain::warning::WarningKind;
use ports::durable::ClearedCall;
use ports::nested_question::{NestedAnswer, NestedAsker, NestedQuestion};
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{AskAnyway, PrepareError, Prepared, Recovery, ToolHost};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::content;
use super::elicit::{Elicitation, cancelled_result};
use super::limits::{ASKS_PER_CALL_MAX, ASKS_WAITING_MAX, CANCEL_WITHIN, GONE_WITHIN, LINK_WITHIN};
use super::link::{McpLink, RetryInput};
use super::offered_tools::{OfferedTool, PinStatus};
use super::server::ServerCore;
use super::transport::{ServerAsk, TransportError};

pub(crate) struct McpTool {
    tool: Tool,
    face: OfferedTool,
    server: Weak<ServerCore>,
}

/// How much of a changed definition is shown. A person who needs more reads the pin file.
const DIFF_BYTES_MAX: usize = 16 << 10;

/// Nobody to ask: for whoever runs a host without an engine.
struct NoQuestions;

#[async_trait]
impl NestedAsker for NoQuestions {
    async fn ask(&self, _asked: NestedQuestion) -> NestedAnswer {
        NestedAnswer::Nobody { why: "there is nobody to ask".into() }
    }
}

impl McpTool {
    pub(crate) fn new(tool: Tool, face: OfferedTool, server: Weak<ServerCore>) -> McpTool {
        McpTool { tool, face, server }
    }

    fn execution_context(&self, core: &ServerCore) -> ExecutionContext {
        let OfferedTool { definition, identity, .. } = &self.face;
        let mut detail = RunDetail::default();
        let (server, identity_text) = (&core.config.name, identity.to_string());
        detail.push(PhraseCode::McpTool, &[server, &identity_text, &definition.name]);
        detail.append(&core.config.reach.describe());
        detail.push(PhraseCode::Definition, &[&definition.pin_digest(identity).to_string()]);
        definition.describe_claims(&mut detail);
        let seconds = core.config.time_limit.as_secs_f64().to_string();
        detail.push(PhraseCode::TimeLimit, &[&seconds]);
        ExecutionContext { detail, ..ExecutionContext::default() }
    }

    /// A server that can be spoken with, and that has just been asked what its tools are.
    async fn refresh_link(
        &self,
    ) -> Result<(std::sync::Arc<ServerCore>, std::sync::Arc<McpLink>), String> {
        let core = self.server.upgrade().ok_or("the server is shutting down")?;
        // A server without credentials is not going to come back soon: why wait for it?
        if let Some(authorizer) = &core.config.authorizer {
            authorizer.authorization().await?;
        }
        let link = core.wait_for_link(LINK_WITHIN).await?;
        core.refresh_catalog(&link).await?;
        Ok((core, link))
    }

    fn describe_changes(&self) -> Option<(AskAnyway, Preview)> {
        let PinStatus::Changed { pinned } = &self.face.standing else { return None };
        let OfferedTool { definition, identity, .. } = &self.face;
        let (summary, warning, diff) = match pinned {
            None => (
                CaptionKind::NewDefinition,
                WarningKind::NewDefinition,
                pretty_json(&definition.whole).lines().map(|line| format!("+ {line}\n")).collect(),
            ),
            Some(pin) => {
                let old =
                    pin.parse_definition().map(|old| pretty_json(&old.whole)).unwrap_or_default();
                let mut diff = String::new();
                if pin.server != *identity {
                    diff.push_str(&format!("- server {}\n+ server {identity}\n", pin.server));
                }
                diff.push_str(&compare_lines(&old, &pretty_json(&definition.whole)));
                (CaptionKind::ChangedDefinition, WarningKind::ChangedDefinition, diff)
            }
        };
        let mut diff: String = diff;
        if diff.len() > DIFF_BYTES_MAX {
            diff.truncate(diff.floor_char_boundary(DIFF_BYTES_MAX));
            diff.push_str("\n… (more was changed than is shown)");
        }
        let warnings = vec![warning.into()];
        let preview = Preview { diff: Some(diff), warnings, ..Preview::default() };
        Some((AskAnyway { summary: summary.into(), risk: Risk::High }, preview))
    }

    async fn carry_out(
        &self,
        call: &Call,
        asker: &dyn NestedAsker,
        start: &Start,
        stop: &CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let nothing =
            |why: String| Ok(Outcome::Failed(Output::text(format!("Nothing was run: {why}"))));
        if stop.is_cancelled() {
            return nothing("it was stopped before it began".into());
        }
        let other = "the tool is not the one that was approved; call it again, and a person is asked about it as it is now";
        if call.definition != self.tool.definition() {
            return nothing(other.into());
        }
        let looked = tokio::select! {
            biased;
            () = stop.cancelled() => Err("it was stopped before it began".into()),
            looked = self.refresh_link() => looked,
        };
        let (core, link) = match looked {
            Ok(looked) => looked,
            Err(why) => return nothing(why),
        };
        // The server may have changed the tool between the approval and now.
        if !core.still_shows(&self.face) {
            return nothing(other.into());
        }
        if call.context != self.execution_context(&core) {
            return nothing("the server's settings are not those that were approved".into());
        }
        if let PinStatus::Changed { .. } = self.face.standing
            && let Err(error) = core.accept_change(&self.face).await
        {
            return nothing(error.to_string());
        }
        let arguments = std::str::from_utf8(call.arguments.bytes()).unwrap_or_default();
        let arguments: Box<RawValue> = match serde_json::from_str(arguments) {
            Ok(arguments) => arguments,
            Err(error) => return nothing(error.to_string()),
        };
        if !call.secrets.is_empty() {
            link.wire.stop_logging();
        }
        let mut running =
            RunningMcpCall { tool: self, core: &core, link: &link, asker, start, stop, asked: 0 };
        let mut again = RetryInput::default();
        loop {
            let result = match running.call_once(&arguments, &again).await {
                Ok(result) => result,
                Err(ended) => return self.end_outcome(ended),
            };
            match result["resultType"].as_str() {
                None | Some("complete") => {
                    return Ok(content::call_outcome(&result, &self.face.definition));
                }
                Some("input_required") => match running.answer_input(&result).await {
                    Ok(next) => again = next,
                    Err(ended) => return self.end_outcome(ended),
                },
                Some(other) => {
                    let why = format!("the server gave a result of the kind `{}`", visible(other));
                    return self.end_outcome(McpCallEnd::Lost(why));
                }
            }
        }
    }

    fn end_outcome(&self, ended: McpCallEnd) -> Result<Outcome, NotBegun> {
        Ok(match ended {
            McpCallEnd::NotBegun(refused) => return Err(refused),
            McpCallEnd::Nothing(why) => {
                Outcome::Failed(Output::text(format!("Nothing was run: {why}")))
            }
            McpCallEnd::Refused(why) => Outcome::Failed(Output::text(why)),
            McpCallEnd::Lost(why) if self.tool.effects == Effects::ReadOnly => {
                Outcome::Failed(Output::text(format!(
                    "There is no result: {why}. It only reads, and may be called again."
                )))
            }
            McpCallEnd::Lost(why) => Outcome::Unknown {
                evidence: format!(
                    "The call was sent to the MCP server, and no result came back: {why}. It may have been carried out."
                ),
            },
        })
    }
}

/// How a call ended that has no result.
enum McpCallEnd {
    NotBegun(NotBegun),
    Nothing(String),
    Refused(String),
    Lost(String),
}

/// One call on its way.
struct RunningMcpCall<'a> {
    tool: &'a McpTool,
    core: &'a ServerCore,
    link: &'a McpLink,
    asker: &'a dyn NestedAsker,
    start: &'a Start,
    stop: &'a CancellationToken,
    /// Questions so far.
    asked: usize,
}

impl RunningMcpCall<'_> {
    /// Sends the call and waits for its result, while people answer what the server asks. The time
    /// that they take does not count.
    async fn call_once(
        &mut self,
        arguments: &RawValue,
        again: &RetryInput,
    ) -> Result<Value, McpCallEnd> {
        let id = self.link.next_id();
        let name = self.tool.face.definition.name.as_str();
        let (ask, mut asks) = mpsc::channel::<ServerAsk>(ASKS_WAITING_MAX);
        let sent = self.link.call_tool(id, name, arguments, again, self.start, ask);
        tokio::pin!(sent);
        loop {
            let limit = tokio::time::sleep(self.core.config.time_limit);
            let ask = tokio::select! {
                biased;
                result = &mut sent => return result.map_err(call_end),
                () = self.stop.cancelled() => {
                    return self.give_up(id, sent.as_mut(), "it was stopped").await;
                }
                () = limit => {
                    let why = format!("it took longer than {:?}", self.core.config.time_limit);
                    return self.give_up(id, sent.as_mut(), &why).await;
                }
                Some(ask) = asks.recv() => ask,
            };
            let result = tokio::select! {
                biased;
                // It ended without waiting for the answer; the question is withdrawn.
                result = &mut sent => return result.map_err(call_end),
                () = self.stop.cancelled() => {
                    return self.give_up(id, sent.as_mut(), "it was stopped").await;
                }
                result = ask_people(self.tool, self.core, self.asker, &mut self.asked, &ask.params) => result,
            };
            self.link.wire.send_answer(&ask.id, Ok(result)).await;
        }
    }

    /// A modern server's questions; what people said goes with the call when it is made again.
    async fn answer_input(&mut self, result: &Value) -> Result<RetryInput, McpCallEnd> {
        let mut responses = Map::new();
        let requests = result["inputRequests"].as_object().cloned().unwrap_or_default();
        for (key, request) in requests {
            let result = if request["method"] == "elicitation/create" {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => {
                        return Err(McpCallEnd::Refused("Stopped while the server's question was open.".into()));
                    }
                    result = ask_people(self.tool, self.core, self.asker, &mut self.asked, &request["params"]) => result,
                }
            } else {
                // What is no question to people counts too: a server that asks for it for ever must end.
                self.asked += 1;
                cancelled_result()
            };
            responses.insert(key, result);
        }
        if self.asked > ASKS_PER_CALL_MAX || responses.is_empty() {
            return Err(McpCallEnd::Lost(
                "the server asks again and again, and does not end".into(),
            ));
        }
        let state = result.get("requestState").filter(|state| !state.is_null()).cloned();
        Ok(RetryInput { responses: Some(Value::Object(responses)), state })
    }

    /// Asks the server to let go, and hears what it has to say to that. A server of our own that says
    /// nothing is ended, if nobody else waits for it.
    async fn give_up(
        &self,
        id: u64,
        sent: std::pin::Pin<&mut (impl Future<Output = Result<Value, TransportError>> + Send)>,
        why: &str,
    ) -> Result<Value, McpCallEnd> {
        self.link.cancel_call(id, why).await;
        if let Ok(Ok(result)) = tokio::time::timeout(CANCEL_WITHIN, sent).await {
            return Ok(result);
        }
        if self.core.config.reach.is_ours() && !self.link.wire.is_shared() {
            self.link.wire.closed_token().cancel();
            self.core.wait_until_ended(GONE_WITHIN).await;
            return Err(McpCallEnd::Lost(format!(
                "{why}; the server was asked to cancel, did not, and was ended"
            )));
        }
        Err(McpCallEnd::Lost(format!("{why}; the server was asked to cancel")))
    }
}

/// Puts one question of the server to people.
async fn ask_people(
    tool: &McpTool,
    core: &ServerCore,
    asker: &dyn NestedAsker,
    asked: &mut usize,
    params: &Value,
) -> Value {
    *asked += 1;
    let read = match *asked > ASKS_PER_CALL_MAX {
        true => Err("it asks too often".to_owned()),
        false => Elicitation::parse(&core.config.name, &tool.tool.name, params),
    };
    match read {
        Ok(elicited) => elicited.answer_result(&asker.ask(elicited.asked.clone()).await),
        Err(why) => {
            tracing::warn!(server = %core.config.name, %why, "a question of the server was not put to people");
            cancelled_result()
        }
    }
}

fn call_end(error: TransportError) -> McpCallEnd {
    match error {
        TransportError::NotBegun(refused) => McpCallEnd::NotBegun(refused),
        TransportError::NotSent(why) => McpCallEnd::Nothing(why),
        TransportError::Lost(why) => McpCallEnd::Lost(why),
        refused @ TransportError::Refused(_) => McpCallEnd::Refused(refused.to_string()),
    }
}

fn pretty_json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    domain::visible::visible_multiline(&text)
}

/// Line by line, without what both begin and end with.
fn compare_lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut text = String::new();
    for (sign, lines) in [('-', &old[..old.len() - end]), ('+', &new[..new.len() - end])] {
        for line in lines {
            text.push_str(&format!("{sign} {line}\n"));
        }
    }
    text
}

#[async_trait]
impl ToolHost for McpTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Asks the server for its tools again, which is as much as can be looked at.
    async fn prepare(&self, _arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let (core, _) = self.refresh_link().await.map_err(PrepareError::Unsound)?;
        if self.face.standing == PinStatus::Gone {
            let why = format!("the MCP server `{}` does not offer it any more", core.config.name);
            return Err(PrepareError::Unsound(why));
        }
        let mut prepared = Prepared {
            context: self.execution_context(&core),
            // The engine names the tool and what it is called with.
            title: None,
            ..Prepared::default()
        };
        if let Some((ask, preview)) = self.describe_changes() {
            (prepared.ask, prepared.preview) = (Some(ask), preview);
        }
        Ok(prepared)
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        self.carry_out(call.call(), &NoQuestions, &start, &stop).await
    }

    async fn run_asking(
        &self,
        call: ClearedCall,
        asker: &dyn NestedAsker,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        self.carry_out(call.call(), asker, &start, &stop).await
    }

    async fn recover(&self, _call: &Call, _attempt: u32) -> Recovery {
        Recovery::Unknown {
            evidence: "The call was being carried out by an MCP server when Holdpoint ended. The server was \
                       ended, or the connection to it; whether it had done its work nobody can say."
                .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_shows_what_is_other_and_no_more() {
        assert_eq!(compare_lines("a\nb\nc", "a\nx\ny\nc"), "- b\n+ x\n+ y\n");
        assert_eq!(compare_lines("a\na", "a"), "- a\n");
        assert_eq!(compare_lines("a", "a"), "");
    }
}
