//! HTTP mode.

use std::sync::Arc;

use channels::dingtalk::{DingTalkMode, Dingtalk, Network, Webhook};
use domain::hold::Risk;
use ports::channel::{Channel as _, OutgoingText, PressReply, WebhookRequest};
use ports::clock::Clock as _;
use ports::secret_string::SecretString;
use serde_json::{Value, json};
use testkit::fake_chat::{FakeInbox, MovedClock, hold, prompt, redraw};
use testkit::fake_dingtalk::{FakeDingtalk, message, press, signed_card, signed_robot};

use super::{connector, group, posted, settings};

const CARD_SECRET: &str = "card-secret";

struct World {
    dingtalk: Arc<Dingtalk>,
    clock: Arc<MovedClock>,
    inbox: Arc<FakeInbox>,
    fake: FakeDingtalk,
}

impl World {
    async fn new() -> World {
        let fake = FakeDingtalk::start().await;
        let mut settings = settings(&fake);
        settings.mode = DingTalkMode::Webhook(Webhook {
            path_secret: SecretString::new("path-secret"),
            card_secret: Some(SecretString::new(CARD_SECRET)),
            card_route: Some("route".into()),
            events: None,
            allow_from: vec![Network::parse("203.0.113.0/24").expect("a network")],
        });
        let (dingtalk, clock) = connector(settings, 1);
        World { dingtalk, clock, inbox: FakeInbox::new(), fake }
    }

    async fn post(
        &self,
        path: &str,
        body: &str,
        mut headers: Vec<(String, String)>,
    ) -> (u16, Value) {
        headers.push((WebhookRequest::PEER.into(), "203.0.113.7".into()));
        self.post_from_anywhere(path, body, headers).await
    }

    async fn post_from_anywhere(
        &self,
        path: &str,
        body: &str,
        headers: Vec<(String, String)>,
    ) -> (u16, Value) {
        let request = WebhookRequest {
            method: "POST".into(),
            path: path.into(),
            query: None,
            headers,
            body: body.as_bytes().to_vec(),
            at: self.clock.now(),
        };
        let reply = self.dingtalk.hook(request, &*self.inbox).await;
        (reply.status, serde_json::from_slice(&reply.body).expect("JSON"))
    }
}

#[tokio::test]
async fn i34_a_body_that_nobody_signed_cannot_say_where_a_group_is_answered() {
    let world = World::new().await;
    let now = world.clock.now();
    let mut body = message("m1", "hello", now);
    body["sessionWebhook"] =
        format!("{}/robot/sendBySession?session=theirs", world.fake.url()).into();
    let taken = world.post("robot/path-secret", &body.to_string(), signed_robot(now)).await;
    assert_eq!(taken, (200, json!({})));
    let saying = OutgoingText { key: "k", text: "done", reply_to: Some("m1"), whisper_to: None };
    world.dingtalk.say(&group(), &saying).await.expect("said");
    assert_eq!(world.fake.said().pop().expect("said").to, "group cid1");
    assert!(world.fake.asked_of("sendBySession").is_empty());
}

#[tokio::test]
async fn a_message_and_a_press_reach_the_inbox() {
    let world = World::new().await;
    let now = world.clock.now();
    let body = message("m1", "确认", now).to_string();
    let taken = world.post("robot/path-secret", &body, signed_robot(now)).await;
    assert_eq!(taken, (200, json!({})));
    assert_eq!(world.inbox.wrote_all()[0].text, " 确认");

    world.inbox.tell(Ok(PressReply::NotEntitled));
    let body = press("7Q2", "d").to_string();
    let (status, reply) =
        world.post("card/path-secret", &body, signed_card(now, CARD_SECRET)).await;
    assert_eq!(status, 200);
    assert!(reply["userPrivateData"]["cardParamMap"]["statusText"].is_string(), "{reply}");
    assert!(reply.get("cardData").is_none(), "nothing public changes: {reply}");
    // The same request again is the same press.
    world.post("card/path-secret", &body, signed_card(now, CARD_SECRET)).await;
    let names: Vec<String> = world.inbox.presses().into_iter().map(|press| press.event).collect();
    assert_eq!(names[0], names[1]);
    let later = signed_card(now.plus_ms(1), CARD_SECRET);
    world.post("card/path-secret", &body, later).await;
    assert_ne!(world.inbox.presses()[2].event, names[0]);
}

#[tokio::test]
async fn i34_what_is_not_certainly_theirs_is_refused() {
    let world = World::new().await;
    let now = world.clock.now();
    let robot = message("m1", "确认", now).to_string();
    let card = press("7Q2", "a").to_string();
    let status = async |path: &str, body: &str, headers| world.post(path, body, headers).await.0;
    assert_eq!(status("robot/wrong", &robot, signed_robot(now)).await, 404, "not our address");
    assert_eq!(status("robot", &robot, signed_robot(now)).await, 404);
    assert_eq!(status("robot/path-secret", &robot, Vec::new()).await, 401, "unsigned");
    let old = now.minus_ms(3_600_001);
    assert_eq!(status("robot/path-secret", &robot, signed_robot(old)).await, 401, "stale");
    // A signature that is good for an hour does not make an old message new.
    let replayed = message("m1", "确认", now.minus_ms(301_000)).to_string();
    assert_eq!(status("robot/path-secret", &replayed, signed_robot(now)).await, 401);
    assert_eq!(status("card/path-secret", &card, signed_card(now, "another")).await, 401);
    let old = now.minus_ms(301_000);
    assert_eq!(status("card/path-secret", &card, signed_card(old, CARD_SECRET)).await, 401);
    assert_eq!(status("robot/path-secret", "{", signed_robot(now)).await, 400);
    let large = " ".repeat((1 << 20) + 1);
    assert_eq!(status("robot/path-secret", &large, signed_robot(now)).await, 413);
    let mut foreign = message("m2", "确认", now);
    foreign["robotCode"] = "another".into();
    let foreign = foreign.to_string();
    assert_eq!(
        status("robot/path-secret", &foreign, signed_robot(now)).await,
        200,
        "and left alone"
    );
    assert!(world.inbox.wrote_all().is_empty() && world.inbox.presses().is_empty());
}

#[tokio::test]
async fn i34_only_addresses_that_are_named_are_let_in() {
    let world = World::new().await;
    let now = world.clock.now();
    let body = message("m1", "确认", now).to_string();
    for peer in [None, Some("203.0.114.7"), Some("127.0.0.1"), Some("not an address")] {
        let mut headers = signed_robot(now);
        headers.extend(peer.map(|peer| (WebhookRequest::PEER.into(), peer.into())));
        // What anybody can write is no proof of where they are.
        headers.push(("x-forwarded-for".into(), "203.0.113.7".into()));
        let (status, _) = world.post_from_anywhere("robot/path-secret", &body, headers).await;
        assert_eq!(status, 404, "{peer:?}");
    }
    assert!(world.inbox.wrote_all().is_empty());
    assert_eq!(world.post("robot/path-secret", &body, signed_robot(now)).await.0, 200);
}

#[tokio::test]
async fn what_could_not_be_written_down_may_come_again() {
    let world = World::new().await;
    let now = world.clock.now();
    world.inbox.be_busy(1);
    let body = message("m1", "确认", now).to_string();
    assert_eq!(world.post("robot/path-secret", &body, signed_robot(now)).await.0, 503);
    assert_eq!(world.post("robot/path-secret", &body, signed_robot(now)).await.0, 200);
    assert_eq!(world.inbox.wrote_all().len(), 1);
}

#[tokio::test]
async fn above_a_low_risk_it_takes_no_yes() {
    let world = World::new().await;
    let shown = prompt(&hold(), async |showing| world.dingtalk.show(&group(), showing).await).await;
    assert!(!shown.expect("shown").accepts_approval);
    let variables = &world.fake.cards()[0].variables;
    assert_eq!((&variables["showButtons"], &variables["allowText"]), (&json!("true"), &json!("")));
    assert_eq!(variables["denyText"], "拒绝", "a no is taken");
    let body = world.fake.asked_of("createAndDeliver")[0].json();
    assert_eq!(
        (&body["callbackType"], &body["callbackRouteKey"]),
        (&json!("HTTP"), &json!("route"))
    );
    // Nor does the card that answers a press.
    let now = world.clock.now();
    world.inbox.tell(Ok(PressReply::Counted(redraw(hold(), posted("7Q2")))));
    let press = press("7Q2", "a").to_string();
    let (_, reply) = world.post("card/path-secret", &press, signed_card(now, CARD_SECRET)).await;
    assert_eq!(reply["cardData"]["cardParamMap"]["allowText"], "");

    let world = World::new().await;
    let mut low = hold();
    low.risk = Risk::Low;
    let shown = prompt(&low, async |showing| world.dingtalk.show(&group(), showing).await).await;
    assert!(shown.expect("shown").accepts_approval);
}
