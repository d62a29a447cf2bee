//! Events and interactions that Slack brings, and that others would like to bring.

use ports::channel::{Channel, PressReply, WebhookRequest};
use ports::clock::Clock;
use serde_json::{Value, json};
use testkit::fake_slack::{SIGNING_SECRET, signed};

use crate::slack::stage::{ANA, OPS, Stage, eventually, form, socket_mode};

#[tokio::test]
async fn i34_only_what_slack_signed_is_heard() {
    let stage = Stage::http().await;
    let event = stage.fake.write(ANA, OPS, "yes", json!({}));
    let body = event.to_string();
    let now = stage.clock.now().as_ms() / 1000;
    let good = signed(body.as_bytes(), SIGNING_SECRET, now);
    let other = signed(b"{}", SIGNING_SECRET, now);
    for (what, headers) in [
        ("none", Vec::new()),
        ("another secret", signed(body.as_bytes(), "guessed", now)),
        ("an empty secret", signed(body.as_bytes(), "", now)),
        ("another body", other),
        ("old", signed(body.as_bytes(), SIGNING_SECRET, now - 301)),
        ("from the future", signed(body.as_bytes(), SIGNING_SECRET, now + 302)),
        ("no time", good[1..].to_vec()),
        ("twice", [good.clone(), good.clone()].concat()),
    ] {
        let reply = stage.hook("events", headers, body.as_bytes()).await;
        assert_eq!(reply.status, 401, "{what}");
    }
    let large = vec![b' '; (1 << 20) + 1];
    let reply = stage.hook("events", signed(&large, SIGNING_SECRET, now), &large).await;
    assert_eq!(reply.status, 413);
    let reply = stage.hook("events", signed(b"{", SIGNING_SECRET, now), b"{").await;
    assert_eq!(reply.status, 400);
    assert!(stage.inbox.wrote().is_empty());

    // A hundred repeats have one name.
    for _ in 0..100 {
        assert_eq!(stage.hook("events", good.clone(), body.as_bytes()).await.status, 200);
    }
    let wrote = stage.inbox.wrote();
    assert!(wrote.iter().all(|one| one.event == wrote[0].event));
}

#[tokio::test]
async fn another_app_or_workspace_is_refused() {
    let stage = Stage::http().await;
    for (name, value) in [("team_id", "T0OTHER"), ("api_app_id", "A0OTHER"), ("team_id", "")] {
        let mut event = stage.fake.write(ANA, OPS, "yes", json!({}));
        event[name] = value.into();
        assert_eq!(stage.bring("events", &event).await.status, 403, "{name} {value}");
    }
    let posted = stage.show(&stage.asked()).await;
    let mut press = stage.fake.press(ANA, OPS, &posted.message, "Approve once");
    press["team"]["id"] = "T0OTHER".into();
    assert_eq!(stage.bring("interactions", &press).await.status, 403);
    assert!(stage.inbox.wrote().is_empty() && stage.inbox.presses().is_empty());
}

#[tokio::test]
async fn the_challenge_is_answered_and_the_unknown_accepted() {
    let stage = Stage::http().await;
    let challenge = json!({"type": "url_verification", "challenge": "3eZb", "token": "x"});
    let reply = stage.bring("events", &challenge).await;
    assert_eq!((reply.status, reply.body.as_slice()), (200, &b"3eZb"[..]));
    let unknown = stage.fake.event(&json!({"type": "app_home_opened"}));
    assert_eq!(stage.bring("events", &unknown).await.status, 200);
    let body = form(&json!({}));
    let now = stage.clock.now().as_ms() / 1000;
    for (path, status) in [("commands", 404), ("", 404)] {
        let headers = signed(body.as_bytes(), SIGNING_SECRET, now);
        assert_eq!(stage.hook(path, headers, body.as_bytes()).await.status, status, "{path}");
    }
    let garbled = stage.hook("interactions", signed(b"x=1", SIGNING_SECRET, now), b"x=1").await;
    assert_eq!(garbled.status, 400);
    let get = WebhookRequest {
        method: "GET".into(),
        path: "events".into(),
        query: None,
        headers: Vec::new(),
        body: Vec::new(),
        at: stage.clock.now(),
    };
    assert_eq!(stage.slack.hook(get, &*stage.inbox).await.status, 405);
    // With Socket Mode there is no door here.
    let socket = Stage::new(socket_mode()).await;
    assert_eq!(socket.bring("events", &challenge).await.status, 404);
}

#[tokio::test]
async fn a_press_is_taken_with_an_empty_reply() {
    let stage = Stage::http().await;
    let asked = stage.asked();
    let posted = stage.show(&asked).await;
    let press = stage.fake.press(ANA, OPS, &posted.message, "Approve once");
    stage.inbox.reply(PressReply::Taken(asked.approved().redraw(&posted)));
    let reply = stage.bring("interactions", &press).await;
    assert_eq!((reply.status, reply.body.len()), (200, 0));
    assert_eq!(stage.inbox.presses()[0].pointer.to_string(), "h1:7Q2:a:k3x9ab");

    // Nobody is nobody; and a forged value is none of ours.
    let mut nameless = press.clone();
    nameless["user"] = json!({});
    assert_eq!(stage.bring("interactions", &nameless).await.status, 200);
    let mut forged = press.clone();
    forged["actions"][0]["value"] = "approve".into();
    assert_eq!(stage.bring("interactions", &forged).await.status, 200);
    eventually("a word", || !stage.fake.ephemerals().is_empty()).await;
    assert_eq!(stage.fake.ephemerals()[0]["text"], "This cannot be answered here.");
    assert_eq!(stage.inbox.presses().len(), 1);

    // It does not come again, so whoever pressed is told.
    stage.inbox.busy(1);
    assert_eq!(stage.bring("interactions", &press).await.status, 200);
    eventually("a word", || stage.fake.ephemerals().len() == 2).await;
    let told: Value = stage.fake.ephemerals().remove(1);
    assert!(told["text"].as_str().unwrap().contains("Please try again"), "{told}");
    // A message does.
    stage.inbox.busy(1);
    let event = stage.fake.write(ANA, OPS, "yes", json!({}));
    assert_eq!(stage.bring("events", &event).await.status, 503);
    assert_eq!(stage.bring("events", &event).await.status, 200);
}
