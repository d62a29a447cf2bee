//! Deliveries over real sockets: what a receiver gets, and what never leaves.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::hold::HoldOrigin;
use domain::time::Timestamp;
use ports::callback::{CallbackError, CallbackSender};
use ports::clock::Clock;
use ring::hmac;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::sample::{SECRET_ENV, at, hold, hold_for};
use super::{HostResolver, WebhookCallbackSender, WebhookSecret, WebhookSettings};

/// The signing secret, as the operator and the receiver know it.
const RAW: &str = "canary-key-of-the-receiver";
const KEY: &str = "hold_01jd-approved";
const ACCEPTED: &str = "HTTP/1.1 204 No Content\r\n\r\n";

/// Goes on by a minute whenever it is asked.
struct Ticking(AtomicU64);

#[async_trait]
impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        at(60 * self.0.fetch_add(1, Ordering::Relaxed))
    }

    async fn sleep(&self, _: Duration) {}
}

/// Answers each look-up with the next address, and the last one from then on.
struct Changing(Vec<&'static str>, AtomicU64);

#[async_trait]
impl HostResolver for Changing {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        assert_eq!(host, "receiver.example");
        let asked = self.1.fetch_add(1, Ordering::Relaxed) as usize;
        Ok(vec![self.0[asked.min(self.0.len() - 1)].parse().unwrap()])
    }
}

fn names(addresses: &[&'static str]) -> Arc<Changing> {
    Arc::new(Changing(addresses.to_vec(), AtomicU64::new(0)))
}

fn settings(allow_private_addresses: bool) -> WebhookSettings {
    let secrets = [(SECRET_ENV.to_owned(), WebhookSecret::parse(RAW).unwrap())].into();
    WebhookSettings { secrets, allow_private_addresses, timeout: Duration::from_secs(5) }
}

fn sender(allow_private_addresses: bool, names: Arc<Changing>) -> WebhookCallbackSender {
    let clock = Arc::new(Ticking(AtomicU64::new(0)));
    WebhookCallbackSender::with_names(settings(allow_private_addresses), clock, names)
}

struct Received {
    head: String,
    body: Vec<u8>,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).unwrap()
    }

    /// As a receiver would, who has only the headers, the body and the secret.
    #[track_caller]
    fn assert_signed(&self) {
        let (version, signature) = self.header("webhook-signature").split_once(',').unwrap();
        assert_eq!(version, "v1");
        let mut said =
            format!("{}.{}.", self.header("webhook-id"), self.header("webhook-timestamp"))
                .into_bytes();
        said.extend_from_slice(&self.body);
        let key = hmac::Key::new(hmac::HMAC_SHA256, RAW.as_bytes());
        hmac::verify(&key, &said, &STANDARD.decode(signature).unwrap()).unwrap();
    }
}

/// One connection, one request, one answer.
async fn receive(listener: &TcpListener, answer: &str) -> Received {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    let head_end = loop {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "the request broke off");
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut received = Received { head, body: bytes.split_off(head_end + 4) };
    let length: usize = received.header("content-length").parse().unwrap();
    while received.body.len() < length {
        assert_ne!(stream.read_buf(&mut received.body).await.unwrap(), 0, "the body broke off");
    }
    stream.write_all(answer.as_bytes()).await.unwrap();
    received
}

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// On loopback a connection is there as soon as it was asked for, so there is nothing to wait for.
#[track_caller]
fn assert_nobody_came(listener: TcpListener) {
    let listener = listener.into_std().unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

fn again(result: Result<(), CallbackError>) -> String {
    match result {
        Err(CallbackError::Again(why)) => why,
        other => panic!("wanted to be told to try again, got {other:?}"),
    }
}

fn never(result: Result<(), CallbackError>) -> String {
    match result {
        Err(CallbackError::Never(why)) => why,
        other => panic!("wanted to be told never, got {other:?}"),
    }
}

#[tokio::test]
async fn a_receiver_gets_one_signed_post() {
    let (listener, port) = listener().await;
    let sender = sender(true, names(&["127.0.0.1"]));
    let hold = hold_for(&format!("http://receiver.example:{port}/hook?run=7"));
    let (result, received) = tokio::join!(sender.deliver(KEY, &hold), receive(&listener, ACCEPTED));
    result.unwrap();
    assert!(received.head.starts_with("POST /hook?run=7 HTTP/1.1\r\n"), "{}", received.head);
    assert_eq!(received.header("host"), format!("receiver.example:{port}"));
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.header("webhook-id"), KEY);
    assert_eq!(received.header("webhook-timestamp"), "1763172180");
    received.assert_signed();
    let told: serde_json::Value = serde_json::from_slice(&received.body).unwrap();
    assert_eq!(told["data"]["hold"]["id"], hold.id.to_string());
    for canary in ["hunter2", RAW] {
        assert!(!received.head.contains(canary));
        assert!(!String::from_utf8_lossy(&received.body).contains(canary));
    }
}

#[tokio::test]
async fn i35_a_repeat_has_the_same_id_and_body_and_a_fresh_signature() {
    let (listener, port) = listener().await;
    let sender = sender(true, names(&["127.0.0.1"]));
    let hold = hold_for(&format!("http://127.0.0.1:{port}/"));
    let broken = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
    let (result, first) = tokio::join!(sender.deliver(KEY, &hold), receive(&listener, broken));
    assert_eq!(again(result), "the receiver answered 503");
    let (result, second) = tokio::join!(sender.deliver(KEY, &hold), receive(&listener, ACCEPTED));
    result.unwrap();
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.body, second.body);
    assert_eq!(second.header("webhook-timestamp"), "1763172240", "a receiver refuses old ones");
    first.assert_signed();
    second.assert_signed();
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (listener, port) = listener().await;
    let (elsewhere, other_port) = self::listener().await;
    let sender = sender(true, names(&["127.0.0.1"]));
    let hold = hold_for(&format!("http://receiver.example:{port}/"));
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let answer = format!(
            "HTTP/1.1 {status}\r\nlocation: http://127.0.0.1:{other_port}/\r\ncontent-length: 0\r\n\r\n"
        );
        let (result, _) = tokio::join!(sender.deliver(KEY, &hold), receive(&listener, &answer));
        assert!(never(result).contains("redirects are not followed"));
    }
    assert_nobody_came(elsewhere);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_before_anybody_is_called() {
    let (listener, port) = listener().await;
    let sender = sender(false, names(&["127.0.0.1"]));
    let url = format!("https://receiver.example:{port}/");
    assert_eq!(sender.accepts(&url, SECRET_ENV), Ok(()), "only the delivery looks the name up");
    assert_eq!(
        never(sender.deliver(KEY, &hold_for(&url)).await),
        "127.0.0.1 is a loopback address, and only public addresses may be called"
    );
    assert_nobody_came(listener);
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_each_delivery_and_checked_each_time() {
    let (listener, port) = listener().await;
    // Had the check and the connection each asked, the second answer would have been called.
    let names = names(&["127.0.0.1", "10.0.0.1"]);
    let sender = sender(true, names.clone());
    let hold = hold_for(&format!("http://receiver.example:{port}/"));
    let (result, _) = tokio::join!(sender.deliver(KEY, &hold), receive(&listener, ACCEPTED));
    result.unwrap();
    assert_eq!(names.1.load(Ordering::Relaxed), 1);

    let turning = self::names(&["10.0.0.1", "169.254.169.254"]);
    let guarded = self::sender(false, turning.clone());
    let hold = hold_for("https://receiver.example/");
    assert!(never(guarded.deliver(KEY, &hold).await).contains("10.0.0.1 is a private address"));
    assert!(never(guarded.deliver(KEY, &hold).await).contains("metadata service"));
    assert_eq!(turning.1.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn what_may_have_changed_since_the_hold_was_opened_is_checked_again() {
    let (listener, port) = listener().await;
    let guarded = sender(false, names(&[]));
    for url in [format!("http://127.0.0.1:{port}/"), format!("https://127.0.0.1:{port}/")] {
        never(guarded.deliver(KEY, &hold_for(&url)).await);
    }
    let open = sender(true, names(&[]));
    let mut other_secret = hold_for(&format!("http://127.0.0.1:{port}/"));
    let HoldOrigin::Program { callback: Some(callback) } = &mut other_secret.origin else {
        panic!()
    };
    callback.secret_env = "HOME".into();
    assert!(never(open.deliver(KEY, &other_secret).await).contains("secret_env"));
    assert!(never(open.deliver(KEY, &hold()).await).contains("no callback"));
    let mut undecided = hold();
    undecided.origin = hold_for(&format!("http://127.0.0.1:{port}/")).origin;
    assert!(never(open.deliver(KEY, &undecided).await).contains("not decided"));
    let bad_key = open.deliver("a\nb", &hold_for(&format!("http://127.0.0.1:{port}/"))).await;
    assert!(never(bad_key).contains("key"));
    assert_nobody_came(listener);
}

#[tokio::test]
async fn a_receiver_that_is_away_is_tried_again_and_its_token_is_not_told() {
    let sender = sender(true, names(&["127.0.0.1"]));
    let (listener, port) = listener().await;
    drop(listener);
    let url = format!("http://receiver.example:{port}/hook?token=hunter5");
    let refused = again(sender.deliver(KEY, &hold_for(&url)).await);
    assert!(refused.contains("refused"), "{refused}");
    assert!(!refused.contains("hunter"), "{refused}");
}

#[tokio::test]
async fn a_receiver_that_hangs_is_tried_again() {
    let (listener, port) = listener().await;
    let clock = Arc::new(Ticking(AtomicU64::new(0)));
    let timeout = Duration::from_millis(50);
    let sender = WebhookCallbackSender::new(WebhookSettings { timeout, ..settings(true) }, clock);
    let hold = hold_for(&format!("http://127.0.0.1:{port}/hook?token=hunter5"));
    // The connection is made by the kernel; nobody ever reads from it.
    assert_eq!(again(sender.deliver(KEY, &hold).await), "no answer within 50 ms");
    drop(listener);
}

#[tokio::test]
async fn tls_is_spoken_and_insisted_on() {
    let (listener, port) = listener().await;
    let sender = sender(true, names(&["127.0.0.1"]));
    let hold = hold_for(&format!("https://receiver.example:{port}/"));
    let plain = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 3];
        stream.read_exact(&mut hello).await.unwrap();
        stream.write_all(ACCEPTED.as_bytes()).await.unwrap();
        hello
    };
    let (result, hello) = tokio::join!(sender.deliver(KEY, &hold), plain);
    assert_eq!(hello[..2], [22, 3], "a TLS handshake, and nothing in the clear");
    again(result);
}

#[test]
fn a_callback_needs_a_secret_that_the_configuration_lists() {
    let sender = sender(false, names(&[]));
    assert_eq!(sender.accepts("https://ci.example/hook", SECRET_ENV), Ok(()));
    for stranger in ["HOME", "", "hunter2", "ci_callback_secret"] {
        let why = sender.accepts("https://ci.example/hook", stranger).unwrap_err();
        assert_eq!(why, "the callback's secret_env is not one that the configuration lists");
    }
    assert!(sender.accepts("https://10.0.0.1/", SECRET_ENV).unwrap_err().contains("private"));
}

#[test]
fn i45_debug_never_prints_a_secret() {
    for printed in [format!("{:?}", settings(true)), format!("{:?}", sender(true, names(&[])))] {
        assert!(printed.contains(SECRET_ENV) && !printed.contains(RAW), "{printed}");
    }
}
