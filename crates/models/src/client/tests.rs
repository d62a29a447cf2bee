//! What all clients have in common, tried on one of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ports::secret_string::SecretString;
use serde_json::{Value, json};

use super::*;
use crate::anthropic::tests::{begin, block, client, end, stream, text};
use crate::anthropic::{self, Anthropic};
use crate::fake::{FakeReply, NoRandomness, QuickClock, RealClock, Server, hello, think};
use crate::limits::STREAM_BYTES_MAX;
use crate::settings::{ApiKey, Proxy, TimeLimits};

fn good() -> FakeReply {
    FakeReply::events(stream(
        &[vec![begin()], text(0, &["Hi."]), end("end_turn").to_vec()].concat(),
    ))
}

fn half() -> FakeReply {
    FakeReply::events(stream(&[vec![begin()], text(0, &["Hal"])].concat())).cut()
}

fn envelope(kind: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": "said sk-secret"}, "request_id": "r"})
}

fn settings(server: &Server) -> ModelSettings {
    let mut settings = ModelSettings::new("claude", "big-1", server.url.clone());
    settings.key =
        Some(ApiKey { secret: SecretString::new("sk-secret"), origin: "`api_key_env` K".into() });
    settings
}

async fn with(
    server: &Server,
    settings: ModelSettings,
    clock: Arc<dyn Clock>,
) -> (Result<ModelTurn, ModelError>, Vec<Delta>) {
    let model = anthropic::model(Anthropic::default(), settings, clock, NoRandomness::new());
    let told = think(&*model, &hello()).await;
    assert!(!format!("{told:?}").contains("sk-secret"), "the key is told: {told:?}");
    assert!(server.asked().iter().all(|asked| asked.head.contains("sk-secret")));
    told
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_what_was_shown_is_discarded() {
    let server = Server::saying(vec![
        FakeReply::refused(429, &envelope("rate_limit_error")).with("retry-after", "7"),
        half(),
        FakeReply::events(stream(&[
            begin(),
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
        ])),
        FakeReply::refused(529, &envelope("overloaded_error")),
        FakeReply::refused(500, &json!("no envelope")),
        good(),
    ]);
    let clock = Arc::new(QuickClock::default());
    let (turn, deltas) = with(&server, settings(&server), clock.clone()).await;
    assert_eq!(turn.expect("a turn").usage.output_tokens, 15 + 1 + 1, "failed attempts count too");
    let wanted = [Delta::Text("Hal".into()), Delta::Discard, Delta::Text("Hi.".into())];
    assert_eq!(deltas, wanted);
    let slept: Vec<u128> =
        clock.0.lock().expect("not poisoned").iter().map(|pause| pause.as_millis()).collect();
    assert_eq!(slept, [7_500, 1_000, 2_000, 4_000, 8_000]);
    let asked = server.asked();
    assert_eq!(asked.len(), 6);
    assert!(asked.iter().all(|one| one.body == asked[0].body), "the same request every time");
}

#[tokio::test]
async fn attempts_end() {
    let server = Server::saying(vec![half()]);
    let (turn, deltas) = think(&*client(&server.url, 3), &hello()).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.starts_with("the model is busy or cannot be reached: the connection to"), "{why}");
    assert_eq!(server.asked().len(), 4);
    let discarded = deltas.iter().filter(|delta| **delta == Delta::Discard).count();
    assert_eq!(discarded, 3, "the last attempt is discarded by whoever is told of the failure");
}

#[tokio::test]
async fn a_provider_that_wants_long_to_be_left_alone_is() {
    let busy = FakeReply::refused(429, &envelope("rate_limit_error")).with("retry-after", "3600");
    let server = Server::saying(vec![busy]);
    let (turn, _) = think(&*client(&server.url, 5), &hello()).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.contains("come back in 3600 s"), "{why}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    for (status, kind) in [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (307, "redirect"),
    ] {
        let server = Server::saying(vec![
            FakeReply::refused(status, &envelope(kind)).with("location", "http://127.0.0.1:1/"),
        ]);
        let (turn, _) = with(&server, settings(&server), Arc::new(QuickClock::default())).await;
        let why = turn.unwrap_err().to_string();
        assert!(why.contains(&status.to_string()), "{why}");
        assert_eq!(server.asked().len(), 1, "{status}");
    }
    let broken = [begin(), json!({"type": "error", "error": {"type": "invalid_request_error"}})];
    let server = Server::saying(vec![FakeReply::events(stream(&broken))]);
    let (turn, _) = with(&server, settings(&server), Arc::new(QuickClock::default())).await;
    assert!(matches!(turn, Err(ModelError::Refused(_))), "{turn:?}");
}

#[tokio::test]
async fn a_server_that_is_not_the_api_is_told_as_such() {
    let page = good().with("content-type", "text/html");
    let server = Server::saying(vec![page]);
    let (turn, _) = with(&server, settings(&server), Arc::new(QuickClock::default())).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.contains("`text/html`") && why.contains("`base_url` of [models.claude]"), "{why}");
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_the_host_only() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}/secret-path", listener.local_addr().expect("an address"))
    };
    let url = reqwest::Url::parse(&gone).expect("a URL");
    let (turn, _) = think(&*client(&url, 1), &hello()).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.contains("127.0.0.1 cannot be reached"), "{why}");
    assert!(!why.contains("secret-path"), "{why}");
}

const SHORT: Duration = Duration::from_millis(60);
const EVER: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn every_wait_has_an_end() {
    let limits = TimeLimits { connect: EVER, first_byte: EVER, silence: EVER, turn: EVER };
    let pings =
        || FakeReply::events("").repeat("event: ping\ndata: {\"type\":\"ping\"}\n\n", SHORT / 6);
    for (answer, time_limits, wanted) in [
        (
            FakeReply::silence(),
            TimeLimits { first_byte: SHORT, ..limits },
            "no answer within 0.06 s",
        ),
        (half().stall(), TimeLimits { silence: SHORT, ..limits }, "no word for 0.06 s"),
        (pings(), TimeLimits { turn: SHORT, ..limits }, "the turn took longer than 0.06 s"),
    ] {
        let server = Server::saying(vec![answer]);
        let settings = ModelSettings { time_limits, retries: 0, ..settings(&server) };
        let (turn, _) = with(&server, settings, Arc::new(RealClock)).await;
        let why = turn.unwrap_err().to_string();
        assert!(why.contains(wanted), "{why}");
    }
}

#[tokio::test]
async fn a_stop_ends_a_pause_between_attempts() {
    let server = Server::saying(vec![FakeReply::refused(503, &json!({}))]);
    let stop = CancellationToken::new();
    // A clock that never comes back, and stops us instead.
    struct Stopping(CancellationToken);
    #[async_trait]
    impl Clock for Stopping {
        fn now(&self) -> domain::time::Timestamp {
            domain::time::Timestamp::from_ms(0)
        }

        async fn sleep(&self, duration: Duration) {
            if duration < Duration::from_secs(60) {
                self.0.cancel();
            }
            std::future::pending().await
        }
    }
    let clock = Arc::new(Stopping(stop.clone()));
    let model =
        anthropic::model(Anthropic::default(), settings(&server), clock, NoRandomness::new());
    let told = model.think(&hello(), Arc::new(|_| {}), stop).await;
    assert!(matches!(told, Err(ModelError::Stopped)), "{told:?}");
}

/// Starts a block and then sends pieces of it for as long as anybody listens.
fn endless(start: Value, delta: &Value) -> FakeReply {
    let events = block(0, start, vec![delta.clone()]);
    let begun = stream(&[begin(), events[0].clone()]);
    FakeReply::events(begun).repeat(stream(&events[1..2]), Duration::ZERO)
}

#[tokio::test]
async fn a_turn_that_does_not_end_is_cut_off_long_before_memory_matters() {
    let long = "x".repeat(64 << 10);
    let call = json!({"type": "tool_use", "id": "t", "name": "shell", "input": {}});
    let text = json!({"type": "text", "text": ""});
    let ping = format!("data: {{\"type\":\"ping\",\"x\":\"{long}\"}}\n\n");
    for (answer, wanted, most) in [
        (
            endless(call, &json!({"type": "input_json_delta", "partial_json": long})),
            "the arguments of one call have more than 1 MiB",
            8 << 20,
        ),
        (
            endless(text, &json!({"type": "text_delta", "text": long})),
            "one turn has more than 8 MiB",
            24 << 20,
        ),
        (
            FakeReply::events(stream(&[begin()])).repeat(ping, Duration::ZERO),
            "one answer has more than 96 MiB",
            STREAM_BYTES_MAX + (16 << 20),
        ),
        (
            FakeReply::events("data: ").repeat(long.clone(), Duration::ZERO),
            "one event has more than 24 MiB",
            40 << 20,
        ),
    ] {
        let server = Server::saying(vec![answer]);
        let (turn, _) = think(&*client(&server.url, 5), &hello()).await;
        let why = turn.unwrap_err().to_string();
        assert!(why.contains(wanted), "{why}");
        let written = server.written.load(Ordering::SeqCst);
        assert!(written <= most, "{wanted}: {written} bytes were sent");
        assert_eq!(server.asked().len(), 1, "it is not tried again");
    }
}

#[tokio::test]
async fn many_calls_and_many_parts_are_too_many() {
    let calls = (0..65).flat_map(|index| {
        let start = json!({"type": "tool_use", "id": format!("t{index}"), "name": "n"});
        block(index, start, vec![])
    });
    let parts = (0..1_025).flat_map(|index| text(index, &[]));
    let name = json!({"type": "tool_use", "id": "x".repeat(2_000), "name": "n"});
    for (events, wanted) in [
        (calls.collect(), "more than 64 calls"),
        (parts.collect(), "more than 1024 parts"),
        (block(0, name, vec![]), "more than 1024 bytes"),
    ] {
        let events: Vec<Value> = events;
        let all = [vec![begin()], events, end("end_turn").to_vec()].concat();
        let server = Server::saying(vec![FakeReply::events(stream(&all))]);
        let why = think(&*client(&server.url, 0), &hello()).await.0.unwrap_err().to_string();
        assert!(why.contains(wanted), "{why}");
    }
}

#[tokio::test]
async fn a_refusal_without_end_is_read_only_so_far() {
    let page = FakeReply::refused(500, &json!({})).repeat("x".repeat(64 << 10), Duration::ZERO);
    let server = Server::saying(vec![page]);
    let (turn, _) = think(&*client(&server.url, 0), &hello()).await;
    assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{turn:?}");
    assert!(server.written.load(Ordering::SeqCst) < 16 << 20);
}

#[tokio::test]
async fn headers_of_the_configuration_go_along_and_win() {
    let server = Server::saying(vec![good()]);
    let mut settings = settings(&server);
    settings.headers = vec![
        ("anthropic-version".into(), SecretString::new("2099-01-01")),
        ("X-Team".into(), SecretString::new("ops")),
    ];
    with(&server, settings, Arc::new(QuickClock::default())).await.0.expect("a turn");
    let head = &server.asked()[0].head;
    assert!(head.contains("anthropic-version: 2099-01-01\r\n") && head.contains("x-team: ops\r\n"));
    assert_eq!(head.matches("anthropic-version").count(), 1);
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_named_and_not_shown() {
    let server = Server::saying(vec![good()]);
    let mut settings = settings(&server);
    settings.headers = vec![("x-bad".into(), SecretString::new("two\nlines"))];
    let (turn, _) = with(&server, settings, Arc::new(QuickClock::default())).await;
    let why = turn.unwrap_err().to_string();
    assert!(why.contains("`x-bad`") && !why.contains("two"), "{why}");
}

#[tokio::test]
async fn a_proxy_is_used_when_there_is_one() {
    let proxy = Server::saying(vec![good()]);
    let mut settings = settings(&proxy);
    settings.base_url = reqwest::Url::parse("http://models.invalid:81").expect("a URL");
    settings.proxy = Proxy::Url(SecretString::new(proxy.url.as_str()));
    with(&proxy, settings, Arc::new(QuickClock::default())).await.0.expect("a turn");
    assert!(proxy.asked()[0].head.starts_with("post http://models.invalid:81/v1/messages"));
}

#[tokio::test]
async fn deltas_are_shown_while_the_answer_is_still_coming() {
    // The rest of the answer never comes; what is here already is shown.
    let server = Server::saying(vec![half().stall()]);
    let stop = CancellationToken::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let count = Arc::new(AtomicUsize::new(0));
    let sink: DeltaSink = {
        let (seen, stop, count) = (seen.clone(), stop.clone(), count.clone());
        Arc::new(move |delta| {
            seen.lock().expect("not poisoned").push(delta);
            count.fetch_add(1, Ordering::SeqCst);
            stop.cancel();
        })
    };
    let told = client(&server.url, 0).think(&hello(), sink, stop).await;
    assert!(matches!(told, Err(ModelError::Stopped)), "{told:?}");
    assert_eq!(*seen.lock().expect("not poisoned"), [Delta::Text("Hal".into())]);
}
