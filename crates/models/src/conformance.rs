//! What every model must do, whoever is behind it. An adapter's test sets its model up to answer
//! the four messages below (a fake provider does it for vendors' models; [`SCRIPT`] for scripted
//! ones) and calls [`check`], which panics with what is wrong.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::message::Part;
use ports::model::{
    AssistantPart, CallResult, Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest,
    ModelTurn, ToolOffer,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Gets the text [`TEXT`], in at least two deltas, and no calls.
pub const SAY_TEXT: &str = "conformance: say something";
pub const TEXT: &str = "Here is a text with several words in it.";

/// Gets one call of `echo` with the text `one`; after its result, the text `It says: ` and the
/// result.
pub const SAY_CALL: &str = "conformance: call a tool";

/// Gets two calls of `echo` in one turn, with the texts `one` and `two`.
pub const SAY_PARALLEL: &str = "conformance: call two tools";

/// Gets a text that takes at least a minute, with pauses between its deltas.
pub const SAY_SLOW: &str = "conformance: speak slowly";

/// The answers, for a scripted model.
pub const SCRIPT: &str = include_str!("conformance.toml");

pub async fn check(model: &dyn Model) {
    text_turn(model).await;
    call_turn(model).await;
    parallel_calls(model).await;
    stopped_in_the_middle(model).await;
    stopped_before_it_began(model).await;
}

/// The deltas are the text, in pieces.
pub async fn text_turn(model: &dyn Model) {
    let request = request(vec![user(SAY_TEXT)]);
    let (turn, deltas) = think(model, &request).await;
    assert!(turn.calls.is_empty(), "a text turn makes no calls");
    assert_eq!(text_of(&turn), TEXT);
    assert!(deltas.len() >= 2, "a text arrives in pieces: {deltas:?}");
    assert_eq!(spoken_text(&deltas), TEXT, "the pieces make the text");
}

/// A call has a name, an id and sound arguments, and its result reaches the model.
pub async fn call_turn(model: &dyn Model) {
    let mut request = request(vec![user(SAY_CALL)]);
    let (turn, _) = think(model, &request).await;
    assert_eq!(echoed(&turn), ["one"]);
    go_on(&mut request, &turn, &["the echo"]);
    let (last, _) = think(model, &request).await;
    assert!(last.calls.is_empty());
    assert_eq!(text_of(&last), "It says: the echo");
}

/// Several calls of one turn stay in order and apart.
pub async fn parallel_calls(model: &dyn Model) {
    let mut request = request(vec![user(SAY_CALL)]);
    let (first, _) = think(model, &request).await;
    go_on(&mut request, &first, &["one"]);
    request.messages.push(user(SAY_PARALLEL));
    let (turn, _) = think(model, &request).await;
    assert_eq!(echoed(&turn), ["one", "two"]);
    let mut ids: Vec<&str> =
        first.calls.iter().chain(&turn.calls).map(|call| &*call.tool_use_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3, "every call has an id of its own: {ids:?}");
}

/// A stop ends the turn at once, and nothing of it is returned: there are no half turns.
pub async fn stopped_in_the_middle(model: &dyn Model) {
    let stop = CancellationToken::new();
    let count = Arc::new(Mutex::new(0));
    let sink: DeltaSink = {
        let (stop, count) = (stop.clone(), count.clone());
        Arc::new(move |_| {
            *count.lock().expect("not poisoned") += 1;
            stop.cancel();
        })
    };
    let request = request(vec![user(SAY_SLOW)]);
    let thinking = model.think(&request, sink, stop);
    let told = tokio::time::timeout(Duration::from_secs(10), thinking).await;
    let told = told.expect("a stop ends the turn soon");
    assert!(matches!(told, Err(ModelError::Stopped)), "stopped, and not {told:?}");
    assert_eq!(*count.lock().expect("not poisoned"), 1, "no delta after the stop");
}

pub async fn stopped_before_it_began(model: &dyn Model) {
    let stop = CancellationToken::new();
    stop.cancel();
    let told = model.think(&request(vec![user(SAY_TEXT)]), Arc::new(|_| {}), stop).await;
    assert!(matches!(told, Err(ModelError::Stopped)), "stopped, and not {told:?}");
}

fn request(messages: Vec<ModelMessage<'_>>) -> ModelRequest<'_> {
    let echo = ToolOffer {
        name: "echo".into(),
        description: "Says it again.".into(),
        input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}},
                             "required": ["text"]}),
    };
    ModelRequest {
        system: Some("You are being tested.".into()),
        messages,
        tools: vec![echo].into(),
    }
}

fn user(text: &str) -> ModelMessage<'_> {
    ModelMessage::User { text: text.into() }
}

async fn think(model: &dyn Model, request: &ModelRequest<'_>) -> (ModelTurn, Vec<Delta>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink: DeltaSink = {
        let seen = seen.clone();
        Arc::new(move |delta| seen.lock().expect("not poisoned").push(delta))
    };
    let turn = model.think(request, sink, CancellationToken::new()).await;
    let turn = turn.unwrap_or_else(|why| panic!("no turn: {why}"));
    let no_calls = |part: &Part| matches!(part, Part::Text(_) | Part::Reasoning { .. });
    assert!(turn.parts.iter().all(no_calls), "calls are apart from the text");
    let deltas = seen.lock().expect("not poisoned").clone();
    (turn, deltas)
}

/// The texts that the turn wants to have echoed.
fn echoed(turn: &ModelTurn) -> Vec<String> {
    let texts = turn.calls.iter().map(|call| {
        assert_eq!(&*call.tool, "echo");
        assert!(!call.tool_use_id.is_empty(), "a call has an id");
        let input: Value = serde_json::from_str(&call.input).expect("the arguments are JSON");
        input["text"].as_str().expect("a text").to_owned()
    });
    texts.collect()
}

fn go_on<'a>(request: &mut ModelRequest<'a>, turn: &'a ModelTurn, contents: &[&'a str]) {
    let parts = turn.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(AssistantPart::Text(text.into())),
        Part::Reasoning { text, opaque } => Some(AssistantPart::Reasoning {
            text: text.into(),
            opaque: opaque.as_deref().map(Into::into),
        }),
        Part::File(_) | Part::ToolCall { .. } | Part::ToolResult { .. } => None,
    });
    let calls = turn.calls.iter().cloned().map(AssistantPart::Call);
    request.messages.push(ModelMessage::Assistant { parts: parts.chain(calls).collect() });
    let results = turn.calls.iter().zip(contents).map(|(call, content)| CallResult {
        tool_use_id: call.tool_use_id.clone(),
        tool: call.tool.clone(),
        content: (*content).into(),
        is_error: false,
    });
    request.messages.push(ModelMessage::Results { results: results.collect() });
}

fn text_of(turn: &ModelTurn) -> String {
    let texts = turn.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// What a follower has read in the end.
fn spoken_text(deltas: &[Delta]) -> String {
    deltas.iter().fold(String::new(), |mut text, delta| {
        match delta {
            Delta::Text(piece) => text.push_str(piece),
            Delta::Discard => text.clear(),
            Delta::Reasoning(_) => {}
        }
        text
    })
}
