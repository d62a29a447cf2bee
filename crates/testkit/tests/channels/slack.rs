//! Slack: `slack_sdk` and `slack_bolt` verify what we verify, send what we send, and connect to the fake
//! that our connector connects to.

use std::sync::Arc;
use std::time::Duration;

use channels::slack::{Slack, SlackMode, SlackSettings, message, modal};
use ports::channel::{Channel as _, Destination, OutgoingText, WebhookRequest};
use ports::clock::Clock as _;
use ports::secret_string::SecretString;
use serde_json::{Map, Value, json};
use testkit::asked::Asked;
use testkit::fake_chat::{MovedClock, NoRandomness};
use testkit::fake_slack::{
    APP_ID, APP_TOKEN, BOT_TOKEN, FakeSlack, SIGNING_SECRET, TEAM_ID, signed,
};
use testkit::inbox::Notebook;

use crate::channels::judge::Judge;

const PYTHON: &str = "CHANNELS_SLACK_PYTHON";
const ANA: &str = "U0ANA";
const OPS: &str = "C0OPS";

fn connector(fake: &FakeSlack, mode: SlackMode) -> (Slack, Arc<MovedClock>) {
    let clock = MovedClock::new(1);
    let settings = SlackSettings {
        name: "slack".into(),
        app_id: APP_ID.into(),
        team_id: TEAM_ID.into(),
        bot_token: SecretString::new(BOT_TOKEN),
        mode,
        base_url: fake.url().parse().expect("a URL"),
        language: Default::default(),
        zone: Default::default(),
    };
    (Slack::new(settings, clock.clone(), Arc::new(NoRandomness)), clock)
}

fn over_http() -> SlackMode {
    SlackMode::Http { signing_secret: SecretString::new(SIGNING_SECRET) }
}

fn form(payload: &Value) -> String {
    let mut form = reqwest::Url::parse("form:").expect("a URL");
    form.query_pairs_mut().append_pair("payload", &payload.to_string());
    form.query().expect("a query").to_owned()
}

#[tokio::test]
async fn slack_sdk_takes_and_refuses_the_same_requests() {
    let fake = FakeSlack::start().await;
    let (slack, clock) = connector(&fake, over_http());
    let inbox = Notebook::default();
    let asked = Asked::deletion().opened(clock.now());
    let ops = Destination::Chat { chat: OPS.into(), thread: None, direct: false };
    let posted = slack.show(&ops, &asked.showing()).await.expect("shown").posted;
    let now = clock.now().as_ms() / 1000;
    let event = fake.write(ANA, OPS, "确认 &lt;é&gt;", json!({})).to_string();
    let press = form(&fake.press(ANA, OPS, &posted.message, "Approve once"));
    let sign = |body: &str, secret: &str, at: i64| signed(body.as_bytes(), secret, at);
    // What it is, where, the body, the headers, and whether it is taken.
    let cases = [
        ("event", "events", &event, sign(&event, SIGNING_SECRET, now), true),
        ("press", "interactions", &press, sign(&press, SIGNING_SECRET, now), true),
        ("another secret", "events", &event, sign(&event, "guessed", now), false),
        ("another body", "events", &event, sign("{}", SIGNING_SECRET, now), false),
        ("old", "events", &event, sign(&event, SIGNING_SECRET, now - 302), false),
        ("unsigned", "events", &event, Vec::new(), false),
    ];
    let mut judge = Judge::start("slack", PYTHON, &["verify"]);
    for (what, path, body, headers, taken) in cases {
        let named: Map<String, Value> =
            headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let kind = match path {
            "events" => "application/json",
            _ => "application/x-www-form-urlencoded",
        };
        let theirs = judge
            .ask(&json!({"headers": named, "body": body, "secret": SIGNING_SECRET, "type": kind}))
            .await;
        assert_eq!(theirs["signed"] == true, taken, "{what}: the SDK says {theirs}");
        assert_eq!(theirs["status"] == 200, taken, "{what}: Bolt says {theirs}");
        let heard = match what {
            "event" => json!([{"kind": "message", "text": "确认 &lt;é&gt;", "by": ANA}]),
            "press" => {
                json!([{"kind": "press", "value": "h1:7Q2:a:k3x9ab", "by": ANA, "message": posted.message}])
            }
            _ => json!([]),
        };
        assert_eq!(theirs["heard"], heard, "{what}");
        let request = WebhookRequest {
            method: "POST".into(),
            path: path.into(),
            query: None,
            headers,
            body: body.as_bytes().to_vec(),
            at: clock.now(),
        };
        let ours = slack.hook(request, &inbox).await;
        assert_eq!(ours.status == 200, taken, "{what}: we say {}", ours.status);
    }
    assert_eq!((inbox.wrote().len(), inbox.presses().len()), (1, 1));
    assert_eq!(inbox.wrote()[0].text, "确认 <é>");
}

#[tokio::test]
async fn what_the_slack_sdk_signs_is_taken() {
    let fake = FakeSlack::start().await;
    let (slack, clock) = connector(&fake, over_http());
    let inbox = Notebook::default();
    let mut judge = Judge::start("slack", PYTHON, &["sign"]);
    let body = fake.write(ANA, OPS, "确认", json!({})).to_string();
    let at = (clock.now().as_ms() / 1000).to_string();
    let asked = json!({"secret": SIGNING_SECRET, "timestamp": at, "body": body});
    let signature = judge.ask(&asked).await["signature"].as_str().expect("one").to_owned();
    let request = WebhookRequest {
        method: "POST".into(),
        path: "events".into(),
        query: None,
        headers: vec![
            ("x-slack-request-timestamp".into(), at),
            ("x-slack-signature".into(), signature),
        ],
        body: body.into_bytes(),
        at: clock.now(),
    };
    assert_eq!(slack.hook(request, &inbox).await.status, 200);
    assert_eq!(inbox.wrote().len(), 1);
}

#[tokio::test]
async fn slack_sdk_connects_to_the_fake_as_we_do() {
    let fake = FakeSlack::start().await;
    let mut judge = Judge::start("slack", PYTHON, &["listen", &fake.url()]);
    let mut waited = 0;
    while fake.line.connections().0 == 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        waited += 1;
        assert!(waited < 600, "the SDK does not connect");
    }
    let event = fake.write(ANA, OPS, "确认", json!({}));
    let id = fake.line.send("events_api", &event);
    let heard = judge.hear().await;
    assert_eq!((&heard["kind"], &heard["payload"]), (&json!("events_api"), &event));
    let theirs = fake.line.ack(&id).await;
    assert_eq!(theirs["envelope_id"], json!(id));
    assert!(theirs["payload"].is_null(), "{theirs}");
    let sent = json!({"type": "view_submission", "view": {}});
    let id = fake.line.send("interactive", &sent);
    judge.hear().await;
    let theirs = fake.line.ack(&id).await;
    assert_eq!(theirs["payload"]["response_action"], "errors", "{theirs}");
    // And how it asked where to connect is how we do.
    let (slack, _) =
        connector(&fake, SlackMode::Socket { app_token: SecretString::new(APP_TOKEN) });
    slack.check().await;
    let opened = fake.asked("apps.connections.open");
    let (theirs, ours) = (&opened[0], opened.last().expect("ours"));
    assert_eq!(
        (&theirs.method, theirs.header("authorization")),
        (&ours.method, ours.header("authorization"))
    );
}

#[tokio::test]
async fn slack_sdk_asks_what_we_ask() {
    let fake = FakeSlack::start().await;
    let (slack, clock) = connector(&fake, over_http());
    let ops = Destination::Chat { chat: OPS.into(), thread: None, direct: false };
    let asked = Asked::deletion().opened(clock.now());
    let posted = slack.show(&ops, &asked.showing()).await.expect("shown").posted;
    slack.repaint(&posted, &asked.clone().approved().showing()).await.expect("painted");
    let whom = format!("{TEAM_ID}:{ANA}");
    let saying = OutgoingText { key: "1", text: "你好", reply_to: None, whisper_to: Some(&whom) };
    slack.say(&ops, &saying).await.expect("said");
    // The second time it looks for the first.
    slack.show(&ops, &asked.showing()).await.expect("found");
    let mut judge = Judge::start("slack", PYTHON, &["golden", &fake.url()]);
    for method in ["chat.postMessage", "chat.update", "chat.postEphemeral", "conversations.history"]
    {
        let ours = fake.asked(method).remove(0);
        let arguments = match ours.method.as_str() {
            "GET" => pairs(ours.query.as_deref().unwrap_or_default()),
            _ => ours.json(),
        };
        let told = judge.ask(&json!({"method": method, "arguments": arguments})).await;
        assert_eq!(told["ok"], true, "{method}: {told}");
        let theirs = fake.asked(method).pop().expect("theirs");
        assert_eq!(theirs.path, ours.path);
        assert_eq!(theirs.header("authorization"), ours.header("authorization"));
        // To look, the SDK sends a form and we send a query; Slack takes both.
        let sent = match ours.method.as_str() {
            "GET" => pairs(&String::from_utf8_lossy(&theirs.body)),
            _ => theirs.json(),
        };
        assert_eq!(sent, arguments, "{method}");
    }
}

fn pairs(query: &str) -> Value {
    let url = reqwest::Url::parse(&format!("form:?{query}")).expect("a query");
    url.query_pairs().map(|(name, value)| (name.into_owned(), json!(value))).collect()
}

#[tokio::test]
async fn slack_sdk_reads_our_blocks() {
    use channels::card::{Card, Zone};
    use domain::hold::Question;
    let mut judge = Judge::start("slack", PYTHON, &["blocks"]);
    let labels = |count: usize| (1..=count).map(|n| (format!("Strategy {n} <b> & co"), None));
    let properties = json!({
        "region": {"type": "string", "title": "Region <eu>"}, "count": {"type": "integer"},
        "dry_run": {"type": "boolean"}, "tier": {"enum": ["small", "large"]},
    });
    let schema = json!({"type": "object", "required": ["region"], "properties": properties});
    let holds = [
        Asked::deletion(),
        Asked::deletion().approved(),
        Asked::long(20_000),
        Asked::question(Question::choose(labels(3), false, false).expect("a question")),
        Asked::question(Question::choose(labels(40), false, false).expect("a question")),
        Asked::question(Question::choose(labels(8), true, false).expect("a question")),
        Asked::question(Question::Fill { schema: Some(schema) }),
        Asked::question(Question::Fill { schema: None }),
    ];
    let mut forms = 0;
    for asked in &holds {
        let card = Card::showing(&asked.showing(), Default::default(), &Zone::default(), true);
        let blocks = message(&card).value["blocks"].clone();
        let theirs = judge.ask(&json!({"blocks": blocks})).await;
        assert_eq!(theirs["blocks"], blocks, "read and written again it is the same");
        if let Some(view) = modal(&card) {
            forms += 1;
            let theirs = judge.ask(&json!({"view": view})).await;
            assert_eq!(theirs["blocks"], view["blocks"], "{theirs}");
        }
    }
    assert_eq!(forms, 3);
}
