//! The stream.

use std::sync::Arc;
use std::time::Duration;

use ports::channel::{Channel as _, PressReply};
use ports::clock::Clock as _;
use serde_json::json;
use testkit::fake_chat::{FakeInbox, Fault, MovedClock, Reply, approved, redraw};
use testkit::fake_dingtalk::{CLIENT_ID, CLIENT_SECRET, FakeDingtalk, message, press};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{connector, posted, settings};

const MESSAGE: &str = "/v1.0/im/bot/messages/get";
const PRESS: &str = "/v1.0/card/instances/callback";

struct World {
    fake: FakeDingtalk,
    inbox: Arc<FakeInbox>,
    clock: Arc<MovedClock>,
    stop: CancellationToken,
    listening: JoinSet<()>,
}

impl World {
    async fn connected(faster: u32) -> World {
        let world = World::started(faster, |_| {}).await;
        world.fake.line.until("a connection", |line| line.connections() == 1).await;
        world
    }

    async fn started(faster: u32, prepare: impl FnOnce(&FakeDingtalk)) -> World {
        let fake = FakeDingtalk::start().await;
        prepare(&fake);
        let (dingtalk, clock) = connector(settings(&fake), faster);
        let (inbox, stop) = (FakeInbox::new(), CancellationToken::new());
        let mut listening = JoinSet::new();
        {
            let (inbox, stop) = (inbox.clone(), stop.clone());
            listening.spawn(async move { dingtalk.listen(inbox, stop).await });
        }
        World { fake, inbox, clock, stop, listening }
    }

    async fn ends(mut self) {
        self.stop.cancel();
        let ended = tokio::time::timeout(Duration::from_secs(5), self.listening.join_next()).await;
        ended.expect("it stops when it is told to").expect("it listened").expect("without a panic");
    }
}

#[tokio::test]
async fn it_asks_where_to_connect_and_for_what() {
    let world = World::connected(1).await;
    let asked = &world.fake.asked_of("connections/open")[0];
    assert_eq!(asked.header("accept"), Some("application/json"));
    let body = asked.json();
    assert_eq!(
        (&body["clientId"], &body["clientSecret"]),
        (&json!(CLIENT_ID), &json!(CLIENT_SECRET))
    );
    let wanted =
        json!([{"type": "CALLBACK", "topic": MESSAGE}, {"type": "CALLBACK", "topic": PRESS}]);
    assert_eq!(body["subscriptions"], wanted);
    world.ends().await;
}

#[tokio::test]
async fn a_message_is_acknowledged_once_it_is_written_down() {
    let world = World::connected(1).await;
    let data = message("m1", "确认", world.clock.now());
    world.inbox.be_busy(1);
    let id = world.fake.line.callback(MESSAGE, &data).await;
    assert_eq!(world.fake.line.ack_of(&id).await.code, 500, "it should come again");
    let id = world.fake.line.callback(MESSAGE, &data).await;
    let ack = world.fake.line.ack_of(&id).await;
    assert_eq!((ack.code, ack.data), (200, json!({"response": "OK"})));
    let wrote = &world.inbox.wrote_all()[0];
    assert_eq!((wrote.chat.as_str(), wrote.text.as_str()), ("cid1", " 确认"));
    assert_eq!(wrote.event, "dingtalk:message:m1");
    world.ends().await;
}

#[tokio::test]
async fn the_acknowledgement_of_a_press_is_the_card() {
    let world = World::connected(1).await;
    world.inbox.tell(Ok(PressReply::Taken(redraw(approved(), posted("7Q2")))));
    let id = world.fake.line.callback(PRESS, &press("7Q2", "a")).await;
    let ack = world.fake.line.ack_of(&id).await;
    let response = &ack.data["response"];
    let variables = &response["cardData"]["cardParamMap"];
    assert_eq!((ack.code, &variables["showButtons"]), (200, &json!("false")));
    assert!(variables["title"].as_str().expect("a text").contains("Ana 已批准"));
    assert_eq!(response["cardUpdateOptions"]["updateCardDataByKey"], true);
    assert!(response.get("userPrivateData").is_none());
    assert_eq!(world.inbox.presses()[0].event, format!("dingtalk:frame:{id}"));

    for told in [PressReply::NotEntitled, PressReply::NotHere, PressReply::Invalid("no".into())] {
        world.inbox.tell(Ok(told));
        let id = world.fake.line.callback(PRESS, &press("7Q2", "a")).await;
        let response = world.fake.line.ack_of(&id).await.data["response"].clone();
        assert!(response["userPrivateData"]["cardParamMap"]["statusText"].is_string());
        assert!(response.get("cardData").is_none(), "nothing public changes: {response}");
    }
    world.ends().await;
}

#[tokio::test]
async fn a_press_that_takes_long_is_received_in_time_and_not_dropped() {
    let world = World::connected(1).await;
    let long = Duration::from_millis(2_500);
    world.inbox.tell_after(long, Ok(PressReply::Taken(redraw(approved(), posted("7Q2")))));
    let began = world.clock.now();
    let id = world.fake.line.callback(PRESS, &press("7Q2", "a")).await;
    let ack = world.fake.line.ack_of(&id).await;
    let took = world.clock.now().ms_since(began);
    assert!((1_500..2_000).contains(&took), "{took} ms");
    assert!(ack.data["response"].get("cardData").is_none(), "nothing is known yet");
    world.inbox.until(|inbox| inbox.finished() == 1).await;
    world.ends().await;
}

#[tokio::test]
async fn every_other_frame_is_acknowledged_in_its_own_way() {
    let world = World::connected(1).await;
    let line = &world.fake.line;
    let ping = line.send("SYSTEM", "ping", &json!({"opaque": "x"})).await;
    let ack = line.ack_of(&ping).await;
    assert_eq!((ack.code, ack.data), (200, json!({"opaque": "x"})));
    let event = line.send("EVENT", "*", &json!({})).await;
    assert_eq!(line.ack_of(&event).await.data, json!({"status": "SUCCESS", "message": ""}));
    let unknown = line.callback("/v1.0/other", &json!({})).await;
    assert_eq!(line.ack_of(&unknown).await.code, 404);
    let new_kind = line.send("TOMORROW", "x", &json!({})).await;
    assert_eq!(line.ack_of(&new_kind).await.code, 404);
    let mut foreign = message("m1", "确认", world.clock.now());
    foreign["senderCorpId"] = "corp2".into();
    let foreign = line.callback(MESSAGE, &foreign).await;
    assert_eq!(line.ack_of(&foreign).await.code, 200);
    let not_ours = line.callback(PRESS, &json!({"outTrackId": "x"})).await;
    let answer = line.ack_of(&not_ours).await.data;
    assert!(answer["response"]["userPrivateData"].is_object(), "{answer}");
    line.send_text(1, "no frame".into()).await;
    let data = line.callback(MESSAGE, &message("m2", "取消", world.clock.now())).await;
    assert_eq!(line.ack_of(&data).await.code, 200, "it still listens");
    let wrote: Vec<String> =
        world.inbox.wrote_all().into_iter().map(|wrote| wrote.message).collect();
    assert_eq!(wrote, ["m2"]);
    world.ends().await;
}

#[tokio::test]
async fn it_connects_again_with_a_new_ticket() {
    let world = World::started(10, |fake| {
        let busy = Reply::new(503, json!({"code": "ServiceUnavailable"}));
        fake.fail("connections/open", Fault::Says(busy));
        fake.fail("connections/open", Fault::Garbage);
    })
    .await;
    world.fake.line.until("a connection", |line| line.connections() == 1).await;
    assert_eq!(world.fake.asked_of("connections/open").len(), 3);
    world.fake.line.cut().await;
    world.fake.line.until("a second connection", |line| line.connections() == 2).await;
    world.ends().await;
}

#[tokio::test]
async fn when_they_say_goodbye_the_next_connection_stands_first() {
    let world = World::connected(1).await;
    let line = &world.fake.line;
    let long = Duration::from_millis(500);
    world.inbox.tell_after(long, Ok(PressReply::Taken(redraw(approved(), posted("7Q2")))));
    let pressed = line.callback(PRESS, &press("7Q2", "a")).await;
    let goodbye = line.send("SYSTEM", "disconnect", &json!({"reason": "upgrade"})).await;
    assert_eq!(line.ack_of(&goodbye).await.code, 200);
    line.until("a second connection", |line| line.connections() == 2).await;
    assert_eq!(line.ended(), 0, "the old one is still there");
    // What came over the old one is answered over the old one, and it still hears.
    let ack = line.ack_of(&pressed).await;
    assert_eq!(ack.connection, 1);
    assert!(ack.data["response"]["cardData"].is_object());
    let data = message("m1", "确认", world.clock.now());
    let late = line.send_to(1, "CALLBACK", MESSAGE, &data).await;
    assert_eq!(line.ack_of(&late).await.connection, 1);
    line.end(1).await;
    let id = line.send_to(2, "CALLBACK", MESSAGE, &message("m2", "确认", world.clock.now())).await;
    assert_eq!(line.ack_of(&id).await.connection, 2);
    assert_eq!(world.fake.asked_of("connections/open").len(), 2);
    world.ends().await;
}

#[tokio::test]
async fn a_line_that_only_looks_alive_is_left() {
    let world = World::connected(20).await;
    world.fake.line.until("a ping", |line| line.pings() >= 1).await;
    world.fake.line.go_silent().await;
    // An answer may still be under way when the time is moved, so it is moved again and again.
    let moved = async {
        loop {
            world.clock.move_on(Duration::from_secs(66));
            world.clock.sleep(Duration::from_secs(5)).await;
        }
    };
    tokio::select! {
        () = world.fake.line.until("another connection", |line| line.connections() == 2) => {}
        () = moved => {}
    }
    world.ends().await;
}
