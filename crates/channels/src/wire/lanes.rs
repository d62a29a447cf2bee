//! Gestures at work: those of one chat in their order, those of different chats side by side.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;

use tokio::task::{Id, JoinSet};

type LaneJob<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(crate) struct Lanes<T> {
    running: JoinSet<T>,
    chats: HashMap<Id, String>,
    /// Chats in which something runs, and what waits behind it.
    waiting: HashMap<String, VecDeque<LaneJob<T>>>,
    queued: usize,
}

impl<T: Send + 'static> Lanes<T> {
    pub(crate) fn new() -> Lanes<T> {
        Lanes { running: JoinSet::new(), chats: HashMap::new(), waiting: HashMap::new(), queued: 0 }
    }

    pub(crate) fn push(&mut self, chat: &str, job: impl Future<Output = T> + Send + 'static) {
        match self.waiting.get_mut(chat) {
            Some(lane) => {
                lane.push_back(Box::pin(job));
                self.queued += 1;
            }
            None => {
                self.waiting.insert(chat.to_owned(), VecDeque::new());
                self.start(chat.to_owned(), Box::pin(job));
            }
        }
    }

    /// The next that is done; `None` when nothing runs. Nothing is lost if this is dropped.
    pub(crate) async fn next(&mut self) -> Option<T> {
        loop {
            let (id, done) = match self.running.join_next_with_id().await? {
                Ok((id, done)) => (id, Some(done)),
                // No code aborts one, so it panicked. What stands behind it goes on.
                Err(error) => (error.id(), None),
            };
            if let Some(chat) = self.chats.remove(&id) {
                match self.waiting.get_mut(&chat).and_then(VecDeque::pop_front) {
                    Some(job) => {
                        self.queued -= 1;
                        self.start(chat, job);
                    }
                    None => {
                        self.waiting.remove(&chat);
                    }
                }
            }
            if done.is_some() {
                return done;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len() + self.queued
    }

    fn start(&mut self, chat: String, job: LaneJob<T>) {
        let id = self.running.spawn(job).id();
        self.chats.insert(id, chat);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn one_chat_stays_in_order_and_blocks_no_other() {
        let mut lanes = Lanes::new();
        let (go, wait) = oneshot::channel::<()>();
        lanes.push("a", async move {
            let _ = wait.await;
            "a1"
        });
        lanes.push("a", async { "a2" });
        lanes.push("b", async { "b1" });
        assert_eq!(lanes.len(), 3);
        assert_eq!(lanes.next().await, Some("b1"));
        let _ = go.send(());
        assert_eq!(lanes.next().await, Some("a1"));
        assert_eq!(lanes.next().await, Some("a2"));
        assert_eq!(lanes.next().await, None);
        assert_eq!(lanes.len(), 0);
    }

    #[tokio::test]
    async fn what_panics_takes_nothing_with_it() {
        let mut lanes = Lanes::new();
        lanes.push("a", async { panic!("planted") });
        lanes.push("a", async { 2 });
        assert_eq!(lanes.next().await, Some(2));
        assert_eq!(lanes.next().await, None);
    }
}
