//! DingTalk: `dingtalk-stream` connects to the fake that our connector connects to, and delivers and
//! updates the cards that we do.

use std::sync::Arc;
use std::time::Duration;

use channels::Hidden;
use channels::dingtalk::{Dingtalk, Settings};
use ports::channel::{Channel as _, Place, Posted};
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::{MovedClock, NoChance, approved, hold, prompt};
use testkit::fake_dingtalk::{CLIENT_ID, CLIENT_SECRET, FakeDingtalk, TEMPLATE, message, press};

use crate::judge::Judge;

const PYTHON: &str = "CHANNELS_DINGTALK_PYTHON";
const MESSAGE: &str = "/v1.0/im/bot/messages/get";
const PRESS: &str = "/v1.0/card/instances/callback";

fn connector(fake: &FakeDingtalk) -> Dingtalk {
    let url = fake.url().parse().expect("a URL");
    let mut settings = Settings::new("dingtalk", CLIENT_ID, Hidden::new(CLIENT_SECRET), url);
    settings.card_template = Some(TEMPLATE.into());
    Dingtalk::new(settings, MovedClock::new(1), Arc::new(NoChance))
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
    let group = Place::Chat { chat: "cid1".into(), thread: None, direct: false };
    let person = Place::Person("u1".into());
    let show = async |place: &Place| {
        prompt(&hold(), async |showing| dingtalk.show(place, showing).await.expect("shown")).await;
    };
    show(&group).await;
    show(&person).await;
    let message = "7Q2".to_owned();
    let posted = Posted { chat: "cid1".into(), thread: None, direct: false, message, at: None };
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
