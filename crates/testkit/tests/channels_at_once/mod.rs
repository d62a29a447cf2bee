//! The real program with three channels at once: asked in Slack, told to a program and by mail, decided
//! by the program, and every place shows it.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::SystemClock;
use ports::clock::Clock as _;
use ring::hmac;
use serde_json::{Value, json};
use testkit::fake_chat::{Asked, Front, Platform, Reply};
use testkit::fake_mail::FakeMail;
use testkit::fake_slack::{APP_ID, APP_TOKEN, BOT_TOKEN, FakeSlack, TEAM_ID};
use testkit::served::{Served, appending};

const ANA: &str = "U0ANA";
const BOB: &str = "U0BOB";
const CHAT: &str = "D0ANA";
const OUT: &str = "whsec_b3V0Z29pbmcta2V5";
const IN: &str = "whsec_aW5jb21pbmcta2V5";

const SCRIPT: &str = r#"
default = "I do not know."

[[turn]]
when = { says_contains = "append" }
text = "I will, if somebody allows it."
calls = [{ tool = "append", arguments = { n = 1 } }]

[[turn]]
when = { result_of = "append", is_error = false }
text = "It is done."
"#;

struct Receiver;

impl Platform for Receiver {
    fn answer(&self, _: &Asked) -> Reply {
        Reply::new(204, Value::Null)
    }
}

fn config(slack: &FakeSlack, program: &Front<Receiver>, mail: &FakeMail) -> String {
    let base = appending("public_url = \"https://hold.example.org\"", &["append"]);
    format!(
        r#"{base}
[[people]]
id = "ana"
name = "Ana"
roles = ["dev"]
identities = {{ slack = "{TEAM_ID}:{ANA}" }}

[[people]]
id = "bob"
name = "Bob"
roles = ["dba"]
identities = {{ slack = "{TEAM_ID}:{BOB}", webhook = "bob-1" }}

[[policy.rules]]
name = "a dba appends"
match = {{ tool = "append" }}
then = "ask"
ask = {{ roles = ["dba"] }}

[channels.slack]
agent = "ops"
app_id = "{APP_ID}"
team_id = "{TEAM_ID}"
bot_token_file = "bot"
app_token_file = "app"
base_url = "{}"

[channels.pager]
platform = "webhook"
url = "{}"
secret_file = "out"
inbound_secret_file = "in"
speaks_for = ["bob-1"]
allow_private_addresses = true
ask = ["all"]

[channels.mail]
platform = "email"
host = "127.0.0.1"
port = {}
tls = "off"
from = "holdpoint@example.org"
ask = ["dbas@example.org"]
"#,
        slack.url(),
        program.url(),
        mail.port()
    )
}

async fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
    found.unwrap_or_else(|_| panic!("{what} did not come"))
}

fn said(slack: &FakeSlack, text: &str) -> Option<Value> {
    slack.messages(CHAT).into_iter().find(|message| message.to_string().contains(text))
}

fn told(program: &Front<Receiver>, kind: &str) -> Option<Value> {
    program.asked().iter().map(Asked::json).find(|event| event["type"] == kind)
}

async fn bring(served: &Served, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let at = SystemClock::new(None).now().as_ms() / 1000;
    let key = STANDARD.decode(IN.trim_start_matches("whsec_")).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signature = STANDARD.encode(hmac::sign(&key, format!("msg_1.{at}.{body}").as_bytes()));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client
        .post(format!("{}/channels/pager/decisions", served.url()))
        .header("webhook-id", "msg_1")
        .header("webhook-timestamp", at)
        .header("webhook-signature", format!("v1,{signature}"))
        .body(body);
    let reply = request.send().await.unwrap();
    (reply.status().as_u16(), reply.json().await.unwrap_or_default())
}

#[tokio::test]
async fn i37_what_a_program_decides_is_seen_in_every_place() {
    // Whoever makes a client before the server does needs it too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (slack, mail) = (FakeSlack::start().await, FakeMail::start().await);
    let program = Front::start(Arc::new(Receiver)).await;
    let mut served = Served::prepare(&config(&slack, &program, &mail), SCRIPT);
    for (file, secret) in [("bot", BOT_TOKEN), ("app", APP_TOKEN), ("out", OUT), ("in", IN)] {
        served.write(file, secret);
    }
    served.up().await;
    slack.line.until("a connection", |line| line.connections().0 == 1).await;
    let event = slack.write(ANA, CHAT, "append please", json!({}));
    let id = slack.line.send("events_api", &event);
    slack.line.ack(&id).await;

    let card = until("a card", || said(&slack, "hp_allow")).await;
    let opened = until("word of it", || told(&program, "hold.opened")).await;
    let letter = until("a letter", || mail.letters().pop()).await;
    assert_eq!(letter.to, ["dbas@example.org"]);
    // She asked, and may not answer; pressing changes nothing.
    let ts = card["ts"].as_str().unwrap().to_owned();
    let press = slack.press(ANA, CHAT, &ts, "Approve once");
    slack.line.ack(&slack.line.send("interactive", &press)).await;
    let refusal = until("a refusal", || slack.ephemerals().pop()).await;
    assert_eq!(refusal["text"], "You may not answer this. Nothing was changed.");
    assert_eq!(served.witness().lines(), Ok(Vec::new()));

    let hold = &opened["data"]["hold"];
    let decision = |who: &str, digest: &Value| json!({"hold": hold["id"], "digest": digest, "actor": {"id": who}, "answer": {"verdict": "approve"}});
    assert_eq!(bring(&served, &decision("ana-1", &hold["digest"])).await.0, 403);
    assert_eq!(bring(&served, &decision("bob-1", &json!("sha256:00"))).await.0, 409);
    let (status, reply) = bring(&served, &decision("bob-1", &hold["digest"])).await;
    assert_eq!((status, &reply["hold"]["state"]), (200, &json!("approved")), "{reply}");

    until("the agent's word", || said(&slack, "It is done.")).await;
    let settled = until("the card", || said(&slack, "approved by Bob")).await;
    assert_eq!(settled["ts"], json!(ts), "the same card");
    assert!(!settled.to_string().contains("hp_allow"), "no button is alive: {settled}");
    let decided = until("hold.decided or later", || {
        told(&program, "call.settled").or_else(|| told(&program, "hold.decided"))
    })
    .await;
    assert_eq!(decided["data"]["hold"]["decision"]["by"], "bob");
    assert_eq!(served.witness().lines().unwrap().len(), 1);
    // A button that somebody still has on their screen hears the truth.
    let before = slack.ephemerals().len();
    slack
        .line
        .ack(&slack.line.send(
            "interactive",
            &slack.act(
                BOB,
                CHAT,
                &card,
                json!({
                    "type": "button", "action_id": "hp_allow", "block_id": "b",
                    "value": press["actions"][0]["value"],
                }),
            ),
        ))
        .await;
    let late = until("the truth", || slack.ephemerals().into_iter().nth(before)).await;
    assert!(
        late["text"].as_str().unwrap().starts_with("Already decided: ✅ approved by Bob"),
        "{late}"
    );
    assert_eq!(served.witness().lines().unwrap().len(), 1);
}
