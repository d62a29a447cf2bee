//! Over the address that came with a message.

use std::sync::Arc;
use std::time::Duration;

use channels::dingtalk::Dingtalk;
use ports::channel::{Channel as _, ChannelError, Destination, OutgoingText};
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::{FakeInbox, Fault, MovedClock, Reply, hold, prompt};
use testkit::fake_dingtalk::{FakeDingtalk, message};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{connector, group, settings};

const MESSAGE: &str = "/v1.0/im/bot/messages/get";

struct World {
    fake: FakeDingtalk,
    dingtalk: Arc<Dingtalk>,
    clock: Arc<MovedClock>,
    inbox: Arc<FakeInbox>,
    stop: CancellationToken,
    _tasks: JoinSet<()>,
}

impl World {
    async fn new() -> World {
        let fake = FakeDingtalk::start().await;
        let mut settings = settings(&fake);
        settings.card_template = None;
        let (dingtalk, clock) = connector(settings, 1);
        let (inbox, stop) = (FakeInbox::new(), CancellationToken::new());
        let mut tasks = JoinSet::new();
        let (listening, hears, ends) = (dingtalk.clone(), inbox.clone(), stop.clone());
        tasks.spawn(async move { listening.listen(hears, ends).await });
        fake.line.until("a connection", |line| line.connections() == 1).await;
        World { fake, dingtalk, clock, inbox, stop, _tasks: tasks }
    }

    /// Ana writes in the group, and the message brings this address.
    async fn written(&self, id: &str, session: &str) {
        let mut data = message(id, "hello", self.clock.now());
        data["sessionWebhook"] = session.into();
        let frame = self.fake.line.callback(MESSAGE, &data).await;
        self.fake.line.ack_of(&frame).await;
        assert!(!self.inbox.wrote_all().is_empty());
    }

    fn own(&self) -> String {
        format!("{}/robot/sendBySession?session=abc", self.fake.url())
    }

    async fn say(&self, place: &Destination, reply_to: Option<&str>) -> Result<(), ChannelError> {
        let saying = OutgoingText { key: "k", text: "done", reply_to, whisper_to: None };
        self.dingtalk.say(place, &saying).await
    }

    fn said(&self) -> Vec<(String, Value)> {
        self.fake.said().into_iter().map(|said| (said.to, said.param)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[tokio::test]
async fn a_conversation_is_answered_over_its_own_address_and_without_a_token() {
    let world = World::new().await;
    world.written("m1", &world.own()).await;
    world.say(&group(), Some("m1")).await.expect("said");
    world.say(&group(), None).await.expect("said");
    let body = |users: Value| {
        json!({
            "msgtype": "text", "text": {"content": "done"},
            "at": {"atUserIds": users, "isAtAll": false},
        })
    };
    let wanted = [
        ("session abc".to_owned(), body(json!(["u1"]))),
        ("session abc".to_owned(), body(json!([]))),
    ];
    assert_eq!(world.said(), wanted, "whoever is replied to is called");
    let shown = prompt(&hold(), async |showing| world.dingtalk.show(&group(), showing).await).await;
    assert!(shown.expect("shown").accepts_approval);
    let (to, body) = world.said().pop().expect("said");
    assert_eq!((to.as_str(), &body["msgtype"]), ("session abc", &json!("markdown")));
    assert!(body["markdown"]["text"].as_str().expect("a text").contains("DELETE FROM orders"));
    assert!(world.fake.asked_of("accessToken").is_empty());
    // Somebody else's conversation has another.
    world.say(&Destination::Person("u1".into()), None).await.expect("said");
    assert_eq!(world.said().pop().expect("said").0, r#"people ["u1"]"#);
}

#[tokio::test]
async fn when_its_time_is_over_the_api_is_used() {
    let world = World::new().await;
    world.written("m1", &world.own()).await;
    world.clock.move_on(Duration::from_secs(5_400 - 29));
    world.say(&group(), Some("m1")).await.expect("said");
    assert_eq!(world.said()[0].0, "group cid1");
    assert!(world.fake.asked_of("sendBySession").is_empty());
}

#[tokio::test]
async fn an_address_that_is_refused_is_left_and_a_lost_answer_is_not_said_twice() {
    let world = World::new().await;
    world.written("m1", &world.own()).await;
    world.fake.fail("sendBySession", Fault::Lost);
    let lost = world.say(&group(), None).await.expect_err("nobody knows");
    assert!(matches!(lost, ChannelError::Unknown(_)), "{lost}");
    assert_eq!(world.said().len(), 1);
    world.written("m2", &world.own()).await;
    let refused = Reply::new(200, json!({"errcode": 300_001, "errmsg": "session expired"}));
    world.fake.fail("sendBySession", Fault::Says(refused));
    world.say(&group(), None).await.expect("said");
    world.say(&group(), None).await.expect("said");
    let to: Vec<String> = world.said().into_iter().map(|(to, _)| to).collect();
    assert_eq!(to, ["session abc", "group cid1", "group cid1"]);
    assert_eq!(world.fake.asked_of("sendBySession").len(), 2, "and is not tried again");
}

#[tokio::test]
async fn an_address_that_answers_nonsense_is_left() {
    let world = World::new().await;
    for (number, status) in [500, 502, 200].into_iter().enumerate() {
        world.written(&format!("m{number}"), &world.own()).await;
        let garbled = Reply::new(status, json!("<html>"));
        world.fake.fail("sendBySession", Fault::Says(garbled));
        let failed = world.say(&group(), None).await;
        assert!(matches!(failed, Err(ChannelError::Unknown(_))), "{status}: {failed:?}");
        world.say(&group(), None).await.expect("said");
        assert_eq!(world.said().pop().expect("said").0, "group cid1", "{status}");
        assert_eq!(world.fake.asked_of("sendBySession").len(), number + 1, "not tried again");
    }
}

#[tokio::test]
async fn an_address_that_is_to_be_good_for_ever_is_good_for_two_hours() {
    let world = World::new().await;
    let mut data = message("m1", "hello", world.clock.now());
    data["sessionWebhook"] = world.own().into();
    data["sessionWebhookExpiredTime"] = json!(i64::MAX);
    let frame = world.fake.line.callback(MESSAGE, &data).await;
    world.fake.line.ack_of(&frame).await;
    world.clock.move_on(Duration::from_secs(7_100));
    world.say(&group(), None).await.expect("said");
    assert_eq!(world.said().pop().expect("said").0, "session abc");
    world.clock.move_on(Duration::from_secs(100));
    world.say(&group(), None).await.expect("said");
    assert_eq!(world.said().pop().expect("said").0, "group cid1");
}

#[tokio::test]
async fn i34_nothing_is_sent_to_a_host_that_only_a_message_names() {
    let world = World::new().await;
    let other = FakeDingtalk::start().await;
    for (number, session) in [
        format!("{}/robot/sendBySession?session=abc", other.url()),
        "https://oapi.dingtalk.com/robot/sendBySession?session=abc".into(),
        "gopher://x".into(),
        format!("{}/robot/send?access_token=theirs", world.fake.url()),
        format!("{}/robot/sendBySession?session={}", world.fake.url(), "a".repeat(2_048)),
        String::new(),
    ]
    .iter()
    .enumerate()
    {
        world.written(&format!("m{number}"), session).await;
        world.say(&group(), None).await.expect("said");
        assert_eq!(world.said().pop().expect("said").0, "group cid1", "{session}");
    }
    assert!(other.asked().is_empty());
    // What is not for us brings no address either.
    let mut foreign = message("m9", "hello", world.clock.now());
    foreign["robotCode"] = "another".into();
    foreign["sessionWebhook"] = world.own().into();
    let frame = world.fake.line.callback(MESSAGE, &foreign).await;
    world.fake.line.ack_of(&frame).await;
    world.say(&group(), None).await.expect("said");
    assert_eq!(world.said().pop().expect("said").0, "group cid1");
}
