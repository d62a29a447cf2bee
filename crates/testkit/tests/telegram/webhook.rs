//! Updates that the platform brings.

use channels::telegram::{TelegramMode, TelegramSecret};
use ports::channel::{Channel, PressReply};
use serde_json::{Value, json};
use testkit::asked::Asked;

use crate::telegram::stage::{SECRET, Stage};

const HEADER: &str = "x-telegram-bot-api-secret-token";

fn message(text: &str) -> Vec<u8> {
    let message = json!({
        "message_id": 3, "date": 1_794_700_000, "text": text,
        "from": {"id": 7, "is_bot": false, "first_name": "Ana"},
        "chat": {"id": 7, "type": "private"},
    });
    json!({"update_id": 11, "message": message}).to_string().into_bytes()
}

#[tokio::test]
async fn i34_only_who_knows_the_secret_is_heard() {
    let stage = Stage::webhook().await;
    for headers in [
        &[][..],
        &[(HEADER, "")],
        &[(HEADER, "only_telegram-know")],
        &[(HEADER, "ONLY_TELEGRAM-KNOWS")],
        &[(HEADER, SECRET), (HEADER, SECRET)],
    ] {
        assert_eq!(stage.hook(headers, &message("yes")).await.status, 401, "{headers:?}");
    }
    let large = vec![b' '; (1 << 20) + 1];
    assert_eq!(stage.hook(&[(HEADER, SECRET)], &large).await.status, 413);
    assert_eq!(stage.hook(&[(HEADER, SECRET)], b"{").await.status, 400);
    assert!(stage.inbox.wrote().is_empty());
    assert_eq!(stage.hook(&[(HEADER, SECRET)], &message("yes")).await.status, 200);
    assert_eq!(stage.inbox.wrote()[0].event, "telegram:update:11");
    let polling = Stage::polling().await;
    assert_eq!(polling.hook(&[(HEADER, "")], &message("yes")).await.status, 404, "not this way");
}

#[tokio::test]
async fn a_pressed_key_is_answered_in_the_reply_and_only_once() {
    let stage = Stage::webhook().await;
    let asked = Asked::deletion();
    let posted = stage.show(&asked).await;
    let press = json!({"update_id": 12, "callback_query": {
        "id": "q1", "from": {"id": 7, "is_bot": false, "first_name": "Ana"}, "chat_instance": "1",
        "message": {"message_id": 1, "chat": {"id": -1_001_234, "type": "supergroup"}, "date": 1},
        "data": "h1:7Q2:a:k3x9ab",
    }});
    let body = press.to_string().into_bytes();
    stage.inbox.busy(1);
    assert_eq!(stage.hook(&[(HEADER, SECRET)], &body).await.status, 503, "not written down");
    stage.inbox.reply(PressReply::Taken(asked.approved().redraw(&posted)));
    let reply = stage.hook(&[(HEADER, SECRET)], &body).await;
    let said: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        (&said["method"], &said["callback_query_id"]),
        (&json!("answerCallbackQuery"), &json!("q1"))
    );
    assert!(said["text"].as_str().unwrap().starts_with("✅ approved by Ana"), "{said}");
    // A hundred repeats: acknowledged, and nothing more.
    for _ in 0..100 {
        let again = stage.hook(&[(HEADER, SECRET)], &body).await;
        assert_eq!((again.status, again.body.len()), (200, 0));
    }
    assert_eq!(stage.inbox.presses().len(), 1);
}

#[tokio::test]
async fn what_is_unknown_is_acknowledged() {
    let stage = Stage::webhook().await;
    for update in [
        json!({"update_id": 1, "poll": {}}),
        json!({"update_id": 2, "edited_message": {"text": "yes"}}),
        json!({}),
        json!([1]),
    ] {
        let reply = stage.hook(&[(HEADER, SECRET)], update.to_string().as_bytes()).await;
        assert_eq!(reply.status, 200, "{update}");
    }
    assert!(stage.inbox.wrote().is_empty() && stage.inbox.presses().is_empty());
}

#[tokio::test]
async fn the_platform_is_told_where_we_are() {
    let secret = TelegramSecret::new(SECRET).unwrap();
    let address = "https://hold.example.org/channels/tg/events".parse().unwrap();
    let mut stage = Stage::new(TelegramMode::Webhook { secret, address: Some(address) }).await;
    let wrong = |checked: Vec<ports::channel::Checked>| {
        checked.into_iter().find(|one| one.what == "updates by webhook").unwrap().wrong
    };
    assert!(wrong(stage.bot.check().await).unwrap().starts_with("no webhook is set"));
    stage.listen();
    while stage.fake.requests("setWebhook").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let set = &stage.fake.requests("setWebhook")[0].body;
    assert_eq!(set["url"], "https://hold.example.org/channels/tg/events");
    assert_eq!(
        (&set["secret_token"], &set["drop_pending_updates"]),
        (&json!(SECRET), &json!(false))
    );
    assert_eq!(set["allowed_updates"], json!(["message", "callback_query"]));
    stage.stop().await;
}
