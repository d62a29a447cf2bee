//! What no vendor's client can see: exact bytes, exact cuts, and what is written down.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;

fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

fn path(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "/v1/messages",
        Api::Chat => "/v1/chat/completions",
        Api::Responses => "/v1/responses",
    }
}

/// A request for a turn, with these words of the user.
fn ask(fake: &FakeModel, api: Api, more: &Value) -> reqwest::RequestBuilder {
    let messages = json!([{"role": "user", "content": "go"}]);
    let mut body = json!({"model": MODEL, "max_tokens": 9, "stream": true});
    body[if api == Api::Responses { "input" } else { "messages" }] = messages;
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let request = http().post(format!("{}{}", fake.url(), path(api))).bearer_auth(KEY);
    request.header("anthropic-version", "2023-06-01").json(&body)
}

/// Everything that arrived, and whether it ended as a body should.
async fn read(request: reqwest::RequestBuilder) -> (u16, Vec<u8>, bool) {
    let mut reply = request.send().await.unwrap();
    let (status, mut bytes) = (reply.status().as_u16(), Vec::new());
    loop {
        match reply.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return (status, bytes, true),
            Err(_) => return (status, bytes, false),
        }
    }
}

fn one_call() -> Turn {
    Turn::calls([Call::new("shell", json!({"command": "ls"})).id("one")])
}

#[tokio::test]
async fn a_cut_is_exactly_where_the_script_says() {
    for api in Api::ALL {
        let fake = FakeModel::start(Script::new([one_call()])).await;
        let whole = read(ask(&fake, api, &json!({}))).await;
        assert!(whole.2 && whole.0 == 200);
        for at in [0, 1, 17, whole.1.len() - 1] {
            for (then, sound) in [(Then::Cut, false), (Then::End, true)] {
                fake.play(Script::new([one_call().then(at, then)]));
                let (status, bytes, ended) = read(ask(&fake, api, &json!({}))).await;
                assert_eq!((status, bytes.len(), ended), (200, at, sound), "{api:?}");
                assert_eq!(bytes, whole.1[..at]);
                assert_eq!(fake.asked().pop().unwrap().ended, Ended::Cut);
            }
        }
        fake.play(Script::new([one_call().then(whole.1.len() + 1, Then::Cut)]));
        assert_eq!(read(ask(&fake, api, &json!({}))).await, whole);
        assert_eq!(fake.asked().pop().unwrap().ended, Ended::Whole);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed() {
    for api in Api::ALL {
        let fake = FakeModel::start(Script::new([one_call().then(30, Then::Stall)])).await;
        let mut reply = ask(&fake, api, &json!({})).send().await.unwrap();
        assert!(reply.chunk().await.unwrap().is_some());
        assert_eq!(fake.asked()[0].ended, Ended::Open);
        drop(reply);
        let noticed = async {
            while fake.asked()[0].ended != Ended::HungUp {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), noticed).await.unwrap();
    }
}

#[tokio::test]
async fn garbage_stands_between_the_frames_and_the_rest_follows() {
    let junk = "data: {not json\n\n";
    for api in Api::ALL {
        let fake = FakeModel::start(Script::new([one_call()])).await;
        let whole = String::from_utf8(read(ask(&fake, api, &json!({}))).await.1).unwrap();
        fake.play(Script::new([one_call().then(1, Then::Garbage(junk.into()))]));
        let with = String::from_utf8(read(ask(&fake, api, &json!({}))).await.1).unwrap();
        let at = with.find(junk).unwrap();
        assert!(with[..at].ends_with("\n\n"), "{with}");
        assert_eq!(with.replacen(junk, "", 1), whole);
    }
}

#[tokio::test]
async fn huge_arguments_arrive_without_being_in_memory_first() {
    let size = 3_000_000;
    let huge = Call { name: "shell".into(), huge: Some(size), ..Call::default() };
    for api in Api::ALL {
        let turn = Turn::calls([huge.clone()]);
        let turn = turn.manner(Manner { fragment: 50_000, ..Manner::default() });
        let fake = FakeModel::start(Script::new([turn])).await;
        let (_, bytes, ended) = read(ask(&fake, api, &json!({}))).await;
        assert!(ended && bytes.iter().filter(|b| **b == b'x').count() >= size, "{api:?}");
    }
}

#[tokio::test]
async fn turns_are_chosen_by_number_by_words_and_by_times() {
    let fake = FakeModel::start(Script::new([
        Turn { when: When { request: Some(2), ..When::default() }, ..Turn::text("second") },
        Turn::text("greeting").says("go").times(1),
        Turn::fail(429).retry_after("7").times(1),
        Turn::text("rest"),
    ]))
    .await;
    let mut heard = Vec::new();
    for _ in 0..4 {
        let reply = ask(&fake, Api::Anthropic, &json!({"stream": false})).send().await.unwrap();
        let retry = reply.headers().get("retry-after").cloned();
        let body: Value = reply.json().await.unwrap();
        let text = body["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        heard.push(match retry {
            Some(value) => format!("wait {}", value.to_str().unwrap()),
            None => text,
        });
    }
    assert_eq!(heard, ["greeting", "second", "wait 7", "rest"]);
}

#[tokio::test]
async fn a_stranger_and_what_is_too_large_are_refused_and_written_down() {
    let fake = FakeModel::start(Script::new([one_call()])).await;
    for api in Api::ALL {
        for key in [None, Some("wrong")] {
            let request = http().post(format!("{}{}", fake.url(), path(api)));
            let request = key.into_iter().fold(request, |request, key| request.bearer_auth(key));
            assert_eq!(read(request).await.0, 401, "{api:?}");
        }
    }
    let large = "x".repeat(33 * 1024 * 1024);
    let (status, ..) = read(ask(&fake, Api::Anthropic, &json!({"system": large}))).await;
    assert_eq!(status, 413);
    let statuses: Vec<_> = fake.asked().iter().map(|request| request.status.unwrap()).collect();
    assert_eq!(statuses, [401, 401, 401, 401, 401, 401, 413]);
}

#[test]
fn a_script_with_an_unknown_word_is_refused() {
    let read = |text: &str| Script::parse(text.as_bytes());
    let all = json!({"key": "k", "models": ["m"], "turns": [{
        "when": {"request": 1, "says": "a", "result": "b", "results": 2},
        "times": 3,
        "say": [
            {"type": "text", "text": "t"},
            {"type": "thinking", "text": "t"},
            {"type": "redacted_thinking", "text": "t"},
            {"type": "call", "name": "n", "id": "i", "input": {}, "raw": "{", "huge": 5,
             "escaped": true, "keep": 1},
        ],
        "stop": "pause_turn",
        "manner": {"fragment": 1, "chunk": 1, "interleave": true, "delay_ms": 1, "drip_ms": 1,
                   "ping": true, "crlf": true, "after": {"bytes": 1, "then": "stall"}},
        "fail": {"status": 429, "message": "m", "retry_after": "1"},
    }]});
    assert!(read(&all.to_string()).is_ok());
    for text in [r#"{"turn": []}"#, r#"{"turns": [{"says": "x"}]}"#, "7", ""] {
        assert!(read(text).unwrap_err().starts_with("the script cannot be read"), "{text}");
    }
}
