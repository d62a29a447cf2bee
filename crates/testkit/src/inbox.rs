//! An inbox that writes everything down and says what it is told to say, for tests of one channel.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ports::channel::{
    Busy, Inbox, IncomingMessage, Opened, Press, PressReply, Redraw, ReportedDecision,
    ReportedReply,
};
use tokio::sync::Notify;

/// On loopback everything comes within milliseconds, even while the machine is busy.
const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Default)]
pub struct Notebook {
    inside: Mutex<Inside>,
    changed: Notify,
}

#[derive(Default)]
struct Inside {
    presses: Vec<Press>,
    wrote: Vec<IncomingMessage>,
    replies: VecDeque<PressReply>,
    form: Option<Box<Redraw>>,
    decided: Vec<ReportedDecision>,
    rulings: VecDeque<ReportedReply>,
    moves: Vec<(String, String)>,
    busy: u32,
}

impl Notebook {
    /// What the next press is told; without any, that it is none of ours.
    pub fn reply(&self, told: PressReply) {
        self.inside().replies.push_back(told);
    }

    /// What buttons of forms open.
    pub fn open(&self, form: Box<Redraw>) {
        self.inside().form = Some(form);
    }

    /// What the next decision of a program is told; without any, that it is not theirs to make.
    pub fn rule(&self, ruling: ReportedReply) {
        self.inside().rulings.push_back(ruling);
    }

    pub fn decisions(&self) -> Vec<ReportedDecision> {
        self.inside().decided.clone()
    }

    /// So many of the next gestures cannot be written down.
    pub fn busy(&self, times: u32) {
        self.inside().busy = times;
    }

    pub fn presses(&self) -> Vec<Press> {
        self.inside().presses.clone()
    }

    pub fn wrote(&self) -> Vec<IncomingMessage> {
        self.inside().wrote.clone()
    }

    /// Chats that have another name now: from and to.
    pub fn moves(&self) -> Vec<(String, String)> {
        self.inside().moves.clone()
    }

    /// When there are so many presses.
    ///
    /// # Panics
    /// If they do not come.
    pub async fn pressed(&self, count: usize) -> Vec<Press> {
        self.until(|inside| inside.presses.len() >= count).await;
        self.presses()
    }

    /// When so much was written.
    ///
    /// # Panics
    /// If it does not come.
    pub async fn written(&self, count: usize) -> Vec<IncomingMessage> {
        self.until(|inside| inside.wrote.len() >= count).await;
        self.wrote()
    }

    async fn until(&self, done: impl Fn(&Inside) -> bool) {
        let came = tokio::time::timeout(PATIENCE, async {
            loop {
                let changed = self.changed.notified();
                if done(&self.inside()) {
                    return;
                }
                changed.await;
            }
        });
        came.await.expect("the gesture comes");
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_busy(&self) -> bool {
        let mut inside = self.inside();
        let busy = inside.busy > 0;
        inside.busy = inside.busy.saturating_sub(1);
        busy
    }
}

#[async_trait]
impl Inbox for Notebook {
    async fn pressed(&self, _: &str, press: Press) -> Result<PressReply, Busy> {
        if self.is_busy() {
            return Err(Busy);
        }
        let told = {
            let mut inside = self.inside();
            inside.presses.push(press);
            inside.replies.pop_front().unwrap_or(PressReply::NotHere)
        };
        self.changed.notify_waiters();
        Ok(told)
    }

    async fn moved(&self, _: &str, from: &str, to: &str) -> Result<(), Busy> {
        if self.is_busy() {
            return Err(Busy);
        }
        self.inside().moves.push((from.to_owned(), to.to_owned()));
        self.changed.notify_waiters();
        Ok(())
    }

    async fn wrote(&self, _: &str, wrote: IncomingMessage) -> Result<(), Busy> {
        if self.is_busy() {
            return Err(Busy);
        }
        self.inside().wrote.push(wrote);
        self.changed.notify_waiters();
        Ok(())
    }

    async fn decided(&self, _: &str, decided: ReportedDecision) -> Result<ReportedReply, Busy> {
        if self.is_busy() {
            return Err(Busy);
        }
        let mut inside = self.inside();
        inside.decided.push(decided);
        Ok(inside.rulings.pop_front().unwrap_or(ReportedReply::NotEntitled))
    }

    async fn opens(&self, _: &str, _: &Press) -> Result<Opened, Busy> {
        if self.is_busy() {
            return Err(Busy);
        }
        let form = self.inside().form.clone();
        Ok(form.map_or(Opened::Refused(PressReply::NotEntitled), Opened::Form))
    }
}
