//! The real program between an agent and people in chats of both platforms: asked, answered, resumed,
//! repainted; by button and in words; over kills and redeliveries; too late, from the page, by nobody.

use std::time::Duration;

use domain::time::Timestamp;
use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::Fault;
use testkit::fake_dingtalk::{self, Card, FakeDingtalk};
use testkit::fake_feishu::{self, FakeFeishu, Pace, Sent};
use testkit::served::{NOTING, Served};

const SCRIPT: &str = r#"
[[turn]]
when = { says_regex = 'note (\w+)' }
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { is_error = false }
text = "Noted."

[[turn]]
when = { is_error = true }
text = "Not noted."
"#;

struct World {
    feishu: FakeFeishu,
    dingtalk: FakeDingtalk,
    served: Served,
}

impl World {
    async fn start(more: &str) -> World {
        let (feishu, dingtalk) = (FakeFeishu::start().await, FakeDingtalk::start().await);
        feishu.line.set_pace(Pace { ping: 5, interval: 1, nonce: 0 });
        let config = config(&feishu, &dingtalk, more);
        let mut served = Served::prepare(&config, SCRIPT);
        served.write("app-secret", fake_feishu::APP_SECRET);
        served.write("client-secret", fake_dingtalk::CLIENT_SECRET);
        served.up().await;
        let world = World { feishu, dingtalk, served };
        world.connected(1).await;
        world
    }

    async fn connected(&self, times: usize) {
        self.feishu.line.until("a connection", |line| line.connections() >= times).await;
        self.dingtalk.line.until("a connection", |line| line.connections() >= times).await;
    }

    async fn killed_and_started(&mut self, times: usize) {
        self.served.kill().await;
        self.served.up().await;
        self.connected(times).await;
    }

    fn now(&self) -> Timestamp {
        SystemClock::new(None).now()
    }

    /// Ana writes in Feishu's group, and we take it.
    async fn write(&self, id: &str, text: &str) {
        let event = fake_feishu::message(id, text, self.now());
        let id = self.feishu.line.send(&event).await;
        assert_eq!(self.feishu.line.ack_of(&id).await.code, 200);
    }

    /// The newest card in Feishu's group once it looks like this.
    async fn card(&self, what: &str, is: impl Fn(&Value) -> bool) -> Sent {
        let found = || {
            let messages = self.feishu.messages();
            let here = |sent: &Sent| sent.kind == "interactive" && sent.to == "chat_id oc_1";
            messages.into_iter().rev().find(here)
        };
        until(what, || found().is_some_and(|sent| is(&sent.content))).await;
        found().expect("just seen")
    }

    async fn asks(&self) -> Sent {
        self.card("a question", |card| value(card, "hp_allow").is_some()).await
    }

    async fn ends(&self, words: &str) -> Sent {
        let over = |card: &Value| {
            value(card, "hp_allow").is_none() && card["header"].to_string().contains(words)
        };
        self.card(words, over).await
    }

    /// Somebody presses a button of this card; what they are told.
    async fn press(&self, event: &str, who: &str, card: &Sent, button: &str) -> Value {
        let pointer = value(&card.content, button).expect("the button is there").clone();
        self.press_with(event, who, &card.id, pointer).await
    }

    /// Ana allows it. A card may stand there before we know of it, when its sending was not written
    /// down; whoever presses so soon is told to press again.
    async fn allowed(&self, card: &Sent) {
        for number in 0..30 {
            let told = self.press(&format!("allowed_{number}"), "ou_ana", card, "hp_allow").await;
            if told["toast"]["type"] == "success" {
                return;
            }
            let again = told["toast"]["content"].as_str().expect("a text");
            assert!(again.contains("请稍后再按一次"), "{told}");
            // As people press again.
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        panic!("it is never written down");
    }

    async fn press_with(&self, event: &str, who: &str, message: &str, pointer: Value) -> Value {
        let mut pressed = fake_feishu::press(event, message, "a");
        pressed["event"]["action"]["value"] = pointer;
        pressed["event"]["operator"]["open_id"] = who.into();
        let id = self.feishu.line.send(&pressed).await;
        let ack = self.feishu.line.ack_of(&id).await;
        assert_eq!(ack.code, 200);
        ack.reply.expect("a press is replied to")
    }

    /// The card in DingTalk's group once it looks like this.
    async fn ding(&self, what: &str, is: impl Fn(&Card) -> bool) -> Card {
        // Ana is asked in person too.
        let group = |card: &Card| card.space == "dtv1.card//IM_GROUP.cid1";
        let found = || self.dingtalk.cards().into_iter().rev().find(group);
        until(what, || found().is_some_and(|card| is(&card))).await;
        found().expect("just seen")
    }

    fn texts(&self) -> Vec<String> {
        let text = |sent: Sent| sent.content["text"].as_str().unwrap_or_default().to_owned();
        let texts = self.feishu.messages().into_iter().filter(|sent| sent.kind == "text");
        texts.map(text).collect()
    }

    async fn said(&self, words: &str) {
        until(words, || self.texts().iter().any(|text| text.contains(words))).await;
    }

    /// It is done in the world, once.
    async fn noted(&self) {
        until("a note", || !self.notes().is_empty()).await;
        assert_eq!(self.notes().len(), 1);
    }

    /// What was done in the world.
    fn notes(&self) -> Vec<Value> {
        let lines = self.served.witness().lines().expect("a witness");
        lines.into_iter().map(|line| line.input["note"].clone()).collect()
    }
}

pub(crate) async fn until(what: &str, is: impl Fn() -> bool) {
    let end = tokio::time::Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(tokio::time::Instant::now() < end, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What a button of a card carries.
pub(crate) fn value<'a>(card: &'a Value, id: &str) -> Option<&'a Value> {
    if card["element_id"] == id {
        return Some(&card["behaviors"][0]["value"]);
    }
    match card {
        Value::Object(map) => map.values().find_map(|inner| value(inner, id)),
        Value::Array(list) => list.iter().find_map(|inner| value(inner, id)),
        _ => None,
    }
}

fn config(feishu: &FakeFeishu, dingtalk: &FakeDingtalk, more: &str) -> String {
    let (app, client) = (fake_feishu::APP_ID, fake_dingtalk::CLIENT_ID);
    let (feishu, dingtalk) = (feishu.url(), dingtalk.url());
    let template = fake_dingtalk::TEMPLATE;
    format!(
        r#"{NOTING}
[[policy.rules]]
name = "notes are asked for"
match = {{ tool = "witness" }}
then = "ask"
ask = {{ people = ["ana"] }}

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
identities = {{ feishu = "ou_ana", dingtalk = "u1" }}

[[people]]
id = "bob"
name = "Bob"
roles = []
identities = {{ feishu = "ou_bob" }}

[channels.feishu]
app_id = "{app}"
app_secret_file = "app-secret"
base_url = "{feishu}"
agent = "worker"
language = "zh"
{more}

[channels.dingtalk]
client_id = "{client}"
client_secret_file = "client-secret"
card_template = "{template}"
base_url = "{dingtalk}"
ask = ["cid1"]
language = "en"
"#
    )
}

#[tokio::test]
async fn asked_and_answered_with_a_button_everywhere() {
    let world = World::start("").await;
    world.write("om_a", "note one").await;
    let card = world.asks().await;
    assert_eq!(card.to, "chat_id oc_1");
    let there = world.ding("a card", |card| card.variables["showButtons"] == "true").await;
    assert_eq!(there.variables["rid"].as_str().map(str::len), Some(there.id.len()));

    // Strangers, people who may not, cards that stand elsewhere, nobody.
    for (event, who) in [("e1", "ou_bob"), ("e2", "ou_stranger"), ("e3", "")] {
        let told = world.press(event, who, &card, "hp_allow").await;
        assert_eq!(told["toast"]["type"], "error", "{who}: {told}");
        assert!(told.get("card").is_none(), "nothing public changes");
    }
    let pointer = value(&card.content, "hp_allow").expect("a button").clone();
    let forwarded = world.press_with("e4", "ou_ana", "om_elsewhere", pointer.clone()).await;
    assert_eq!(forwarded["toast"]["type"], "error");
    let mut forged = pointer;
    forged["n"] = "000000".into();
    assert_eq!(world.press_with("e5", "ou_ana", &card.id, forged).await["toast"]["type"], "error");
    assert!(world.notes().is_empty(), "nobody has said yes");

    let told = world.press("e6", "ou_ana", &card, "hp_allow").await;
    assert_eq!(told["toast"]["type"], "success", "{told}");
    assert!(told["card"]["data"]["header"].to_string().contains("Ana 已批准"), "{told}");
    world.said("Noted.").await;
    let over = world.ends("Ana 已批准").await;
    assert!(over.updates >= 1, "the message itself is repainted");
    let there = world.ding("its end", |card| card.variables["status"] == "approved").await;
    assert_eq!(there.variables["showButtons"], "false");
    assert!(there.variables["title"].as_str().expect("a text").contains("approved by Ana"));
    world.noted().await;

    let late = world.press("e7", "ou_ana", &card, "hp_deny").await;
    assert!(late["toast"]["content"].as_str().expect("a text").contains("Ana 已批准"), "{late}");
    world.noted().await;
}

#[tokio::test]
async fn answered_in_words_and_a_question_is_no_answer() {
    let world = World::start("").await;
    world.write("om_a", "note one").await;
    world.asks().await;
    world.write("om_b", "不确认").await;
    world.ends("Ana 已拒绝").await;
    world.said("Not noted.").await;
    world.write("om_c", "note two").await;
    world.asks().await;
    world.write("om_d", "为什么要这样？").await;
    assert!(world.notes().is_empty(), "a question decides nothing");
    world.write("om_e", "确认").await;
    world.ends("Ana 已批准").await;
    world.said("Noted.").await;
    world.noted().await;
}

#[tokio::test]
async fn pressed_in_dingtalk_what_was_asked_in_feishu() {
    let world = World::start("").await;
    world.write("om_a", "note one").await;
    world.asks().await;
    let there = world.ding("a card", |card| card.variables["showButtons"] == "true").await;
    let params = json!({
        "r": there.variables["rid"], "o": "a", "n": there.variables["nonce"],
    });
    let content = json!({"cardPrivateData": {"actionIds": ["allow"], "params": params}});
    let mut pressed = fake_dingtalk::press(&there.id, "a");
    pressed["content"] = content.to_string().into();
    let mut nobody = pressed.clone();
    nobody["userId"] = "".into();
    let topic = "/v1.0/card/instances/callback";
    let id = world.dingtalk.line.callback(topic, &nobody).await;
    let told = world.dingtalk.line.ack_of(&id).await.data;
    assert!(told["response"]["userPrivateData"].is_object(), "{told}");
    assert!(told["response"].get("cardData").is_none(), "{told}");
    let id = world.dingtalk.line.callback(topic, &pressed).await;
    let told = world.dingtalk.line.ack_of(&id).await.data;
    let variables = &told["response"]["cardData"]["cardParamMap"];
    assert_eq!(variables["showButtons"], "false", "{told}");
    world.ends("Ana 已批准").await;
    world.said("Noted.").await;
    world.noted().await;
}

#[tokio::test]
async fn i35_a_kill_between_the_question_and_the_answer_loses_and_doubles_nothing() {
    let mut world = World::start("").await;
    world.write("om_a", "note one").await;
    let card = world.asks().await;
    // Once we know where it stands; before that, whoever presses is told to press again.
    let told = world.press("e0", "ou_bob", &card, "hp_allow").await;
    assert!(told["toast"]["content"].as_str().expect("a text").contains("无权"), "{told}");
    world.killed_and_started(2).await;
    // Delivered again after the restart, as platforms do.
    for _ in 0..20 {
        world.write("om_a", "note one").await;
    }
    world.allowed(&card).await;
    world.said("Noted.").await;
    world.ends("Ana 已批准").await;
    world.noted().await;
    let here = |sent: &&Sent| sent.kind == "interactive" && sent.to == "chat_id oc_1";
    let cards = world.feishu.messages().iter().filter(here).count();
    assert_eq!(cards, 1, "one question, however often the message came");
}

#[tokio::test]
async fn a_platform_in_trouble_delays_nobody_elsewhere_and_catches_up() {
    let world = World::start("").await;
    for fault in [Fault::Garbage, Fault::Lost] {
        world.feishu.fail("/im/v1/messages", fault);
    }
    world.write("om_a", "note one").await;
    let there = world.ding("a card", |card| card.variables["showButtons"] == "true").await;
    assert_eq!(there.updates, 0);
    let card = world.asks().await;
    world.allowed(&card).await;
    world.ends("Ana 已批准").await;
    world.noted().await;
    let here = |sent: &&Sent| sent.kind == "interactive" && sent.to == "chat_id oc_1";
    let cards = world.feishu.messages().iter().filter(here).count();
    assert_eq!(cards, 1, "sent again under its own name");
}

#[tokio::test]
async fn answered_on_the_page_every_card_settles() {
    let world = World::start("").await;
    world.write("om_a", "note one").await;
    world.asks().await;
    world.ding("a card", |card| card.variables["showButtons"] == "true").await;
    let ana = world.served.person("ana").await;
    let holds = ana.get("/v1/holds?status=pending").await.must(200);
    let hold = holds["items"].as_array().expect("a list")[0].clone();
    ana.answer(&hold, json!({"verdict": "deny", "reason": "not today"})).await.must(200);
    world.ends("Ana 已拒绝").await;
    let there = world.ding("its end", |card| card.variables["status"] == "denied").await;
    // Ana's own words stand where all words that are not ours stand.
    assert!(there.variables["markdown"].as_str().expect("a text").contains("> not today"));
    assert!(!there.variables["title"].as_str().expect("a text").contains("not today"));
    assert!(world.notes().is_empty());
}

#[tokio::test]
async fn when_nobody_answers_the_time_runs_out_and_that_is_no_denial() {
    let world = World::start("expires = \"2s\"").await;
    world.write("om_a", "note one").await;
    let card = world.asks().await;
    let over = world.ends("已超时").await;
    assert_eq!(over.content["header"]["template"], "grey", "not the colour of a no");
    let late = world.press("e1", "ou_ana", &card, "hp_allow").await;
    assert!(late["toast"]["content"].as_str().expect("a text").contains("已超时"), "{late}");
    assert!(world.notes().is_empty());
}
