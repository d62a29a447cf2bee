//! Chats: how soon somebody who presses a button is told, with very many holds open; and what chats cost
//! in which nothing happens.
//!
//! The platform is a table in memory, so that what is measured is ours: the press is judged, written to
//! disk and acknowledged.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chat::{ChatService, Connector, Limits, Setup};
use domain::message::Part;
use domain::person::{Person, PersonId};
use domain::policy::PolicySpec;
use domain::time::Timestamp;
use engine::{SystemClock, SystemRng};
use ports::channel::{
    ButtonAction, Channel, ChannelError, Checked, Destination, Form, HookReply, Inbox,
    IncomingMessage, MessageRef, Operator, OutgoingText, Pointer, Press, PressReply, Showing,
    Shown, TextProgress, WebhookRequest,
};
use ports::clock::Clock as _;
use ports::model::{
    DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn, WrittenCall,
};
use reply_parser::Language;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cycle::{self, Bench};
use crate::goal::Goal;
use crate::machine::resident;
use crate::report::{Report, Row, number, percentile};

type Failure = Box<dyn std::error::Error>;

/// Calls the tool so many times at once, then says that it is done.
struct Many(usize);

#[async_trait]
impl Model for Many {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        _: DeltaSink,
        _: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let is_done = matches!(request.messages.last(), Some(ModelMessage::Results { .. }));
        if is_done || self.0 == 0 {
            let parts = vec![Part::Text("done".into())];
            return Ok(ModelTurn { parts, ..ModelTurn::default() });
        }
        let call = |number| WrittenCall {
            tool_use_id: format!("toolu_{}_{number}", request.messages.len()).into(),
            tool: "noop".into(),
            input: format!(r#"{{"table":"orders","number":{number}}}"#).into(),
        };
        Ok(ModelTurn { calls: (0..self.0).map(call).collect(), ..ModelTurn::default() })
    }
}

/// What stands in all chats.
#[derive(Default)]
struct Screen {
    cards: Mutex<HashMap<String, (MessageRef, Pointer)>>,
    said: Mutex<usize>,
    changed: Notify,
}

#[async_trait]
impl Channel for Screen {
    fn name(&self) -> &str {
        "bench"
    }

    fn platform(&self) -> &'static str {
        "slack"
    }

    fn account(&self) -> &str {
        "A"
    }

    /// One press is one answer here.
    fn has_confirm_dialog(&self) -> bool {
        true
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let (chat, thread, direct) = match place.clone() {
            Destination::Chat { chat, thread, direct } => (chat, thread, direct),
            Destination::Person(person) => (person, None, true),
        };
        let key = showing.key.as_str().to_owned();
        let posted = MessageRef { chat, thread, direct, message: key.clone(), at: None };
        let (of, nonce) = (showing.key.clone(), showing.nonce.clone());
        let pointer = Pointer { key: of, said: ButtonAction::Allow, nonce };
        self.cards.lock().expect("sound").insert(key, (posted.clone(), pointer));
        self.changed.notify_waiters();
        Ok(Shown { posted, accepts_approval: true })
    }

    async fn repaint(&self, _: &MessageRef, _: &Showing<'_>) -> Result<bool, ChannelError> {
        Ok(true)
    }

    async fn say_piece(
        &self,
        _: &Destination,
        _: &OutgoingText<'_>,
        _: usize,
    ) -> Result<TextProgress, ChannelError> {
        *self.said.lock().expect("sound") += 1;
        self.changed.notify_waiters();
        Ok(TextProgress::All)
    }

    async fn hook(&self, _: WebhookRequest, _: &dyn Inbox) -> HookReply {
        HookReply { status: 404, content_type: "text/plain", body: Vec::new() }
    }

    async fn check(&self) -> Vec<Checked> {
        Vec::new()
    }
}

impl Screen {
    async fn until(&self, is: impl Fn(&Screen) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is(self) {
                return;
            }
            changed.await;
        }
    }
}

struct ChatBench {
    bench: Bench,
    board: ChatService,
    screen: Arc<Screen>,
}

async fn open(folder: &Path, calls: usize) -> Result<ChatBench, Failure> {
    std::fs::create_dir_all(folder)?;
    let bob = Person {
        id: PersonId::new("bob"),
        name: "Bob".into(),
        roles: Default::default(),
        identities: [("slack".to_owned(), "U1".to_owned())].into(),
    };
    let (policy, model) = (PolicySpec::default(), Arc::new(Many(calls)));
    let bench = cycle::open_thinking(folder, policy, &["ops"], vec![bob], model).await?;
    let screen = Arc::new(Screen::default());
    let board = ChatService::new(Setup {
        engine: bench.engine.clone(),
        clock: Arc::new(SystemClock::new(None)),
        rng: Arc::new(SystemRng::default()),
        connectors: vec![Connector {
            channel: screen.clone(),
            agent: Some("ops".into()),
            ask: Vec::new(),
            on_ambiguous: Default::default(),
            language: Language::English,
        }],
        limits: Limits::default(),
    });
    board.start("http://127.0.0.1");
    Ok(ChatBench { bench, board, screen })
}

impl ChatBench {
    async fn close(self) {
        self.board.close(Duration::from_secs(1)).await;
        self.bench.engine.close(Duration::from_secs(5)).await;
        self.bench.store.close().await;
    }
}

fn bob() -> Option<Operator> {
    Some(Operator::named("U1"))
}

fn now() -> Timestamp {
    SystemClock::new(None).now()
}

fn wrote(chat: usize) -> IncomingMessage {
    IncomingMessage {
        event: format!("m{chat}"),
        message: format!("m{chat}"),
        operator: bob(),
        chat: format!("C{chat}"),
        thread: None,
        direct: true,
        text: "go".into(),
        mentions_us: false,
        mentions: Vec::new(),
        mentions_others: false,
        replies_to: None,
        from_a_person: true,
        edited: false,
        forwarded: false,
        attachment: false,
        formatted: false,
        at: now(),
    }
}

pub(crate) async fn run(quick: bool, folder: &Path, report: &Report) -> Result<(), Failure> {
    let (chats, each, idle) = if quick { (10, 10, 200) } else { (100, 10, 10_000) };
    pressed(chats, each, &folder.join("pressed"), report).await?;
    quiet(idle, &folder.join("idle"), report).await
}

async fn pressed(chats: usize, each: usize, folder: &Path, report: &Report) -> Result<(), Failure> {
    let chats_bench = open(folder, each).await?;
    for chat in 0..chats {
        chats_bench.board.wrote("bench", wrote(chat)).await?;
    }
    chats_bench
        .screen
        .until(|screen| screen.cards.lock().expect("sound").len() == chats * each)
        .await;
    let mut by_chat: HashMap<String, Vec<(MessageRef, Pointer)>> = HashMap::new();
    for (posted, pointer) in chats_bench.screen.cards.lock().expect("sound").values() {
        by_chat.entry(posted.chat.clone()).or_default().push((posted.clone(), pointer.clone()));
    }
    let mut pressing = JoinSet::new();
    for cards in by_chat.into_values() {
        let board = chats_bench.board.clone();
        pressing.spawn(async move {
            let mut took = Vec::new();
            for (posted, pointer) in cards {
                let press = Press {
                    event: format!("p{}", posted.message),
                    operator: bob(),
                    chat: posted.chat,
                    message: posted.message,
                    pointer,
                    is_on_it: true,
                    form: Form::default(),
                    at: now(),
                };
                let began = Instant::now();
                let told = board.pressed("bench", press).await;
                took.push(began.elapsed());
                if !matches!(told, Ok(PressReply::Taken(_))) {
                    return Err(format!("a press was not taken: {told:?}"));
                }
            }
            Ok(took)
        });
    }
    let mut took = Vec::new();
    while let Some(done) = pressing.join_next().await {
        took.extend(done??);
    }
    let of = format!("{} open holds, {chats} chats", number((chats * each) as f64));
    let what = |which: &str| format!("press → acknowledged, {of}, {which}");
    report.row(Row::new("chats", what("p50"), percentile(&took, 50), "ms"));
    let p99 = percentile(&took, 99);
    report.row(Row::new("chats", what("p99"), p99, "ms").goal(Goal::at_most(200.0)));
    report.row(Row::new("chats", what("worst"), percentile(&took, 100), "ms"));
    chats_bench.close().await;
    Ok(())
}

async fn quiet(chats: usize, folder: &Path, report: &Report) -> Result<(), Failure> {
    let chats_bench = open(folder, 0).await?;
    // What the first ones bring into memory is not theirs: code, statements, pages of the database.
    let first = chats / 20;
    for chat in 0..first {
        chats_bench.board.wrote("bench", wrote(chat)).await?;
    }
    chats_bench.screen.until(|screen| *screen.said.lock().expect("sound") == first).await;
    let before = resident()?;
    for chat in first..first + chats {
        chats_bench.board.wrote("bench", wrote(chat)).await?;
    }
    chats_bench.screen.until(|screen| *screen.said.lock().expect("sound") == first + chats).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let what = format!("{} idle chats, RSS", number(chats as f64));
    let grown = resident()? - before;
    report.row(Row::new("chats", what, grown, "MB").goal(Goal::at_most(50.0)));
    chats_bench.close().await;
    Ok(())
}
