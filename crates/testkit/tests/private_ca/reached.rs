//! Mail, webhooks and the long connections of chats, where the authority is known.

use serde_json::json;
use testkit::binary::Binary;
use testkit::fake_chat::{Fault, Reply};
use testkit::fake_dingtalk::{CLIENT_ID, CLIENT_SECRET, FakeDingtalk, TEMPLATE};
use testkit::fake_feishu::{APP_ID as FEISHU_APP, APP_SECRET, FakeFeishu};
use testkit::fake_slack::{APP_ID, APP_TOKEN, BOT_TOKEN, FakeSlack, TEAM_ID};
use testkit::private_ca::{PrivateCa, Shows, TlsFront};
use testkit::served::{Served, run};

use crate::private_ca::site::{SCRIPT, Site, address, secrets, until};

#[tokio::test]
async fn mail_and_webhooks_reach_servers_of_a_company() {
    let ca = PrivateCa::new();
    let site = Site::new(&ca, Shows::Good).await;
    let binary = ca.believed_by(&Binary::find());
    let mut served = Served::prepare_with(binary, &site.config(), SCRIPT);
    secrets(&served);
    let folder = served.path("");
    let (code, said, _) = run(served.binary(), &["channels", "check"], &folder).await;
    assert_eq!(code, 0, "{said}");
    served.up().await;
    let hold = json!({"kind": "approve", "title": "Ship 1.4?", "call": {"tool": "deploy", "arguments": {}}});
    served.program().post("/v1/holds", &hold).await.must(201);
    until("a letter after STARTTLS", || site.starttls.letters().len() == 1).await;
    until("a letter over TLS", || site.implicit.letters().len() == 1).await;
    until("word to the program", || !site.program.asked_of("/hook").is_empty()).await;
    let told = site.program.asked_of("/hook");
    assert!(told.iter().any(|one| one.json()["type"] == "hold.opened"), "{told:?}");
    for mail in [&site.starttls, &site.implicit] {
        assert!(mail.logins().iter().all(|(user, _)| user == "holdpoint"));
    }
}

#[tokio::test]
async fn chats_hold_their_long_connections_over_tls() {
    let ca = PrivateCa::new();
    let good = || ca.acceptor(Shows::Good);
    let slack = FakeSlack::start().await;
    let slack_api = TlsFront::start(good(), address(&slack.url())).await;
    let slack_line = TlsFront::start(good(), address(&slack.line.url())).await;
    let invited = json!({"ok": true, "url": slack_line.origin("wss")});
    slack.fail("apps.connections.open", Fault::Says(Reply::new(200, invited)));
    let feishu = FakeFeishu::start().await;
    let feishu_api = TlsFront::start(good(), address(&feishu.url())).await;
    let feishu_line = TlsFront::start(good(), feishu.line.address()).await;
    feishu.line.behind(&feishu_line.origin("wss"));
    let dingtalk = FakeDingtalk::start().await;
    let dingtalk_api = TlsFront::start(good(), address(&dingtalk.url())).await;
    let dingtalk_line = TlsFront::start(good(), dingtalk.line.address()).await;
    dingtalk.line.behind(&dingtalk_line.origin("wss"));
    let config = format!(
        r#"
@SERVER@

[[people]]
id = "root"
roles = ["admin"]

[channels.slack]
app_id = "{APP_ID}"
team_id = "{TEAM_ID}"
bot_token_file = "bot"
app_token_file = "app"
base_url = "{}/api"

[channels.feishu]
app_id = "{FEISHU_APP}"
app_secret_file = "feishu"
base_url = "{}"

[channels.dingtalk]
client_id = "{CLIENT_ID}"
client_secret_file = "dingtalk"
card_template = "{TEMPLATE}"
base_url = "{}"
"#,
        slack_api.origin("https"),
        feishu_api.origin("https"),
        dingtalk_api.origin("https"),
    );
    let binary = ca.believed_by(&Binary::find());
    let mut served = Served::prepare_with(binary, &config, SCRIPT);
    for (file, secret) in [
        ("bot", BOT_TOKEN),
        ("app", APP_TOKEN),
        ("feishu", APP_SECRET),
        ("dingtalk", CLIENT_SECRET),
    ] {
        served.write(file, secret);
    }
    served.up().await;
    slack.line.until("Slack's connection", |line| line.connections().0 == 1).await;
    until("Feishu's connection", || feishu.line.connections() == 1).await;
    until("DingTalk's connection", || dingtalk.line.connections() == 1).await;
}
