use domain::message::Part;
use ports::model::{
    CallResult, Delta, ModelError, ModelMessage, ModelTurn, TurnUsage, WrittenCall,
};
use ports::secret_string::SecretString;
use reqwest::Url;
use serde_json::{Value, json};

use super::reader::Items;
use super::*;
use crate::conformance;
use crate::fake::{
    self, FakeReply, NoRandomness, QuickClock, Server, asking, assistant, check_splits, hello,
    read_reply, think,
};
use crate::settings::ApiKey;

fn stream(events: &[Value]) -> String {
    let numbered = events.iter().zip(0..).map(|(event, number): (_, u64)| {
        let mut event = event.clone();
        event["sequence_number"] = number.into();
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("odd"))
    });
    numbered.collect()
}

fn begin() -> Vec<Value> {
    let response =
        json!({"id": "resp_1", "object": "response", "status": "in_progress", "output": []});
    vec![
        json!({"type": "response.created", "response": response}),
        json!({"type": "response.in_progress", "response": response}),
    ]
}

fn item(index: u64, begun: Value, pieces: Vec<Value>, whole: Value) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "response.output_item.added", "output_index": index, "item": begun})];
    events.extend(pieces);
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": whole}));
    events
}

fn text(index: u64, pieces: &[&str]) -> Vec<Value> {
    let id = format!("msg_{index}");
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let at = |kind: &str| json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0});
    let mut events = vec![at("response.content_part.added")];
    events.extend(pieces.iter().map(|piece| {
        let mut event = at("response.output_text.delta");
        event["delta"] = (*piece).into();
        event
    }));
    events.extend([at("response.output_text.done"), at("response.content_part.done")]);
    let message = |status: &str, content: Value| json!({"type": "message", "id": id, "role": "assistant", "status": status, "content": content});
    let whole = message("completed", json!([part(&pieces.concat())]));
    item(index, message("in_progress", json!([])), events, whole)
}

fn call(index: u64, call_id: &str, name: &str, pieces: &[&str]) -> Vec<Value> {
    let id = format!("fc_{index}");
    let call = |status: &str, arguments: &str| {
        json!({"type": "function_call", "id": id, "call_id": call_id, "name": name,
            "arguments": arguments, "status": status})
    };
    let mut events: Vec<Value> = pieces
        .iter()
        .map(|piece| {
            json!({"type": "response.function_call_arguments.delta", "item_id": id,
                "output_index": index, "delta": piece})
        })
        .collect();
    let whole = pieces.concat();
    events.push(json!({"type": "response.function_call_arguments.done", "item_id": id,
        "output_index": index, "name": name, "arguments": whole}));
    item(index, call("in_progress", ""), events, call("completed", &whole))
}

const ENCRYPTED: &str = "gAAAAABencrypted==";

fn thinking(index: u64, text: &str) -> Vec<Value> {
    let id = format!("rs_{index}");
    let begun = json!({"type": "reasoning", "id": id, "summary": []});
    let whole = json!({"type": "reasoning", "id": id, "encrypted_content": ENCRYPTED,
        "summary": [{"type": "summary_text", "text": text}]});
    let piece = json!({"type": "response.reasoning_summary_text.delta", "item_id": id,
        "output_index": index, "summary_index": 0, "delta": text});
    item(index, begun, vec![piece], whole)
}

fn end(kind: &str, more: &Value) -> Value {
    let mut response = json!({"id": "resp_1", "output": [], "usage": {"input_tokens": 30,
        "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 39}});
    for (key, value) in more.as_object().into_iter().flatten() {
        response[key] = value.clone();
    }
    json!({"type": kind, "response": response})
}

fn completed() -> Value {
    end("response.completed", &json!({}))
}

/// Everything that a turn can have, with the pieces of two calls interleaved.
fn rich() -> String {
    let one = call(2, "call_1", "shell", &["{\"x\": 1.5", "0}"]);
    let two = call(4, "call_2", "human_ask", &["{\"q\":\"\\u00", "e9\"}"]);
    let events = [
        begin(),
        thinking(0, "Let me see é\u{1F600}."),
        text(1, &["Running", " it \u{1F680}."]),
        vec![one[0].clone(), one[1].clone()],
        thinking(3, "And then."),
        vec![two[0].clone(), two[1].clone(), one[2].clone(), two[2].clone()],
        one[3..].to_vec(),
        two[3..].to_vec(),
        vec![json!({"type": "response.something.new", "output_index": 7})],
        vec![completed()],
    ];
    stream(&events.concat())
}

fn api() -> Responses {
    Responses { keep_thinking: true, rng: NoRandomness::new() }
}

fn settings(url: &Url) -> ModelSettings {
    let mut settings = ModelSettings::new("gpt", "large-5", url.clone());
    settings.key =
        Some(ApiKey { secret: SecretString::new("sk-secret"), origin: "`api_key_env` K".into() });
    settings
}

fn client(url: &Url, retries: u32) -> Arc<dyn Model> {
    let settings = ModelSettings { retries, ..settings(url) };
    model(api(), settings, Arc::new(QuickClock::default()))
}

fn reader() -> Items {
    Items::new("large-5", NoRandomness::new())
}

fn read_turn(stream: &str) -> ModelTurn {
    let (reply, _) = read_reply(reader(), [stream.as_bytes()]).expect("a reply");
    ModelTurn { parts: reply.parts, calls: reply.calls, usage: reply.usage }
}

#[tokio::test]
async fn a_rich_turn_is_read_whole() {
    let server = Server::saying(vec![FakeReply::events(rich())]);
    let (turn, deltas) = think(&*client(&server.url, 0), &hello()).await;
    let turn = turn.expect("a turn");
    let call = |id: &'static str, tool: &'static str, input: &'static str| WrittenCall {
        tool_use_id: id.into(),
        tool: tool.into(),
        input: input.into(),
    };
    assert_eq!(
        turn.calls,
        [
            call("call_1", "shell", "{\"x\": 1.50}"),
            // The name that the API would have refused is our own again.
            call("call_2", "human.ask", "{\"q\":\"\\u00e9\"}"),
        ]
    );
    let texts: Vec<&str> = turn
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Reasoning { text, .. } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["Let me see é\u{1F600}.", "Running it \u{1F680}.", "And then."]);
    assert_eq!(turn.usage, TurnUsage { input_tokens: 30, cached_tokens: 20, output_tokens: 9 });
    assert_eq!(
        deltas,
        [
            Delta::Reasoning("Let me see é\u{1F600}.".into()),
            Delta::Text("Running".into()),
            Delta::Text(" it \u{1F680}.".into()),
            Delta::Reasoning("And then.".into()),
        ]
    );
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("post /v1/responses http/1.1"), "{}", asked.head);
    assert!(asked.head.contains("authorization: bearer sk-secret\r\n"), "{}", asked.head);
}

#[test]
fn where_the_network_cuts_a_stream_changes_nothing() {
    check_splits(reader, rich().as_bytes());
}

#[test]
fn a_stream_that_was_cut_off_is_no_turn() {
    let stream = rich();
    for at in 0..stream.len() {
        let got = read_reply(reader(), [&stream.as_bytes()[..at]]);
        assert!(got.is_err(), "{at} of {} bytes became a turn: {got:?}", stream.len());
    }
}

#[tokio::test]
async fn a_connection_that_was_cut_is_no_turn_either() {
    let stream = rich();
    let cuts: Vec<usize> = (0..stream.len()).step_by(13).collect();
    let count = cuts.len();
    let server = Server::start(move |number, _| {
        let part = FakeReply::events(&stream.as_bytes()[..cuts[number / 2]]);
        if number % 2 == 0 { part } else { part.cut() }
    });
    let client = client(&server.url, 0);
    for number in 0..2 * count {
        let (turn, _) = think(&*client, &hello()).await;
        assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{number}: {turn:?}");
    }
}

#[test]
fn items_may_come_with_the_end_alone() {
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f",
        "arguments": "", "status": "completed"});
    let message = json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    let end = end("response.completed", &json!({"output": [message, item]}));
    let turn = read_turn(&stream(&[end]));
    assert_eq!(turn.parts, [Part::Text("No.".into())]);
    assert_eq!(&*turn.calls[0].input, "{}");
}

#[test]
fn an_item_that_did_not_end_is_no_turn() {
    let half = call(0, "call_1", "f", &["{}"]);
    let unfinished = {
        let mut events = half.clone();
        events.last_mut().expect("an event")["item"]["status"] = json!("incomplete");
        events
    };
    for events in [half[..half.len() - 1].to_vec(), unfinished, [half.clone(), half].concat()] {
        let all = [begin(), events, vec![completed()]].concat();
        assert!(read_reply(reader(), [stream(&all).as_bytes()]).is_err());
    }
}

#[tokio::test]
async fn every_way_to_end_a_turn_has_its_remedy() {
    let incomplete = |reason: &str| {
        end("response.incomplete", &json!({"incomplete_details": {"reason": reason}}))
    };
    let failed = |code: &str| {
        end("response.failed", &json!({"error": {"code": code, "message": "sorry"}, "usage": null}))
    };
    let cut = "the model's answer was cut off: it reached the most that the provider allows; see \
               `max_tokens` of [models.gpt]; allow it more, then retry the run";
    for (last, wanted) in [
        (incomplete("max_output_tokens"), cut),
        // Some servers say so only in the response, under the event of a whole one.
        (
            end(
                "response.completed",
                &json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
            ),
            cut,
        ),
        (
            end("response.completed", &json!({"status": "incomplete"})),
            "the model declined to answer: incomplete, incomplete; say it in other words, in a new \
             session",
        ),
        (
            incomplete("content_filter"),
            "the model declined to answer: incomplete, content_filter; say it in other words, in a \
             new session",
        ),
        (
            failed("server_error"),
            "the model is busy or cannot be reached: busy, 500 server_error: sorry; retry the run \
             in a while",
        ),
        (
            failed("context_length_exceeded"),
            "the conversation is too long for the model: 400 context_length_exceeded: sorry; start \
             a new session, or take a model with a larger window",
        ),
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": null}),
            "the model is busy or cannot be reached: busy, 429 rate_limit_exceeded: slow; retry the \
             run in a while",
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}),
            "the model refused the request: 400 invalid_request_error: bad; mend the configuration, \
             then retry the run",
        ),
    ] {
        let whole = call(0, "call_1", "f", &["{}"]);
        let events = [begin(), whole, vec![last]].concat();
        let server = Server::saying(vec![FakeReply::events(stream(&events))]);
        let (turn, _) = think(&*client(&server.url, 0), &hello()).await;
        assert_eq!(turn.unwrap_err().to_string(), wanted);
    }
}

#[tokio::test]
async fn arguments_without_end_are_cut_off() {
    let begun = [begin(), call(0, "call_1", "f", &[])[..1].to_vec()].concat();
    let piece = json!({"type": "response.function_call_arguments.delta", "output_index": 0,
        "delta": "x".repeat(64 << 10)});
    let server = Server::saying(vec![
        FakeReply::events(stream(&begun)).repeat(stream(&[piece]), std::time::Duration::ZERO),
    ]);
    let (turn, _) = think(&*client(&server.url, 5), &hello()).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.contains("the arguments of one call have more than 1 MiB"), "{why}");
    // The server never stops by itself. What it has written and nobody has read is in the kernel's buffers,
    // which a system may let grow to tens of MiB (`tcp_rmem`).
    assert!(server.written.load(std::sync::atomic::Ordering::SeqCst) < 64 << 20);
}

fn result<'a>(id: &'a str, content: &'a str, is_error: bool) -> CallResult<'a> {
    let tool = "shell".into();
    CallResult { tool_use_id: id.into(), tool, content: content.into(), is_error }
}

fn body(api: &Responses, settings: &ModelSettings, request: &ModelRequest<'_>) -> Vec<u8> {
    api.body(settings, request, &Names::of(request), &[]).expect("a body")
}

#[test]
fn i26_a_request_is_the_same_to_the_byte_and_thinking_goes_back_as_it_came() {
    let mut turn = read_turn(&rich());
    // As the client does it.
    turn.calls[1].tool = "human.ask".into();
    let request = asking(vec![
        ModelMessage::User { text: "Hello".into() },
        assistant(&turn),
        ModelMessage::Results {
            results: vec![result("call_1", "ok", false), result("call_2", "", true)],
        },
        ModelMessage::User { text: "Meanwhile.".into() },
    ]);
    let mut settings = settings(&Url::parse("https://x.example").expect("a URL"));
    settings.max_tokens = Some(900);
    settings.effort = Some("low".into());
    let first = body(&api(), &settings, &request);
    assert_eq!(first, body(&api(), &settings, &request.clone()));
    let tool = |name: &str, own: &str| {
        json!({"type": "function", "name": name, "description": format!("Does {own}."),
            "parameters": {"type": "object"}, "strict": false})
    };
    let thought = |text: &str| {
        json!({"type": "reasoning", "encrypted_content": ENCRYPTED,
            "summary": [{"type": "summary_text", "text": text}]})
    };
    let said = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let wanted = json!({
        "model": "large-5", "stream": true, "store": false, "instructions": "Be careful.",
        "input": [
            said("Hello"),
            thought("Let me see é\u{1F600}."),
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "Running it \u{1F680}."}]},
            {"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": "{\"x\": 1.50}"},
            thought("And then."),
            {"type": "function_call", "call_id": "call_2", "name": "human_ask",
             "arguments": "{\"q\":\"\\u00e9\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
            {"type": "function_call_output", "call_id": "call_2",
             "output": "The tool failed and said nothing."},
            said("Meanwhile."),
        ],
        "tools": [tool("shell", "shell"), tool("human_ask", "human.ask")],
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low", "summary": "auto"},
        "max_output_tokens": 900,
    });
    assert_eq!(serde_json::from_slice::<Value>(&first).expect("JSON"), wanted);

    settings.model = "other".into();
    let plain = Responses { keep_thinking: false, ..api() };
    let sent: Value = serde_json::from_slice(&body(&plain, &settings, &request)).expect("JSON");
    let input = sent["input"].as_array().expect("items");
    assert!(!input.iter().any(|item| item["type"] == "reasoning"), "not for another model");
    assert_eq!(sent.get("include"), None);
}

/// Answers the messages of the suite, as the API would.
fn conforming(asked: &fake::FakeRequest) -> FakeReply {
    let body = asked.json();
    let input = body["input"].as_array().expect("items");
    let last = input.last().expect("an item");
    let number = input.len();
    let echo = |index: u64, id: &str, text: &str| {
        call(index, &format!("{id}{number}"), "echo", &["{\"text\":", &format!("\"{text}\"}}")])
    };
    let said = last["content"][0]["text"].as_str().unwrap_or_default();
    let events = match (last["type"].as_str(), said) {
        (Some("function_call_output"), _) => {
            text(0, &["It says: ", last["output"].as_str().unwrap_or_default()])
        }
        (_, conformance::SAY_TEXT) => {
            let (left, right) = conformance::TEXT.split_at(7);
            text(0, &[left, right])
        }
        (_, conformance::SAY_CALL) => echo(0, "a", "one"),
        (_, conformance::SAY_PARALLEL) => [echo(0, "b", "one"), echo(1, "c", "two")].concat(),
        (_, conformance::SAY_SLOW) => {
            let events = text(0, &["word "]);
            let pause = std::time::Duration::from_millis(20);
            return FakeReply::events(stream(&events[..2])).repeat(stream(&events[2..3]), pause);
        }
        other => panic!("not a message of the suite: {other:?}"),
    };
    FakeReply::events(stream(&[begin(), events, vec![completed()]].concat()))
}

#[tokio::test]
async fn it_passes_the_suite_of_all_models() {
    let server = Server::start(|_, asked| conforming(asked));
    conformance::check(&*client(&server.url, 0)).await;
}

#[test]
fn a_picture_is_a_part_of_its_input() {
    let request = asking(vec![
        ModelMessage::Image {
            label: "[image a.png, 3x2]".into(),
            media_type: "image/png",
            bytes: std::sync::Arc::from(*b"\x89PNG"),
        },
        ModelMessage::User { text: "What is it?".into() },
    ]);
    let settings = settings(&Url::parse("https://x.example").expect("a URL"));
    let sent: Value = serde_json::from_slice(&body(&api(), &settings, &request)).expect("JSON");
    let url = "data:image/png;base64,iVBORw==";
    let parts = json!([
        {"type": "input_text", "text": "[image a.png, 3x2]"},
        {"type": "input_image", "detail": "auto", "image_url": url},
    ]);
    assert_eq!(sent["input"][0], json!({"type": "message", "role": "user", "content": parts}));
}
