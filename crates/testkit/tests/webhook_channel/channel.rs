//! The channel by itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use channels::webhook::{ChannelSettings, Webhook, WebhookSecret};
use domain::answer::Answer;
use domain::hold::{HoldChange, HoldOutcome};
use domain::outcome::ToolResult;
use ports::channel::{
    Channel, ChannelError, Destination, HookReply, MessageRef, OutgoingText, ReportedReply, Step,
    StepKind, WebhookRequest,
};
use ports::clock::Clock;
use ring::hmac;
use serde_json::{Value, json};
use testkit::asked::Asked;
use testkit::fake_chat::{self, Fault, Front, MovedClock, Platform, Reply};
use testkit::inbox::Notebook;

const OUT: &str = "whsec_b3V0Z29pbmcta2V5";
const IN: &str = "whsec_aW5jb21pbmcta2V5";

/// Takes whatever it is told.
pub(crate) struct Receiver;

impl Platform for Receiver {
    fn answer(&self, _: &fake_chat::Asked) -> Reply {
        Reply::new(204, Value::Null)
    }
}

struct Stage {
    front: Front<Receiver>,
    webhook: Webhook,
    inbox: Notebook,
    clock: Arc<MovedClock>,
}

pub(crate) fn settings(url: String) -> ChannelSettings {
    ChannelSettings {
        name: "ci".into(),
        url,
        secret: WebhookSecret::parse(OUT).unwrap(),
        inbound_secret: Some(WebhookSecret::parse(IN).unwrap()),
        speaks_for: BTreeSet::from(["ana-42".to_owned()]),
        allow_private_addresses: true,
    }
}

impl Stage {
    async fn new() -> Stage {
        let front = Front::start(Arc::new(Receiver)).await;
        let clock = MovedClock::new(1);
        let webhook =
            Webhook::new(settings(format!("{}/hook", front.url())), clock.clone()).unwrap();
        Stage { front, webhook, inbox: Notebook::default(), clock }
    }

    async fn hook(&self, path: &str, headers: Vec<(String, String)>, body: &str) -> HookReply {
        let request = WebhookRequest {
            method: "POST".into(),
            path: path.into(),
            query: None,
            headers,
            body: body.as_bytes().to_vec(),
            at: self.clock.now(),
        };
        self.webhook.hook(request, &self.inbox).await
    }

    fn now(&self) -> i64 {
        self.clock.now().as_ms() / 1000
    }

    async fn bring(&self, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let reply = self.hook("decisions", signed("msg_1", self.now(), &body, IN), &body).await;
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }
}

pub(crate) fn signed(id: &str, at_s: i64, body: &str, secret: &str) -> Vec<(String, String)> {
    let key = STANDARD.decode(secret.trim_start_matches("whsec_")).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signature = STANDARD.encode(hmac::sign(&key, format!("{id}.{at_s}.{body}").as_bytes()));
    vec![
        ("webhook-id".into(), id.into()),
        ("webhook-timestamp".into(), at_s.to_string()),
        ("webhook-signature".into(), format!("v1,{signature}")),
    ]
}

pub(crate) fn ops() -> Destination {
    Destination::Chat { chat: "ops".into(), thread: None, direct: false }
}

#[tokio::test]
async fn a_program_is_told_of_every_step_of_a_hold() {
    let stage = Stage::new().await;
    let asked = Asked::deletion();
    let shown = stage.webhook.show(&ops(), &asked.showing()).await.unwrap();
    assert!(shown.accepts_approval);
    let MessageRef { chat, message, .. } = &shown.posted;
    assert_eq!((chat.as_str(), message.as_str()), ("ops", "7Q2"));
    let mut settled = asked.clone().approved();
    settled.hold.changed(&HoldChange::Outcome(HoldOutcome::Succeeded(ToolResult::output("done"))));
    // It has gone on to its end, and is told as it was at each step.
    let steps = [
        (StepKind::Updated, 11),
        (StepKind::Decided, 12),
        (StepKind::InDoubt, 14),
        (StepKind::Settled, 15),
    ];
    let steps = steps.map(|(kind, position)| Step {
        kind,
        position,
        at: asked.hold.opened_at.plus_ms(position),
    });
    for step in &steps {
        stage.webhook.tell(&shown.posted, &settled.showing(), step).await.unwrap();
    }
    // There is nothing to draw.
    assert_eq!(stage.webhook.repaint(&shown.posted, &settled.showing()).await, Ok(false));

    let told = stage.front.asked();
    let kinds: Vec<String> =
        told.iter().map(|one| one.json()["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        kinds,
        ["hold.opened", "hold.updated", "hold.decided", "hold.updated", "call.settled"]
    );
    let then: Vec<[Value; 2]> = told
        .iter()
        .map(|one| ["state", "outcome"].map(|part| one.json()["data"]["hold"][part].clone()))
        .collect();
    let wanted = [
        ["pending", ""],
        ["pending", ""],
        ["approved", ""],
        ["approved", "unknown"],
        ["approved", "succeeded"],
    ];
    let wanted = wanted.map(|part| part.map(|text| Some(text).filter(|text| !text.is_empty())));
    assert_eq!(json!(then), json!(wanted));
    for one in &told {
        let header = |name: &str| one.header(name).unwrap().to_owned();
        let at: i64 = header("webhook-timestamp").parse().unwrap();
        let body = String::from_utf8(one.body.to_vec()).unwrap();
        let wanted = signed(&header("webhook-id"), at, &body, OUT).remove(2).1;
        assert_eq!(header("webhook-signature"), wanted);
        assert_eq!((one.method.as_str(), one.path.as_str()), ("POST", "/hook"));
    }
    let ids: BTreeSet<_> = told.iter().map(|one| one.header("webhook-id").unwrap()).collect();
    assert_eq!(ids.len(), 5, "each has its own name");
    let hold = &told[0].json()["data"]["hold"];
    assert_eq!((&hold["state"], &hold["decision"]), (&json!("pending"), &Value::Null));
    assert_eq!(hold["digest"], asked.hold.digest().to_string());
    assert!(hold["text"].as_str().unwrap().contains("DELETE FROM orders"));
    assert_eq!(told[0].json()["data"]["place"], json!({"chat": "ops"}));
    assert_eq!(told[2].json()["data"]["hold"]["decision"]["by"], "ana");
    // The same over a retry, to the byte, though the hold has gone on.
    stage.webhook.show(&ops(), &settled.showing()).await.unwrap();
    stage.webhook.tell(&shown.posted, &settled.showing(), &steps[1]).await.unwrap();
    for (again, first) in stage.front.asked()[5..].iter().zip([&told[0], &told[2]]) {
        assert_eq!(again.body, first.body);
        assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
    }
}

#[tokio::test]
async fn whatever_is_not_known_to_have_arrived_is_sent_again() {
    let stage = Stage::new().await;
    let asked = Asked::deletion();
    let moved = Reply::new(302, Value::Null).with("location", "https://elsewhere.example/");
    for (fault, never) in [
        (Fault::Says(Reply::new(500, Value::Null)), false),
        (Fault::Says(Reply::new(429, Value::Null)), false),
        (Fault::Says(Reply::new(410, Value::Null)), true),
        (Fault::Says(moved), true),
    ] {
        stage.front.fail("/hook", fault.clone());
        let error = stage.webhook.show(&ops(), &asked.showing()).await.unwrap_err();
        assert_eq!(matches!(error, ChannelError::Never(_)), never, "{fault:?}: {error}");
        assert_eq!(matches!(error, ChannelError::Again { .. }), !never, "{fault:?}: {error}");
    }
    let guarded =
        ChannelSettings { allow_private_addresses: false, ..settings("https://127.0.0.1/".into()) };
    assert!(Webhook::new(guarded, stage.clock.clone()).is_err(), "not into our own network");
    let saying = OutgoingText { key: "1", text: "hello", reply_to: None, whisper_to: None };
    assert!(matches!(stage.webhook.say(&ops(), &saying).await, Err(ChannelError::Never(_))));
    assert!(stage.webhook.check().await.iter().all(|one| one.wrong.is_none()));
}

fn decision(asked: &Asked, answer: Value) -> Value {
    json!({
        "hold": asked.hold.id.to_string(), "digest": asked.hold.digest().to_string(),
        "actor": {"id": "ana-42"}, "answer": answer,
    })
}

#[tokio::test]
async fn a_decision_is_brought_and_answered() {
    let stage = Stage::new().await;
    let asked = Asked::deletion();
    let settled = Arc::new(asked.clone().approved().hold);
    stage.inbox.rule(ReportedReply::Taken(settled.clone()));
    let (status, told) =
        stage.bring(&decision(&asked, json!({"verdict": "approve", "note": "fine"}))).await;
    assert_eq!((status, &told["hold"]["state"]), (200, &json!("approved")));
    let taken = stage.inbox.decisions().remove(0);
    assert_eq!(
        (taken.operator.identity.as_str(), taken.event.as_str()),
        ("ana-42", "webhook:msg_1")
    );
    assert_eq!((taken.hold, taken.digest), (asked.hold.id, asked.hold.digest()));
    assert!(matches!(taken.answer, Answer::Approve { note: Some(note), .. } if note == "fine"));

    let deny = decision(&asked, json!({"verdict": "deny", "reason": "no"}));
    for (ruling, status, what) in [
        (ReportedReply::Already(settled.clone()), 409, "another answer stands"),
        (ReportedReply::Changed(settled), 409, "it has changed since"),
        (ReportedReply::NotEntitled, 403, "they may not answer this"),
        (ReportedReply::Invalid("no such option".into()), 422, "no such option"),
    ] {
        stage.inbox.rule(ruling);
        let (got, told) = stage.bring(&deny).await;
        assert_eq!((got, &told["result"]), (status, &json!(what)));
    }
    stage.inbox.busy(1);
    assert_eq!(stage.bring(&deny).await.0, 503);
    for answer in [
        json!({"choose": ["1", "2"]}),
        json!({"fill": {"region": "eu"}}),
        json!({"verdict": "respond", "content": "use 1.5"}),
    ] {
        stage.inbox.rule(ReportedReply::NotEntitled);
        assert_eq!(stage.bring(&decision(&asked, answer.clone())).await.0, 403, "{answer}");
    }
}

#[tokio::test]
async fn it_speaks_only_for_whom_it_may_and_says_nothing_that_is_passed_over() {
    let stage = Stage::new().await;
    let asked = Asked::deletion();
    let mut bob = decision(&asked, json!({"verdict": "approve"}));
    bob["actor"]["id"] = "bob-7".into();
    let (status, told) = stage.bring(&bob).await;
    assert_eq!((status, &told["result"]), (403, &json!("you may not speak for them")));
    let good = decision(&asked, json!({"verdict": "approve"}));
    let without = |name: &str| {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(name);
        body
    };
    let mut extra = good.clone();
    extra["confirmed"] = true.into();
    for bad in [
        json!([]),
        without("hold"),
        without("digest"),
        without("actor"),
        without("answer"),
        extra,
        decision(&asked, json!({})),
        decision(&asked, json!({"verdict": "yes"})),
        decision(&asked, json!({"verdict": "approve", "choose": ["1"]})),
        decision(&asked, json!({"verdict": "approve", "reason": "x"})),
        decision(&asked, json!({"verdict": "approve", "arguments": {}})),
        decision(&asked, json!({"fill": 7})),
    ] {
        assert_eq!(stage.bring(&bad).await.0, 400, "{bad}");
    }
    assert!(stage.inbox.decisions().is_empty());
}

#[tokio::test]
async fn i34_only_what_the_program_signed_is_heard() {
    let stage = Stage::new().await;
    let body = decision(&Asked::deletion(), json!({"verdict": "approve"})).to_string();
    let now = stage.now();
    let good = signed("msg_1", now, &body, IN);
    for (what, headers) in [
        ("nothing", Vec::new()),
        ("our own key", signed("msg_1", now, &body, OUT)),
        ("another body", signed("msg_1", now, "{}", IN)),
        ("old", signed("msg_1", now - 302, &body, IN)),
        ("from the future", signed("msg_1", now + 302, &body, IN)),
        ("no id", good[1..].to_vec()),
        ("twice", [good.clone(), good.clone()].concat()),
    ] {
        assert_eq!(stage.hook("decisions", headers, &body).await.status, 401, "{what}");
    }
    assert!(stage.inbox.decisions().is_empty());
    assert_eq!(stage.hook("events", good.clone(), &body).await.status, 404);
    let large = " ".repeat((1 << 20) + 1);
    assert_eq!(stage.hook("decisions", signed("m", now, &large, IN), &large).await.status, 413);
    assert_eq!(stage.hook("decisions", good, &body).await.status, 403, "heard, and not theirs");
    assert_eq!(stage.inbox.decisions().len(), 1);
}

#[tokio::test]
async fn a_program_that_only_listens_brings_nothing_here() {
    let mut stage = Stage::new().await;
    let settings = ChannelSettings {
        inbound_secret: None,
        speaks_for: BTreeSet::new(),
        ..settings(format!("{}/hook", stage.front.url()))
    };
    stage.webhook = Webhook::new(settings, stage.clock.clone()).unwrap();
    let body = json!({"type": "decision"}).to_string();
    for secret in [IN, OUT] {
        let headers = signed("msg_1", stage.now(), &body, secret);
        assert_eq!(stage.hook("decisions", headers, &body).await.status, 404);
    }
    assert!(stage.inbox.decisions().is_empty());
}
