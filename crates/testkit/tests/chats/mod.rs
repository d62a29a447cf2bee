//! The real program and a chat platform on loopback: asked in a chat, answered there, and killed in the
//! middle of it.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::fake_chat::Fault;
use testkit::fake_telegram::{FakeTelegram, TOKEN, User};
use testkit::served::{Served, appending};

const ANA: User = User(7);
const BOB: User = User(8);
const EVE: User = User(9);

const SCRIPT: &str = r#"
default = "I do not know."

[[turn]]
when = { says_contains = "append" }
text = "I will, if somebody allows it."
calls = [{ tool = "append", arguments = { n = 1 } }]

[[turn]]
when = { says_contains = "quietly" }
calls = [{ tool = "append", arguments = { n = 1 } }]

[[turn]]
when = { result_of = "append", is_error = false }
text = "It is done."

[[turn]]
when = { is_error = true }
text = "It was not done."

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
expires = "5m"
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

/// The message of this chat that has such a text.
async fn message(telegram: &FakeTelegram, chat: i64, text: &str) -> Value {
    let looking = async {
        loop {
            let found = telegram
                .messages(chat)
                .into_iter()
                .find(|message| message["text"].as_str().is_some_and(|shown| shown.contains(text)));
            if let Some(found) = found {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(Duration::from_secs(30), looking).await {
        Ok(found) => found,
        Err(_) => panic!("nobody said `{text}`: {:#?}", telegram.messages(chat)),
    }
}

/// The keys of a message, by their labels.
fn keys(message: &Value) -> Vec<String> {
    let rows = message["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    let keys = rows.iter().filter_map(Value::as_array).flatten();
    keys.filter(|key| key.get("callback_data").is_some())
        .map(|key| key["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn id(message: &Value) -> i64 {
    message["message_id"].as_i64().expect("a number")
}

#[tokio::test]
async fn i31_i32_a_chat_is_asked_and_the_right_person_answers() {
    let telegram = FakeTelegram::start().await;
    let served = served(&telegram).await;
    telegram.write(ANA.directly(), "hello", json!({}));
    message(&telegram, 7, "Hello to you.").await;
    telegram.write(ANA.directly(), "append please", json!({}));
    let card = message(&telegram, 7, "Approval needed").await;
    assert_eq!(keys(&card).len(), 2, "{card}");
    // Four eyes: she asked, so she does not answer. And Eve is nobody.
    let own = telegram.press(ANA, 7, id(&card), "Approve once");
    let strange = telegram.press(EVE, 7, id(&card), "Approve once");
    for query in [&own, &strange] {
        told(&telegram, query).await;
    }
    assert_eq!(keys(&telegram.message(7, id(&card)).unwrap()).len(), 2, "still open");
    assert_eq!(served.witness().lines(), Ok(Vec::new()));
    telegram.press(BOB, 7, id(&card), "Approve once");
    message(&telegram, 7, "It is done.").await;
    let settled = message(&telegram, 7, "approved by Bob").await;
    assert_eq!((id(&settled), keys(&settled).len()), (id(&card), 0), "no key is alive");
    assert_eq!(served.witness().lines().unwrap().len(), 1);
}

/// Asked for by anybody, it goes to the person's own account, and no file of ours has it.
#[tokio::test]
async fn i53_a_login_link_goes_to_the_persons_own_chat_and_is_written_down_nowhere() {
    let telegram = FakeTelegram::start().await;
    let served = served(&telegram).await;
    let body = json!({"person": "bob", "next": "/holds/hold_01jd"});
    served.stranger().post("/login/link", &body).await.must(202);
    served.stranger().post("/login/link", &json!({"person": "nobody"})).await.must(202);
    let sent = message(&telegram, 8, "/login?code=").await;
    let text = sent["text"].as_str().expect("a text");
    let code = text.split_once("code=").expect("a code").1.split('&').next().expect("a code");
    assert_eq!(code.len(), 32, "{text}");
    assert!(text.contains("&next=/holds/hold_01jd"), "{text}");
    assert!(telegram.messages(7).is_empty(), "{:#?}", telegram.messages(7));
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    let request = client.expect("a client").post(format!("{}/login", served.url()));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let reply = request.body(format!("code={code}&next=/holds/hold_01jd")).send().await;
    let reply = reply.expect("a reply");
    assert_eq!(
        (reply.status().as_u16(), &reply.headers()["location"]),
        (303, &"/holds/hold_01jd".parse().expect("a value"))
    );
    let events = served.audited().await;
    let own = json!({"made_by": {"by": {"person": "bob"}}, "channel": "telegram"});
    let made = events.iter().find(|event| event["login_link_made"]["person"] == "bob");
    assert_eq!(made.expect("it is on the record")["login_link_made"]["origin"], own);
    let came = events.iter().find(|event| event["logged_in"]["person"] == "bob");
    assert_eq!(came.expect("it is on the record")["logged_in"]["link"], own);
    let data = served.database();
    for entry in std::fs::read_dir(data.parent().expect("a folder")).expect("a folder") {
        let path = entry.expect("a file").path();
        let bytes = if path.is_file() { std::fs::read(&path).expect("a file") } else { continue };
        let found = bytes.windows(code.len()).any(|piece| piece == code.as_bytes());
        assert!(!found, "{} has the code", path.display());
    }
}

/// Until whoever pressed is told something.
async fn told(telegram: &FakeTelegram, query: &str) {
    let looking = async {
        while telegram.answers(query).is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), looking).await.expect("told something");
}

/// What the program has asked in this chat.
fn cards(telegram: &FakeTelegram, chat: i64) -> Vec<Value> {
    let asks = |message: &Value| {
        message["text"].as_str().is_some_and(|text| text.contains("append"))
            && message["from"]["is_bot"] == true
    };
    telegram.messages(chat).into_iter().filter(asks).collect()
}

#[tokio::test]
async fn i35_killed_between_prompt_and_answer_nothing_is_lost_and_nothing_runs_twice() {
    let telegram = FakeTelegram::start().await;
    let mut served = served(&telegram).await;
    telegram.write(ANA.directly(), "append please", json!({}));
    let card = message(&telegram, 7, "Approval needed").await;
    // Whoever presses is told something once it is written down where the prompt stands.
    told(&telegram, &telegram.press(EVE, 7, id(&card), "Approve once")).await;
    served.kill().await;
    // Pressed while nobody listens; the platform keeps it.
    telegram.press(BOB, 7, id(&card), "Approve once");
    telegram.press(BOB, 7, id(&card), "Approve once");
    served.up().await;
    message(&telegram, 7, "It is done.").await;
    let settled = message(&telegram, 7, "approved by Bob").await;
    assert_eq!((id(&settled), keys(&settled).len()), (id(&card), 0));
    served.kill().await;
    served.up().await;
    assert_eq!(cards(&telegram, 7).len(), 1, "{:#?}", telegram.messages(7));
    assert_eq!(served.witness().lines().unwrap().len(), 1);
}

#[tokio::test]
async fn i35_killed_before_it_heard_where_its_prompt_stands_both_copies_are_worth_the_same() {
    let telegram = FakeTelegram::start().await;
    let mut served = served(&telegram).await;
    // What is sent stands there, and the platform does not say so.
    telegram.standing().set("sendMessage", Fault::Mute);
    telegram.write(ANA.directly(), "quietly, please", json!({}));
    let lost = message(&telegram, 7, "Approval needed").await;
    served.kill().await;
    telegram.standing().lift();
    // Pressed while nobody listens; the platform keeps it.
    telegram.press(BOB, 7, id(&lost), "Approve once");
    served.up().await;
    message(&telegram, 7, "It is done.").await;
    let looking = async {
        while cards(&telegram, 7).iter().any(|card| !keys(card).is_empty()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), looking).await.expect("no key is alive");
    let cards = cards(&telegram, 7);
    let approved = |card: &Value| card["text"].as_str().unwrap().contains("approved by Bob");
    assert!(cards.len() >= 2 && cards.iter().all(approved), "{cards:#?}");
    assert_eq!(served.witness().lines().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_wrong_with_a_channel_is_told() {
    let telegram = FakeTelegram::start().await;
    let served = served(&telegram).await;
    let check = |arguments: &'static [&'static str]| {
        let binary = served.binary().clone();
        let folder = served.path("");
        async move { testkit::served::run(&binary, arguments, &folder).await }
    };
    let (code, out, error) = check(&["channels", "check", "--json"]).await;
    let found: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {error}"));
    assert_eq!((code, &found["well"]), (0, &json!(true)), "{found:#}");
    served.write("token", "1:wrong");
    let (code, out, _) = check(&["channels", "check"]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("wrong"), "{out}");
    let (code, _, error) = check(&["channels", "check", "fax"]).await;
    assert_eq!(code, 1);
    assert!(error.contains("there is no channel `fax`"), "{error}");
}
