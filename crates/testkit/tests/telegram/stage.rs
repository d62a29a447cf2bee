//! A bot and the platform that it is on.

use std::sync::Arc;

use channels::telegram::{BotToken, Telegram, TelegramMode, TelegramSecret, TelegramSettings};
use engine::SystemClock;
use ports::channel::{
    Channel, Destination, HookReply, Inbox, MessageRef, OutgoingText, WebhookRequest,
};
use ports::clock::Clock;
use testkit::asked::Asked;
use testkit::fake_chat::NoRandomness;
use testkit::fake_telegram::{FakeTelegram, TOKEN, User};
use testkit::inbox::Notebook;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) const ANA: User = User(7);
pub(crate) const GROUP: i64 = -1_001_234;
pub(crate) const SECRET: &str = "only_telegram-knows";

pub(crate) struct Stage {
    pub(crate) fake: FakeTelegram,
    pub(crate) bot: Arc<Telegram>,
    pub(crate) inbox: Arc<Notebook>,
    pub(crate) clock: Arc<dyn Clock>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Stage {
    pub(crate) async fn polling() -> Stage {
        Stage::new(TelegramMode::Polling).await
    }

    pub(crate) async fn webhook() -> Stage {
        let secret = TelegramSecret::new(SECRET).unwrap();
        Stage::new(TelegramMode::Webhook { secret, address: None }).await
    }

    pub(crate) async fn new(mode: TelegramMode) -> Stage {
        let fake = FakeTelegram::start().await;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new(None));
        let bot = bot(&fake, mode, clock.clone());
        let (stop, tasks) = (CancellationToken::new(), JoinSet::new());
        Stage { fake, bot, inbox: Arc::default(), clock, stop, tasks }
    }

    pub(crate) fn listen(&mut self) {
        let (bot, inbox, stop) = (self.bot.clone(), self.inbox.clone(), self.stop.clone());
        self.tasks.spawn(async move { bot.listen(inbox, stop).await });
    }

    /// Stops listening, and starts again as another process would.
    pub(crate) async fn restart(&mut self, mode: TelegramMode) {
        self.stop().await;
        self.bot = bot(&self.fake, mode, self.clock.clone());
        self.stop = CancellationToken::new();
        self.listen();
    }

    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }

    pub(crate) async fn show(&self, asked: &Asked) -> MessageRef {
        self.bot.show(&group(), &asked.showing()).await.unwrap().posted
    }

    pub(crate) async fn hook(&self, headers: &[(&str, &str)], body: &[u8]) -> HookReply {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let request = WebhookRequest {
            method: "POST".into(),
            path: "events".into(),
            query: None,
            headers: headers.iter().map(owned).collect(),
            body: body.to_vec(),
            at: self.clock.now(),
        };
        let inbox: &dyn Inbox = &*self.inbox;
        self.bot.hook(request, inbox).await
    }
}

fn bot(fake: &FakeTelegram, mode: TelegramMode, clock: Arc<dyn Clock>) -> Arc<Telegram> {
    let token = BotToken::new(TOKEN).unwrap();
    let mut settings = TelegramSettings::new("tg", token, fake.url().parse().unwrap());
    settings.mode = mode;
    Arc::new(Telegram::new(settings, clock, Arc::new(NoRandomness)))
}

pub(crate) fn group() -> Destination {
    Destination::Chat { chat: GROUP.to_string(), thread: None, direct: false }
}

pub(crate) fn saying(text: &str) -> OutgoingText<'_> {
    OutgoingText { key: "s1", text, reply_to: None, whisper_to: None }
}

pub(crate) fn number(text: &str) -> i64 {
    text.parse().unwrap()
}
