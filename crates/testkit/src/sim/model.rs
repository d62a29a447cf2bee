//! A model that is moody: what it says depends on the lot, also when it is asked the same again.

use std::sync::Arc;

use async_trait::async_trait;
use domain::message::Part;
use ports::model::{
    AssistantPart, Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn,
    TurnUsage, WrittenCall,
};
use tokio_util::sync::CancellationToken;

use super::node::NodeNo;
use super::records::Heard;
use super::settings::TURN_TOKENS;
use super::world::{Inside, World};

pub(super) struct SimModel {
    pub(super) world: Arc<World>,
    pub(super) node: NodeNo,
}

/// What it likes to call; some more than others.
const WISHES: [&str; 23] = [
    "wipe",
    "wipe",
    "wipe",
    "wipe",
    "put",
    "put",
    "put",
    "shift",
    "shift",
    "shift",
    "look",
    "look",
    "tidy",
    "tidy",
    "post",
    "post",
    "nuke",
    "deploy",
    "deploy",
    "ask_person",
    "ask_person",
    "browser",
    "scrap",
];

/// A choice, words, and a form.
const QUESTIONS: [&str; 3] = [
    r#"{"prompt":"Which way?","options":["left","right"]}"#,
    r#"{"prompt":"Why?","allow_other":true}"#,
    r#"{"prompt":"How many?","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#,
];

#[async_trait]
impl Model for SimModel {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let (nth, ms) = {
            let mut inside = self.world.inside();
            let (journal, nth) = (inside.journal(), inside.records.heard.len());
            inside.note(format!("n{} MODEL hears {} messages", self.node, request.messages.len()));
            let request = request.clone().into_owned();
            inside.records.heard.push(Heard { request, journal, said: None });
            (nth, inside.rng.below(60))
        };
        deltas(Delta::Text("hm".into()));
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(ModelError::Stopped),
            () = self.world.wait(self.node, "model", ms) => {}
        }
        let mut inside = self.world.inside();
        let fails = inside.weather.model;
        if inside.rng.percent(fails) {
            inside.fault("model failed");
            return Err(match inside.rng.below(3) {
                0 => ModelError::Unavailable("busy".into()),
                1 => ModelError::Refused("no".into()),
                _ => ModelError::Malformed("cut off".into()),
            });
        }
        let usage =
            TurnUsage { input_tokens: TURN_TOKENS - 10, cached_tokens: 5, output_tokens: 10 };
        let turn = ModelTurn { usage, ..inside.turn(request) };
        inside.says(nth, &turn);
        Ok(turn)
    }
}

impl Inside {
    fn says(&mut self, nth: usize, turn: &ModelTurn) {
        let heard = &mut self.records.heard;
        heard[nth].said = Some(turn.clone());
        let again = heard.iter().filter(|earlier| earlier.request == heard[nth].request);
        if again.filter_map(|earlier| earlier.said.as_ref()).any(|said| !is_same(said, turn)) {
            self.fault("model answered differently when asked again");
        }
    }

    fn turn(&mut self, request: &ModelRequest<'_>) -> ModelTurn {
        let text = |text: &str| vec![Part::Text(text.to_owned())];
        if let Some(again) = to_confirm(request)
            && self.rng.percent(85)
        {
            let calls = vec![self.call("deploy", again)];
            return ModelTurn { parts: text("as approved"), calls, ..ModelTurn::default() };
        }
        let since = request.messages.iter().rev();
        let turns = since.take_while(|message| !matches!(message, ModelMessage::User { .. }));
        let spoken =
            turns.filter(|message| matches!(message, ModelMessage::Assistant { .. })).count();
        if self.rng.percent(8 + 30 * spoken as u64) {
            return ModelTurn { parts: text("done"), ..ModelTurn::default() };
        }
        // The same once more, for which there may be a standing grant by now.
        let earlier = written(request);
        if !earlier.is_empty() && self.rng.percent(20) {
            let (tool, input) = *self.rng.pick(&earlier);
            let calls = vec![self.call(tool, input.to_owned())];
            return ModelTurn { calls, ..ModelTurn::default() };
        }
        let count = 1 + [0, 0, 0, 1, 1, 2][self.rng.below(6) as usize];
        let calls = (0..count).map(|_| self.wish()).collect();
        let parts = if self.rng.percent(50) { text("let me see") } else { Vec::new() };
        ModelTurn { parts, calls, ..ModelTurn::default() }
    }

    fn wish(&mut self) -> WrittenCall<'static> {
        let tool = *self.rng.pick(&WISHES);
        if self.rng.percent(6) {
            self.fault("model wrote unsound arguments");
            let unsound =
                ["{\"n\":", "{\"n\":1,\"n\":2}", "{\"n\":\"one\"}", "[]", "{\"n\":1,\"x\":1e999}"];
            let input = (*self.rng.pick(&unsound)).to_owned();
            let tool = if self.rng.percent(20) { "nothing" } else { tool };
            return self.call(tool, input);
        }
        let input = match tool {
            "ask_person" => (*self.rng.pick(&QUESTIONS)).to_owned(),
            "browser" => "{}".to_owned(),
            _ => {
                // Small numbers come again, so that a standing grant finds something to cover.
                let again = self.rng.percent(35);
                let n = if again { self.rng.below(2) } else { 100 + self.next_serial() };
                let spaced = self.rng.percent(20);
                if spaced { format!("{{ \"n\" : {n} }}") } else { format!("{{\"n\":{n}}}") }
            }
        };
        self.call(tool, input)
    }

    fn call(&mut self, tool: &str, input: String) -> WrittenCall<'static> {
        let tool_use_id = format!("toolu_{}", self.next_serial());
        WrittenCall {
            tool_use_id: tool_use_id.into(),
            tool: tool.to_owned().into(),
            input: input.into(),
        }
    }
}

/// Whatever its calls are named, which is another name each time.
fn is_same(one: &ModelTurn, other: &ModelTurn) -> bool {
    let calls = |turn: &ModelTurn| -> Vec<(String, String)> {
        turn.calls.iter().map(|call| (call.tool.to_string(), call.input.to_string())).collect()
    };
    one.parts == other.parts && calls(one) == calls(other)
}

/// The arguments of a two-phase call that a person has just approved.
fn to_confirm(request: &ModelRequest<'_>) -> Option<String> {
    let last = request.messages.last()?;
    let ModelMessage::User { text } = last else { return None };
    if !text.contains("The person approved deploy") {
        return None;
    }
    // An edited call names its arguments in the message.
    if let Some((_, arguments)) = text.rsplit_once("confirmed=true: ") {
        return confirmed(arguments);
    }
    let calls = written(request).into_iter().rev();
    let mut inputs = calls.filter(|(tool, _)| *tool == "deploy").map(|(_, input)| input);
    inputs.find_map(confirmed)
}

fn confirmed(arguments: &str) -> Option<String> {
    let mut value: serde_json::Value = serde_json::from_str(arguments).ok()?;
    value.as_object_mut()?.insert("confirmed".into(), true.into());
    Some(value.to_string())
}

/// Every call that it wrote before, oldest first: the tool and the arguments.
fn written<'a>(request: &'a ModelRequest<'_>) -> Vec<(&'a str, &'a str)> {
    let parts = request.messages.iter().flat_map(|message| match message {
        ModelMessage::Assistant { parts } => parts.as_slice(),
        _ => &[],
    });
    let calls = parts.filter_map(|part| match part {
        AssistantPart::Call(call) => Some((&*call.tool, &*call.input)),
        _ => None,
    });
    calls.collect()
}
