//! A bounded queue between async callers and threads that block.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::Semaphore;

use super::batch_wait::{self, BatchWait};

pub(super) struct Queue<T> {
    room: Semaphore,
    inner: Mutex<QueueInner<T>>,
    wake: Condvar,
    /// How many were taken the last time.
    taken: AtomicUsize,
}

struct QueueInner<T> {
    items: VecDeque<T>,
    is_closed: bool,
    is_abandoned: bool,
    /// Threads that sleep: without any, a push need not wake one.
    asleep: usize,
    /// Items for which it is worth to wake one.
    worth: usize,
    /// Items for which no room was taken.
    unbounded: usize,
}

/// What a thread got.
pub(super) enum Dequeued<T> {
    Items(Vec<T>),
    /// Nothing came within the time.
    Idle,
    /// Nothing will come any more.
    Closed,
    /// All senders were dropped without closing it.
    Abandoned,
}

impl<T> Queue<T> {
    pub(super) fn new(items_max: usize) -> Queue<T> {
        let inner = QueueInner {
            items: VecDeque::new(),
            is_closed: false,
            is_abandoned: false,
            asleep: 0,
            worth: 1,
            unbounded: 0,
        };
        Queue {
            room: Semaphore::new(items_max),
            inner: Mutex::new(inner),
            wake: Condvar::new(),
            taken: AtomicUsize::new(0),
        }
    }

    /// Waits for room. Returns the item if the queue is closed.
    pub(super) async fn push(&self, item: T) -> Result<(), T> {
        let Ok(permit) = self.room.acquire().await else { return Err(item) };
        permit.forget();
        self.add(item, 0)
    }

    /// The same without waiting, however full it is: for items that their callers bound.
    pub(super) fn push_now(&self, item: T) -> Result<(), T> {
        self.add(item, 1)
    }

    fn add(&self, item: T, unbounded: usize) -> Result<(), T> {
        let mut inner = self.lock();
        if inner.is_closed {
            return Err(item);
        }
        inner.items.push_back(item);
        inner.unbounded += unbounded;
        if inner.asleep > 0 && inner.items.len() >= inner.worth {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// What is there, at most so many; waits if there is nothing.
    pub(super) fn take(&self, items_max: usize, patience: Option<Duration>) -> Dequeued<T> {
        self.take_with(items_max, patience, None)
    }

    /// The same; what is there waits for batch_wait. For a queue that one thread takes from.
    pub(super) fn take_with(
        &self,
        items_max: usize,
        patience: Option<Duration>,
        batch_wait: Option<BatchWait>,
    ) -> Dequeued<T> {
        let mut inner = self.lock();
        if let Some(batch_wait) = batch_wait {
            inner = self.await_company(inner, batch_wait);
        }
        loop {
            if !inner.items.is_empty() {
                let count = inner.items.len().min(items_max);
                let items = inner.items.drain(..count).collect();
                let unbounded = inner.unbounded.min(count);
                inner.unbounded -= unbounded;
                self.room.add_permits(count - unbounded);
                self.taken.store(count, Ordering::Relaxed);
                return Dequeued::Items(items);
            }
            if inner.is_closed {
                return if inner.is_abandoned { Dequeued::Abandoned } else { Dequeued::Closed };
            }
            inner.asleep += 1;
            let timed_out;
            (inner, timed_out) = match patience {
                None => (self.wake.wait(inner).unpoisoned(), false),
                Some(patience) => {
                    let (inner, result) = self.wake.wait_timeout(inner, patience).unpoisoned();
                    (inner, result.timed_out())
                }
            };
            inner.asleep -= 1;
            if timed_out && inner.items.is_empty() && !inner.is_closed {
                return Dequeued::Idle;
            }
        }
    }

    fn await_company<'a>(
        &self,
        mut inner: MutexGuard<'a, QueueInner<T>>,
        batch_wait: BatchWait,
    ) -> MutexGuard<'a, QueueInner<T>> {
        inner.worth = batch_wait.count;
        while inner.items.len() < batch_wait.count && !inner.is_closed {
            let left = batch_wait.until.saturating_duration_since(batch_wait::now());
            if left.is_zero() {
                break;
            }
            inner.asleep += 1;
            (inner, _) = self.wake.wait_timeout(inner, left).unpoisoned();
            inner.asleep -= 1;
        }
        // mutant: one-alone-wakes-nobody
        inner.worth = 1;
        inner
    }

    /// How many were taken the last time: how busy the consumer is.
    pub(super) fn last_taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().items.len()
    }

    /// Takes nothing more in; what is in it is still handed out.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.room.close();
        self.wake.notify_all();
    }

    /// Takes nothing more in, and forgets what is in it.
    pub(super) fn abandon(&self) {
        let items = {
            let mut inner = self.lock();
            inner.is_abandoned = true;
            std::mem::take(&mut inner.items)
        };
        self.close();
        // Dropped outside of the lock: the drop tells those who wait for an item.
        drop(items);
    }

    fn lock(&self) -> MutexGuard<'_, QueueInner<T>> {
        self.inner.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn items<T>(taken: Dequeued<T>) -> Vec<T> {
        match taken {
            Dequeued::Items(items) => items,
            Dequeued::Idle | Dequeued::Closed | Dequeued::Abandoned => Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_full_queue_makes_callers_wait_and_loses_nothing() {
        let queue = Arc::new(Queue::new(2));
        let pushing = {
            let queue = queue.clone();
            async move {
                for number in 0..10 {
                    queue.push(number).await.unwrap();
                }
                queue.close();
            }
        };
        let taking = {
            let queue = queue.clone();
            std::thread::spawn(move || {
                let mut seen = Vec::new();
                while let Dequeued::Items(items) = queue.take(3, None) {
                    assert!(items.len() <= 2);
                    seen.extend(items);
                }
                seen
            })
        };
        pushing.await;
        assert_eq!(taking.join().unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!(queue.push(11).await, Err(11));
    }

    #[tokio::test]
    async fn an_abandoned_queue_forgets_and_a_closed_one_does_not() {
        let queue = Queue::new(4);
        queue.push(1).await.unwrap();
        queue.close();
        assert_eq!((items(queue.take(9, None)), queue.last_taken()), (vec![1], 1));
        assert!(matches!(queue.take(9, None), Dequeued::Closed));

        let queue = Queue::new(4);
        queue.push(1).await.unwrap();
        queue.abandon();
        assert!(matches!(queue.take(9, None), Dequeued::Abandoned));
    }

    fn batch_wait(count: usize, within: Duration) -> Option<BatchWait> {
        Some(BatchWait { count, until: batch_wait::now() + within })
    }

    /// A thread that takes, once it sleeps.
    fn sleeping(
        queue: &Arc<Queue<u8>>,
        batch_wait: Option<BatchWait>,
    ) -> std::thread::JoinHandle<Vec<u8>> {
        let taking = {
            let queue = queue.clone();
            std::thread::spawn(move || items(queue.take_with(9, None, batch_wait)))
        };
        while queue.lock().asleep == 0 {
            std::thread::yield_now();
        }
        taking
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_is_there_waits_for_company() {
        let queue = Arc::new(Queue::new(4));
        queue.push(1).await.unwrap();
        let taking = sleeping(&queue, batch_wait(3, LONG));
        queue.push(2).await.unwrap();
        assert_eq!(queue.len(), 2, "not yet");
        queue.push(3).await.unwrap();
        assert_eq!(taking.join().unwrap(), [1, 2, 3]);
    }

    #[tokio::test]
    async fn company_that_does_not_come_is_not_waited_for_again() {
        let queue = Arc::new(Queue::new(4));
        queue.push(1).await.unwrap();
        assert_eq!(items(queue.take_with(9, None, batch_wait(3, Duration::from_millis(1)))), [1]);
        let taking = sleeping(&queue, None);
        queue.push(2).await.unwrap();
        assert_eq!(taking.join().unwrap(), [2], "one is enough to wake it");
    }

    #[tokio::test]
    async fn nobody_waits_for_company_when_no_more_can_come() {
        for end in [Queue::close, Queue::abandon] {
            let queue = Arc::new(Queue::new(4));
            queue.push(1).await.unwrap();
            let taking = sleeping(&queue, batch_wait(2, LONG));
            end(&queue);
            assert!(taking.join().unwrap().len() <= 1);
        }
    }

    #[test]
    fn patience_ends() {
        let queue = Queue::<u8>::new(1);
        assert!(matches!(queue.take(1, Some(Duration::from_millis(1))), Dequeued::Idle));
    }
}
