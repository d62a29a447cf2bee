//! The long connection.

use std::sync::Arc;
use std::time::Duration;

use channels::feishu::{Feishu, FeishuFrame};
use ports::channel::{Channel as _, PressReply};
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::{FakeInbox, Fault, MovedClock, Reply, approved, redraw};
use testkit::fake_feishu::{APP_ID, APP_SECRET, FakeFeishu, Pace, envelope, message, press};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{faster, posted, settings};

struct World {
    fake: FakeFeishu,
    inbox: Arc<FakeInbox>,
    clock: Arc<MovedClock>,
    feishu: Arc<Feishu>,
    stop: CancellationToken,
    listening: JoinSet<()>,
}

impl World {
    async fn connected() -> World {
        let world = World::started(1, |_| {}).await;
        world.fake.line.until("a connection", |line| line.connections() == 1).await;
        world
    }

    async fn started(times: u32, prepare: impl FnOnce(&FakeFeishu)) -> World {
        let fake = FakeFeishu::start().await;
        prepare(&fake);
        let (feishu, clock) = faster(settings(&fake), times);
        let (inbox, stop) = (FakeInbox::new(), CancellationToken::new());
        let mut listening = JoinSet::new();
        {
            let (feishu, inbox, stop) = (feishu.clone(), inbox.clone(), stop.clone());
            listening.spawn(async move { feishu.listen(inbox, stop).await });
        }
        World { fake, inbox, clock, feishu, stop, listening }
    }

    async fn ends(mut self) {
        self.stop.cancel();
        let ended = tokio::time::timeout(Duration::from_secs(5), self.listening.join_next()).await;
        ended.expect("it stops when it is told to").expect("it listened").expect("without a panic");
    }
}

#[tokio::test]
async fn it_asks_where_to_connect_pings_and_stops() {
    let world = World::connected().await;
    world.fake.line.until("a ping", |line| !line.pings().is_empty()).await;
    let asked = &world.fake.asked_of("ws/endpoint")[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/callback/ws/endpoint"));
    assert_eq!(asked.header("locale"), Some("zh"));
    assert_eq!(asked.json(), json!({"AppID": APP_ID, "AppSecret": APP_SECRET}));
    let ping = &world.fake.line.pings()[0];
    assert_eq!((ping.method, ping.service, ping.header("type")), (0, 33, Some("ping")));
    world.ends().await;
}

#[tokio::test]
async fn a_message_is_acknowledged_once_it_is_written_down() {
    let world = World::connected().await;
    let event = message("om_5", "确认", world.clock.now());
    world.inbox.be_busy(1);
    let id = world.fake.line.send(&event).await;
    let ack = world.fake.line.ack_of(&id).await;
    assert_eq!((ack.code, ack.reply), (500, None), "it should come again");
    let id = world.fake.line.send(&event).await;
    let ack = world.fake.line.ack_of(&id).await;
    assert_eq!(ack.code, 200);
    // The same frame, with the time that it took.
    assert_eq!(
        (ack.frame.seq_id, ack.frame.log_id, ack.frame.service, ack.frame.method),
        (9, 8, 33, 1)
    );
    let took: u64 = ack.frame.header("biz_rt").expect("how long").parse().expect("a number");
    assert!(took < 20_000);
    assert_eq!(ack.frame.header("trace_id"), Some("trace"));
    assert_eq!(world.inbox.wrote_all().len(), 1);
    world.ends().await;
}

#[tokio::test]
async fn the_acknowledgement_of_a_press_is_its_reply() {
    let world = World::connected().await;
    world.inbox.tell(Ok(PressReply::Taken(redraw(approved(), posted("om_1")))));
    let id = world.fake.line.send_in_parts(&press("e1", "om_1", "a"), 3).await;
    let ack = world.fake.line.ack_of(&id).await;
    let reply = ack.reply.expect("a reply");
    assert_eq!((ack.code, &reply["toast"]["type"]), (200, &json!("success")));
    assert!(reply["card"]["data"].to_string().contains("Ana 已批准"));
    assert_eq!(world.inbox.presses()[0].pointer.to_string(), "h1:7Q2:a:k3x9ab");
    world.ends().await;
}

#[tokio::test]
async fn a_press_that_takes_long_is_received_in_time_and_not_dropped() {
    let world = World::connected().await;
    let long = Duration::from_millis(3_200);
    world.inbox.tell_after(long, Ok(PressReply::Taken(redraw(approved(), posted("om_1")))));
    let id = world.fake.line.send(&press("e1", "om_1", "a")).await;
    let ack = world.fake.line.ack_of(&id).await;
    let took: u64 = ack.frame.header("biz_rt").expect("how long").parse().expect("a number");
    assert!((2_400..3_000).contains(&took), "{took} ms");
    let reply = ack.reply.expect("a reply");
    assert_eq!(reply["toast"]["type"], "info");
    assert!(reply.get("card").is_none(), "nothing is known yet");
    world.inbox.until(|inbox| inbox.finished() == 1).await;
    assert!(world.fake.messages().is_empty(), "the card itself will say it");
    world.ends().await;
}

#[tokio::test]
async fn whoever_waited_too_long_to_be_refused_is_told_in_private() {
    let world = World::connected().await;
    let long = Duration::from_millis(2_700);
    world.inbox.tell_after(long, Ok(PressReply::NotEntitled));
    let id = world.fake.line.send(&press("e1", "om_1", "a")).await;
    let reply = world.fake.line.ack_of(&id).await.reply.expect("a reply");
    assert_eq!(reply["toast"]["type"], "info", "received");
    world.inbox.until(|inbox| inbox.finished() == 1).await;
    let told = async {
        while world.fake.messages().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), told).await.expect("they are told");
    let sent = world.fake.messages().remove(0);
    assert_eq!((sent.to.as_str(), sent.kind.as_str()), ("open_id ou_ana", "text"));
    assert!(sent.content["text"].as_str().expect("a text").contains("无权"), "{}", sent.content);
    world.ends().await;
}

#[tokio::test]
async fn old_foreign_and_unknown_events_are_acknowledged_and_left_alone() {
    let world = World::connected().await;
    let old = message("om_5", "确认", world.clock.now().minus_ms(31 * 60_000));
    let mut foreign = message("om_6", "确认", world.clock.now());
    foreign["header"]["app_id"] = "cli_2".into();
    let unknown = envelope("e1", "im.chat.disbanded_v1", json!({}));
    for event in [old, foreign, unknown, Value::Null, json!([])] {
        let id = world.fake.line.send(&event).await;
        assert_eq!(world.fake.line.ack_of(&id).await.code, 200);
    }
    let header = |kind: &str| vec![("type".to_owned(), kind.to_owned())];
    let card = FeishuFrame {
        method: 1,
        headers: header("card"),
        payload: Some(b"{}".to_vec()),
        ..FeishuFrame::default()
    };
    world.fake.line.send_frame(card).await;
    world.fake.line.send_bytes(b"\xff\xff garbage").await;
    let last = message("om_7", "取消", world.clock.now());
    let id = world.fake.line.send(&last).await;
    assert_eq!(world.fake.line.ack_of(&id).await.code, 200, "it still listens");
    let wrote: Vec<String> =
        world.inbox.wrote_all().into_iter().map(|wrote| wrote.message).collect();
    assert_eq!(wrote, ["om_7"]);
    assert_eq!(world.fake.line.acked().len(), 6);
    world.ends().await;
}

#[tokio::test]
async fn it_connects_again_with_a_new_invitation_and_in_time() {
    let world = World::started(1, |fake| {
        // The first attempts meet a busy platform, a page of a proxy and a refusal at the door.
        fake.fail("ws/endpoint", Fault::Says(Reply::new(200, json!({"code": 1, "msg": "busy"}))));
        fake.line.set_pace(Pace { ping: 1, interval: 1, nonce: 0 });
        fake.line.refuse(1);
    });
    let mut world = world.await;
    world.clock.move_on(Duration::ZERO);
    // Without the platform's own pace it would be two minutes: the refusal came with one.
    world.fake.line.until("a connection", |line| line.connections() == 1).await;
    assert_eq!(world.fake.asked_of("ws/endpoint").len(), 3);
    world.fake.line.cut().await;
    world.fake.line.until("a second connection", |line| line.connections() == 2).await;
    let id = world.fake.line.send(&message("om_5", "确认", world.clock.now())).await;
    assert_eq!(world.fake.line.ack_of(&id).await.code, 200);
    assert!(world.listening.try_join_next().is_none());
    world.ends().await;
}

#[tokio::test]
async fn a_line_that_only_looks_alive_is_left() {
    // Sixty times faster: a ping each second means sixty of them, and the silence is over soon.
    let world = World::started(60, |fake| {
        fake.line.set_pace(Pace { ping: 60, interval: 1, nonce: 0 });
        fake.line.go_silent(true);
    })
    .await;
    world.fake.line.until("a ping", |line| line.pings().len() == 1).await;
    world.clock.move_on(Duration::from_secs(131));
    world.fake.line.until("another connection", |line| line.connections() == 2).await;
    world.ends().await;
}

#[tokio::test]
async fn a_hundred_deliveries_of_one_event_are_handed_over_under_one_name() {
    let world = World::connected().await;
    let event = message("om_5", "确认", world.clock.now());
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(world.fake.line.send(&event).await);
    }
    for id in ids {
        assert_eq!(world.fake.line.ack_of(&id).await.code, 200);
    }
    let mut names: Vec<String> =
        world.inbox.wrote_all().into_iter().map(|wrote| wrote.event).collect();
    assert_eq!(names.len(), 100);
    names.dedup();
    assert_eq!(names, ["feishu:message:om_5"]);
    drop(world.feishu.clone());
    world.ends().await;
}
