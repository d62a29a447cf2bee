//! What `channels check` says.

use std::time::Duration;

use channels::feishu::FeishuMode;
use ports::channel::{Channel as _, Checked};
use ports::secret_string::SecretString;
use serde_json::json;
use testkit::fake_chat::{Fault, Reply};
use testkit::fake_feishu::FakeFeishu;

use super::{connector, settings};

fn told(checked: &[Checked]) -> Vec<String> {
    let line = |one: &Checked| match &one.wrong {
        None => format!("ok {}", one.what),
        Some(why) => format!("WRONG {}: {why}", one.what),
    };
    checked.iter().map(line).collect()
}

const SCOPES: [&str; 3] =
    ["im:message:send_as_bot", "im:message.p2p_msg:readonly", "im:message.group_at_msg:readonly"];

#[tokio::test]
async fn a_sound_app_is_well() {
    let fake = FakeFeishu::start().await;
    fake.grant(&SCOPES);
    let (feishu, _) = connector(settings(&fake));
    let wanted =
        ["ok credentials", "ok clock", "ok bot (ou_bot)", "ok permissions", "ok long connection"];
    assert_eq!(told(&feishu.check().await), wanted);
}

#[tokio::test]
async fn what_is_missing_is_named_with_where_to_click() {
    let fake = FakeFeishu::start().await;
    fake.grant(&SCOPES[..2]);
    let (feishu, clock) = connector(settings(&fake));
    clock.move_on(Duration::from_secs(600));
    fake.fail("bot/v3", Fault::Says(Reply::new(400, json!({"code": 11205, "msg": "no bot"}))));
    fake.fail(
        "ws/endpoint",
        Fault::Says(Reply::new(200, json!({"code": 1000040350, "msg": "too many"}))),
    );
    let told = told(&feishu.check().await).join("\n");
    for part in [
        "WRONG clock: this machine's clock is 600 s away",
        "WRONG bot: ",
        "Add Features → Bot",
        "WRONG permission im:message.group_at_msg:readonly",
        "publish a new version",
        "WRONG long connection: ",
        "1000040350",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[tokio::test]
async fn a_wrong_secret_is_the_first_thing_to_mend() {
    let fake = FakeFeishu::start().await;
    let mut wrong = settings(&fake);
    wrong.app_secret = SecretString::new("another-secret");
    let told = told(&connector(wrong).0.check().await);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("WRONG credentials: ") && told[0].contains("app secret"),
        "{told:?}"
    );
    assert!(!told[0].contains("another-secret"));
}

#[tokio::test]
async fn a_webhook_without_its_secrets_is_told() {
    let fake = FakeFeishu::start().await;
    fake.grant(&SCOPES);
    let mut open = settings(&fake);
    open.mode = FeishuMode::Webhook;
    let told = told(&connector(open).0.check().await).join("\n");
    assert!(
        told.contains("WRONG verification token") && told.contains("WRONG encryption"),
        "{told}"
    );
    assert!(!told.contains("long connection"), "{told}");
}
