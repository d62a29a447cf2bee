//! A platform that is slow, overloaded, broken or gone, and messages that must not stand there twice.

use std::time::Duration;

use ports::channel::{Channel, ChannelError, Destination};
use serde_json::json;
use testkit::fake_chat::{Fault, Reply};

use crate::slack::stage::{ANA, OPS, Stage, ops, saying, socket_mode};

fn kind(error: &ChannelError) -> &'static str {
    match error {
        ChannelError::Again { .. } => "again",
        ChannelError::Unknown(_) => "unknown",
        ChannelError::Never(_) => "never",
        ChannelError::Gone(_) => "gone",
        ChannelError::Moved(_) => "moved",
    }
}

fn faults() -> Vec<(&'static str, Fault)> {
    vec![
        ("again", Fault::Says(Reply::new(429, json!({})).with("retry-after", "3"))),
        ("unknown", Fault::Says(Reply::new(500, json!({"ok": false, "error": "internal_error"})))),
        ("unknown", Fault::Garbage),
        ("unknown", Fault::Lost),
        ("unknown", Fault::Endless),
    ]
}

#[tokio::test]
async fn every_fault_has_its_remedy() {
    let stage = Stage::http().await;
    for (number, (sending, fault)) in faults().into_iter().enumerate() {
        let asked = stage.asked().keyed(&format!("K{number}"));
        stage.fake.fail("chat.postMessage", fault.clone());
        let error = stage.slack.show(&ops(), &asked.showing()).await.unwrap_err();
        assert_eq!(kind(&error), sending, "{fault:?}: {error}");
        if sending == "again" {
            assert!(
                matches!(error, ChannelError::Again { after: Some(after), .. } if after == Duration::from_secs(3))
            );
        }
        let posted = stage.show(&asked).await;
        stage.fake.fail("chat.update", fault.clone());
        let error = stage.slack.repaint(&posted, &asked.approved().showing()).await.unwrap_err();
        assert_eq!(kind(&error), "again", "{fault:?}: {error}");
    }
    let gone = stage.show(&stage.asked().keyed("Z")).await;
    stage.fake.delete(OPS);
    let error = stage.slack.repaint(&gone, &stage.asked().showing()).await.unwrap_err();
    assert_eq!(kind(&error), "gone", "{error}");
    stage.fake.close(OPS);
    let error = stage.slack.show(&ops(), &stage.asked().keyed("Y").showing()).await.unwrap_err();
    assert_eq!(kind(&error), "never");
    assert!(error.to_string().contains("invite the app"), "{error}");
}

#[tokio::test]
async fn a_prompt_whose_answer_was_lost_is_found_and_not_sent_twice() {
    let stage = Stage::http().await;
    let thread = Destination::Chat {
        chat: OPS.into(),
        thread: Some("1794700000.000001".into()),
        direct: false,
    };
    let person = Destination::Person(format!("T0FAKE:{ANA}"));
    for (number, (place, channel)) in
        [(ops(), OPS), (thread, OPS), (person, "D0ANA")].into_iter().enumerate()
    {
        let asked = stage.asked().keyed(&format!("K{number}"));
        let before = stage.fake.messages(channel).len();
        stage.fake.fail("chat.postMessage", Fault::Lost);
        let error = stage.slack.show(&place, &asked.showing()).await.unwrap_err();
        assert_eq!(kind(&error), "unknown", "{error}");
        let posted = stage.slack.show(&place, &asked.showing()).await.unwrap().posted;
        let messages = stage.fake.messages(channel);
        assert_eq!(messages.len(), before + 1, "{place:?}");
        assert_eq!(posted.message, messages.last().unwrap()["ts"].as_str().unwrap());
        assert_eq!(posted.chat, channel);
    }
    let history = stage.fake.asked("conversations.history").remove(0);
    assert_eq!(history.method, "GET");
    assert!(history.query.unwrap().contains("include_all_metadata=true"));
}

#[tokio::test]
async fn a_new_process_looks_before_it_sends_what_was_asked_before_it_came() {
    let mut stage = Stage::http().await;
    let asked = stage.asked();
    let first = stage.show(&asked).await;
    // Killed between sending and writing down; another process takes over.
    stage.clock.move_on(Duration::from_millis(5));
    stage.reborn(socket_mode());
    let second = stage.show(&asked).await;
    assert_eq!(first, second);
    assert_eq!(stage.fake.messages(OPS).len(), 1);
    // Somebody else's message with the same mark is not ours.
    let other = stage.asked().keyed("XX");
    stage.fake.write(
        ANA,
        OPS,
        "mine",
        json!({"metadata": {"event_type": "holdpoint", "event_payload": {"r": "XX"}}}),
    );
    stage.clock.move_on(Duration::from_secs(60));
    stage.show(&other).await;
    assert_eq!(stage.fake.messages(OPS).len(), 3);
}

#[tokio::test]
async fn words_are_not_said_twice_either() {
    let stage = Stage::http().await;
    stage.fake.fail("chat.postMessage", Fault::Lost);
    let error = stage.slack.say(&ops(), &saying("hello")).await.unwrap_err();
    assert_eq!(kind(&error), "unknown", "{error}");
    stage.slack.say(&ops(), &saying("hello")).await.unwrap();
    assert_eq!(stage.fake.messages(OPS).len(), 1);
}

#[tokio::test]
async fn without_the_permission_to_read_a_prompt_is_rather_sent_twice_than_never() {
    let stage = Stage::http().await;
    let asked = stage.asked();
    stage.fake.fail("chat.postMessage", Fault::Lost);
    stage.slack.show(&ops(), &asked.showing()).await.unwrap_err();
    let refused = json!({"ok": false, "error": "missing_scope", "needed": "channels:history"});
    stage.fake.fail("conversations.history", Fault::Says(Reply::new(200, refused)));
    stage.show(&asked).await;
    assert_eq!(stage.fake.messages(OPS).len(), 2);
    // But while the platform only has trouble, it waits.
    stage.fake.fail("conversations.history", Fault::Garbage);
    let error = stage.slack.show(&ops(), &asked.showing()).await.unwrap_err();
    assert_eq!(kind(&error), "again");
}

#[tokio::test]
async fn check_says_what_is_missing_and_where_to_click() {
    let stage = Stage::new(socket_mode()).await;
    let checked = stage.slack.check().await;
    assert_eq!(checked[0].what, "bot token: holdpoint in Fake");
    assert!(checked.iter().all(|one| one.wrong.is_none()), "{checked:?}");
    stage.fake.grant("chat:write,im:history");
    let checked = stage.slack.check().await;
    let wrong = checked.iter().find(|one| one.what == "scopes").unwrap().wrong.clone().unwrap();
    assert!(
        wrong.contains("`app_mentions:read`") && wrong.contains("api.slack.com/apps/A0FAKE/oauth")
    );
    assert!(!wrong.contains("`chat:write`"), "{wrong}");
    let refused = json!({"ok": false, "error": "invalid_auth"});
    stage.fake.fail("auth.test", Fault::Says(Reply::new(200, refused.clone())));
    let checked = stage.slack.check().await;
    assert!(checked[0].wrong.as_deref().unwrap().contains("Bot User OAuth Token"), "{checked:?}");
    stage.fake.fail("apps.connections.open", Fault::Says(Reply::new(200, refused)));
    let checked = stage.slack.check().await;
    let wrong =
        checked.iter().find(|one| one.what == "Socket Mode").unwrap().wrong.clone().unwrap();
    assert!(wrong.contains("connections:write"), "{wrong}");
    stage.clock.move_on(Duration::from_secs(900));
    let checked = stage.slack.check().await;
    assert!(checked.iter().any(|one| one.what == "clock" && one.wrong.is_some()), "{checked:?}");
}
