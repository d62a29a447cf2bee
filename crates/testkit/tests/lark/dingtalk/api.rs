//! What is asked of the API, to the letter, and what its answers lead to.

use std::time::Duration;

use domain::hold::{Hold, HoldChange, HoldOutcome};
use domain::outcome::ToolResult;
use ports::channel::{Channel as _, ChannelError, Destination, OutgoingText, Showing};
use serde_json::{Value, json};
use testkit::fake_chat::{Asked, Fault, Reply, approved, hold, prompt, prompt_that};
use testkit::fake_dingtalk::{CLIENT_ID, CLIENT_SECRET, FakeDingtalk, TEMPLATE};

use super::{connector, group, posted, settings};

fn line(asked: &Asked) -> String {
    format!("{} {}", asked.method, asked.path)
}

#[tokio::test]
async fn a_card_is_delivered_to_a_group_or_a_person() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 1);
    let shown = prompt(&hold(), async |showing| dingtalk.show(&group(), showing).await).await;
    let shown = shown.expect("shown");
    assert_eq!((shown.posted.chat.as_str(), shown.posted.message.as_str()), ("cid1", "7Q2"));
    assert!(shown.accepts_approval && !shown.posted.direct);
    let asked = fake.asked();
    let lines: Vec<String> = asked.iter().map(line).collect();
    let wanted = ["POST /v1.0/oauth2/accessToken", "POST /v1.0/card/instances/createAndDeliver"];
    assert_eq!(lines, wanted);
    assert_eq!(asked[0].json(), json!({"appKey": CLIENT_ID, "appSecret": CLIENT_SECRET}));
    assert_eq!(asked[1].header("x-acs-dingtalk-access-token"), Some("token-1"));
    let mut body = asked[1].json();
    let variables = body["cardData"]["cardParamMap"].take();
    let headline = variables["title"].as_str().expect("a text");
    let notice = body["imGroupOpenSpaceModel"]["notification"]["alertContent"].clone();
    let notice_text = notice.as_str().expect("a text");
    assert!(notice_text.starts_with(&format!("{headline}：")), "what, and about what: {notice}");
    assert!(notice_text.len() > headline.len() + 3, "{notice}");
    assert_eq!(
        body,
        json!({
            "cardTemplateId": TEMPLATE, "outTrackId": "7Q2", "callbackType": "STREAM",
            "cardData": {"cardParamMap": null}, "userIdType": 1,
            "openSpaceId": "dtv1.card//IM_GROUP.cid1",
            "imGroupOpenSpaceModel": {
                "supportForward": false, "lastMessageI18n": {"ZH_CN": notice},
                "notification": {"alertContent": notice},
            },
            "imGroupOpenDeliverModel": {"robotCode": CLIENT_ID},
        })
    );
    for (key, value) in
        [("showButtons", "true"), ("rid", "7Q2"), ("nonce", "~k3x9ab"), ("status", "pending")]
    {
        assert_eq!(variables[key], value, "{key}");
    }
    assert!(variables["markdown"].as_str().expect("a text").contains("DELETE FROM orders"));

    for place in [
        Destination::Person("u1".into()),
        Destination::Chat { chat: "u1".into(), thread: None, direct: true },
    ] {
        let fake = FakeDingtalk::start().await;
        let (dingtalk, _) = connector(settings(&fake), 1);
        let shown = prompt(&hold(), async |showing| dingtalk.show(&place, showing).await).await;
        let shown = shown.expect("shown").posted;
        assert_eq!((shown.chat.as_str(), shown.direct), ("u1", true));
        let body = fake.asked()[1].json();
        assert_eq!(body["openSpaceId"], "dtv1.card//IM_ROBOT.u1");
        let model = json!({"spaceType": "IM_ROBOT", "robotCode": CLIENT_ID});
        assert_eq!(body["imRobotOpenDeliverModel"], model);
        assert_eq!(body["imRobotOpenSpaceModel"]["supportForward"], false);
    }
}

#[tokio::test]
async fn a_card_is_repainted_and_nothing_of_it_is_lost() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 1);
    prompt(&hold(), async |showing| dingtalk.show(&group(), showing).await).await.expect("shown");
    let at = posted("7Q2");
    let painted = prompt(&approved(), async |showing| dingtalk.repaint(&at, showing).await).await;
    assert_eq!(painted, Ok(false));
    let last = fake.asked().pop().expect("asked");
    assert_eq!(line(&last), "PUT /v1.0/card/instances");
    let body = last.json();
    let by_key = json!({"updateCardDataByKey": true, "updatePrivateDataByKey": true});
    assert_eq!((&body["cardUpdateOptions"], &body["userIdType"]), (&by_key, &json!(1)));
    let card = &fake.cards()[0];
    assert_eq!((&card.variables["showButtons"], card.updates), (&json!("false"), 1));
    assert!(card.variables["title"].as_str().expect("a text").contains("Ana 已批准"));
}

#[tokio::test]
async fn i35_delivered_twice_is_one_card() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 1);
    fake.fail("createAndDeliver", Fault::Lost);
    let show =
        async || prompt(&hold(), async |showing| dingtalk.show(&group(), showing).await).await;
    let lost = show().await.expect_err("the answer is lost");
    assert!(matches!(lost, ChannelError::Unknown(_)), "{lost}");
    assert_eq!(show().await.expect("shown").posted.message, "7Q2");
    assert_eq!(fake.cards().len(), 1);
}

#[tokio::test]
async fn understood_is_not_delivered() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 1);
    let deliver = |results: Value| {
        Fault::Says(Reply::new(
            200,
            json!({"success": true, "result": {"deliverResults": results}}),
        ))
    };
    let show =
        async || prompt(&hold(), async |showing| dingtalk.show(&group(), showing).await).await;
    fake.fail("createAndDeliver", deliver(json!([{"success": false, "errorMsg": "not in group"}])));
    let failed = show().await.expect_err("not delivered");
    assert!(
        matches!(&failed, ChannelError::Never(why) if why.contains("not in group")),
        "{failed}"
    );
    fake.fail("createAndDeliver", deliver(json!([])));
    let failed = show().await.expect_err("nobody knows");
    assert!(matches!(failed, ChannelError::Unknown(_)), "{failed}");
}

#[tokio::test]
async fn words_go_to_the_right_endpoint() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 1);
    let say = async |place: &Destination, whisper_to| {
        let saying = OutgoingText { key: "k", text: "done\u{202e}", reply_to: None, whisper_to };
        dingtalk.say(place, &saying).await
    };
    let direct = Destination::Chat { chat: "u1".into(), thread: None, direct: true };
    say(&group(), None).await.expect("said");
    say(&direct, None).await.expect("said");
    say(&group(), Some("u2")).await.expect("said");
    let stranger = say(&Destination::Person("nobody".into()), None).await.expect_err("unknown");
    assert!(matches!(stranger, ChannelError::Never(_)), "{stranger}");
    let lines: Vec<String> = fake.asked_of("/robot/").iter().map(line).collect();
    let people = "POST /v1.0/robot/oToMessages/batchSend";
    assert_eq!(lines, ["POST /v1.0/robot/groupMessages/send", people, people, people]);
    let bodies: Vec<Value> = fake.asked_of("/robot/").iter().map(Asked::json).collect();
    let param = json!({"content": "done⟦U+202E⟧"}).to_string();
    let wanted = json!({
        "robotCode": CLIENT_ID, "msgKey": "sampleText", "msgParam": param,
        "openConversationId": "cid1",
    });
    assert_eq!(bodies[0], wanted);
    assert_eq!((&bodies[1]["userIds"], &bodies[2]["userIds"]), (&json!(["u1"]), &json!(["u2"])));
}

#[tokio::test]
async fn without_a_template_there_are_messages_and_the_end_is_said_in_another() {
    let fake = FakeDingtalk::start().await;
    let mut plain = settings(&fake);
    plain.card_template = None;
    let (dingtalk, _) = connector(plain, 1);
    let shown = prompt(&hold(), async |showing| dingtalk.show(&group(), showing).await).await;
    let shown = shown.expect("shown");
    assert!(shown.accepts_approval, "in words");
    let said = &fake.said()[0];
    assert_eq!((said.to.as_str(), said.key.as_str()), ("group cid1", "sampleMarkdown"));
    assert!(said.param["text"].as_str().expect("a text").contains("确认 7K3F"));
    let at = shown.posted;
    let repaint = async |hold: &Hold| {
        prompt(hold, async |showing| dingtalk.repaint(&at, showing).await).await
    };
    // Somebody's vote counts and others are still needed: the question is the same, and still takes words.
    assert_eq!(repaint(&hold()).await, Ok(true));
    assert_eq!(fake.said().len(), 1);
    // What is asked otherwise is asked anew; and after that a vote is again nothing to read.
    let revised = async |stands: bool| {
        let repaint = async |showing: &Showing<'_>| dingtalk.repaint(&at, showing).await;
        prompt_that(stands, &hold(), repaint).await
    };
    assert_eq!((revised(false).await, fake.said().len()), (Ok(true), 2));
    assert_eq!((revised(true).await, fake.said().len()), (Ok(true), 2));
    let mut running = approved();
    running.changed(&HoldChange::Outcome(HoldOutcome::Executing));
    assert_eq!(repaint(&running).await, Ok(false));
    assert_eq!(fake.said().len(), 2, "it is not over yet");
    let mut done = approved();
    let result = ToolResult::output("214 rows deleted");
    done.changed(&HoldChange::Outcome(HoldOutcome::Succeeded(result)));
    assert_eq!(repaint(&done).await, Ok(false));
    let said = fake.said().pop().expect("said");
    let text = said.param["text"].as_str().expect("a text");
    assert!(said.to == "group cid1" && text.contains("Ana 已批准"), "{text}");
    assert!(text.contains("214 rows deleted"), "{text}");
}

#[tokio::test]
async fn a_token_is_renewed_before_it_dies_and_when_it_is_refused() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, clock) = connector(settings(&fake), 1);
    let say = async || {
        let saying = OutgoingText { key: "k", text: "hello", reply_to: None, whisper_to: None };
        dingtalk.say(&group(), &saying).await
    };
    say().await.expect("said");
    clock.move_on(Duration::from_secs(7_200 - 6 * 60));
    say().await.expect("said");
    assert_eq!(fake.asked_of("accessToken").len(), 1, "six minutes are left");
    clock.move_on(Duration::from_secs(2 * 60));
    say().await.expect("said");
    assert_eq!(fake.asked_of("accessToken").len(), 2);
    fake.forget_tokens();
    say().await.expect("said with a third one");
    assert_eq!(fake.asked_of("accessToken").len(), 3);
    let bad = || Fault::Says(Reply::new(401, json!({"code": "InvalidAuthentication"})));
    fake.fail("/robot/", bad());
    fake.fail("/robot/", bad());
    let never = say().await.expect_err("refused twice");
    assert!(matches!(never, ChannelError::Never(_)), "{never}");
    assert_eq!(fake.asked_of("accessToken").len(), 4);
    assert_eq!(fake.said().len(), 4);
}

#[tokio::test]
async fn each_failure_has_its_remedy() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 50);
    let says =
        |status: u16, body: Value| Fault::Says(Reply::new(status, body).with("retry-after", "7"));
    for (fault, wanted) in [
        (says(429, json!({})), "again 7"),
        (says(403, json!({"code": "Forbidden.AccessDenied.QpsLimitForApi"})), "again 7"),
        (says(200, json!({"status": 1111, "wait": 5})), "again 300"),
        (says(500, json!({"code": "unknownError"})), "unknown"),
        (Fault::Garbage, "unknown"),
        (Fault::Hangs, "unknown"),
        (Fault::Endless, "unknown"),
        (says(403, json!({"code": "Forbidden", "message": CLIENT_SECRET})), "never"),
    ] {
        let name = format!("{fault:?}");
        fake.fail("card/instances", fault);
        let (approved, at) = (approved(), posted("7Q2"));
        let failed = prompt(&approved, async |showing| dingtalk.repaint(&at, showing).await).await;
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
        assert!(!failed.to_string().contains(CLIENT_SECRET), "the secret is told: {failed}");
    }
}
