//! What is sent, to the letter, and how it changes.

use ports::channel::{Channel, ChannelError, Destination};
use serde_json::json;
use testkit::asked::Asked;
use testkit::fake_slack::BOT_TOKEN;

use crate::slack::stage::{ANA, OPS, Stage, ops, saying};

#[tokio::test]
async fn a_hold_is_shown_and_repainted() {
    let stage = Stage::http().await;
    let asked = stage.asked();
    let shown = stage.slack.show(&ops(), &asked.showing()).await.unwrap();
    assert!(shown.accepts_approval);
    let posted = shown.posted;
    assert_eq!((posted.chat.as_str(), posted.direct, posted.thread.as_deref()), (OPS, false, None));
    assert!(posted.at.is_some());
    let sent = stage.fake.asked("chat.postMessage").remove(0);
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/api/chat.postMessage"));
    assert_eq!(sent.header("authorization"), Some(&*format!("Bearer {BOT_TOKEN}")));
    assert_eq!(sent.header("content-type"), Some("application/json; charset=utf-8"));
    let body = sent.json();
    assert_eq!(body["channel"], OPS);
    assert_eq!((&body["unfurl_links"], &body["unfurl_media"]), (&json!(false), &json!(false)));
    assert_eq!(body["metadata"], json!({"event_type": "holdpoint", "event_payload": {"r": "7Q2"}}));
    let actions = body["blocks"].as_array().unwrap().iter().find(|one| one["type"] == "actions");
    let values: Vec<_> =
        actions.unwrap()["elements"].as_array().unwrap().iter().map(|one| &one["value"]).collect();
    let meant = ["h1:7Q2:a:k3x9ab", "h1:7Q2:d:k3x9ab", "h1:7Q2:x:k3x9ab"].map(|value| json!(value));
    assert_eq!(values, meant.each_ref());
    assert!(stage.fake.asked("conversations.history").is_empty(), "what is new is not looked for");

    assert_eq!(stage.slack.repaint(&posted, &asked.approved().showing()).await, Ok(false));
    let message = stage.fake.messages(OPS).remove(0).to_string();
    assert!(message.contains("approved by Ana") && !message.contains("hp_allow"), "{message}");
    assert_eq!(stage.fake.messages(OPS).len(), 1);
}

#[tokio::test]
async fn a_person_and_a_thread_are_reached() {
    let stage = Stage::http().await;
    let asked = stage.asked();
    let ana = Destination::Person(format!("T0FAKE:{ANA}"));
    let posted = stage.slack.show(&ana, &asked.showing()).await.unwrap().posted;
    assert_eq!((posted.chat.as_str(), posted.direct), ("D0ANA", true));
    let thread = Destination::Chat {
        chat: OPS.into(),
        thread: Some("1794700000.000001".into()),
        direct: false,
    };
    let asked = asked.keyed("8R3");
    let posted = stage.slack.show(&thread, &asked.showing()).await.unwrap().posted;
    assert_eq!(posted.thread.as_deref(), Some("1794700000.000001"));
    assert_eq!(stage.fake.asked("chat.postMessage")[1].json()["thread_ts"], "1794700000.000001");
    for stranger in ["T0OTHER:U0ANA", "U0ANA", "T0FAKE:"] {
        let place = Destination::Person(stranger.into());
        let nobody = stage.slack.show(&place, &asked.showing()).await;
        assert!(matches!(nobody, Err(ChannelError::Never(_))), "{stranger}: {nobody:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_takes_no_yes() {
    let stage = Stage::http().await;
    let asked = Asked::long(40_000).opened(stage.asked().hold.opened_at);
    let shown = stage.slack.show(&ops(), &asked.showing()).await.unwrap();
    assert!(!shown.accepts_approval);
    let message = stage.fake.messages(OPS).remove(0).to_string();
    assert!(!message.contains("hp_allow") && message.contains("hp_deny"), "{message}");
}

#[tokio::test]
async fn words_are_said_without_markup_and_in_pieces() {
    let stage = Stage::http().await;
    stage.slack.say(&ops(), &saying("*not bold* <!channel> & <@U0ANA> \u{202e}")).await.unwrap();
    let sent = stage.fake.asked("chat.postMessage").remove(0).json();
    assert_eq!(sent["text"], "*not bold* &lt;!channel&gt; &amp; &lt;@U0ANA&gt; ⟦U+202E⟧");
    assert_eq!(sent["mrkdwn"], false);
    let mut long = saying("");
    let text = "word ".repeat(1_000);
    (long.key, long.text) = ("s2", &text);
    stage.slack.say(&ops(), &long).await.unwrap();
    assert_eq!(stage.fake.messages(OPS).len(), 3);
    let whom = format!("T0FAKE:{ANA}");
    let mut whisper = saying("only you");
    whisper.whisper_to = Some(&whom);
    stage.slack.say(&ops(), &whisper).await.unwrap();
    let whispered = stage.fake.ephemerals().remove(0);
    assert_eq!((&whispered["user"], &whispered["channel"]), (&json!(ANA), &json!(OPS)));
    assert_eq!(stage.fake.messages(OPS).len(), 3, "nobody else sees it");
}
