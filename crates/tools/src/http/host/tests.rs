//! Requests over real sockets: what a service gets, and what never leaves.

mod stage;

use std::sync::atomic::Ordering;

use domain::digest::Digest;
use serde_json::json;

use self::stage::{
    OK, Service, failed, names, prepare, proposed, run, succeeded, unknown, unsound,
};
use super::*;
use crate::cleared::{clear_call, open_gate};
use crate::conformance::{ConformanceCase, check_host};
use crate::limits::{HTTP_REDIRECTS_MAX, OUTPUT_BYTES_KEPT};

const TOKEN: &str = "hunter2-of-the-operator";

fn config(service: &Service, path: &str, properties: Value) -> HttpConfig {
    let required: Vec<String> = properties
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| !name.starts_with('_'))
        .cloned()
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let url = format!("http://api.example:{}{path}", service.port);
    let mut config = HttpConfig::new("ticket", "opens a ticket", schema, &url);
    config.allow_private_addresses = true;
    config.time_limit = Duration::from_secs(5);
    config
}

fn host(config: HttpConfig) -> HttpTool {
    HttpTool::with_names(config, names(&["127.0.0.1"])).unwrap()
}

fn post(service: &Service) -> HttpTool {
    let properties = json!({"project": {"type": "string"}, "title": {"type": "string"},
        "_note": {"type": "string"}, "team": {"type": "string"},
        "pin": {"type": "string", "writeOnly": true}, "labels": {"type": "array"}});
    let mut config = config(service, "/v1/{project}/tickets?note={_note}&pin={pin}", properties);
    config.method = "POST".into();
    config.headers = vec![("X-Team".into(), "team {team}".into())];
    config.secret_headers = vec![SecretHeader::new("Authorization", "API_TOKEN", TOKEN).unwrap()];
    config.body = BodyTemplate::Json(
        json!({"title": "{title}", "text": "{title} of {project}", "labels": "{labels}", "pin": "{pin}"}),
    );
    host(config)
}

fn arguments() -> Value {
    json!({"project": "a/b c", "title": "naïve \"✓\"\n\u{202e}x", "_note": "x&y=1", "team": "ops 1",
           "pin": "4711-secret", "labels": [1, {"k": null}]})
}

#[tokio::test]
async fn i02_what_people_see_is_what_is_sent() {
    let service = Service::start(|_| OK.into()).await;
    let host = post(&service);
    let prepared = prepare(&host, arguments()).await.unwrap();
    succeeded(run(&host, arguments(), 1).await);
    let received = service.received().await;
    assert_eq!(received.len(), 1);
    let wire = &received[0];

    // The request, read back from what was shown, with the secrets put in their places.
    let shown = prepared.context.detail.replace("‹secret API_TOKEN›", TOKEN);
    let shown = shown.replace("‹secret pin›", "4711-secret");
    let mut lines = shown.lines();
    let (method, url) = lines.next().unwrap().split_once(' ').unwrap();
    let base = format!("http://api.example:{}", service.port);
    assert_eq!(wire.line, format!("{method} {} HTTP/1.1", url.strip_prefix(&base).unwrap()));
    let mut told = 0;
    for line in lines {
        if let Some(body) = line.strip_prefix("body: ") {
            assert_eq!(wire.body, body.as_bytes());
            told += 1;
        } else if let Some((name, value)) = line.split_once(": ") {
            assert_eq!(wire.header(name), Some(value), "{name}");
            told += 1;
        }
    }
    assert_eq!(told, 4, "three headers and a body: {shown}");
    assert_eq!(
        wire.line.split(' ').nth(1),
        Some("/v1/a%2Fb%20c/tickets?note=x%26y%3D1&pin=4711-secret")
    );
    // And nothing that was not shown, but for what every request has.
    let extra: Vec<&str> = wire.headers.iter().map(|(name, _)| name.as_str()).collect();
    let usual = [
        "x-team",
        "authorization",
        "content-type",
        "accept",
        "user-agent",
        "host",
        "content-length",
    ];
    assert!(extra.iter().all(|name| usual.contains(name)), "{extra:?}");
}

#[tokio::test]
async fn i45_secrets_are_named_and_never_shown() {
    let service = Service::start(|_| OK.into()).await;
    let host = post(&service);
    let prepared = prepare(&host, arguments()).await.unwrap();
    let everything = format!("{prepared:?} {:?} {}", host.tool(), host.tool().origin);
    for secret in [TOKEN, "4711-secret"] {
        assert!(!everything.contains(secret), "{everything}");
    }
    assert!(prepared.context.detail.contains("authorization: ‹secret API_TOKEN›"));
    assert!(prepared.title.unwrap().contains("pin=‹secret pin›"));
    assert!(
        prepared.context.detail.contains(r#""pin":"‹secret pin›""#),
        "{}",
        prepared.context.detail
    );
}

#[tokio::test]
async fn i45_a_service_that_repeats_what_it_got_tells_the_model_no_secret() {
    for status in ["200 OK", "500 Oops"] {
        let service = Service::start(move |request| {
            let body = format!("{request:?}");
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into()
        })
        .await;
        let told = match run(&post(&service), arguments(), 1).await {
            Outcome::Succeeded(output) | Outcome::Failed(output) => output.text,
            other => panic!("{other:?}"),
        };
        assert!(told.contains("‹secret API_TOKEN›") && told.contains("pin=‹secret pin›"), "{told}");
        assert!(!told.contains(TOKEN) && !told.contains("4711-secret"), "{told}");
    }
    let half = format!("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{TOKEN}");
    let service = Service::start(move |_| half.clone().into()).await;
    let told = unknown(run(&post(&service), arguments(), 1).await);
    assert!(told.contains("it began with: ‹secret API_TOKEN›"), "{told}");
}

#[tokio::test]
async fn the_request_is_part_of_the_digest() {
    let service = Service::start(|_| OK.into()).await;
    let first = post(&service);
    let other = {
        let mut arguments = arguments();
        arguments["pin"] = json!("other");
        arguments
    };
    let digest = |arguments: Value| proposed(&first, arguments, 1);
    let (one, two) = (digest(arguments()).await, digest(other).await);
    assert_eq!(one.context, two.context, "only a secret differs, and it is not shown");
    assert_ne!(one.digest(), two.digest(), "and yet it is another call");
    let make = |change: fn(&mut HttpConfig)| {
        let mut config = config(&service, "/v1/{id}", json!({"id": {}}));
        change(&mut config);
        host(config).tool().definition()
    };
    let plain = make(|_| {});
    for change in [
        (|config| config.method = "DELETE".into()) as fn(&mut HttpConfig),
        |config| config.headers = vec![("X-A".into(), "b".into())],
        |config| config.secret_headers = vec![SecretHeader::new("X-A", "OTHER", "x").unwrap()],
        |config| config.effects = Effects::Idempotent,
        |config| config.time_limit = Duration::from_secs(6),
        |config| config.url.push_str("?x=1"),
    ] {
        assert_ne!(make(change), plain);
    }
}

#[tokio::test]
async fn i02_another_request_than_the_approved_one_is_not_sent() {
    let service = Service::start(|_| OK.into()).await;
    let host = post(&service);
    let call = proposed(&host, arguments(), 1).await;
    let mut other = arguments();
    other["title"] = json!("something else");
    let moved = call.revised(
        Arguments::from_value(other).unwrap(),
        call.context.clone(),
        call.definition,
        call.policy,
    );
    let outcome =
        host.run(clear_call(moved, 1), open_gate(), CancellationToken::new()).await.unwrap();
    assert!(failed(outcome).contains("not the request that was approved"));
    assert_eq!(service.count(), 0);
}

#[tokio::test]
async fn hostile_arguments_are_refused_before_anybody_is_asked() {
    let service = Service::start(|_| OK.into()).await;
    let host = post(&service);
    for (key, value, why) in [
        ("team", json!("a\r\nX-Admin: yes"), "visible ASCII"),
        ("team", json!("é"), "visible ASCII"),
        ("project", json!("../admin"), "must not lead out"),
        ("project", json!("%2e%2e"), "must not lead out"),
        ("project", json!("a\nb"), "control characters"),
        ("project", json!(""), "must not be empty"),
        ("_note", json!({"a": 1}), "must be a text"),
    ] {
        let mut arguments = arguments();
        arguments[key] = value;
        assert!(unsound(prepare(&host, arguments).await).contains(why), "{key}");
    }
    assert_eq!(service.count(), 0);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_before_anybody_is_called() {
    let service = Service::start(|_| OK.into()).await;
    let mut config = config(&service, "/", json!({}));
    config.url = format!("https://api.example:{}/", service.port);
    config.allow_private_addresses = false;
    for (address, what) in [
        ("127.0.0.1", "a loopback address"),
        ("10.0.0.1", "a private address"),
        ("169.254.169.254", "a cloud's metadata service"),
        ("100.64.0.1", "an address behind a carrier's NAT"),
        ("0.0.0.0", "the unspecified address"),
        ("224.0.0.1", "a multicast address"),
        ("::ffff:127.0.0.1", "a loopback address"),
        ("64:ff9b::10.0.0.1", "a private address"),
        ("2002:7f00:1::", "a loopback address"),
        ("fe80::1", "a link-local address"),
    ] {
        let host = HttpTool::with_names(config.clone(), names(&[address])).unwrap();
        let told = failed(run(&host, json!({}), 1).await);
        assert!(told.starts_with("Nothing was sent: ") && told.contains(what), "{address}: {told}");
    }
    assert_eq!(service.count(), 0);
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_each_request() {
    let service = Service::start(|_| OK.into()).await;
    // Had the check and the connection each asked, the second answer would have been called.
    let turning = names(&["127.0.0.1", "10.0.0.1"]);
    let host = HttpTool::with_names(config(&service, "/", json!({})), turning.clone()).unwrap();
    succeeded(run(&host, json!({}), 1).await);
    assert_eq!(turning.asked.load(Ordering::Relaxed), 1);
    assert_eq!(service.count(), 1);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let elsewhere = Service::start(|_| OK.into()).await;
    for location in [
        format!("http://api.example:{}/", elsewhere.port),
        format!("//127.0.0.1:{}/", elsewhere.port),
        "https://api.example/".into(),
        "file:///etc/passwd".into(),
        "http://[".into(),
        // Another host that is no stranger: a mistake here must not call anybody outside.
        format!("http://127.0.0.2:{}/latest/meta-data/", elsewhere.port),
    ] {
        let answer =
            format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 5\r\n\r\nmoved");
        let service = Service::start(move |_| answer.clone().into()).await;
        let mut config = config(&service, "/", json!({}));
        config.secret_headers =
            vec![SecretHeader::new("Authorization", "API_TOKEN", TOKEN).unwrap()];
        let told = failed(run(&host(config), json!({}), 1).await);
        assert!(told.starts_with("The service answered 302 Found.\nIt redirects to "), "{told}");
        assert!(told.ends_with("moved"), "{told}");
        assert_eq!(service.count(), 1);
    }
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn within_its_host_a_read_is_led_on_and_not_for_ever() {
    let service = Service::start(|request| match request.line.split(' ').nth(1) {
        Some("/old") => {
            "HTTP/1.1 301 Moved\r\nlocation: /new?x=1\r\ncontent-length: 0\r\n\r\n".into()
        }
        Some("/new?x=1") => OK.into(),
        _ => "HTTP/1.1 307 Circle\r\nlocation: /circle\r\ncontent-length: 0\r\n\r\n".into(),
    })
    .await;
    assert_eq!(
        succeeded(run(&host(config(&service, "/old", json!({}))), json!({}), 1).await),
        "fine"
    );
    assert_eq!(service.count(), 2);
    let circle = host(config(&service, "/circle", json!({})));
    assert!(failed(run(&circle, json!({}), 2).await).contains("no more are followed"));
    assert_eq!(service.count(), 2 + 1 + HTTP_REDIRECTS_MAX as u64);
    let mut writing = config(&service, "/old", json!({}));
    writing.method = "POST".into();
    let told = failed(run(&host(writing), json!({}), 3).await);
    assert!(told.contains("only GET and HEAD are led on"), "{told}");
    assert_eq!(service.count(), 4 + HTTP_REDIRECTS_MAX as u64);
}

#[tokio::test]
async fn a_status_that_is_no_success_is_a_failure_with_its_text() {
    let service = Service::start(|_| {
        "HTTP/1.1 422 X\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{\"why\":\"title\"}".into()
    })
    .await;
    let told = failed(run(&post(&service), arguments(), 1).await);
    assert_eq!(told, "The service answered 422 Unprocessable Entity.\n{\"why\":\"title\"}");
}

#[tokio::test]
async fn i16_after_a_byte_was_sent_a_failure_is_unknown_and_before_it_is_clean() {
    for (answer, evidence) in [
        ("", "The request was sent, and "),
        ("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", "it began with: half"),
        ("HTTP/1.1 200", "The request was sent, and "),
        ("nonsense\r\n\r\n", "The request was sent, and "),
    ] {
        let service = Service::start(move |_| answer.into()).await;
        let told = unknown(run(&post(&service), arguments(), 1).await);
        assert!(told.contains(evidence), "{answer:?}: {told}");
        assert!(!told.contains("4711-secret") && !told.contains(TOKEN), "{told}");
        assert_eq!(service.count(), 1, "it is never sent twice");

        let mut reading = config(&service, "/", json!({}));
        reading.effects = Effects::ReadOnly;
        assert!(
            failed(run(&host(reading), json!({}), 2).await).starts_with("The request failed: ")
        );
        assert_eq!(service.count(), 1 + u64::from(HTTP_ATTEMPTS), "a read is harmless to repeat");
    }
    let gone = Service::start(|_| OK.into()).await;
    let host = post(&gone);
    gone.stop().await;
    assert!(failed(run(&host, arguments(), 1).await).starts_with("Nothing was sent: "));
}

#[tokio::test]
async fn time_runs_out_for_who_is_silent_and_for_who_drips() {
    let quick = |service: &Service, effects| {
        let mut config = config(service, "/", json!({}));
        config.time_limit = Duration::from_millis(300);
        config.effects = effects;
        host(config)
    };
    let silent = Service::silent().await;
    let told = unknown(run(&quick(&silent, Effects::AtMostOnce), json!({}), 1).await);
    assert!(told.contains("no answer within 300 ms"), "{told}");
    assert!(failed(run(&quick(&silent, Effects::ReadOnly), json!({}), 2).await).contains("300 ms"));
    let dripping = Service::dripping(b"x", Duration::from_millis(20)).await;
    let told = unknown(run(&quick(&dripping, Effects::AtMostOnce), json!({}), 1).await);
    assert!(
        told.contains("answered with 200 OK, but did not end within 300 ms; it began with: x"),
        "{told}"
    );
}

#[tokio::test]
async fn a_body_without_end_is_left_and_said_to_be_cut() {
    let piece: &[u8] = &[b'y'; 64 << 10];
    let endless = Service::dripping(piece, Duration::ZERO).await;
    let output = match run(&host(config(&endless, "/", json!({}))), json!({}), 1).await {
        Outcome::Succeeded(output) => output,
        other => panic!("{other:?}"),
    };
    assert!(output.text.len() < OUTPUT_BYTES_KEPT + 300, "{}", output.text.len());
    assert!(output.text.contains("[response cut: it has more than the 4194304 bytes"));
}

#[tokio::test]
async fn what_comes_packed_is_not_unpacked() {
    let service = Service::start(|_| {
        let mut answer =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\n\
                           content-length: 20\r\n\r\n"
                .to_vec();
        answer.extend_from_slice(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0");
        answer
    })
    .await;
    let told = succeeded(run(&host(config(&service, "/", json!({}))), json!({}), 1).await);
    assert!(told.contains("encoded as gzip, 20 bytes, "), "{told}");
    assert_eq!(service.received().await[0].header("accept-encoding"), None);
}

#[tokio::test]
async fn i18_every_attempt_at_a_call_has_its_key_and_no_other_call_has_it() {
    let service = Service::failing(2, OK).await;
    let mut setup = config(&service, "/", json!({}));
    setup.method = "PUT".into();
    setup.effects = Effects::Idempotent;
    let host = host(setup);
    let shown = prepare(&host, json!({})).await.unwrap().context.detail;
    assert!(shown.contains("idempotency-key"), "{shown}");
    succeeded(run(&host, json!({}), 1).await);
    succeeded(run(&host, json!({}), 2).await);
    let keys: Vec<String> = service
        .received()
        .await
        .iter()
        .map(|request| request.header("idempotency-key").unwrap().to_owned())
        .collect();
    assert_eq!(keys.len(), 4, "two that broke off, one that worked, and another call");
    assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[2] != keys[3], "{keys:?}");
}

#[tokio::test]
async fn a_stopped_request_is_in_doubt_unless_it_only_read() {
    for (effects, in_doubt) in [(Effects::AtMostOnce, true), (Effects::ReadOnly, false)] {
        let silent = Service::silent().await;
        let mut setup = config(&silent, "/", json!({}));
        setup.effects = effects;
        let host = host(setup);
        let call = proposed(&host, json!({}), 1).await;
        let stop = CancellationToken::new();
        let stopping = async {
            silent.somebody_came().await;
            stop.cancel();
        };
        let (outcome, ()) = tokio::join!(
            host.run(clear_call(call.clone(), 1), open_gate(), stop.clone()),
            stopping
        );
        match in_doubt {
            true => {
                assert!(unknown(outcome.unwrap()).contains("stopped before there was an answer"))
            }
            false => assert!(failed(outcome.unwrap()).contains("stopped")),
        }
        let outcome = host.run(clear_call(call, 2), open_gate(), stop.clone()).await.unwrap();
        assert!(failed(outcome).contains("stopped before it began"));
    }
}

#[tokio::test]
async fn it_conforms() {
    let service = Service::start(|request| match request.line.contains("noisy") {
        false => OK.into(),
        true => {
            let body = "x".repeat(3 * OUTPUT_BYTES_KEPT);
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
        }
    })
    .await;
    let mut setup = config(&service, "/{what}", json!({"what": {"type": "string"}}));
    setup.method = "POST".into();
    let host = host(setup);
    check_host(ConformanceCase {
        host: &host,
        works: json!({"what": "one"}),
        effects: &|| service.count(),
        effects_each: 1,
        unsound: Some(json!({"what": ".."})),
        endless: None,
        noisy: Some(json!({"what": "noisy"})),
        clear: &clear_call,
    })
    .await;
    let call = proposed(&host, json!({"what": "one"}), 9).await;
    let Recovery::Unknown { evidence } = host.recover(&call, 1).await else { panic!("no proof") };
    assert!(evidence.starts_with("POST http://api.example:"), "{evidence}");
    assert_ne!(call.digest(), Digest::of(b""));
}

#[test]
fn a_tool_that_cannot_work_is_refused_at_the_start() {
    let schema = || json!({"type": "object", "properties": {"id": {}}, "required": ["id"]});
    let check = |change: &dyn Fn(&mut HttpConfig), why: &str| {
        let mut config = HttpConfig::new("t", "d", schema(), "https://api.example/{id}");
        change(&mut config);
        match HttpTool::new(config) {
            Ok(_) => assert_eq!(why, ""),
            Err(bad) => assert!(!why.is_empty() && bad.to_string().contains(why), "{bad}"),
        }
    };
    check(&|_| {}, "");
    check(&|config| config.method = "get".into(), "is not a method");
    check(&|config| config.method = "CONNECT".into(), "is not a method");
    check(&|config| config.effects = Effects::Transactional, "cannot be `transactional`");
    check(&|config| config.body = BodyTemplate::Json(json!({})), "a GET has no body");
    check(&|config| config.url = "https://api.example/".into(), "`id` goes nowhere");
    check(&|config| config.url = "https://api.example/{id}/{x}".into(), "`{x}` is not an argument");
    check(&|config| config.input_schema["required"] = json!([]), "make it `required`");
    check(&|config| config.input_schema["additionalProperties"] = json!(true), "must be false");
    check(&|config| config.time_limit = Duration::from_secs(3600), "at most 600 s");
    check(&|config| config.headers = vec![("Host".into(), "x".into())], "Holdpoint's to write");
    check(
        &|config| {
            config.headers = vec![("X-Key".into(), "x".into())];
            config.secret_headers = vec![SecretHeader::new("x-key", "KEY", "y").unwrap()];
        },
        "there twice",
    );
    let mut config = HttpConfig::new("t", "d", schema(), "https://api.example/{id}");
    config.headers = vec![("X".into(), "y".into())];
    let tool = HttpTool::new(config).unwrap();
    assert_eq!(tool.tool().input_schema["additionalProperties"], json!(false));
}
