//! What chat completions look like, in chunks and in one piece.

use serde_json::{Value, json};

use super::super::api::{Api, kind};
use super::super::frame::{Data, Frame, Frames, Track, order};
use super::super::manner::Manner;
use super::super::said::{Piece, Said, Written, fragments};
use super::super::turn::Stop;

pub(in super::super) fn whole(said: &Said) -> Value {
    let texts = said.pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    let calls: Vec<Value> = said.calls().map(call).collect();
    let mut message = json!({"role": "assistant", "content": Value::Null, "refusal": null});
    if !text.is_empty() || calls.is_empty() {
        message["content"] = json!(text);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    if let Some(thinking) = thinking(said) {
        message["reasoning_content"] = json!(thinking);
    }
    json!({
        "id": format!("chatcmpl-{}", said.number),
        "object": "chat.completion",
        "created": 1,
        "model": said.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": reason(said.stop),
        }],
        "usage": usage(said),
    })
}

fn thinking(said: &Said) -> Option<String> {
    let thoughts = said.pieces.iter().filter_map(|piece| match piece {
        Piece::Thinking(text) => Some(text.as_str()),
        _ => None,
    });
    Some(thoughts.collect::<String>()).filter(|text| !text.is_empty())
}

fn call(call: &Written) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.text()},
    })
}

fn usage(said: &Said) -> Value {
    let (input, output) = (said.input_tokens, said.output_tokens());
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

fn reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn | Stop::StopSequence | Stop::PauseTurn => "stop",
        Stop::ToolUse => "tool_calls",
        Stop::MaxTokens | Stop::ModelContextWindowExceeded => "length",
        Stop::Refusal => "content_filter",
    }
}

pub(in super::super) fn stream(said: &Said, manner: &Manner, body: &Value) -> Frames {
    let usage = (body["stream_options"]["include_usage"] == true).then(|| usage(said));
    let wants_usage = usage.is_some();
    let (id, model) = (format!("chatcmpl-{}", said.number), said.model.clone());
    let chunk = move |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": choices,
        });
        // All chunks have the key if one of them will have the value.
        if wants_usage {
            chunk["usage"] = usage;
        }
        Frame::data(chunk)
    };
    let choice = |delta: Value, reason: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]);
    let says = chunk.clone();
    let delta = move |delta: Value| says(choice(delta, Value::Null), Value::Null);
    let start = delta(json!({"role": "assistant", "content": null, "refusal": null}));
    let mut number = 0;
    let tracks = said.pieces.iter().map(|piece| {
        let track = track(number, piece, manner, delta.clone());
        number += usize::from(matches!(piece, Piece::Call(_)));
        track
    });
    let middle = order(tracks.collect(), manner.interleave);
    let end = chunk(choice(json!({}), json!(reason(said.stop))), Value::Null);
    let usage = usage.map(|usage| chunk(json!([]), usage));
    let done = Frame { event: None, data: Data::Text("[DONE]") };
    let frames = std::iter::once(start).chain(middle).chain([end]).chain(usage).chain([done]);
    if !manner.ping {
        return Box::new(frames);
    }
    Box::new(frames.flat_map(|frame| [Frame::comment(), frame]))
}

fn track(
    number: usize,
    piece: &Piece,
    manner: &Manner,
    delta: impl Fn(Value) -> Frame + Send + 'static,
) -> Track {
    let mut start = Vec::new();
    let deltas: Frames =
        match piece {
            Piece::Text(text) => Box::new(
                fragments(text, manner.fragment).map(move |text| delta(json!({"content": text}))),
            ),
            Piece::Thinking(text) => Box::new(
                fragments(text, manner.fragment)
                    .map(move |text| delta(json!({"reasoning_content": text}))),
            ),
            Piece::Redacted(_) => Box::new(std::iter::empty()),
            Piece::Call(call) => {
                let calls = move |call: Value| delta(json!({"tool_calls": [call]}));
                start.push(calls(json!({
                    "index": number,
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                })));
                Box::new(call.arguments.fragments(manner.fragment).map(move |text| {
                    calls(json!({"index": number, "function": {"arguments": text}}))
                }))
            }
        };
    Track { start, deltas, end: Box::new(Vec::new) }
}

pub(in super::super) fn error(status: u16, message: &str) -> Vec<u8> {
    let kind = kind(Api::Chat, status);
    let error = json!({"message": message, "type": kind, "param": null, "code": null});
    Frame::data(json!({"error": error})).bytes(false)
}
