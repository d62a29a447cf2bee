//! Telegram: `python-telegram-bot` reads what we read, sends what we send, and polls the fake that our
//! connector polls.

use std::sync::Arc;
use std::time::Duration;

use channels::telegram::{BotToken, Telegram, TelegramSettings};
use ports::channel::{Channel as _, Destination, OutgoingText};
use serde_json::{Value, json};
use testkit::asked::Asked;
use testkit::fake_chat::{MovedClock, NoRandomness};
use testkit::fake_telegram::{FakeTelegram, TOKEN, User};
use testkit::faults::Fault;

use crate::channels::judge::Judge;

const PYTHON: &str = "CHANNELS_TELEGRAM_PYTHON";
const ANA: User = User(7);
const GROUP: i64 = -1_001_234;

fn connector(fake: &FakeTelegram) -> Telegram {
    let token = BotToken::new(TOKEN).expect("a token");
    let settings = TelegramSettings::new("tg", token, fake.url().parse().expect("a URL"));
    Telegram::new(settings, MovedClock::new(1) as Arc<_>, Arc::new(NoRandomness))
}

fn group() -> Destination {
    Destination::Chat { chat: GROUP.to_string(), thread: None, direct: false }
}

#[tokio::test]
async fn telegram_library_asks_what_we_ask() {
    let fake = FakeTelegram::start().await;
    let bot = connector(&fake);
    let asked = Asked::deletion();
    let posted = bot.show(&group(), &asked.showing()).await.expect("shown").posted;
    bot.repaint(&posted, &asked.approved().showing()).await.expect("painted");
    let saying =
        OutgoingText { key: "1", text: "你好 <b>", reply_to: Some("1"), whisper_to: None };
    bot.say(&group(), &saying).await.expect("said");
    let mut judge = Judge::start("telegram", PYTHON, &["golden", &fake.url(), TOKEN]);
    for (method, index) in [("sendMessage", 0), ("editMessageText", 0), ("sendMessage", 1)] {
        let ours = fake.requests(method).remove(index);
        let told = judge.ask(&json!({"method": method, "arguments": ours.body})).await;
        if method == "editMessageText" {
            // The fake has it already, and the library says so as it would of the platform.
            assert_eq!(told["error"], "BadRequest", "{told}");
            assert!(told["message"].as_str().expect("text").starts_with("Message is not modified"));
        } else {
            assert!(told["message"].is_i64(), "{told}");
        }
        let theirs = fake.requests(method).pop().expect("theirs");
        assert_eq!((&theirs.path, &theirs.http_method), (&ours.path, &ours.http_method));
        assert_eq!(pruned(theirs.body), pruned(ours.body), "{method}");
    }
}

/// The library writes a keyboard without keys as an empty object, and names what is false.
fn pruned(mut body: Value) -> Value {
    if body["reply_markup"] == json!({"inline_keyboard": []}) {
        body["reply_markup"] = json!({});
    }
    if let Some(body) = body.as_object_mut() {
        body.retain(|_, value| *value != json!(false) && !value.is_null());
    }
    body
}

#[tokio::test]
async fn telegram_library_polls_the_fake_and_answers_keys() {
    let fake = FakeTelegram::start().await;
    let bot = connector(&fake);
    let posted = bot.show(&group(), &Asked::deletion().showing()).await.expect("shown").posted;
    let mut judge = Judge::start("telegram", PYTHON, &["poll", &fake.url(), TOKEN]);
    let message: i64 = posted.message.parse().expect("a number");
    let query = fake.press(ANA, GROUP, message, "Approve once");
    assert_eq!(
        judge.hear().await,
        json!({"kind": "press", "id": query, "by": 7, "data": "h1:7Q2:a:k3x9ab", "chat": GROUP, "message": message})
    );
    fake.write(
        ANA.within(GROUP),
        "👍 @hold_bot yes",
        json!({
            "entities": [{"type": "mention", "offset": 3, "length": 9}],
            "forward_origin": {"type": "hidden_user", "sender_user_name": "X", "date": 1},
        }),
    );
    let heard = judge.hear().await;
    assert_eq!(heard["entities"], json!({"@hold_bot": "mention"}), "UTF-16, as we count");
    assert_eq!(heard["forwarded"], true);
    fake.migrate(GROUP, -1_009_999);
    let (old, new) = (json!(GROUP), json!(-1_009_999));
    assert_eq!(judge.hear().await, json!({"kind": "moved", "chat": old, "to": new, "from": null}));
    assert_eq!(judge.hear().await, json!({"kind": "moved", "chat": new, "to": null, "from": old}));
    let mut waited = 0;
    while fake.answers(&query).is_empty() || fake.pending() > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        waited += 1;
        assert!(waited < 400, "the library does not confirm");
    }
    assert_eq!(fake.answers(&query)[0]["text"], "judged");
}

#[tokio::test]
async fn telegram_library_reads_the_fakes_refusals_as_the_platforms() {
    let fake = FakeTelegram::start().await;
    let mut judge = Judge::start("telegram", PYTHON, &["golden", &fake.url(), TOKEN]);
    let send = json!({"method": "sendMessage", "arguments": {"chat_id": GROUP, "text": "hello"}});
    fake.faults().plan("sendMessage", Fault::Wait(7));
    let told = judge.ask(&send).await;
    assert_eq!((&told["error"], &told["retry_after"]), (&json!("RetryAfter"), &json!(7.0)));
    fake.faults().plan("sendMessage", Fault::Status(502));
    assert_eq!(judge.ask(&send).await["error"], "NetworkError");
    fake.moved(GROUP, -1_009_999);
    let told = judge.ask(&send).await;
    assert_eq!((&told["error"], &told["moved"]), (&json!("ChatMigrated"), &json!(-1_009_999)));
    fake.closed(5);
    let send = json!({"method": "sendMessage", "arguments": {"chat_id": 5, "text": "hello"}});
    assert_eq!(judge.ask(&send).await["error"], "Forbidden");
    let set = json!({"url": "https://h.example/events", "secret_token": "s", "allowed_updates": ["message"]});
    assert_eq!(judge.ask(&json!({"method": "setWebhook", "arguments": set})).await["told"], true);
    let info = judge.ask(&json!({"method": "getWebhookInfo", "arguments": {}})).await;
    assert_eq!(info["told"]["url"], "https://h.example/events");
    let me = judge.ask(&json!({"method": "getMe", "arguments": {}})).await;
    assert_eq!(me["told"]["username"], "hold_bot");
}
