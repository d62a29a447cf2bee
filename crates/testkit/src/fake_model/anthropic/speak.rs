//! What Anthropic's answers look like, in a stream and in one piece.

use serde_json::{Value, json};

use super::super::api::{Api, kind};
use super::super::frame::{Frame, Frames, Track, order};
use super::super::manner::Manner;
use super::super::memory::{sealed, signature};
use super::super::said::{Piece, Said, Written, fragments};
use super::super::turn::Stop;

pub(in super::super) fn whole(said: &Said) -> Value {
    let content: Vec<Value> = said.pieces.iter().map(block).collect();
    message(said, Value::Array(content), json!(stop_reason(said.stop)), said.output_tokens())
}

fn message(said: &Said, content: Value, stop: Value, output_tokens: u64) -> Value {
    json!({
        "id": format!("msg_{}", said.number),
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": said.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output_tokens,
        },
    })
}

fn block(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": signature(text)})
        }
        Piece::Redacted(text) => json!({"type": "redacted_thinking", "data": sealed(text)}),
        Piece::Call(call) => json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments.value(),
        }),
    }
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::StopSequence => "stop_sequence",
        Stop::PauseTurn => "pause_turn",
        Stop::Refusal => "refusal",
        Stop::ModelContextWindowExceeded => "model_context_window_exceeded",
    }
}

pub(in super::super) fn stream(said: &Said, manner: &Manner) -> Frames {
    let start = message(said, json!([]), Value::Null, 1);
    let start = Frame::named("message_start", json!({"type": "message_start", "message": start}));
    let tracks = said.pieces.iter().enumerate().map(|(index, piece)| track(index, piece, manner));
    let middle = order(tracks.collect(), manner.interleave);
    let end = [
        Frame::named(
            "message_delta",
            json!({
                "type": "message_delta",
                "delta": {"stop_reason": stop_reason(said.stop), "stop_sequence": null},
                "usage": {"output_tokens": said.output_tokens()},
            }),
        ),
        Frame::named("message_stop", json!({"type": "message_stop"})),
    ];
    // A real stream has a ping near its start, too.
    let ping = || Frame::named("ping", json!({"type": "ping"}));
    let frames = std::iter::once(start).chain([ping()]).chain(middle).chain(end);
    if !manner.ping {
        return Box::new(frames);
    }
    // Anywhere, but not after the end.
    Box::new(frames.flat_map(move |frame| {
        let last = frame.event == Some("message_stop");
        std::iter::once(frame).chain((!last).then(ping))
    }))
}

fn track(index: usize, piece: &Piece, manner: &Manner) -> Track {
    let start = |block: Value| {
        let data = json!({"type": "content_block_start", "index": index, "content_block": block});
        vec![Frame::named("content_block_start", data)]
    };
    let delta = move |delta: Value| {
        let data = json!({"type": "content_block_delta", "index": index, "delta": delta});
        Frame::named("content_block_delta", data)
    };
    let end = move || {
        let data = json!({"type": "content_block_stop", "index": index});
        vec![Frame::named("content_block_stop", data)]
    };
    let (first, deltas): (Value, Frames) =
        match piece {
            Piece::Text(text) => (
                json!({"type": "text", "text": ""}),
                Box::new(
                    fragments(text, manner.fragment)
                        .map(move |text| delta(json!({"type": "text_delta", "text": text}))),
                ),
            ),
            Piece::Thinking(text) => {
                let signed = json!({"type": "signature_delta", "signature": signature(text)});
                let thinking = fragments(text, manner.fragment)
                    .map(move |text| delta(json!({"type": "thinking_delta", "thinking": text})));
                (
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    Box::new(thinking.chain(std::iter::once(delta(signed)))),
                )
            }
            Piece::Redacted(_) => (block(piece), Box::new(std::iter::empty())),
            Piece::Call(call) => (
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
                Box::new(input(call, manner.fragment).map(move |json| {
                    delta(json!({"type": "input_json_delta", "partial_json": json}))
                })),
            ),
        };
    Track { start: start(first), deltas, end: Box::new(end) }
}

/// The first piece of every input is empty.
fn input(call: &Written, size: usize) -> impl Iterator<Item = String> + Send + use<> {
    std::iter::once(String::new()).chain(call.arguments.fragments(size))
}

pub(in super::super) fn error(status: u16, message: &str) -> Vec<u8> {
    let error = json!({"type": kind(Api::Anthropic, status), "message": message});
    Frame::named("error", json!({"type": "error", "error": error})).bytes(false)
}
