//! An app and the platform that it is on.

use std::sync::Arc;

use channels::slack::{Slack, SlackMode, SlackSettings};
use ports::channel::{Channel, Destination, HookReply, MessageRef, OutgoingText, WebhookRequest};
use ports::clock::Clock;
use ports::secret_string::SecretString;
use serde_json::Value;
use testkit::asked::Asked;
use testkit::fake_chat::{MovedClock, NoRandomness};
use testkit::fake_slack::{
    APP_ID, APP_TOKEN, BOT_TOKEN, FakeSlack, SIGNING_SECRET, TEAM_ID, signed,
};
use testkit::inbox::Notebook;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) const ANA: &str = "U0ANA";
pub(crate) const OPS: &str = "C0OPS";

pub(crate) struct Stage {
    pub(crate) fake: FakeSlack,
    pub(crate) slack: Arc<Slack>,
    pub(crate) inbox: Arc<Notebook>,
    pub(crate) clock: Arc<MovedClock>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Stage {
    /// Connected.
    pub(crate) async fn socket() -> Stage {
        let mut stage = Stage::new(socket_mode()).await;
        stage.listen().await;
        stage
    }

    pub(crate) async fn http() -> Stage {
        Stage::new(SlackMode::Http { signing_secret: SecretString::new(SIGNING_SECRET) }).await
    }

    pub(crate) async fn new(mode: SlackMode) -> Stage {
        Stage::faster(mode, 1).await
    }

    /// With waits that are so many times shorter.
    pub(crate) async fn faster(mode: SlackMode, times: u32) -> Stage {
        let fake = FakeSlack::start().await;
        let clock = MovedClock::new(times);
        let slack = app(&fake, mode, clock.clone());
        let (stop, tasks) = (CancellationToken::new(), JoinSet::new());
        Stage { fake, slack, inbox: Arc::default(), clock, stop, tasks }
    }

    pub(crate) async fn listen(&mut self) {
        let before = self.fake.line.connections().1;
        let (slack, inbox, stop) = (self.slack.clone(), self.inbox.clone(), self.stop.clone());
        self.tasks.spawn(async move { slack.listen(inbox, stop).await });
        self.fake.line.until("a connection", |line| line.connections().1 > before).await;
    }

    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        self.stop = CancellationToken::new();
    }

    /// The same app in another process.
    pub(crate) fn reborn(&mut self, mode: SlackMode) {
        self.slack = app(&self.fake, mode, self.clock.clone());
    }

    /// A hold that was opened just now, and not in the moment in which the app was started.
    pub(crate) fn asked(&self) -> Asked {
        self.clock.move_on(std::time::Duration::from_millis(1));
        Asked::deletion().opened(self.clock.now())
    }

    pub(crate) async fn show(&self, asked: &Asked) -> MessageRef {
        self.slack.show(&ops(), &asked.showing()).await.unwrap().posted
    }

    pub(crate) async fn hook(
        &self,
        path: &str,
        headers: Vec<(String, String)>,
        body: &[u8],
    ) -> HookReply {
        let request = WebhookRequest {
            method: "POST".into(),
            path: path.into(),
            query: None,
            headers,
            body: body.to_vec(),
            at: self.clock.now(),
        };
        self.slack.hook(request, &*self.inbox).await
    }

    /// As Slack brings it: signed, now.
    pub(crate) async fn bring(&self, path: &str, payload: &Value) -> HookReply {
        let body = match path {
            "interactions" => form(payload),
            _ => payload.to_string(),
        };
        let now = self.clock.now().as_ms() / 1000;
        self.hook(path, signed(body.as_bytes(), SIGNING_SECRET, now), body.as_bytes()).await
    }
}

pub(crate) fn socket_mode() -> SlackMode {
    SlackMode::Socket { app_token: SecretString::new(APP_TOKEN) }
}

fn app(fake: &FakeSlack, mode: SlackMode, clock: Arc<MovedClock>) -> Arc<Slack> {
    let settings = SlackSettings {
        name: "slack".into(),
        app_id: APP_ID.into(),
        team_id: TEAM_ID.into(),
        bot_token: SecretString::new(BOT_TOKEN),
        mode,
        base_url: fake.url().parse().unwrap(),
        language: Default::default(),
        zone: Default::default(),
    };
    Arc::new(Slack::new(settings, clock, Arc::new(NoRandomness)))
}

/// `payload=` and JSON, as a form.
pub(crate) fn form(payload: &Value) -> String {
    let mut form = reqwest::Url::parse("form:").unwrap();
    form.query_pairs_mut().append_pair("payload", &payload.to_string());
    form.query().unwrap().to_owned()
}

pub(crate) fn ops() -> Destination {
    Destination::Chat { chat: OPS.into(), thread: None, direct: false }
}

pub(crate) fn saying(text: &str) -> OutgoingText<'_> {
    OutgoingText { key: "s1", text, reply_to: None, whisper_to: None }
}

/// What must happen in a moment.
pub(crate) async fn eventually(what: &str, seen: impl Fn() -> bool) {
    let came = tokio::time::timeout(std::time::Duration::from_secs(15), async {
        while !seen() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    });
    assert!(came.await.is_ok(), "{what}");
}
