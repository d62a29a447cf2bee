use std::sync::Arc;

use domain::message::Part;
use ports::model::{
    AssistantPart, CallResult, Delta, Model, ModelError, ModelMessage, ModelRequest, TurnUsage,
    WrittenCall,
};
use ports::secret_string::SecretString;
use reqwest::Url;
use serde_json::{Value, json};

use super::reader::Messages;
use super::*;
use crate::fake::{
    FakeReply, NoRandomness, QuickClock, Server, asking, assistant, check_splits, hello,
    read_reply, think,
};
use crate::settings::ApiKey;
use crate::{conformance, fake};

/// A stream as the API would send it, one event for each line of JSON.
pub(crate) fn stream(events: &[Value]) -> String {
    let events = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap_or("odd");
        format!("event: {name}\ndata: {event}\n\n")
    });
    events.collect()
}

pub(crate) fn begin() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "content": [],
        "stop_reason": null, "usage": {"input_tokens": 10, "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 3, "output_tokens": 1}}})
}

pub(crate) fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 15}}),
        json!({"type": "message_stop"}),
    ]
}

pub(crate) fn block(index: u64, start: Value, deltas: Vec<Value>) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

pub(crate) fn text(index: u64, pieces: &[&str]) -> Vec<Value> {
    let deltas = pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece}));
    block(index, json!({"type": "text", "text": ""}), deltas.collect())
}

fn call(index: u64, id: &str, name: &str, pieces: &[&str]) -> Vec<Value> {
    let deltas =
        pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
    let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    block(index, start, deltas.collect())
}

fn thinking(index: u64, pieces: &[&str], signature: &str) -> Vec<Value> {
    let mut deltas: Vec<Value> =
        pieces.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
    deltas.push(json!({"type": "signature_delta", "signature": signature}));
    block(index, json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
}

/// Everything that a turn can have, with the blocks of two calls interleaved.
fn rich() -> String {
    let mut events = vec![begin(), json!({"type": "ping"})];
    events.extend(thinking(0, &["Let me ", "see é\u{1F600}."], "c2lnbmF0dXJl=="));
    let redacted = json!({"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"});
    events.extend(block(1, redacted, vec![]));
    events.extend(text(2, &["Running", " it \u{1F680}."]));
    let (one, two) = (
        call(3, "toolu_1", "shell", &["", "{\"command\": \"l", "s \\u00", "e9\"}"]),
        call(4, "toolu_2", "human_ask", &["{\"n\": 1.50", ", \"a\":[ ]}"]),
    );
    events.push(one[0].clone());
    events.push(two[0].clone());
    events.extend([&one[1], &two[1], &one[2], &one[3], &two[2], &one[4]].map(Clone::clone));
    events.extend([two[3].clone(), one[5].clone()]);
    events.extend(call(5, "toolu_3", "shell", &[]));
    events.push(json!({"type": "something_new", "index": 3}));
    events.push(json!({"type": "content_block_start", "index": 6,
        "content_block": {"type": "text", "text": ""}}));
    events.push(json!({"type": "content_block_delta", "index": 6,
        "delta": {"type": "citations_delta", "citation": {}}}));
    events.push(json!({"type": "content_block_stop", "index": 6}));
    events.extend(end("tool_use"));
    stream(&events)
}

fn settings(url: &Url) -> ModelSettings {
    let mut settings = ModelSettings::new("claude", "big-1", url.clone());
    settings.key =
        Some(ApiKey { secret: SecretString::new("sk-secret"), origin: "`api_key_env` K".into() });
    settings
}

pub(crate) fn client(url: &Url, retries: u32) -> Arc<dyn Model> {
    let settings = ModelSettings { retries, ..settings(url) };
    model(Anthropic::default(), settings, Arc::new(QuickClock::default()), NoRandomness::new())
}

async fn told(events: &[Value]) -> Result<ModelTurnOf, String> {
    let server = Server::saying(vec![FakeReply::events(stream(events))]);
    let (turn, _) = think(&*client(&server.url, 0), &hello()).await;
    turn.map_err(|error| error.to_string())
}

type ModelTurnOf = ports::model::ModelTurn;

#[tokio::test]
async fn a_rich_turn_is_read_whole() {
    let server = Server::saying(vec![FakeReply::events(rich())]);
    let (turn, deltas) = think(&*client(&server.url, 0), &hello()).await;
    let turn = turn.expect("a turn");
    let calls: Vec<_> =
        turn.calls.iter().map(|call| (&*call.tool_use_id, &*call.tool, &*call.input)).collect();
    assert_eq!(
        calls,
        [
            ("toolu_1", "shell", "{\"command\": \"ls \\u00e9\"}"),
            // The name that the API would have refused is our own again.
            ("toolu_2", "human.ask", "{\"n\": 1.50, \"a\":[ ]}"),
            ("toolu_3", "shell", "{}"),
        ]
    );
    assert_eq!(turn.usage, TurnUsage { input_tokens: 17, cached_tokens: 4, output_tokens: 15 });
    let kept: Vec<_> = turn
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => format!("text {text}"),
            Part::Reasoning { text, opaque } => format!("thought {text} {opaque:?}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kept,
        [
            r#"thought Let me see é😀. Some("{\"api\":\"anthropic\",\"signature\":\"c2lnbmF0dXJl==\"}")"#,
            r#"thought  Some("{\"api\":\"anthropic\",\"redacted\":\"ZW5jcnlwdGVk\"}")"#,
            "text Running it 🚀.",
        ]
    );
    assert_eq!(
        deltas,
        [
            Delta::Reasoning("Let me ".into()),
            Delta::Reasoning("see é\u{1F600}.".into()),
            Delta::Text("Running".into()),
            Delta::Text(" it \u{1F680}.".into()),
        ]
    );
}

#[test]
fn where_the_network_cuts_a_stream_changes_nothing() {
    check_splits(Messages::default, rich().as_bytes());
    let foreign_ends = rich().replace('\n', "\r\n");
    let plain = read_reply(Messages::default(), [rich().as_bytes()]).expect("a reply");
    let foreign =
        read_reply(Messages::default(), foreign_ends.as_bytes().chunks(1)).expect("a reply");
    assert_eq!(format!("{plain:?}"), format!("{foreign:?}"));
}

#[test]
fn a_stream_that_was_cut_off_is_no_turn() {
    let stream = rich();
    for at in 0..stream.len() {
        let got = read_reply(Messages::default(), [&stream.as_bytes()[..at]]);
        assert!(got.is_err(), "{at} of {} bytes became a turn: {got:?}", stream.len());
    }
}

#[tokio::test]
async fn a_connection_that_was_cut_is_no_turn_either() {
    let stream = rich();
    let cuts: Vec<usize> = (0..stream.len()).step_by(7).collect();
    let count = cuts.len();
    let server = Server::start(move |number, _| {
        let part = FakeReply::events(&stream.as_bytes()[..cuts[number / 2]]);
        // Both ways in which it can end: as HTTP ends an answer, and in the middle of one.
        if number % 2 == 0 { part } else { part.cut() }
    });
    let client = client(&server.url, 0);
    for number in 0..2 * count {
        let (turn, _) = think(&*client, &hello()).await;
        assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{number}: {turn:?}");
    }
}

#[tokio::test]
async fn every_way_to_end_a_turn_has_its_remedy() {
    let cut_call = [&[begin()][..], &call(0, "t", "shell", &["{\"a\":"])[..2], &end("max_tokens")];
    let whole_call = [&[begin()][..], &call(0, "t", "shell", &["{}"]), &end("max_tokens")];
    let cut = "the model's answer was cut off: it reached the most that the provider allows; see \
               `max_tokens` of [models.claude]; allow it more, then retry the run";
    assert_eq!(told(&cut_call.concat()).await.unwrap_err(), cut);
    assert_eq!(told(&whole_call.concat()).await.unwrap_err(), cut, "it looks whole, and is not");
    for (reason, wanted) in [
        ("max_tokens", cut),
        (
            "refusal",
            "the model declined to answer: refusal; say it in other words, in a new session",
        ),
        (
            "model_context_window_exceeded",
            "the conversation is too long for the model: its window is full; start a new session, \
             or take a model with a larger window",
        ),
    ] {
        let events = [&[begin()][..], &text(0, &["half"]), &end(reason)].concat();
        assert_eq!(told(&events).await.unwrap_err(), wanted);
    }
    let events = [&[begin()][..], &text(0, &["x"]), &end("a_new_reason")].concat();
    assert!(told(&events).await.is_ok(), "text is text");
    let events = [&[begin()][..], &call(0, "t", "shell", &["{}"]), &end("a_new_reason")].concat();
    let unknown = told(&events).await.unwrap_err();
    assert!(unknown.contains("unknown reason"), "{unknown}");
}

#[tokio::test]
async fn what_the_api_would_never_send_is_no_turn() {
    let start = || json!({"type": "text", "text": ""});
    let open = json!({"type": "content_block_start", "index": 0, "content_block": start()});
    let piece = |index: u64| {
        json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "text_delta", "text": "x"}})
    };
    let json_piece = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": "x"}});
    for events in [
        [vec![begin(), open.clone(), open.clone()], end("end_turn").to_vec()].concat(),
        [vec![begin(), piece(0)], end("end_turn").to_vec()].concat(),
        [vec![begin(), open.clone(), json_piece], end("end_turn").to_vec()].concat(),
        [vec![begin(), open.clone()], end("end_turn").to_vec()].concat(),
        [text(0, &["x"]), vec![piece(0)], end("end_turn").to_vec()].concat(),
        vec![begin(), json!({"type": "message_stop"})],
        vec![begin(), json!({"type": "content_block_stop", "index": "0"})],
    ] {
        let why = told(&events).await.unwrap_err();
        assert!(why.starts_with("the model's answer makes no sense"), "{why}");
    }
    let server = Server::saying(vec![FakeReply::events("event: ping\ndata: {no json}\n\n")]);
    let (turn, _) = think(&*client(&server.url, 3), &hello()).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.contains("is not JSON") && !why.contains("{no"), "{why}");
}

#[tokio::test]
async fn a_paused_turn_is_sent_again_as_it_is_and_goes_on() {
    let search = json!({"type": "server_tool_use", "id": "srv_1", "name": "search", "input": {}});
    let query = vec![json!({"type": "input_json_delta", "partial_json": "{\"q\": \"x\"}"})];
    let first =
        [&[begin()][..], &text(0, &["First. "]), &block(1, search, query), &end("pause_turn")];
    let second = [&[begin()][..], &text(0, &["Second."]), &end("end_turn")];
    let server = Server::saying(vec![
        FakeReply::events(stream(&first.concat())),
        // The attempt after the pause fails once: what was said before it stands.
        FakeReply::events(stream(&[&[begin()][..], &text(0, &["Sec"])].concat())).cut(),
        FakeReply::events(stream(&second.concat())),
    ]);
    let (turn, deltas) = think(&*client(&server.url, 1), &hello()).await;
    let turn = turn.expect("a turn");
    assert_eq!(turn.parts, [Part::Text("First. ".into()), Part::Text("Second.".into())]);
    assert_eq!(turn.usage.output_tokens, 15 + 1 + 15);
    assert_eq!(
        deltas,
        [
            Delta::Text("First. ".into()),
            Delta::Text("Sec".into()),
            Delta::Discard,
            Delta::Text("First. ".into()),
            Delta::Text("Second.".into()),
        ]
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    let last = asked[2].json()["messages"].as_array().expect("messages").last().cloned();
    assert_eq!(
        last,
        Some(json!({"role": "assistant", "content": [
            {"type": "text", "text": "First. "},
            {"type": "server_tool_use", "id": "srv_1", "name": "search", "input": {"q": "x"}},
        ]}))
    );
    assert_eq!(asked[1].body, asked[2].body, "an attempt repeats the same request");
}

fn result<'a>(id: &'a str, content: &'a str, is_error: bool) -> CallResult<'a> {
    let tool = "shell".into();
    CallResult { tool_use_id: id.into(), tool, content: content.into(), is_error }
}

/// A conversation that continues the rich turn, as `agent` would build it.
async fn continued() -> ModelRequest<'static> {
    let server = Server::saying(vec![FakeReply::events(rich())]);
    let (turn, _) = think(&*client(&server.url, 0), &hello()).await;
    asking(vec![
        ModelMessage::User { text: "Hello".into() },
        assistant(&turn.expect("a turn")).into_owned(),
        ModelMessage::Results {
            results: vec![
                result("toolu_1", "Denied by Ana: not today", true),
                result("toolu_2", "ok", false),
                result("toolu_3", " ", true),
            ],
        },
        ModelMessage::User { text: "Meanwhile.".into() },
        ModelMessage::User { text: "And this.".into() },
    ])
}

fn body(api: Anthropic, settings: &ModelSettings, request: &ModelRequest<'_>) -> Vec<u8> {
    api.body(settings, request, &Names::of(request), &[]).expect("a body")
}

#[tokio::test]
async fn i26_a_request_is_the_same_to_the_byte_and_thinking_goes_back_as_it_came() {
    let request = continued().await;
    let mut settings = settings(&Url::parse("https://x.example").expect("a URL"));
    settings.max_tokens = Some(9_000);
    let api = Anthropic { cache: Cache::Minutes, thinking: Thinking::Budget(2_000) };
    let first = body(api, &settings, &request);
    assert_eq!(first, body(api, &settings, &request.clone()));
    let mark = json!({"type": "ephemeral"});
    let wanted = json!({
        "model": "big-1", "max_tokens": 9000, "stream": true,
        "system": [{"type": "text", "text": "Be careful.", "cache_control": mark}],
        "tools": [
            {"name": "shell", "description": "Does shell.", "input_schema": {"type": "object"}},
            {"name": "human_ask", "description": "Does human.ask.",
             "input_schema": {"type": "object"}, "cache_control": mark},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Let me see é\u{1F600}.", "signature": "c2lnbmF0dXJl=="},
                {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
                {"type": "text", "text": "Running it \u{1F680}."},
                {"type": "tool_use", "id": "toolu_1", "name": "shell", "input": {"command": "ls é"}},
                {"type": "tool_use", "id": "toolu_2", "name": "human_ask", "input": {"n": 1.5, "a": []}},
                {"type": "tool_use", "id": "toolu_3", "name": "shell", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1",
                 "content": "Denied by Ana: not today", "is_error": true},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "toolu_3",
                 "content": "The tool failed and said nothing.", "is_error": true},
                {"type": "text", "text": "Meanwhile."},
                {"type": "text", "text": "And this.", "cache_control": mark},
            ]},
        ],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    });
    assert_eq!(serde_json::from_slice::<Value>(&first).expect("JSON"), wanted);
    let text = String::from_utf8(first).expect("text");
    assert!(text.contains("{\"n\": 1.50, \"a\":[ ]}"), "arguments as they were written: {text}");
}

#[test]
fn thinking_between_calls_goes_back_between_them() {
    let events = [
        vec![begin()],
        thinking(0, &["a"], "s1"),
        call(1, "t1", "shell", &["{}"]),
        thinking(2, &["b"], "s2"),
        call(3, "t2", "shell", &["{}"]),
        end("tool_use").to_vec(),
    ];
    let (reply, _) =
        read_reply(Messages::default(), [stream(&events.concat()).as_bytes()]).expect("a reply");
    let turn =
        ports::model::ModelTurn { parts: reply.parts, calls: reply.calls, usage: reply.usage };
    let request = asking(vec![assistant(&turn)]);
    let settings = settings(&Url::parse("https://x.example").expect("a URL"));
    let sent: Value =
        serde_json::from_slice(&body(Anthropic::default(), &settings, &request)).expect("JSON");
    let kinds: Vec<_> = sent["messages"][0]["content"]
        .as_array()
        .expect("blocks")
        .iter()
        .map(|block| block["type"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(kinds, ["thinking", "tool_use", "thinking", "tool_use"]);
}

#[test]
fn results_of_a_turn_without_thinking_are_not_sent_with_thinking_on() {
    let call =
        WrittenCall { tool_use_id: "call|1".into(), tool: "shell".into(), input: "no".into() };
    let foreign = AssistantPart::Reasoning { text: "mine".into(), opaque: Some("x".into()) };
    let request = asking(vec![
        ModelMessage::User { text: "Hello".into() },
        ModelMessage::Assistant { parts: vec![foreign, AssistantPart::Call(call)] },
        ModelMessage::Results { results: vec![result("call|1", "ok", false)] },
    ]);
    let settings = settings(&Url::parse("https://x.example").expect("a URL"));
    let api = Anthropic { cache: Cache::Hour, thinking: Thinking::Adaptive };
    let sent: Value = serde_json::from_slice(&body(api, &settings, &request)).expect("JSON");
    assert_eq!(sent.get("thinking"), None);
    assert_eq!(
        sent["messages"][1]["content"],
        json!([{"type": "tool_use", "id": "call_1", "name": "shell",
                "input": {"not_an_object": "no"}}])
    );
    let last = &sent["messages"][2]["content"][0];
    assert_eq!(last["tool_use_id"], "call_1");
    assert_eq!(last["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    let fresh: Value = serde_json::from_slice(&body(api, &settings, &hello())).expect("JSON");
    assert_eq!(fresh["thinking"], json!({"type": "adaptive"}));
}

#[tokio::test]
async fn the_key_and_the_version_go_along() {
    let server = Server::saying(vec![FakeReply::events(rich())]);
    think(&*client(&server.url, 0), &hello()).await.0.expect("a turn");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("post /v1/messages http/1.1"), "{}", asked.head);
    for line in
        ["x-api-key: sk-secret", "anthropic-version: 2023-06-01", "accept: text/event-stream"]
    {
        assert!(asked.head.contains(&format!("{line}\r\n")), "{line}: {}", asked.head);
    }
}

/// Answers the messages of the suite, as the API would.
fn conforming(asked: &fake::FakeRequest) -> FakeReply {
    let body = asked.json();
    let messages = body["messages"].as_array().expect("messages");
    let last = messages.last().expect("a message")["content"].as_array().expect("blocks");
    let block = last.last().expect("a block");
    let said = block["text"].as_str().unwrap_or_default();
    let number = messages.len();
    let events = match (block["type"].as_str(), said) {
        (Some("tool_result"), _) => {
            let echo = block["content"].as_str().unwrap_or_default();
            [text(0, &["It says: ", echo]), end("end_turn").to_vec()].concat()
        }
        (_, conformance::SAY_TEXT) => {
            let (left, right) = conformance::TEXT.split_at(7);
            [text(0, &[left, right]), end("end_turn").to_vec()].concat()
        }
        (_, conformance::SAY_CALL) => {
            let id = format!("toolu_a{number}");
            [call(0, &id, "echo", &["{\"text\":", "\"one\"}"]), end("tool_use").to_vec()].concat()
        }
        (_, conformance::SAY_PARALLEL) => [
            call(0, &format!("toolu_b{number}"), "echo", &["{\"text\":\"one\"}"]),
            call(1, &format!("toolu_c{number}"), "echo", &["{\"text\":\"two\"}"]),
            end("tool_use").to_vec(),
        ]
        .concat(),
        (_, conformance::SAY_SLOW) => {
            let events = text(0, &["word "]);
            let piece = stream(&events[1..2]);
            let begun = stream(&[begin(), events[0].clone()]);
            return FakeReply::events(begun).repeat(piece, std::time::Duration::from_millis(20));
        }
        other => panic!("not a message of the suite: {other:?}"),
    };
    FakeReply::events(stream(&[vec![begin()], events].concat()))
}

#[tokio::test]
async fn it_passes_the_suite_of_all_models() {
    let server = Server::start(|_, asked| conforming(asked));
    conformance::check(&*client(&server.url, 0)).await;
}

#[test]
fn a_picture_is_a_block_before_the_words_it_came_with() {
    let request = asking(vec![
        ModelMessage::Image {
            label: "[image a.png, 3x2]".into(),
            media_type: "image/png",
            bytes: std::sync::Arc::from(*b"\x89PNG"),
        },
        ModelMessage::User { text: "What is it?".into() },
    ]);
    let settings = settings(&Url::parse("https://x.example").expect("a URL"));
    let api = Anthropic { cache: Cache::Off, thinking: Thinking::Off };
    let sent: Value = serde_json::from_slice(&body(api, &settings, &request)).expect("JSON");
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw=="});
    let content = json!([
        {"type": "text", "text": "[image a.png, 3x2]"},
        {"type": "image", "source": source},
        {"type": "text", "text": "What is it?"},
    ]);
    assert_eq!(sent["messages"], json!([{"role": "user", "content": content}]));
}
