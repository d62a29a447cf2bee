//! What `channels check` says.

use std::time::Duration;

use channels::dingtalk::{DingTalkMode, Webhook};
use ports::channel::{Channel as _, Checked};
use ports::secret_string::SecretString;
use testkit::fake_dingtalk::FakeDingtalk;

use super::{connector, settings};

fn told(checked: &[Checked]) -> Vec<String> {
    let line = |one: &Checked| match &one.wrong {
        None => format!("ok {}", one.what),
        Some(why) => format!("WRONG {}: {why}", one.what),
    };
    checked.iter().map(line).collect()
}

#[tokio::test]
async fn a_sound_app_is_well() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, _) = connector(settings(&fake), 1);
    let wanted = ["ok credentials", "ok clock", "ok stream", "ok card template"];
    assert_eq!(told(&dingtalk.check().await), wanted);
}

#[tokio::test]
async fn what_is_missing_is_named_with_where_to_click() {
    let fake = FakeDingtalk::start().await;
    let mut wrong = settings(&fake);
    wrong.client_secret = SecretString::new("another-secret");
    wrong.card_template = None;
    let told_wrong = told(&connector(wrong, 1).0.check().await).join("\n");
    for part in ["WRONG credentials", "developer console", "WRONG stream", "WRONG card template"] {
        assert!(told_wrong.contains(part), "{part}: {told_wrong}");
    }
    assert!(!told_wrong.contains("another-secret"));

    let mut web = settings(&fake);
    web.card_template = Some("no-schema".into());
    let path_secret = SecretString::new("p");
    web.mode = DingTalkMode::Webhook(Webhook {
        path_secret,
        card_secret: None,
        card_route: None,
        events: None,
        allow_from: Vec::new(),
    });
    let (dingtalk, clock) = connector(web, 1);
    clock.move_on(Duration::from_secs(600));
    let told = told(&dingtalk.check().await).join("\n");
    for part in ["WRONG clock", "WRONG card callbacks", "callbacks/register", "ends in `.schema`"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
