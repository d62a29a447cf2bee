//! A model whose every turn is written down in a file: for demonstrations, for tests, and for
//! trying a policy without an account anywhere. `docs/scripted-model.md` describes the format.
//!
//! It keeps nothing between two requests (except how often a turn has failed, where a script asks
//! for that), so the same conversation always gets the same answer, to the call id.

mod deltas;
mod demo;
mod file;
mod scene;
mod script;
mod template;
mod when;

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use domain::digest::Framed;
use domain::message::Part;
use ports::model::{Delta, DeltaSink, Model, ModelError, ModelRequest, ModelTurn, WrittenCall};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use demo::{DEMO_SCRIPT, demo_scenarios};
pub use script::ScriptError;

use deltas::Pace;
use scene::Scene;
use script::{Failure, Script, ScriptedInput, Turn};

pub struct ScriptedModel {
    script: Script,
    /// How often each turn has failed, for those that fail only so many times.
    failures: Vec<AtomicU64>,
}

impl ScriptedModel {
    /// Reads a script. An error names the line and says what to write instead.
    pub fn parse(text: &str) -> Result<ScriptedModel, ScriptError> {
        let script = Script::parse(text)?;
        let failures = script.turns.iter().map(|_| AtomicU64::new(0)).collect();
        Ok(ScriptedModel { script, failures })
    }

    /// The first turn that fits, with what its patterns captured.
    fn choose(&self, scene: &Scene<'_>) -> Option<(&Turn, Vec<String>)> {
        self.script.turns.iter().zip(&self.failures).find_map(|(turn, failures)| {
            let captures = turn.when.fits(scene)?;
            match turn.fail.as_ref().and_then(|failure| failure.times) {
                Some(times) if failures.fetch_add(1, Ordering::Relaxed) >= times => None,
                _ => Some((turn, captures)),
            }
        })
    }
}

#[async_trait]
impl Model for ScriptedModel {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let scene = Scene::of(request);
        let Some((turn, captures)) = self.choose(&scene) else {
            let parts = vec![Part::Text(self.script.default.clone())];
            stream(&parts, &self.script.pace, &deltas, &stop).await?;
            return Ok(ModelTurn { parts, ..ModelTurn::default() });
        };
        let mut parts = Vec::new();
        if let Some(reasoning) = &turn.reasoning {
            let text = reasoning.fill(&scene, &captures);
            parts.push(Part::Reasoning { text, opaque: None });
        }
        let text = turn.text.as_ref().map(|text| text.fill(&scene, &captures)).unwrap_or_default();
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        let pace = turn.pace.as_ref().unwrap_or(&self.script.pace);
        stream(&parts, pace, &deltas, &stop).await?;
        if let Some(failure) = &turn.fail {
            return Err(failure.error());
        }
        Ok(ModelTurn { parts, calls: calls(turn, &scene, &captures), usage: turn.usage })
    }
}

async fn stream(
    parts: &[Part],
    pace: &Pace,
    deltas: &DeltaSink,
    stop: &CancellationToken,
) -> Result<(), ModelError> {
    let mut pieces: Vec<Delta> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => pieces.extend(pace.cut(text).into_iter().map(Delta::Text)),
            Part::Reasoning { text, .. } => {
                pieces.extend(pace.cut(text).into_iter().map(Delta::Reasoning));
            }
            Part::File(_) | Part::ToolCall { .. } | Part::ToolResult { .. } => {}
        }
    }
    // A turn without words takes its time too, so that it can be stopped.
    if stop.is_cancelled() || pieces.is_empty() {
        pace.wait(stop).await?;
    }
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0 {
            pace.wait(stop).await?;
        }
        deltas(piece);
    }
    if stop.is_cancelled() { Err(ModelError::Stopped) } else { Ok(()) }
}

fn calls(turn: &Turn, scene: &Scene<'_>, captures: &[String]) -> Vec<WrittenCall<'static>> {
    let calls = turn.calls.iter().zip(scene.calls + 1..);
    calls
        .map(|(call, number)| {
            let input = input(&call.input, scene, captures);
            let tool_use_id = match &call.id {
                Some(id) => id.clone(),
                None => id(number, scene, &call.tool, &input),
            };
            WrittenCall {
                tool_use_id: tool_use_id.into(),
                tool: call.tool.clone().into(),
                input: input.into(),
            }
        })
        .collect()
}

fn input(input: &ScriptedInput, scene: &Scene<'_>, captures: &[String]) -> String {
    match input {
        ScriptedInput::Raw(raw) => raw.clone(),
        ScriptedInput::Arguments(arguments) => arguments.fill(scene, captures).to_string(),
        ScriptedInput::Over { json, arguments } => {
            let text = json.fill(scene, captures);
            match (serde_json::from_str(&text), arguments.fill(scene, captures)) {
                (Ok(Value::Object(mut object)), Value::Object(over)) => {
                    object.extend(over);
                    Value::Object(object).to_string()
                }
                // A model that copies something which is no JSON writes it as it is.
                _ => text,
            }
        }
    }
}

/// Made from the conversation alone: a replay gives the same id, and the number makes it unique in
/// its session.
fn id(number: usize, scene: &Scene<'_>, tool: &str, input: &str) -> String {
    let digest = Framed::new("holdpoint.scripted.v1")
        .number("number", number as u64)
        .field("said", scene.said.as_bytes())
        .field("tool", tool.as_bytes())
        .field("input", input.as_bytes())
        .finish();
    let hash: String = digest.as_bytes()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("toolu_{number}_{hash}")
}

impl Failure {
    fn error(&self) -> ModelError {
        let reason = "the script says so".to_owned();
        match self.kind {
            script::FailureKind::Unavailable => ModelError::Unavailable(reason),
            script::FailureKind::Refused => ModelError::Refused(reason),
            script::FailureKind::Malformed => ModelError::Malformed(reason),
        }
    }
}

#[cfg(test)]
mod tests;
