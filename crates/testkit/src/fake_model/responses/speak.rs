//! What responses look like, in events and in one piece.

use serde_json::{Value, json};

use super::super::api::{Api, kind};
use super::super::frame::{Data, Frame, Frames, Track, order};
use super::super::manner::Manner;
use super::super::said::{Piece, Said, fragments};
use super::super::turn::Stop;
use super::items::{function_call, id, item, output, response_id, wants_seals};

/// Beyond every number that a stream of ours reaches, for the event that ends it early.
const LATE: u64 = 1_000_000_000;

pub(in super::super) fn whole(said: &Said, body: &Value) -> Value {
    let (status, reason) = status(said.stop);
    let mut whole = response(said, body, status);
    whole["output"] = json!(output(said, body));
    whole["usage"] = usage(said);
    if let Some(reason) = reason {
        whole["incomplete_details"] = json!({"reason": reason});
    }
    whole
}

fn status(stop: Stop) -> (&'static str, Option<&'static str>) {
    match stop {
        Stop::EndTurn | Stop::ToolUse | Stop::StopSequence | Stop::PauseTurn => ("completed", None),
        Stop::MaxTokens | Stop::ModelContextWindowExceeded => {
            ("incomplete", Some("max_output_tokens"))
        }
        Stop::Refusal => ("incomplete", Some("content_filter")),
    }
}

fn response(said: &Said, body: &Value, status: &str) -> Value {
    json!({
        "id": response_id(said),
        "object": "response",
        "created_at": 1,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": body["instructions"],
        "max_output_tokens": body["max_output_tokens"],
        "metadata": {},
        "model": said.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": body["previous_response_id"],
        "reasoning": {"effort": null, "summary": null},
        "store": body["store"] != false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": body["tools"].as_array().cloned().unwrap_or_default(),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

fn usage(said: &Said) -> Value {
    let (input, output) = (said.input_tokens, said.output_tokens());
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    })
}

pub(in super::super) fn stream(said: &Said, manner: &Manner, body: &Value) -> Frames {
    let begun = response(said, body, "in_progress");
    let event = |name: &'static str, response: &Value| {
        Frame::named(name, json!({"type": name, "response": response}))
    };
    let start =
        [event("response.created", &begun), event("response.in_progress", &begun)].into_iter();
    let seals = wants_seals(body);
    let tracks = said.pieces.iter().enumerate();
    let tracks = tracks.map(|(index, piece)| track(said, index, piece, manner, seals));
    let middle = order(tracks.collect(), manner.interleave);
    let (said, body) = (said.clone(), body.clone());
    let end = std::iter::once_with(move || {
        let name = match status(said.stop).0 {
            "completed" => "response.completed",
            _ => "response.incomplete",
        };
        Frame::named(name, json!({"type": name, "response": whole(&said, &body)}))
    });
    let numbered = start.chain(middle).chain(end).zip(0_u64..).map(|(mut frame, number)| {
        if let Data::Json(value) = &mut frame.data {
            value["sequence_number"] = json!(number);
        }
        frame
    });
    if !manner.ping {
        return Box::new(numbered);
    }
    Box::new(numbered.flat_map(|frame| [Frame::comment(), frame]))
}

fn track(said: &Said, index: usize, piece: &Piece, manner: &Manner, seals: bool) -> Track {
    let (id, number) = (id(said.number, index, piece), said.number);
    let named = {
        let id = id.clone();
        move |name: &'static str, more: Value| {
            let mut data = json!({"type": name, "item_id": id, "output_index": index});
            if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
                data.extend(more);
            }
            Frame::named(name, data)
        }
    };
    let around = move |name: &'static str, item: Value| {
        Frame::named(name, json!({"type": name, "output_index": index, "item": item}))
    };
    let added = move |item: Value| around("response.output_item.added", item);
    let owned = piece.clone();
    let done = move || around("response.output_item.done", item(number, index, &owned, seals));
    match piece {
        Piece::Text(text) => {
            let part = |text: &str| {
                json!({"content_index": 0, "part": {
                    "type": "output_text", "text": text, "annotations": [], "logprobs": [],
                }})
            };
            let empty = json!({
                "type": "message", "id": id, "status": "in_progress", "role": "assistant",
                "content": [],
            });
            let start = vec![added(empty), named("response.content_part.added", part(""))];
            let (text, delta) = (text.clone(), named.clone());
            let deltas = fragments(&text, manner.fragment).map(move |text| {
                let more = json!({"content_index": 0, "delta": text, "logprobs": []});
                delta("response.output_text.delta", more)
            });
            let end = move || {
                let whole = json!({"content_index": 0, "text": text, "logprobs": []});
                vec![
                    named("response.output_text.done", whole),
                    named("response.content_part.done", part(&text)),
                    done(),
                ]
            };
            Track { start, deltas: Box::new(deltas), end: Box::new(end) }
        }
        Piece::Thinking(text) => {
            let part = |text: &str| json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}});
            let empty = json!({"type": "reasoning", "id": id, "summary": []});
            let start =
                vec![added(empty), named("response.reasoning_summary_part.added", part(""))];
            let (text, delta) = (text.clone(), named.clone());
            let deltas = fragments(&text, manner.fragment).map(move |text| {
                let more = json!({"summary_index": 0, "delta": text});
                delta("response.reasoning_summary_text.delta", more)
            });
            let end = move || {
                let whole = json!({"summary_index": 0, "text": text});
                vec![
                    named("response.reasoning_summary_text.done", whole),
                    named("response.reasoning_summary_part.done", part(&text)),
                    done(),
                ]
            };
            Track { start, deltas: Box::new(deltas), end: Box::new(end) }
        }
        Piece::Redacted(_) => {
            let empty = json!({"type": "reasoning", "id": id, "summary": []});
            let deltas = Box::new(std::iter::empty());
            Track { start: vec![added(empty)], deltas, end: Box::new(move || vec![done()]) }
        }
        Piece::Call(call) => {
            let mut begun = function_call(&id, call, String::new());
            begun["status"] = json!("in_progress");
            let (call, delta) = (call.clone(), named.clone());
            let deltas = call.arguments.fragments(manner.fragment).map(move |text| {
                delta("response.function_call_arguments.delta", json!({"delta": text}))
            });
            let end = move || {
                let whole = json!({"name": call.name, "arguments": call.arguments.text()});
                let last = done();
                // What was cut off has no end of its own.
                let finished =
                    call.whole.then(|| named("response.function_call_arguments.done", whole));
                finished.into_iter().chain([last]).collect()
            };
            Track { start: vec![added(begun)], deltas: Box::new(deltas), end: Box::new(end) }
        }
    }
}

/// A failure of the server ends the response; anything else is an error of its own.
pub(in super::super) fn error(status: u16, message: &str, said: &Said, body: &Value) -> Vec<u8> {
    let code = kind(Api::Responses, status);
    if status < 500 {
        let data = json!({
            "type": "error", "code": code, "message": message, "param": null,
            "sequence_number": LATE,
        });
        return Frame::named("error", data).bytes(false);
    }
    let mut failed = response(said, body, "failed");
    failed["error"] = json!({"code": code, "message": message});
    let data = json!({"type": "response.failed", "response": failed, "sequence_number": LATE});
    Frame::named("response.failed", data).bytes(false)
}
