//! What is asked of the API, to the letter, and what its answers lead to.

use std::time::Duration;

use ports::channel::{Channel as _, ChannelError, Destination, OutgoingText, Shown};
use serde_json::{Value, json};
use testkit::fake_chat::{Asked, Fault, Reply, approved, hold, prompt};
use testkit::fake_feishu::{APP_ID, APP_SECRET, FakeFeishu};

use super::{connector, faster, group, posted, settings};

fn shown(asked: &Asked) -> String {
    let query = asked.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{} {}{query}", asked.method, asked.path)
}

async fn show(fake: &FakeFeishu, place: &Destination) -> Result<Shown, ChannelError> {
    let (feishu, _) = connector(settings(fake));
    prompt(&hold(), async |showing| feishu.show(place, showing).await).await
}

#[tokio::test]
async fn a_card_is_sent_with_a_token_and_its_own_uuid() {
    let fake = FakeFeishu::start().await;
    let shown_card = show(&fake, &group()).await.expect("sent");
    assert!(shown_card.accepts_approval);
    assert_eq!(shown_card.posted.message, "om_1");
    assert_eq!(shown_card.posted.chat, "oc_1");
    assert_eq!(shown_card.posted.at, Some(fake.messages()[0].at), "by the platform's clock");

    let asked = fake.asked();
    let lines: Vec<String> = asked.iter().map(shown).collect();
    let wanted = [
        "POST /open-apis/auth/v3/tenant_access_token/internal",
        "POST /open-apis/im/v1/messages?receive_id_type=chat_id",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(asked[0].json(), json!({"app_id": APP_ID, "app_secret": APP_SECRET}));
    assert_eq!(asked[1].header("authorization"), Some("Bearer t-1"));
    assert_eq!(asked[1].header("content-type"), Some("application/json; charset=utf-8"));
    let body = asked[1].json();
    let mut keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["content", "msg_type", "receive_id", "uuid"]);
    assert_eq!((&body["msg_type"], &body["receive_id"]), (&json!("interactive"), &json!("oc_1")));
    let uuid = body["uuid"].as_str().expect("a text");
    assert!((1..=50).contains(&uuid.len()), "{uuid}");
    let card: Value =
        serde_json::from_str(body["content"].as_str().expect("JSON in a string")).expect("JSON");
    let allow = element(&card, "hp_allow").expect("a button");
    let value = &allow["behaviors"][0]["value"];
    assert_eq!(*value, json!({"v": 1, "r": "7Q2", "o": "p", "n": "k3x9ab"}));
    let text = card.to_string();
    assert!(text.contains("7K3F") && text.contains("请@我"), "how to answer in words: {text}");
}

fn element<'a>(card: &'a Value, id: &str) -> Option<&'a Value> {
    if card["element_id"] == id {
        return Some(card);
    }
    match card {
        Value::Object(map) => map.values().find_map(|inner| element(inner, id)),
        Value::Array(list) => list.iter().find_map(|inner| element(inner, id)),
        _ => None,
    }
}

#[tokio::test]
async fn people_threads_and_replies_have_their_own_ways() {
    let fake = FakeFeishu::start().await;
    let (feishu, _) = connector(settings(&fake));
    let person = Destination::Person("ou_ana".into());
    let direct = prompt(&hold(), async |showing| feishu.show(&person, showing).await).await;
    let direct = direct.expect("sent").posted;
    assert_eq!((direct.chat.as_str(), direct.direct), ("oc_with_ou_ana", true));

    let thread =
        Destination::Chat { chat: "oc_1".into(), thread: Some("om_9".into()), direct: false };
    let say = async |place: &Destination, key: &str, reply_to, whisper_to| {
        let saying =
            OutgoingText { key, text: "a <at user_id=\"all\"></at>\u{202e}", reply_to, whisper_to };
        feishu.say(place, &saying).await.expect("said");
    };
    say(&thread, "1", None, None).await;
    say(&group(), "2", Some("om_8"), None).await;
    say(&group(), "3", Some("om_8"), Some("ou_bob")).await;
    let lines: Vec<String> = fake.asked_of("/im/").iter().map(shown).collect();
    let wanted = [
        "POST /open-apis/im/v1/messages?receive_id_type=open_id",
        "POST /open-apis/im/v1/messages/om_9/reply",
        "POST /open-apis/im/v1/messages/om_8/reply",
        "POST /open-apis/im/v1/messages?receive_id_type=open_id",
    ];
    assert_eq!(lines, wanted);
    let bodies: Vec<Value> = fake.asked_of("/im/").iter().map(Asked::json).collect();
    assert_eq!(
        (&bodies[1]["reply_in_thread"], &bodies[2]["reply_in_thread"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(bodies[1]["msg_type"], "text");
    let said = json!({"text": "a ⟦U+003C⟧at user_id=\"all\">⟦U+003C⟧/at>⟦U+202E⟧"});
    assert_eq!(bodies[1]["content"], said.to_string(), "nobody is called by what a model writes");
    assert_eq!(fake.asked_of("tenant_access_token").len(), 1, "one token for all");
}

#[tokio::test]
async fn what_is_replied_to_may_be_taken_back_and_the_reply_is_said_all_the_same() {
    let fake = FakeFeishu::start().await;
    let (feishu, _) = connector(settings(&fake));
    let gone = || Fault::Says(Reply::new(400, json!({"code": 230011, "msg": "recalled"})));
    let saying =
        |key| OutgoingText { key, text: "Noted.", reply_to: Some("om_8"), whisper_to: None };
    fake.fail("/om_8/reply", gone());
    feishu.say(&group(), &saying("1")).await.expect("said in the chat");
    let sent = fake.messages();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].to, "chat_id oc_1");
    // A question for a thread whose first message is gone is asked in the chat.
    let thread =
        Destination::Chat { chat: "oc_1".into(), thread: Some("om_8".into()), direct: false };
    fake.fail("/om_8/reply", gone());
    let shown = prompt(&hold(), async |showing| feishu.show(&thread, showing).await).await;
    let posted = shown.expect("shown in the chat").posted;
    let sent = fake.messages();
    assert_eq!((sent[1].kind.as_str(), sent[1].to.as_str()), ("interactive", "chat_id oc_1"));
    assert_eq!((posted.chat.as_str(), posted.message.as_str()), ("oc_1", sent[1].id.as_str()));
    // Not what failed otherwise: it comes again as it was.
    let busy = Fault::Says(Reply::new(429, json!({"code": 99991400, "msg": "too fast"})));
    fake.fail("/om_8/reply", busy);
    let failed = feishu.say(&group(), &saying("2")).await.expect_err("too fast");
    assert!(matches!(failed, ChannelError::Again { .. }), "{failed}");
    assert_eq!(fake.messages().len(), 2);
}

#[tokio::test]
async fn a_card_is_repainted_in_place() {
    let fake = FakeFeishu::start().await;
    let (feishu, _) = connector(settings(&fake));
    let sent = prompt(&hold(), async |showing| feishu.show(&group(), showing).await).await;
    let sent = sent.expect("sent").posted;
    let painted = prompt(&approved(), async |showing| feishu.repaint(&sent, showing).await).await;
    assert_eq!(painted, Ok(false), "nothing can be pressed any more");
    let asked = fake.asked();
    let last = asked.last().expect("asked");
    assert_eq!(shown(last), "PATCH /open-apis/im/v1/messages/om_1");
    assert_eq!(last.json().as_object().expect("an object").len(), 1);
    let card = fake.messages()[0].content.to_string();
    assert!(card.contains("Ana 已批准") && !card.contains("callback"), "{card}");
}

#[tokio::test]
async fn i35_sent_twice_is_one_message() {
    let fake = FakeFeishu::start().await;
    fake.fail("/im/", Fault::Lost);
    let lost = show(&fake, &group()).await.expect_err("the answer is lost");
    assert!(matches!(lost, ChannelError::Unknown(_)), "{lost}");
    assert_eq!(fake.messages().len(), 1, "it stands there all the same");
    let again = show(&fake, &group()).await.expect("sent");
    assert_eq!(again.posted.message, "om_1");
    assert_eq!(fake.messages().len(), 1);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_dies_and_when_it_is_refused() {
    let fake = FakeFeishu::start().await;
    let (feishu, clock) = connector(settings(&fake));
    let say = async |key: &str| {
        let saying = OutgoingText { key, text: "hello", reply_to: None, whisper_to: None };
        feishu.say(&group(), &saying).await
    };
    say("1").await.expect("said");
    clock.move_on(Duration::from_secs(7_200 - 31 * 60));
    say("2").await.expect("said");
    assert_eq!(fake.asked_of("tenant_access_token").len(), 1, "31 minutes are left");
    clock.move_on(Duration::from_secs(2 * 60));
    // A bad moment of theirs costs nothing while the old one lives.
    fake.fail("tenant_access_token", Fault::Garbage);
    say("3").await.expect("said with the old one");
    say("4").await.expect("said with a new one");
    assert_eq!(fake.asked_of("tenant_access_token").len(), 3);
    fake.forget_tokens();
    say("5").await.expect("said with a third one");
    assert_eq!(fake.asked_of("tenant_access_token").len(), 4);
    let last = fake.asked().pop().expect("asked");
    assert_eq!(last.header("authorization"), Some("Bearer t-3"));
    assert_eq!(fake.messages().len(), 5);
    // One that is refused again is not fetched for ever.
    let bad = || Fault::Says(Reply::new(400, json!({"code": 99991663, "msg": "bad"})));
    fake.fail("/im/", bad());
    fake.fail("/im/", bad());
    let never = say("6").await.expect_err("refused twice");
    assert!(matches!(never, ChannelError::Never(_)), "{never}");
    assert_eq!(fake.asked_of("tenant_access_token").len(), 5);
}

#[tokio::test]
async fn each_failure_has_its_remedy() {
    let fake = FakeFeishu::start().await;
    let (feishu, _) = faster(settings(&fake), 50);
    let says = |status: u16, code: i64| {
        Fault::Says(
            Reply::new(status, json!({"code": code, "msg": APP_SECRET}))
                .with("x-ogw-ratelimit-reset", "7"),
        )
    };
    for (fault, wanted) in [
        (says(429, 99991400), "again 7"),
        (says(400, 99991400), "again 7"),
        (says(500, 2200), "unknown"),
        (Fault::Garbage, "unknown"),
        (Fault::Hangs, "unknown"),
        (Fault::Lost, "unknown"),
        (Fault::Endless, "unknown"),
        (says(400, 230002), "never"),
        (says(200, 230025), "never"),
        (says(400, 230031), "gone"),
    ] {
        let name = format!("{fault:?}");
        fake.fail("/im/", fault);
        let approved = approved();
        let at = posted("om_1");
        let failed = prompt(&approved, async |showing| feishu.repaint(&at, showing).await).await;
        let failed = failed.expect_err("it failed");
        let told = match &failed {
            ChannelError::Again { after: Some(after), .. } => format!("again {}", after.as_secs()),
            ChannelError::Again { after: None, .. } => "again".into(),
            ChannelError::Unknown(_) => "unknown".into(),
            ChannelError::Never(_) => "never".into(),
            ChannelError::Gone(_) => "gone".into(),
            ChannelError::Moved(_) => "moved".into(),
        };
        assert_eq!(told, wanted, "{name}: {failed}");
        assert!(!failed.to_string().contains("t-1"), "a token is told: {failed}");
        if wanted == "never" {
            assert!(!failed.to_string().contains(APP_SECRET), "the secret is told: {failed}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_reached_was_not_done() {
    let url = FakeFeishu::start().await.url();
    // The fake is gone by now, and nobody listens there.
    let fake = FakeFeishu::start().await;
    let mut settings = settings(&fake);
    settings.base_url = url.parse().expect("a URL");
    let (feishu, _) = connector(settings);
    let failed = prompt(&hold(), async |showing| feishu.show(&group(), showing).await).await;
    let failed = failed.expect_err("nobody is there");
    assert!(matches!(failed, ChannelError::Again { .. }), "{failed}");
}
