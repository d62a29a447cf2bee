//! A chat platform in memory: it keeps what was shown, and fails when it is told to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ports::channel::{
    ButtonAction, Channel, ChannelError, Checked, DeliveryKey, Destination, HookReply, Inbox,
    MessageRef, Nonce, OutgoingText, Pointer, Showing, Shown, TextProgress, WebhookRequest,
};
use ports::clock::Clock;
use tokio::sync::{Notify, Semaphore};

/// What happens to the next thing that is sent.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Not this one, but perhaps the next.
    Nothing,
    Again(Option<Duration>),
    /// It is done, and nobody says so.
    UnknownDone,
    UnknownNotDone,
    Never,
    /// The chat has this name now.
    Moved(&'static str),
    /// It is done, and told so late.
    Slow(Duration),
    /// It is done, and the platform never answers.
    Hangs,
}

/// A message with a prompt in it, as it now looks.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) place: Destination,
    pub(crate) posted: MessageRef,
    pub(crate) key: DeliveryKey,
    pub(crate) nonce: Nonce,
    pub(crate) hold: domain::id::HoldId,
    pub(crate) tag: String,
    pub(crate) code: Option<String>,
    pub(crate) link: Option<String>,
    /// Every state that was painted, the newest last; with `+` and the outcome where there is one.
    pub(crate) states: Vec<String>,
}

impl Card {
    pub(crate) fn state(&self) -> &str {
        self.states.last().map_or("", String::as_str)
    }

    fn is_at(&self, posted: &MessageRef) -> bool {
        (&self.posted.chat, &self.posted.message) == (&posted.chat, &posted.message)
    }

    pub(crate) fn pointer(&self, said: ButtonAction) -> Pointer {
        Pointer { key: self.key.clone(), said, nonce: self.nonce.clone() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) chat: String,
    pub(crate) text: String,
    pub(crate) reply_to: Option<String>,
    pub(crate) whisper_to: Option<String>,
}

#[derive(Default)]
pub(crate) struct Screen {
    pub(crate) cards: BTreeMap<String, Card>,
    pub(crate) texts: Vec<(String, Text)>,
    pub(crate) shows: usize,
    next: usize,
}

pub(crate) struct Chat {
    name: &'static str,
    platform: &'static str,
    clock: Arc<dyn Clock>,
    pub(crate) screen: Mutex<Screen>,
    pub(crate) faults: Mutex<VecDeque<Fault>>,
    pub(crate) accepts_approval: Mutex<bool>,
    /// The platform asks once more by itself.
    pub(crate) has_dialog: Mutex<bool>,
    pub(crate) patience: Mutex<Option<Duration>>,
    pub(crate) talks: Mutex<bool>,
    /// It cannot tell that the same prompt is sent twice.
    pub(crate) forgetful: Mutex<bool>,
    /// Nothing is sent before there is one of these.
    pub(crate) gate: Mutex<Option<Arc<Semaphore>>>,
    /// A request is not dealt with before there is one of these.
    pub(crate) leave: Semaphore,
    changed: Notify,
}

impl Chat {
    pub(crate) fn new(name: &'static str, platform: &'static str, clock: Arc<dyn Clock>) -> Chat {
        Chat {
            name,
            platform,
            clock,
            screen: Mutex::default(),
            faults: Mutex::default(),
            accepts_approval: Mutex::new(true),
            has_dialog: Mutex::new(false),
            patience: Mutex::default(),
            talks: Mutex::new(true),
            forgetful: Mutex::new(false),
            gate: Mutex::default(),
            leave: Semaphore::new(0),
            changed: Notify::new(),
        }
    }

    pub(crate) fn will(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    /// Waits until it looks like this.
    pub(crate) async fn until<T>(&self, what: &str, is: impl Fn(&Screen) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if let Some(found) = is(&self.screen.lock().unwrap()) {
                    return found;
                }
                changed.await;
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), waiting).await {
            Ok(found) => found,
            Err(_) => {
                let screen = self.screen.lock().unwrap();
                panic!("never came to: {what}; {:?} {:?}", screen.cards, screen.texts)
            }
        }
    }

    /// The next prompt in this state.
    pub(crate) async fn card(&self, state: &str) -> Card {
        self.until(state, |screen| {
            screen.cards.values().find(|card| card.state() == state).cloned()
        })
        .await
    }

    /// The only prompt, once it has been painted so many times.
    pub(crate) async fn painted_times(&self, times: usize) -> Card {
        self.until("painted", |screen| {
            screen.cards.values().find(|card| card.states.len() >= times).cloned()
        })
        .await
    }

    pub(crate) async fn text(&self, contains: &str) -> Text {
        let find = |screen: &Screen| {
            let found = screen.texts.iter().find(|(_, text)| text.text.contains(contains));
            found.map(|(_, text)| text.clone())
        };
        self.until(contains, find).await
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.screen.lock().unwrap().texts.iter().map(|(_, text)| text.text.clone()).collect()
    }

    async fn faulty(&self) -> Option<Fault> {
        let fault = self.faults.lock().unwrap().pop_front();
        self.changed.notify_waiters();
        fault
    }

    /// Does it as the fault says: whether, and what is told.
    async fn meddled<T>(&self, act: impl FnOnce() -> T) -> Result<T, ChannelError> {
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.acquire().await.expect("stays open").forget();
        }
        let fault = self.faulty().await;
        let unknown = || Err(ChannelError::Unknown("no answer".into()));
        let done = match fault {
            None | Some(Fault::Nothing) => Ok(act()),
            Some(Fault::Again(after)) => {
                return Err(ChannelError::Again { after, why: "slowly".into() });
            }
            Some(Fault::UnknownNotDone) => return unknown(),
            Some(Fault::Never) => return Err(ChannelError::Never("no such chat".into())),
            Some(Fault::Moved(to)) => return Err(ChannelError::Moved(to.into())),
            Some(Fault::UnknownDone) => {
                act();
                unknown()
            }
            Some(Fault::Slow(pause)) => {
                let done = act();
                self.clock.sleep(pause).await;
                Ok(done)
            }
            Some(Fault::Hangs) => {
                act();
                self.changed.notify_waiters();
                std::future::pending().await
            }
        };
        self.changed.notify_waiters();
        done
    }

    fn painted(showing: &Showing<'_>) -> String {
        let state = showing.hold.state.name();
        match showing.hold.outcome() {
            Some(outcome) => format!("{state}+{}", outcome.name()),
            // It asks once more.
            None if showing.armed => format!("{state}?"),
            None => state.to_owned(),
        }
    }
}

#[async_trait]
impl Channel for Chat {
    fn name(&self) -> &str {
        self.name
    }

    fn platform(&self) -> &'static str {
        self.platform
    }

    fn account(&self) -> &str {
        "T1"
    }

    fn patience(&self) -> Option<Duration> {
        *self.patience.lock().unwrap()
    }

    fn talks(&self) -> bool {
        *self.talks.lock().unwrap()
    }

    fn has_confirm_dialog(&self) -> bool {
        *self.has_dialog.lock().unwrap()
    }

    fn may_show_twice(&self) -> bool {
        *self.forgetful.lock().unwrap()
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let accepts_approval = *self.accepts_approval.lock().unwrap();
        self.screen.lock().unwrap().shows += 1;
        self.changed.notify_waiters();
        self.meddled(|| {
            let mut screen = self.screen.lock().unwrap();
            let forgetful = *self.forgetful.lock().unwrap();
            // The same key twice is one message, in one chat.
            let here = |card: &&Card| match place {
                _ if forgetful => false,
                Destination::Chat { chat, .. } => card.posted.chat == *chat,
                Destination::Person(_) => true,
            };
            if let Some(card) = screen.cards.get(showing.key.as_str()).filter(here) {
                return Shown { posted: card.posted.clone(), accepts_approval };
            }
            screen.next += 1;
            let (chat, thread, direct) = match place.clone() {
                Destination::Chat { chat, thread, direct } => (chat, thread, direct),
                Destination::Person(identity) => (format!("D-{identity}"), None, true),
            };
            let posted = MessageRef {
                chat,
                thread,
                direct,
                message: format!("m{}", screen.next),
                at: Some(self.clock.now()),
            };
            let card = Card {
                place: place.clone(),
                posted: posted.clone(),
                key: showing.key.clone(),
                nonce: showing.nonce.clone(),
                hold: showing.hold.id,
                tag: showing.hold.tag.clone(),
                code: showing.code.map(str::to_owned),
                link: showing.link.map(str::to_owned),
                states: vec![Chat::painted(showing)],
            };
            let name = if forgetful { &posted.message } else { showing.key.as_str() };
            screen.cards.insert(name.to_owned(), card);
            Shown { posted, accepts_approval }
        })
        .await
    }

    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        let accepts_approval = *self.accepts_approval.lock().unwrap();
        self.meddled(|| {
            let mut screen = self.screen.lock().unwrap();
            let mut cards = screen.cards.values_mut();
            let card = cards.find(|card| card.is_at(posted)).expect("was shown");
            assert_eq!(&card.key, showing.key);
            card.states.push(Chat::painted(showing));
            card.nonce = showing.nonce.clone();
            card.code = showing.code.map(str::to_owned);
            accepts_approval
        })
        .await
    }

    /// What stands between two marks is a message of its own. A message that is sent twice stands
    /// there twice if it is one of several.
    async fn say_piece(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
        index: usize,
    ) -> Result<TextProgress, ChannelError> {
        self.meddled(|| {
            let pieces: Vec<&str> = saying.text.split('¶').collect();
            let (piece, last) = (pieces[index], index + 1 == pieces.len());
            let mut screen = self.screen.lock().unwrap();
            let chat = match place.clone() {
                Destination::Chat { chat, .. } => chat,
                Destination::Person(identity) => format!("D-{identity}"),
            };
            let text = Text {
                chat,
                text: piece.to_owned(),
                reply_to: saying.reply_to.map(str::to_owned),
                whisper_to: saying.whisper_to.map(str::to_owned),
            };
            let several = pieces.len() > 1;
            if several || screen.texts.iter().all(|(key, _)| key != saying.key) {
                screen.texts.push((saying.key.to_owned(), text));
            }
            if last { TextProgress::All } else { TextProgress::More }
        })
        .await
    }

    async fn hook(&self, request: WebhookRequest, _: &dyn Inbox) -> HookReply {
        self.changed.notify_waiters();
        self.leave.acquire().await.expect("stays open").forget();
        let (chat, text) = (request.path, "dealt with".to_owned());
        let text = Text { chat, text, reply_to: None, whisper_to: None };
        self.screen.lock().unwrap().texts.push(("hook".into(), text));
        self.changed.notify_waiters();
        HookReply { status: 200, content_type: "text/plain", body: Vec::new() }
    }

    async fn check(&self) -> Vec<Checked> {
        Vec::new()
    }
}
