//! What is sent, to the letter, and how it changes.

use domain::hold::Question;
use ports::channel::{Channel, ChannelError, Destination};
use serde_json::json;
use testkit::asked::Asked;

use crate::telegram::stage::{ANA, GROUP, Stage, group, number, saying};

#[tokio::test]
async fn a_hold_is_shown_and_repainted() {
    let stage = Stage::polling().await;
    let asked = Asked::deletion();
    let shown = stage.bot.show(&group(), &asked.showing()).await.unwrap();
    assert!(shown.accepts_approval);
    let posted = shown.posted;
    assert_eq!((posted.chat.as_str(), posted.direct), ("-1001234", false));
    let sent = stage.fake.requests("sendMessage").remove(0);
    assert_eq!(
        (sent.http_method.as_str(), sent.path.as_str()),
        ("POST", "/bot424242:FAKE-token_of-tests/sendMessage")
    );
    assert_eq!(sent.content_type, "application/json; charset=utf-8");
    assert_eq!(sent.body["chat_id"], GROUP);
    assert_eq!(sent.body["parse_mode"], "HTML");
    assert_eq!(sent.body["link_preview_options"], json!({"is_disabled": true}));
    assert_eq!(
        sent.body["reply_markup"]["inline_keyboard"],
        json!([[
            {"text": "Approve once", "callback_data": "h1:7Q2:a:k3x9ab"},
            {"text": "Deny", "callback_data": "h1:7Q2:d:k3x9ab"},
        ]])
    );

    let takes = stage.bot.repaint(&posted, &asked.clone().approved().showing()).await.unwrap();
    assert!(!takes);
    let message = stage.fake.message(GROUP, number(&posted.message)).unwrap();
    assert!(message["text"].as_str().unwrap().starts_with("✅ approved by Ana"), "{message}");
    assert_eq!(message["reply_markup"], json!(null), "no key is left");
    // Once more changes nothing, which the platform calls an error and we do not.
    assert_eq!(stage.bot.repaint(&posted, &asked.approved().showing()).await, Ok(false));
}

#[tokio::test]
async fn a_person_and_a_topic_are_reached() {
    let stage = Stage::polling().await;
    let asked = Asked::deletion();
    let direct =
        stage.bot.show(&Destination::Person("7".into()), &asked.showing()).await.unwrap().posted;
    assert_eq!((direct.chat.as_str(), direct.direct), ("7", true));
    let body = &stage.fake.requests("sendMessage")[0].body;
    assert!(!body["text"].as_str().unwrap().contains("mention me"), "{body}");

    let topic =
        Destination::Chat { chat: GROUP.to_string(), thread: Some("9".into()), direct: false };
    let lost = stage.bot.show(&topic, &asked.showing()).await;
    assert!(matches!(lost, Err(ChannelError::Never(_))), "no such topic: {lost:?}");
    stage.fake.topic(GROUP, 9);
    let posted = stage.bot.show(&topic, &asked.showing()).await.unwrap().posted;
    assert_eq!(posted.thread.as_deref(), Some("9"));
    assert_eq!(stage.fake.requests("sendMessage")[2].body["message_thread_id"], 9);

    for place in [Destination::Person("ana".into()), Destination::Person(String::new())] {
        let nobody = stage.bot.show(&place, &asked.showing()).await;
        assert!(matches!(nobody, Err(ChannelError::Never(_))), "{nobody:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_takes_no_yes_and_a_form_is_filled_in_elsewhere() {
    let stage = Stage::polling().await;
    let shown = stage.bot.show(&group(), &Asked::long(9_000).showing()).await.unwrap();
    assert!(!shown.accepts_approval);
    let fill = Asked::question(Question::Fill { schema: None });
    let shown = stage.bot.show(&group(), &fill.showing()).await.unwrap();
    assert!(!shown.accepts_approval, "an inline keyboard has no form");
    for message in stage.fake.messages(GROUP) {
        let keys = message["reply_markup"]["inline_keyboard"].to_string();
        assert!(!keys.contains(":a:") && keys.contains(":d:"), "{keys}");
    }
}

#[tokio::test]
async fn words_are_said_without_markup_and_in_pieces() {
    let stage = Stage::polling().await;
    let hostile = "<b>*not bold*</b> & \u{202e}";
    stage.bot.say(&group(), &saying(hostile)).await.unwrap();
    stage.bot.say(&group(), &saying(&"word ".repeat(1_500))).await.unwrap();
    let messages = stage.fake.messages(GROUP);
    assert_eq!(messages[0]["text"], "<b>*not bold*</b> & ⟦U+202E⟧");
    assert_eq!(messages.len(), 3);
    // A whisper goes to the one whom it is for.
    let mut whisper = saying("only you");
    whisper.whisper_to = Some("7");
    stage.bot.say(&group(), &whisper).await.unwrap();
    assert_eq!(stage.fake.messages(ANA.0).len(), 1);
    let mut reply = saying("so it is");
    reply.reply_to = Some("1");
    stage.bot.say(&group(), &reply).await.unwrap();
    let sent = stage.fake.requests("sendMessage");
    assert_eq!(
        sent.last().unwrap().body["reply_parameters"],
        json!({"message_id": 1, "allow_sending_without_reply": true})
    );
}
