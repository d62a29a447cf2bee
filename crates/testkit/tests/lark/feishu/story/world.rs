//! A server, its apps on fake platforms, and people who press and write there.

use domain::time::Timestamp;
use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_feishu::{self, APP_ID, APP_SECRET, FakeFeishu, Pace, Sent, TENANT};
use testkit::served::{NOTING, Served};

use crate::lark::whole::{until, value};

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

/// Ana, by her open_id.
pub(super) const ANA: &str = "feishu = \"ou_ana\"";

/// What a story is set up with.
pub(super) struct Setting<'a> {
    /// Names of channels; each has a platform of its own.
    pub(super) channels: &'a [&'a str],
    /// Keys of every channel.
    pub(super) keys: &'a str,
    /// Who, and how they are linked.
    pub(super) people: &'a [(&'a str, &'a str)],
    /// More about who is asked.
    pub(super) ask: &'a str,
}

impl Default for Setting<'_> {
    fn default() -> Self {
        Setting { channels: &["feishu"], keys: "", people: &[("ana", ANA)], ask: "" }
    }
}

pub(super) struct Story {
    pub(super) fakes: Vec<FakeFeishu>,
    pub(super) served: Served,
}

impl Story {
    /// Over long connections.
    pub(super) async fn begin(setting: Setting<'_>) -> Story {
        let story = Story::prepare(setting).await;
        for fake in &story.fakes {
            fake.line.until("a connection", |line| line.connections() >= 1).await;
        }
        story
    }

    pub(super) async fn prepare(setting: Setting<'_>) -> Story {
        let mut fakes = Vec::new();
        let mut config = NOTING.to_owned();
        for channel in setting.channels {
            let fake = FakeFeishu::start().await;
            fake.line.set_pace(Pace { ping: 5, interval: 1, nonce: 0 });
            let (url, keys) = (fake.url(), setting.keys);
            config.push_str(&format!(
                "[channels.{channel}]\nplatform = \"feishu\"\napp_id = \"{APP_ID}\"\n\
                 app_secret_file = \"app-secret\"\nbase_url = \"{url}\"\nagent = \"worker\"\n\
                 language = \"zh\"\n{keys}\n"
            ));
            fakes.push(fake);
        }
        let mut ids = Vec::new();
        for (number, (id, links)) in setting.people.iter().enumerate() {
            let role = if number == 0 { "\"admin\"" } else { "" };
            config.push_str(&format!(
                "[[people]]\nid = \"{id}\"\nname = \"{id}\"\nroles = [{role}]\nidentities = {{ {links} }}\n"
            ));
            ids.push(format!("\"{id}\""));
        }
        config.push_str(&format!(
            "[[policy.rules]]\nname = \"notes are asked for\"\nmatch = {{ tool = \"witness\" }}\nthen = \"ask\"\n\
             ask = {{ people = [{}]{} }}\n",
            ids.join(", "),
            setting.ask
        ));
        let mut served = Served::prepare(&config, SCRIPT);
        served.write("app-secret", APP_SECRET);
        served.write("verification-token", fake_feishu::VERIFICATION);
        served.write("encrypt-key", super::hooked::KEY);
        served.up().await;
        Story { fakes, served }
    }

    pub(super) fn fake(&self) -> &FakeFeishu {
        &self.fakes[0]
    }

    pub(super) fn now(&self) -> Timestamp {
        SystemClock::new(None).now()
    }

    /// An event arrives, and is taken.
    pub(super) async fn arrives(&self, event: &Value) {
        let id = self.fake().line.send(event).await;
        assert_eq!(self.fake().line.ack_of(&id).await.code, 200);
    }

    /// Ana writes in the group.
    pub(super) async fn write(&self, id: &str, text: &str) {
        self.arrives(&self.message(id, text)).await;
    }

    /// The same, to be changed first.
    pub(super) fn message(&self, id: &str, text: &str) -> Value {
        fake_feishu::message(id, text, self.now())
    }

    /// A program asks about a call of its own.
    pub(super) async fn asked_from_outside(&self, note: &str) -> Value {
        let call = json!({"tool": "witness", "arguments": {"note": note}});
        let body = json!({"kind": "approve", "title": format!("Note {note}?"), "call": call});
        self.served.program().post("/v1/holds", &body).await.must(201)
    }

    /// The cards at one place of an app, oldest first.
    pub(super) fn cards(&self, app: usize, to: &str) -> Vec<Sent> {
        let here = |sent: &Sent| sent.kind == "interactive" && sent.to == to;
        self.fakes[app].messages().into_iter().filter(here).collect()
    }

    /// The newest card there once it looks like this.
    pub(super) async fn card(&self, app: usize, to: &str, is: impl Fn(&Value) -> bool) -> Sent {
        let found = || self.cards(app, to).pop();
        until(&format!("a card for {to}"), || found().is_some_and(|sent| is(&sent.content))).await;
        found().expect("just seen")
    }

    /// A card there that asks.
    pub(super) async fn asks(&self, app: usize, to: &str) -> Sent {
        self.card(app, to, |card| value(card, "hp_allow").is_some()).await
    }

    /// A card there that is over, and says so in these words.
    pub(super) async fn ends(&self, app: usize, to: &str, words: &str) -> Sent {
        let over = |card: &Value| {
            !card.to_string().contains("callback") && card["header"].to_string().contains(words)
        };
        self.card(app, to, over).await
    }

    /// Somebody presses a button; what they are told. A card may stand there before we know of it, and
    /// whoever presses so soon is told to press again.
    pub(super) async fn press(&self, app: usize, who: Value, card: &Sent, button: &str) -> Value {
        let pointer = value(&card.content, button).expect("the button is there");
        for number in 0..30 {
            let name = format!("{}_{button}_{who}_{number}", card.id);
            let event = pressed(&name, who.clone(), card, pointer.clone());
            let line = &self.fakes[app].line;
            let ack = line.ack_of(&line.send(&event).await).await;
            assert_eq!(ack.code, 200);
            let told = ack.reply.expect("a press is replied to");
            if !told["toast"]["content"].as_str().expect("a text").contains("请稍后再按一次")
            {
                return told;
            }
        }
        panic!("it is never written down");
    }

    /// The hold of this card still waits. What is done in the world follows a decision only later.
    pub(super) async fn waits(&self, card: &Sent, what: &str) {
        let text = card.content.to_string();
        let id = text.split("/holds/").nth(1).and_then(|rest| rest.split('"').next());
        let hold = self.served.admin().hold(&json!(id.expect("a link to the hold"))).await;
        assert_eq!(hold["state"], "pending", "{what}: {hold}");
    }

    /// What was done in the world, once it is so much.
    pub(super) async fn noted(&self, notes: &[&str]) {
        let lines = || self.served.witness().lines().expect("a witness");
        until("the notes", || lines().len() >= notes.len()).await;
        let done: Vec<Value> = lines().into_iter().map(|line| line.input["note"].clone()).collect();
        assert_eq!(json!(done), json!(notes));
    }

    pub(super) fn texts(&self) -> Vec<String> {
        let text = |sent: Sent| sent.content["text"].as_str().unwrap_or_default().to_owned();
        let texts = self.fake().messages().into_iter().filter(|sent| sent.kind == "text");
        texts.map(text).collect()
    }

    pub(super) async fn said(&self, words: &str) {
        until(words, || self.texts().iter().any(|text| text.contains(words))).await;
    }
}

/// Somebody of our organisation presses a button of this card.
pub(super) fn pressed(event: &str, who: Value, card: &Sent, pointer: Value) -> Value {
    let mut pressed = fake_feishu::press(event, &card.id, "a");
    pressed["event"]["action"]["value"] = pointer;
    pressed["event"]["operator"] = json!({"tenant_key": TENANT});
    for (key, id) in who.as_object().expect("names") {
        pressed["event"]["operator"][key] = id.clone();
    }
    let chat = match card.to.split_once(' ') {
        Some(("chat_id", chat)) => chat.to_owned(),
        Some(("reply", _)) | None => "oc_1".to_owned(),
        Some((_, person)) => format!("oc_with_{person}"),
    };
    pressed["event"]["context"]["open_chat_id"] = chat.into();
    pressed
}
