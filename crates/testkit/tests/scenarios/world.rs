//! The real program, an agent that must ask, and people in the rooms of one platform.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::served::{Caller, NOTING, Served};

use crate::scenarios::chat::{Button, Card, Chat, Event, How, Room, Who};

const SCRIPT: &str = r#"
default = "I see."

[[turn]]
when = { says_regex = 'note (\w+) and (\w+)' }
calls = [
    { tool = "witness", arguments = { note = "{1}" } },
    { tool = "witness", arguments = { note = "{2}" } },
]

[[turn]]
when = { says_regex = 'note (\w+)' }
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { says_contains = "why" }
text = "Because it was asked for."

[[turn]]
when = { is_error = false }
text = "Noted."

[[turn]]
when = { is_error = true }
text = "Not noted."
"#;

/// Even on a busy machine what comes at all has come by then.
const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct World {
    pub(crate) chat: Box<dyn Chat>,
    pub(crate) served: Served,
    starts: usize,
}

/// A hold that is asked in two rooms.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) note: String,
    pub(crate) hold: Value,
    pub(crate) home: Card,
    pub(crate) watch: Card,
}

impl Asked {
    pub(crate) fn tag(&self) -> &str {
        self.hold["tag"].as_str().expect("a tag")
    }
}

/// How a hold must have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Approved(Who),
    Denied(Who),
    Expired,
}

impl End {
    fn state(self) -> &'static str {
        match self {
            End::Approved(_) => "approved",
            End::Denied(_) => "denied",
            End::Expired => "expired",
        }
    }

    /// What every card says then.
    pub(crate) fn words(self) -> String {
        match self {
            End::Approved(who) => format!("approved by {}", who.name()),
            End::Denied(who) => format!("denied by {}", who.name()),
            End::Expired => "The time ran out. Nobody decided; nothing was run.".to_owned(),
        }
    }

    fn by(self) -> Value {
        match self {
            End::Approved(who) | End::Denied(who) => who.id().into(),
            End::Expired => Value::Null,
        }
    }

    fn runs(self) -> usize {
        usize::from(matches!(self, End::Approved(_)))
    }
}

impl World {
    pub(crate) async fn start(chat: Box<dyn Chat>) -> World {
        World::start_with(chat, "").await
    }

    /// With more in the section of the channel.
    pub(crate) async fn start_with(chat: Box<dyn Chat>, more: &str) -> World {
        let mut served = Served::prepare(&config(&*chat, more), SCRIPT);
        for (file, secret) in chat.secrets() {
            served.write(file, secret);
        }
        served.up().await;
        chat.connected(1).await;
        World { chat, served, starts: 1 }
    }

    /// SIGKILL, and the next one.
    pub(crate) async fn killed_and_started(&mut self) {
        self.served.kill().await;
        self.up().await;
    }

    pub(crate) async fn up(&mut self) {
        self.starts += 1;
        self.served.up().await;
        self.chat.connected(self.starts).await;
    }

    /// Somebody writes to us in the home room.
    pub(crate) async fn write(&self, who: Who, text: &str) -> Event {
        let event = self.chat.wrote(who, Room::Home, text, How::Plain);
        self.chat.deliver(&event).await;
        event
    }

    pub(crate) async fn press(&self, who: Who, card: &Card, button: Button) -> Event {
        let event = self.chat.pressed(who, card, button);
        self.chat.deliver(&event).await;
        event
    }

    /// Ana asks for this note, and everybody who may answer is asked.
    pub(crate) async fn ask(&self, note: &str) -> Asked {
        self.write(Who::Ana, &format!("note {note}")).await;
        self.asked(note).await
    }

    /// The hold about this note, once it is asked in both rooms and known to be.
    pub(crate) async fn asked(&self, note: &str) -> Asked {
        let hold = self.hold_about(note).await;
        let card = |room: Room| self.card_of(&hold, room);
        until("a card in both rooms", || {
            [Room::Home, Room::Watch].iter().all(|room| card(*room).is_some_and(|it| it.is_alive()))
        })
        .await;
        let (home, watch) = (card(Room::Home), card(Room::Watch));
        let asked = Asked {
            note: note.to_owned(),
            home: home.expect("just seen"),
            watch: watch.expect("just seen"),
            hold,
        };
        for card in [&asked.home, &asked.watch] {
            self.is_known(card).await;
        }
        asked
    }

    /// A card may stand there before we have written down where; whoever presses so soon is told to press
    /// again. Bob presses until he hears that he may not.
    async fn is_known(&self, card: &Card) {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let event = self.press(Who::Bob, card, Button::Allow).await;
            let told = self.told(&event).await;
            if told.contains("You may not answer this") {
                return;
            }
            assert!(told.contains("again"), "{told}");
            assert!(tokio::time::Instant::now() < end, "it is never written down: {card:?}");
        }
    }

    pub(crate) async fn hold_about(&self, note: &str) -> Value {
        let about = |hold: &Value| hold["call"]["arguments"]["note"] == note;
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(hold) = self.holds().await.into_iter().find(about) {
                return hold;
            }
            assert!(tokio::time::Instant::now() < end, "there is no hold about {note}");
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    pub(crate) async fn holds(&self) -> Vec<Value> {
        let list = self.served.admin().get("/v1/holds?limit=100").await.must(200);
        list["items"].as_array().cloned().expect("a list")
    }

    /// The newest card of this hold in a room. What is to be noted stands on it.
    pub(crate) fn card_of(&self, hold: &Value, room: Room) -> Option<Card> {
        let note = hold["call"]["arguments"]["note"].as_str().expect("a note");
        let mut cards = self.chat.cards().into_iter().rev();
        cards.find(|card| card.room == room && card.text.contains(note))
    }

    /// The conversation in the home room, once its last run is over.
    pub(crate) async fn session(&self) -> Value {
        let holds = self.holds().await;
        let session = holds[0]["session"].as_str().expect("a session");
        self.served.admin().run_is(session, "completed").await
    }

    /// What whoever did this was told, once they are.
    pub(crate) async fn told(&self, event: &Event) -> String {
        until("something is told", || self.chat.told(event).is_some()).await;
        self.chat.told(event).expect("just seen")
    }

    /// What was said, to everybody or to one person alone.
    pub(crate) async fn said(&self, to: Option<Who>, words: &str) {
        let said = || {
            let all = self.chat.said();
            all.iter().any(|said| said.privately_to == to && said.text.contains(words))
        };
        let end = tokio::time::Instant::now() + PATIENCE;
        while !said() {
            let all = self.chat.said();
            assert!(tokio::time::Instant::now() < end, "nobody said `{words}` to {to:?}: {all:#?}");
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// How often something like this was said to everybody.
    pub(crate) fn times(&self, words: &str) -> usize {
        let all = self.chat.said();
        all.iter().filter(|said| said.privately_to.is_none() && said.text.contains(words)).count()
    }

    /// Nobody has decided: it waits, its buttons live, nothing ran.
    pub(crate) async fn waits(&self, asked: &Asked) {
        let hold = self.served.admin().hold(&asked.hold["id"]).await;
        assert_eq!(hold["state"], "pending", "{hold:#}");
        assert_eq!(hold["answers"], json!([]), "{hold:#}");
        for room in [Room::Home, Room::Watch] {
            let card = self.card_of(&asked.hold, room).expect("its card");
            assert!(card.is_alive(), "{card:#?}");
        }
        assert_eq!(self.runs(&asked.note), 0);
    }

    /// So it ended, everybody sees it, and the run went on from there: the state of the world.
    pub(crate) async fn ended(&self, asked: &Asked, end: End) {
        self.decided(&asked.note, end).await;
        until(&format!("every card of {} says {:?}", asked.note, end.words()), || {
            self.cards(asked)
                .iter()
                .all(|card| !card.is_alive() && card.text.contains(&end.words()))
        })
        .await;
        let holds = self.holds().await;
        let alone = holds.iter().filter(|hold| hold["run"] == asked.hold["run"]).count() == 1;
        // Of several calls, one result is enough for the agent to say the one or the other.
        let words = match (alone, end.runs()) {
            (false, _) => "oted.",
            (true, 0) => "Not noted.",
            (true, _) => "Noted.",
        };
        self.said(None, words).await;
    }

    /// One decision and whose; what ran, and how often; by now, and when its run is over.
    pub(crate) async fn decided(&self, note: &str, end: End) {
        let admin = self.served.admin();
        let hold = self.hold_about(note).await;
        let session = hold["session"].as_str().expect("a session").to_owned();
        let is = |hold: &Value| hold["state"] != "pending";
        let hold = until_read(&admin, &hold["id"], is).await;
        assert_eq!(hold["state"], end.state(), "{hold:#}");
        assert_eq!(hold["decision"].get("by").cloned().unwrap_or_default(), end.by(), "{hold:#}");
        // Calls of one turn run when all of them are decided.
        if self.holds().await.iter().all(|hold| hold["state"] != "pending") {
            admin.run_is(&session, "completed").await;
            assert_eq!(self.runs(note), end.runs(), "{note}");
        } else {
            assert!(self.runs(note) <= end.runs(), "{note}");
        }
        let id = hold["id"].as_str().expect("an id");
        let events = self.served.audited().await;
        let decisions = events.iter().filter_map(|event| event.get("hold_decided"));
        let decisions = decisions.filter(|decided| decided.to_string().contains(id)).count();
        assert_eq!(decisions, 1, "one decision about {note}");
    }

    /// Every card of a hold, as it looks now.
    fn cards(&self, asked: &Asked) -> Vec<Card> {
        let of = |card: &Card| {
            [&asked.home, &asked.watch]
                .iter()
                .any(|known| known.message == card.message && known.room == card.room)
        };
        let cards: Vec<Card> = self.chat.cards().into_iter().filter(of).collect();
        assert_eq!(cards.len(), 2, "{cards:#?}");
        cards
    }

    /// How often this was done in the world.
    pub(crate) fn runs(&self, note: &str) -> usize {
        let lines = self.served.witness().lines().expect("a witness");
        lines.iter().filter(|line| line.input["note"] == note).count()
    }
}

async fn until_read(admin: &Caller, id: &Value, is: impl Fn(&Value) -> bool) -> Value {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        let hold = admin.hold(id).await;
        if is(&hold) {
            return hold;
        }
        assert!(tokio::time::Instant::now() < end, "it is still waited for: {hold:#}");
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

pub(crate) async fn until(what: &str, is: impl Fn() -> bool) {
    let end = tokio::time::Instant::now() + PATIENCE;
    while !is() {
        assert!(tokio::time::Instant::now() < end, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

fn config(chat: &dyn Chat, more: &str) -> String {
    let platform = chat.platform();
    let person = |who: Who| {
        let (id, name, identity) = (who.id(), who.name(), chat.identity(who));
        let roles = if who == Who::Bob { "[]" } else { r#"["dba"]"# };
        format!(
            r#"
[[people]]
id = "{id}"
name = "{name}"
roles = {roles}
identities = {{ {platform} = "{identity}" }}
"#
        )
    };
    let people: String = Who::KNOWN.map(person).concat();
    let (section, watch) = (chat.section(), chat.room(Room::Watch));
    format!(
        r#"{NOTING}
[[policy.rules]]
name = "notes are asked for"
match = {{ tool = "witness" }}
then = "ask"
ask = {{ roles = ["dba"] }}

[[people]]
id = "root"
roles = ["admin"]
{people}
[channels.{platform}]
agent = "worker"
ask = ["{watch}"]
language = "en"
{section}
{more}
"#
    )
}
