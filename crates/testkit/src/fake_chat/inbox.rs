//! An inbox that remembers what it was handed, and says what it is told to say.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::hold::Hold;
use ports::channel::{
    Busy, DeliveryKey, Inbox, IncomingMessage, MessageRef, Nonce, Press, PressReply, Redraw,
};
use tokio::sync::Notify;

#[derive(Default)]
pub struct FakeInbox {
    inside: Mutex<Inside>,
    heard: Notify,
}

#[derive(Default)]
struct Inside {
    presses: Vec<Press>,
    wrote: Vec<IncomingMessage>,
    tells: VecDeque<(Duration, Result<PressReply, Busy>)>,
    busy: usize,
    finished: usize,
}

impl FakeInbox {
    pub fn new() -> Arc<FakeInbox> {
        Arc::default()
    }

    /// What the next press is told. Without it: not here.
    pub fn tell(&self, told: Result<PressReply, Busy>) {
        self.tell_after(Duration::ZERO, told);
    }

    pub fn tell_after(&self, after: Duration, told: Result<PressReply, Busy>) {
        self.inside().tells.push_back((after, told));
    }

    /// So many messages cannot be written down.
    pub fn be_busy(&self, times: usize) {
        self.inside().busy = times;
    }

    pub fn presses(&self) -> Vec<Press> {
        self.inside().presses.clone()
    }

    pub fn wrote_all(&self) -> Vec<IncomingMessage> {
        self.inside().wrote.clone()
    }

    /// Presses whose handling came to its end.
    pub fn finished(&self) -> usize {
        self.inside().finished
    }

    pub async fn until(&self, enough: impl Fn(&FakeInbox) -> bool) {
        let waiting = async {
            loop {
                let heard = self.heard.notified();
                if enough(self) {
                    return;
                }
                heard.await;
            }
        };
        let patience = Duration::from_secs(20);
        tokio::time::timeout(patience, waiting).await.expect("the inbox heard nothing in time");
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Inbox for FakeInbox {
    async fn pressed(&self, _: &str, press: Press) -> Result<PressReply, Busy> {
        let (after, told) = {
            let mut inside = self.inside();
            inside.presses.push(press);
            inside.tells.pop_front().unwrap_or((Duration::ZERO, Ok(PressReply::NotHere)))
        };
        self.heard.notify_waiters();
        tokio::time::sleep(after).await;
        self.inside().finished += 1;
        self.heard.notify_waiters();
        told
    }

    async fn wrote(&self, _: &str, wrote: IncomingMessage) -> Result<(), Busy> {
        let busy = {
            let mut inside = self.inside();
            let busy = inside.busy > 0;
            if busy {
                inside.busy -= 1;
            } else {
                inside.wrote.push(wrote);
            }
            busy
        };
        self.heard.notify_waiters();
        if busy { Err(Busy) } else { Ok(()) }
    }
}

/// Everything to draw this hold again.
pub fn redraw(hold: Hold, posted: MessageRef) -> Box<Redraw> {
    Box::new(Redraw {
        hold: Arc::new(hold),
        people: Arc::new(super::people()),
        key: DeliveryKey::new("7Q2").expect("a key"),
        nonce: Nonce::new("k3x9ab").expect("a nonce"),
        link: Some("https://hold.example.org/#/hold/x".into()),
        words_answer: false,
        code: None,
        armed: false,
        posted,
    })
}
