//! DingTalk: `dingtalk-stream` connects to the fake that our connector connects to, and delivers and
//! updates the cards that we do.

use std::sync::Arc;
use std::time::Duration;

use channels::dingtalk::{DingTalkEnvelope, DingTalkMode, DingTalkSettings, Dingtalk, Webhook};
use ports::channel::{Channel as _, Destination, MessageRef, OutgoingText, WebhookRequest};
use ports::clock::Clock as _;
use ports::secret_string::SecretString;
use serde_json::{Value, json};
use testkit::fake_chat::{FakeInbox, MovedClock, NoRandomness, approved, hold, prompt};
use testkit::fake_dingtalk::{CLIENT_ID, CLIENT_SECRET, FakeDingtalk, TEMPLATE, message, press};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::channels::judge::Judge;

const PYTHON: &str = "CHANNELS_DINGTALK_PYTHON";
const MESSAGE: &str = "/v1.0/im/bot/messages/get";
const PRESS: &str = "/v1.0/card/instances/callback";

fn connector(fake: &FakeDingtalk) -> Dingtalk {
    let url = fake.url().parse().expect("a URL");
    let mut settings =
        DingTalkSettings::new("dingtalk", CLIENT_ID, SecretString::new(CLIENT_SECRET), url);
    settings.card_template = Some(TEMPLATE.into());
    Dingtalk::new(settings, MovedClock::new(1), Arc::new(NoRandomness))
}

fn judge(fake: &FakeDingtalk, job: &str) -> Judge {
    let endpoint = [("DINGTALK_OPENAPI_ENDPOINT", fake.url())];
    let [(name, url)] = &endpoint;
    Judge::with("dingtalk", PYTHON, &[job], &[(name, url.as_str())])
}

#[tokio::test]
async fn dingtalk_sdk_connects_to_the_fake_as_we_do() {
    let fake = FakeDingtalk::start().await;
    let mut judge = judge(&fake, "listen");
    // It starts slowly; the fake's own patience is shorter.
    let mut waited = 0;
    while fake.line.connections() == 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        waited += 1;
        assert!(waited < 600, "the SDK does not connect");
    }
    let clock = MovedClock::new(1);
    let id = fake.line.callback(MESSAGE, &message("m1", "确认", clock.now())).await;
    let heard =
        json!({"kind": "message", "text": " 确认", "by": "u1", "chat": "cid1", "type": "2"});
    assert_eq!(judge.hear().await, heard);
    let theirs = fake.line.ack_of(&id).await;
    assert_eq!((theirs.code, theirs.data), (200, json!({"response": "OK"})), "as we acknowledge");

    let id = fake.line.callback(PRESS, &press("7Q2", "a")).await;
    let params = json!({"r": "7Q2", "o": "a", "n": "k3x9ab"});
    let heard = json!({"kind": "press", "card": "7Q2", "by": "u1", "params": params});
    assert_eq!(judge.hear().await, heard);
    let theirs = fake.line.ack_of(&id).await.data;
    assert_eq!(theirs["response"]["cardData"]["cardParamMap"]["statusText"], "judged");

    let ping = fake.line.send("SYSTEM", "ping", &json!({"opaque": "x"})).await;
    assert_eq!(fake.line.ack_of(&ping).await.data, json!({"opaque": "x"}));

    // And how it asked where to connect is how we do.
    let theirs = fake.asked_of("connections/open").remove(0);
    connector(&fake).check().await;
    let ours = fake.asked_of("connections/open").remove(1);
    assert_eq!((&theirs.method, &theirs.path), (&ours.method, &ours.path));
    assert_eq!(theirs.header("accept"), ours.header("accept"));
    let (theirs, ours) = (theirs.json(), ours.json());
    for key in ["clientId", "clientSecret", "subscriptions"] {
        assert_eq!(theirs[key], ours[key], "{key}");
    }
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&theirs), keys(&ours));
}

#[tokio::test]
async fn dingtalk_sdk_delivers_the_cards_that_we_deliver() {
    let fake = FakeDingtalk::start().await;
    let dingtalk = connector(&fake);
    let group = Destination::Chat { chat: "cid1".into(), thread: None, direct: false };
    let person = Destination::Person("u1".into());
    let show = async |place: &Destination| {
        prompt(&hold(), async |showing| dingtalk.show(place, showing).await.expect("shown")).await;
    };
    show(&group).await;
    show(&person).await;
    let message = "7Q2".to_owned();
    let posted = MessageRef { chat: "cid1".into(), thread: None, direct: false, message, at: None };
    prompt(&approved(), async |showing| dingtalk.repaint(&posted, showing).await.expect("painted"))
        .await;
    let ours = fake.asked_of("card/instances");
    assert_eq!(ours.len(), 3);

    let mut judge = judge(&fake, "golden");
    let body = |index: usize| ours[index].json();
    let deliver = |index: usize, kind: &str, chat: &str, space: &str| {
        let body = body(index);
        // What the SDK leaves to whoever calls it.
        let mut more = json!({"outTrackId": body["outTrackId"], "userIdType": 1});
        more[space] = body[space].clone();
        json!({"what": "deliver", "type": kind, "chat": chat, "template": TEMPLATE,
               "data": body["cardData"]["cardParamMap"], "more": more})
    };
    let options = body(2)["cardUpdateOptions"].clone();
    let update = json!({
        "what": "update", "type": "2", "chat": "cid1", "card": "7Q2",
        "data": body(2)["cardData"]["cardParamMap"],
        "more": {"cardUpdateOptions": options, "userIdType": 1},
    });
    for ask in [
        deliver(0, "2", "cid1", "imGroupOpenSpaceModel"),
        deliver(1, "1", "u1", "imRobotOpenSpaceModel"),
        update,
    ] {
        judge.ask(&ask).await;
    }
    let theirs = fake.asked_of("card/instances").split_off(ours.len());
    assert_eq!(theirs.len(), 3);
    for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!((&ours.method, &ours.path), (&theirs.method, &theirs.path));
        let token = "x-acs-dingtalk-access-token";
        assert!(ours.header(token).is_some() && theirs.header(token).is_some());
        let (mut ours, mut theirs) = (ours.json(), theirs.json());
        // It describes both kinds of places, whichever the card goes to.
        let other = ["imRobotOpenSpaceModel", "imGroupOpenSpaceModel"];
        if index < 2 {
            theirs.as_object_mut().expect("an object").remove(other[index]);
        }
        if index == 1 {
            // And does not say which of an app's robots speaks to a person.
            let robot = ours["imRobotOpenDeliverModel"].as_object_mut().expect("an object");
            assert_eq!(robot.remove("robotCode"), Some(json!(CLIENT_ID)));
        }
        assert_eq!(ours, theirs, "{index}");
    }
    let token = fake.asked_of("accessToken");
    assert_eq!(token[0].json(), token[1].json(), "and asks for a token as we do");
}

#[tokio::test]
async fn dingtalk_sdk_seals_the_events_that_we_open_and_opens_what_we_answer() {
    const TOKEN: &str = "event-token";
    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let fake = FakeDingtalk::start().await;
    let url = fake.url().parse().expect("a URL");
    let mut settings =
        DingTalkSettings::new("dingtalk", CLIENT_ID, SecretString::new(CLIENT_SECRET), url);
    settings.mode = DingTalkMode::Webhook(Webhook {
        path_secret: SecretString::new("path-secret"),
        card_secret: None,
        card_route: None,
        events: Some(DingTalkEnvelope::new(TOKEN, KEY, CLIENT_ID).expect("a key")),
        allow_from: Vec::new(),
    });
    let clock = MovedClock::new(1);
    let dingtalk = Dingtalk::new(settings, clock.clone(), Arc::new(NoRandomness));
    let inbox = FakeInbox::new();
    let mut judge = judge(&fake, "envelope");
    let ask = |more: Value| {
        let mut ask = json!({"token": TOKEN, "key": KEY, "app": CLIENT_ID});
        ask.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        ask
    };
    for event in
        [json!({"EventType": "check_url"}), json!({"EventType": "org_change", "x": "确认"})]
    {
        let at = clock.now().as_ms().to_string();
        let seal = ask(json!({"seal": event.to_string(), "nonce": "n0nce", "at": at}));
        let theirs = judge.ask(&seal).await;
        let of = |key: &str| theirs[key].as_str().expect("a text").to_owned();
        let post = async |signature: &str| {
            let request = WebhookRequest {
                method: "POST".into(),
                path: "event/path-secret".into(),
                query: Some(format!("signature={signature}&timestamp={at}&nonce=n0nce")),
                headers: Vec::new(),
                body: json!({"encrypt": theirs["encrypt"]}).to_string().into_bytes(),
                at: clock.now(),
            };
            dingtalk.hook(request, &*inbox).await
        };
        let reply = post(&of("msg_signature")).await;
        assert_eq!(reply.status, 200, "{event}");
        let ours: Value = serde_json::from_slice(&reply.body).expect("JSON");
        assert_eq!(judge.ask(&ask(json!({"open": ours}))).await, json!({"opened": "success"}));
        let mut forged = ours.clone();
        forged["nonce"] = "another".into();
        assert_eq!(judge.ask(&ask(json!({"open": forged}))).await, json!({"opened": null}));
        assert_eq!(post(&of("msg_signature").replace(['0', '1'], "2")).await.status, 401);
    }
}

#[tokio::test]
async fn dingtalk_sdk_replies_in_a_conversation_as_we_do() {
    let fake = FakeDingtalk::start().await;
    let url = fake.url().parse().expect("a URL");
    let settings =
        DingTalkSettings::new("dingtalk", CLIENT_ID, SecretString::new(CLIENT_SECRET), url);
    let clock = MovedClock::new(1);
    let dingtalk = Arc::new(Dingtalk::new(settings, clock.clone(), Arc::new(NoRandomness)));
    let (listening, stop) = (dingtalk.clone(), CancellationToken::new());
    let (mut tasks, ends) = (JoinSet::new(), stop.clone());
    tasks.spawn(async move { listening.listen(FakeInbox::new(), ends).await });
    fake.line.until("a connection", |line| line.connections() == 1).await;
    let session = format!("{}/robot/sendBySession?session=abc", fake.url());
    let mut data = message("m1", "hello", clock.now());
    data["sessionWebhook"] = session.as_str().into();
    let frame = fake.line.callback(MESSAGE, &data).await;
    fake.line.ack_of(&frame).await;
    let group = Destination::Chat { chat: "cid1".into(), thread: None, direct: false };
    let saying = OutgoingText { key: "k", text: "done", reply_to: Some("m1"), whisper_to: None };
    dingtalk.say(&group, &saying).await.expect("said");
    stop.cancel();
    let mut judge = judge(&fake, "golden");
    let ask = json!({
        "what": "reply", "how": "reply_text", "words": ["done"], "session": session,
        "type": "2", "chat": "u1",
    });
    judge.ask(&ask).await;
    let asked = fake.asked_of("sendBySession");
    let [ours, theirs] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&ours.method, &ours.query), (&theirs.method, &theirs.query));
    let (mut ours, theirs) = (ours.json(), theirs.json());
    // Which they leave to its default.
    assert_eq!(ours["at"].as_object_mut().expect("one").remove("isAtAll"), Some(json!(false)));
    assert_eq!(ours, theirs);
}
