//! A group becomes a supergroup: another name, the same people, the same questions.

use std::time::Duration;

use ports::channel::{Channel, ChannelError};
use serde_json::{Value, json};
use testkit::asked::Asked;
use testkit::fake_telegram::{FakeTelegram, TOKEN, User};
use testkit::served::{Served, appending};

use crate::telegram::stage::{GROUP, Stage, group, saying};

const NEW: i64 = -1_009_999;

#[tokio::test]
async fn it_is_said_and_never_followed_in_silence() {
    let stage = Stage::polling().await;
    let asked = Asked::deletion();
    let posted = stage.show(&asked).await;
    stage.fake.moved(GROUP, NEW);
    let moved = ChannelError::Moved(NEW.to_string());
    let shown = stage.bot.show(&group(), &asked.showing()).await;
    assert_eq!(shown.unwrap_err(), moved);
    assert_eq!(stage.bot.repaint(&posted, &asked.showing()).await, Err(moved.clone()));
    assert_eq!(stage.bot.say(&group(), &saying("hello")).await, Err(moved));
    assert!(stage.fake.messages(NEW).is_empty(), "whoever has the records sends it there");
}

#[tokio::test]
async fn both_groups_tell_it_and_it_comes_again_until_it_is_written_down() {
    let mut stage = Stage::polling().await;
    stage.inbox.busy(1);
    stage.listen();
    stage.fake.migrate(GROUP, NEW);
    let told = tokio::time::timeout(Duration::from_secs(15), async {
        while stage.fake.pending() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    told.await.expect("it is confirmed in the end");
    let moves = stage.inbox.moves();
    assert!(moves.len() >= 2, "{moves:?}");
    assert!(moves.iter().all(|told| *told == (GROUP.to_string(), NEW.to_string())), "{moves:?}");
    assert!(stage.inbox.wrote().is_empty(), "nobody wrote that");
    stage.stop().await;
}

const OLD: i64 = -5_555;
const ANA: User = User(7);
const BOB: User = User(8);

const SCRIPT: &str = r#"
default = "I do not know."

[[turn]]
when = { says_contains = "append" }
text = "I will, if somebody allows it."
calls = [{ tool = "append", arguments = { n = 1 } }]

[[turn]]
when = { result_of = "append", is_error = false }
text = "It is done."

[[turn]]
when = { says_contains = "hello" }
text = "Hello to you."
"#;

async fn served(telegram: &FakeTelegram) -> Served {
    let base = appending("", &["append"]);
    let config = format!(
        r#"{base}
[[people]]
id = "ana"
name = "Ana"
roles = ["dba"]
identities = {{ telegram = "7" }}

[[people]]
id = "bob"
name = "Bob"
roles = ["dba"]
identities = {{ telegram = "8" }}

[[policy.rules]]
name = "somebody else appends"
match = {{ tool = "append" }}
then = "ask"
ask = {{ roles = ["dba"], exclude_requester = true }}

[channels.telegram]
agent = "ops"
ask = ["{OLD}"]
token_file = "token"
base_url = "{}"
"#,
        telegram.url()
    );
    let mut served = Served::prepare(&config, SCRIPT);
    served.write("token", TOKEN);
    served.up().await;
    served
}

/// The message of ours in this chat that has such a text, and how many there are.
async fn ours(telegram: &FakeTelegram, chat: i64, text: &str) -> (Value, usize) {
    let looking = async {
        loop {
            let has = |message: &Value| {
                let shown = message["text"].as_str().is_some_and(|shown| shown.contains(text));
                shown && message["from"]["is_bot"] == true
            };
            let mut found: Vec<Value> = telegram.messages(chat);
            found.retain(has);
            let count = found.len();
            if let Some(last) = found.pop() {
                return (last, count);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(Duration::from_secs(30), looking).await {
        Ok(found) => found,
        Err(_) => panic!("nobody said `{text}`: {:#?}", telegram.messages(chat)),
    }
}

fn id(message: &Value) -> i64 {
    message["message_id"].as_i64().expect("a number")
}

/// What somebody is told who presses this key.
async fn told(telegram: &FakeTelegram, user: User, chat: i64, card: &Value) -> Value {
    let query = telegram.press(user, chat, id(card), "Approve once");
    let looking = async {
        loop {
            if let Some(answer) = telegram.answers(&query).pop() {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), looking).await.expect("told something")
}

/// Ana speaks to the bot.
fn ask(telegram: &FakeTelegram, chat: i64, text: &str) {
    let mention = json!({"entities": [{"type": "mention", "offset": 0, "length": 9}]});
    telegram.write(ANA.within(chat), &format!("@hold_bot {text}"), mention);
}

#[tokio::test]
async fn i35_the_conversation_and_its_questions_go_on_in_the_new_group() {
    let telegram = FakeTelegram::start().await;
    let mut served = served(&telegram).await;
    ask(&telegram, OLD, "append please");
    let (old, _) = ours(&telegram, OLD, "Approval needed").await;
    // Who asked may not answer; that she is told so says that the prompt is on disk.
    let mine = told(&telegram, ANA, OLD, &old).await;
    assert_eq!(mine["text"], "You may not answer this. Nothing was changed.");
    // It happens while nobody listens, and the process that hears of it is killed.
    served.kill().await;
    telegram.migrate(OLD, NEW);
    served.up().await;
    let (new, count) = ours(&telegram, NEW, "Approval needed").await;
    assert_eq!(count, 1);
    let mine = told(&telegram, ANA, NEW, &new).await;
    assert_eq!(mine["text"], "You may not answer this. Nothing was changed.");
    served.kill().await;
    served.up().await;
    // The old key is inert, and says so.
    let inert = told(&telegram, BOB, OLD, &old).await;
    assert_eq!(inert["text"], "This has changed since it was shown here. Look at it again.");
    assert_eq!(served.witness().lines(), Ok(Vec::new()));
    telegram.press(BOB, NEW, id(&new), "Approve once");
    ours(&telegram, NEW, "It is done.").await;
    let (settled, count) = ours(&telegram, NEW, "approved by Bob").await;
    assert_eq!((id(&settled), count), (id(&new), 1));
    assert_eq!(served.witness().lines().unwrap().len(), 1);
    // The same conversation; the configuration still names the old group.
    ask(&telegram, NEW, "hello");
    ours(&telegram, NEW, "Hello to you.").await;
    let sessions = served.admin().get("/v1/sessions").await.must(200);
    assert_eq!(sessions["items"].as_array().map(Vec::len), Some(1), "{sessions:#}");
    ask(&telegram, NEW, "append once more");
    let (_, count) = ours(&telegram, NEW, "Approval needed").await;
    assert_eq!(count, 1, "asked once, though the group has two names");
    assert_eq!(served.witness().lines().unwrap().len(), 1);
}
