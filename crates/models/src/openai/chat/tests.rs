use domain::message::Part;
use ports::model::{
    CallResult, Delta, ModelError, ModelMessage, ModelTurn, TurnUsage, WrittenCall,
};
use ports::secret_string::SecretString;
use reqwest::Url;
use serde_json::{Value, json};

use super::reader::Chunks;
use super::*;
use crate::fake::{
    self, FakeReply, NoRandomness, QuickClock, Server, asking, assistant, check_splits, hello,
    read_reply, think,
};
use crate::settings::ApiKey;
use crate::{conformance, opaque};

fn stream(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn chunk(delta: Value, finish_reason: Option<&str>) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
}

fn said(text: &str) -> Value {
    chunk(json!({"content": text}), None)
}

fn fragment(fragment: Value) -> Value {
    chunk(json!({"tool_calls": [fragment]}), None)
}

fn finish(reason: &str) -> Value {
    chunk(json!({}), Some(reason))
}

fn counted() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 9, "total_tokens": 39,
        "prompt_tokens_details": {"cached_tokens": 20}}})
}

/// Everything that a turn can have, with the fragments of two calls interleaved.
fn rich() -> String {
    let chunks = [
        chunk(json!({"role": "assistant", "content": null}), None),
        chunk(json!({"reasoning_content": "Let me "}), None),
        chunk(json!({"reasoning_content": "see é\u{1F600}."}), None),
        said("Running"),
        said(" it \u{1F680}."),
        fragment(json!({"index": 0, "id": "call_a", "type": "function",
            "function": {"name": "shell", "arguments": ""}})),
        fragment(json!({"index": 0, "function": {"arguments": "{\"x\": 1.5"}})),
        fragment(json!({"index": 1, "id": "call_b", "type": "function",
            "function": {"name": "human_ask", "arguments": ""}})),
        fragment(json!({"index": 0, "function": {"arguments": "0}"}})),
        fragment(json!({"index": 1, "function": {"arguments": "{\"q\":\"\\u00"}})),
        fragment(json!({"index": 1, "function": {"arguments": "e9\"}"}})),
        finish("tool_calls"),
        counted(),
    ];
    format!(": hello\n\n{}data: [DONE]\n\n", stream(&chunks))
}

fn api(at_vendor: bool) -> Chat {
    Chat { at_vendor, send_thinking: true, rng: NoRandomness::new() }
}

fn settings(url: &Url) -> ModelSettings {
    let mut settings = ModelSettings::new("gpt", "small-1", url.clone());
    settings.key =
        Some(ApiKey { secret: SecretString::new("sk-secret"), origin: "`api_key_env` K".into() });
    settings
}

fn client(url: &Url, retries: u32) -> Arc<dyn Model> {
    let settings = ModelSettings { retries, ..settings(url) };
    model(api(false), settings, Arc::new(QuickClock::default()))
}

fn reader() -> Chunks {
    Chunks::new(NoRandomness::new())
}

/// The calls of a stream: id, name, arguments.
#[track_caller]
fn calls(chunks: &[Value]) -> Vec<(String, String, String)> {
    let (reply, _) = read_reply(reader(), [stream(chunks).as_bytes()]).expect("a reply");
    let calls = reply.calls.into_iter();
    calls.map(|call| (call.tool_use_id.into(), call.tool.into(), call.input.into())).collect()
}

fn written(calls: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    calls.iter().map(|(id, name, input)| ((*id).into(), (*name).into(), (*input).into())).collect()
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
            call("call_a", "shell", "{\"x\": 1.50}"),
            // The name that the API would have refused is our own again.
            call("call_b", "human.ask", "{\"q\":\"\\u00e9\"}"),
        ]
    );
    let thought = Part::Reasoning {
        text: "Let me see é\u{1F600}.".into(),
        opaque: Some(r#"{"api":"chat","field":"reasoning_content"}"#.into()),
    };
    assert_eq!(turn.parts, [thought, Part::Text("Running it \u{1F680}.".into())]);
    assert_eq!(turn.usage, TurnUsage { input_tokens: 30, cached_tokens: 20, output_tokens: 9 });
    assert_eq!(deltas.len(), 4);
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("post /v1/chat/completions http/1.1"), "{}", asked.head);
    assert!(asked.head.contains("authorization: bearer sk-secret\r\n"), "{}", asked.head);
}

#[test]
fn where_the_network_cuts_a_stream_changes_nothing() {
    check_splits(reader, rich().as_bytes());
}

#[test]
fn a_stream_that_was_cut_off_before_its_end_is_no_turn() {
    let stream = rich();
    let end = stream.find("\"tool_calls\"}").expect("the end of the turn");
    let end = end + stream[end..].find("\n\n").expect("its last byte") + 2;
    for at in 0..stream.len() {
        let got = read_reply(reader(), [&stream.as_bytes()[..at]]);
        assert_eq!(got.is_ok(), at >= end, "{at} of {} bytes: {:?}", stream.len(), got.err());
    }
}

#[tokio::test]
async fn a_connection_that_was_cut_is_no_turn_either() {
    let stream = rich();
    let end = stream.find("\"tool_calls\"}").expect("the end of the turn");
    let cuts: Vec<usize> = (0..end).step_by(11).collect();
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

#[tokio::test]
async fn a_turn_is_whole_at_its_finish_reason_whatever_the_server_does_then() {
    let whole = [said("Hi."), finish("stop")];
    for answer in [
        FakeReply::events(stream(&whole)),
        FakeReply::events(stream(&whole)).cut(),
        FakeReply::events(stream(&whole)).stall(),
        FakeReply::events(format!("{}data: {{garbage\n\n", stream(&whole))),
        FakeReply::events(stream(&[said("Hi."), finish("stop"), said("More?"), finish("length")])),
    ] {
        let server = Server::saying(vec![answer]);
        let (turn, _) = think(&*client(&server.url, 0), &hello()).await;
        let turn = turn.expect("a turn");
        assert_eq!(turn.parts, [Part::Text("Hi.".into())]);
        assert_eq!(turn.usage, TurnUsage::default(), "nobody counted");
    }
}

#[test]
fn servers_cut_calls_in_their_own_ways() {
    let two = written(&[("a", "f", "{\"x\":1}"), ("b", "g", "{\"y\":2}")]);
    let piece = |value: Value| fragment(value);
    let f = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    // No index at all; each call whole in one fragment.
    assert_eq!(
        calls(&[
            piece(json!({"id": "a", "function": f("f", "{\"x\":1}")})),
            piece(json!({"id": "b", "function": f("g", "{\"y\":2}")})),
            finish("stop"),
        ]),
        two
    );
    // No index, in several fragments, one after the other.
    assert_eq!(
        calls(&[
            piece(json!({"id": "a", "function": f("f", "{\"x\"")})),
            piece(json!({"function": {"arguments": ":1}"}})),
            piece(json!({"id": "b", "function": f("g", "")})),
            piece(json!({"id": null, "function": {"name": null, "arguments": "{\"y\":2}"}})),
            finish("tool_calls"),
        ]),
        two
    );
    // Both in one chunk; every call has the number 0.
    assert_eq!(
        calls(&[chunk(
            json!({"tool_calls": [
                {"index": 0, "id": "a", "function": f("f", "{\"x\":1}")},
                {"index": 0, "id": "b", "function": f("g", "{\"y\":2}")},
            ]}),
            Some("tool_calls"),
        ),]),
        two
    );
    // Id and name repeated in every fragment.
    assert_eq!(
        calls(&[
            piece(json!({"index": 0, "id": "a", "function": f("f", "{\"x\"")})),
            piece(json!({"index": 0, "id": "a", "function": f("f", ":1}")})),
            piece(json!({"index": 1, "id": "b", "function": f("g", "{\"y\":2}")})),
            finish("tool_calls"),
        ]),
        two
    );
    // Arguments as an object, or none.
    assert_eq!(
        calls(&[
            piece(json!({"index": 0, "id": "a",
                "function": {"name": "f", "arguments": {"x": 1}}})),
            piece(json!({"index": 1, "id": "b", "function": {"name": "g"}})),
            finish("tool_calls"),
        ]),
        written(&[("a", "f", "{\"x\":1}"), ("b", "g", "{}")])
    );
    // Empty ids: each call gets one of its own.
    let made = calls(&[
        piece(json!({"index": 0, "id": "", "function": f("f", "{}")})),
        piece(json!({"index": 1, "function": f("f", "{}")})),
        piece(json!({"index": 0, "id": "", "function": f("f", "{}")})),
        finish("tool_calls"),
    ]);
    assert_eq!(made.len(), 3);
    assert!(made.iter().all(|(id, ..)| id.starts_with("call_")), "{made:?}");
    assert!(made[0].0 != made[1].0 && made[1].0 != made[2].0, "{made:?}");
}

#[test]
fn a_piece_of_no_call_is_no_turn() {
    let lost = fragment(json!({"index": 3, "function": {"arguments": "{}"}}));
    assert!(read_reply(reader(), [stream(&[lost, finish("tool_calls")]).as_bytes()]).is_err());
}

#[tokio::test]
async fn every_way_to_end_a_turn_has_its_remedy() {
    let call =
        fragment(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}));
    let cut = "the model's answer was cut off: it reached the most that the provider allows; see \
               `max_tokens` of [models.gpt]; allow it more, then retry the run";
    for (chunks, wanted) in [
        (vec![said("half"), finish("length")], cut),
        (vec![call.clone(), finish("length")], cut),
        (
            vec![said("x"), finish("content_filter")],
            "the model declined to answer: content_filter; say it in other words, in a new session",
        ),
        (
            vec![call, finish("abort")],
            "the model's answer makes no sense: the turn ended for an unknown reason; retry the run",
        ),
        (
            vec![
                said("x"),
                json!({"error": {"message": "too long", "code": "context_length_exceeded"}}),
            ],
            "the conversation is too long for the model: 400 context_length_exceeded: too long; \
             start a new session, or take a model with a larger window",
        ),
        (
            vec![said("x"), json!({"error": {"message": "down", "code": 503}})],
            "the model is busy or cannot be reached: busy, 503: down; retry the run in a while",
        ),
    ] {
        let server = Server::saying(vec![FakeReply::events(stream(&chunks))]);
        let (turn, _) = think(&*client(&server.url, 0), &hello()).await;
        assert_eq!(turn.unwrap_err().to_string(), wanted);
    }
    let refusal = [chunk(json!({"refusal": "I will not."}), None), finish("stop")];
    let (reply, deltas) = read_reply(reader(), [stream(&refusal).as_bytes()]).expect("a reply");
    assert_eq!(reply.parts, [Part::Text("I will not.".into())], "it is what the model says");
    assert_eq!(deltas, [Delta::Text("I will not.".into())]);
}

#[tokio::test]
async fn errors_of_the_vendor_have_their_remedies() {
    let body = |kind: &str, code: Value| json!({"error": {"message": "no sk-secret", "type": kind, "param": null, "code": code}});
    for (status, body, wanted) in [
        (
            401,
            body("invalid_request_error", json!("invalid_api_key")),
            "check the key in `api_key_env` K",
        ),
        (
            404,
            body("invalid_request_error", json!("model_not_found")),
            "check `model` (it is `small-1`)",
        ),
        (429, body("insufficient_quota", json!("insufficient_quota")), "no credit left"),
        (400, json!("not an envelope"), "400"),
    ] {
        let server = Server::saying(vec![FakeReply::refused(status, &body)]);
        let (turn, _) = think(&*client(&server.url, 5), &hello()).await;
        let why = turn.unwrap_err().to_string();
        assert!(why.contains(wanted) && !why.contains("sk-secret"), "{why}");
        assert_eq!(server.asked().len(), 1);
    }
}

fn result<'a>(id: &'a str, content: &'a str, is_error: bool) -> CallResult<'a> {
    let tool = "shell".into();
    CallResult { tool_use_id: id.into(), tool, content: content.into(), is_error }
}

fn body(api: &Chat, settings: &ModelSettings, request: &ModelRequest<'_>) -> Vec<u8> {
    api.body(settings, request, &Names::of(request), &[]).expect("a body")
}

#[test]
fn i26_a_request_is_the_same_to_the_byte_and_thinking_goes_back_as_it_came() {
    let (reply, _) = read_reply(reader(), [rich().as_bytes()]).expect("a reply");
    let mut turn = ModelTurn { parts: reply.parts, calls: reply.calls, usage: reply.usage };
    // As the client does it.
    turn.calls[1].tool = "human.ask".into();
    let request = asking(vec![
        ModelMessage::User { text: "Hello".into() },
        assistant(&turn),
        ModelMessage::Results {
            results: vec![result("call_a", "ok", false), result("call_b", "", true)],
        },
        ModelMessage::User { text: "Meanwhile.".into() },
    ]);
    let mut settings = settings(&Url::parse("https://x.example").expect("a URL"));
    settings.max_tokens = Some(900);
    settings.effort = Some("low".into());
    let first = body(&api(false), &settings, &request);
    assert_eq!(first, body(&api(false), &settings, &request.clone()));
    let tool = |name: &str, own: &str| {
        json!({"type": "function", "function": {"name": name,
            "description": format!("Does {own}."), "parameters": {"type": "object"}}})
    };
    let wanted = json!({
        "model": "small-1", "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "Be careful."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Running it \u{1F680}.",
             "reasoning_content": "Let me see é\u{1F600}.",
             "tool_calls": [
                {"id": "call_a", "type": "function",
                 "function": {"name": "shell", "arguments": "{\"x\": 1.50}"}},
                {"id": "call_b", "type": "function",
                 "function": {"name": "human_ask", "arguments": "{\"q\":\"\\u00e9\"}"}},
             ]},
            {"role": "tool", "tool_call_id": "call_a", "content": "ok"},
            {"role": "tool", "tool_call_id": "call_b", "content": "The tool failed and said nothing."},
            {"role": "user", "content": "Meanwhile."},
        ],
        "tools": [tool("shell", "shell"), tool("human_ask", "human.ask")],
        "max_tokens": 900, "reasoning_effort": "low",
    });
    assert_eq!(serde_json::from_slice::<Value>(&first).expect("JSON"), wanted);

    let silent = Chat { send_thinking: false, ..api(true) };
    let sent: Value = serde_json::from_slice(&body(&silent, &settings, &request)).expect("JSON");
    assert_eq!(sent["messages"][2].get("reasoning_content"), None);
    assert_eq!((&sent["max_completion_tokens"], sent.get("max_tokens")), (&json!(900), None));
}

#[test]
fn thinking_of_another_provider_is_not_sent() {
    let opaque = opaque::Opaque::of(opaque::ApiKind::Anthropic).write();
    let turn = ModelTurn {
        parts: vec![Part::Reasoning { text: "mine".into(), opaque }],
        ..ModelTurn::default()
    };
    let request = asking(vec![
        ModelMessage::User { text: "Hello".into() },
        assistant(&turn),
        ModelMessage::User { text: "Go on".into() },
    ]);
    let settings = settings(&Url::parse("https://x.example").expect("a URL"));
    let sent: Value =
        serde_json::from_slice(&body(&api(false), &settings, &request)).expect("JSON");
    let roles: Vec<_> =
        sent["messages"].as_array().expect("messages").iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "user"], "a message of nothing is left out");
}

/// Answers the messages of the suite, as a server would.
fn conforming(asked: &fake::FakeRequest) -> FakeReply {
    let body = asked.json();
    let messages = body["messages"].as_array().expect("messages");
    let last = messages.last().expect("a message");
    let number = messages.len();
    let echo = |index: u64, id: &str, text: &str| {
        fragment(json!({"index": index, "id": format!("{id}{number}"), "type": "function",
            "function": {"name": "echo", "arguments": format!("{{\"text\":\"{text}\"}}")}}))
    };
    let content = last["content"].as_str().unwrap_or_default();
    let chunks = match (last["role"].as_str(), content) {
        (Some("tool"), echo) => vec![said("It says: "), said(echo), finish("stop")],
        (_, conformance::SAY_TEXT) => {
            let (left, right) = conformance::TEXT.split_at(7);
            vec![said(left), said(right), finish("stop")]
        }
        (_, conformance::SAY_CALL) => vec![echo(0, "a", "one"), finish("tool_calls")],
        (_, conformance::SAY_PARALLEL) => {
            vec![echo(0, "b", "one"), echo(1, "c", "two"), finish("tool_calls")]
        }
        (_, conformance::SAY_SLOW) => {
            let pause = std::time::Duration::from_millis(20);
            return FakeReply::events("").repeat(stream(&[said("word ")]), pause);
        }
        other => panic!("not a message of the suite: {other:?}"),
    };
    FakeReply::events(format!("{}data: [DONE]\n\n", stream(&chunks)))
}

#[tokio::test]
async fn it_passes_the_suite_of_all_models() {
    let server = Server::start(|_, asked| conforming(asked));
    conformance::check(&*client(&server.url, 0)).await;
}

#[test]
fn a_picture_is_a_part_and_goes_only_where_models_are_known_to_take_some() {
    let request = asking(vec![
        ModelMessage::Image {
            label: "[image a.png, 3x2]".into(),
            media_type: "image/png",
            bytes: std::sync::Arc::from(*b"\x89PNG"),
        },
        ModelMessage::User { text: "What is it?".into() },
    ]);
    let mut settings = settings(&Url::parse("https://x.example").expect("a URL"));
    let sent: Value =
        serde_json::from_slice(&body(&api(false), &settings, &request)).expect("JSON");
    let image = json!({"url": "data:image/png;base64,iVBORw=="});
    let parts = json!([
        {"type": "text", "text": "[image a.png, 3x2]"},
        {"type": "image_url", "image_url": image},
    ]);
    assert_eq!(sent["messages"][1], json!({"role": "user", "content": parts}));
    assert_eq!(sent["messages"][2], json!({"role": "user", "content": "What is it?"}));
    assert!(api(true).takes_images(&settings) && !api(false).takes_images(&settings));
    settings.model = "gpt-3.5-turbo".into();
    assert!(!api(true).takes_images(&settings));
}
