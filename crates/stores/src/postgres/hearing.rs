//! Hears what other nodes write. A notice is only a wake-up: it may be lost, and behind it the head is looked at
//! every now and then. What this node wrote itself is not told again.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};

use ports::store::HeardOfOthers;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio_postgres::{AsyncMessage, Client};

use super::connection::{in_time, tls};
use super::connector::{JournalMark, PgConnector};
use super::error::PgFailure;
use super::limits::{ANSWER_WITHIN, CONNECT_WITHIN, LOOK_WITH_LISTENER, LOOK_WITHOUT_LISTENER};
use super::reads;
use super::transaction::CHANNEL;

/// What this node wrote, as global positions: each stretch begins after the first and ends with the second.
#[derive(Default)]
pub(super) struct OwnWrites(Mutex<VecDeque<(u64, u64)>>);

impl OwnWrites {
    /// Before anybody is told of the commits.
    pub(super) fn note(&self, after: u64, upto: u64) {
        let mut stretches = self.0.lock().unpoisoned();
        match stretches.back_mut() {
            Some((_, last)) if *last == after => *last = upto,
            _ => stretches.push_back((after, upto)),
        }
    }

    /// How far it is known from here without looking: up to the end of a stretch of ours that begins here.
    fn passed(&self, mut position: u64) -> u64 {
        let mut stretches = self.0.lock().unpoisoned();
        while let Some((after, upto)) = stretches.front().copied()
            && after <= position
        {
            position = position.max(upto);
            stretches.pop_front();
        }
        position
    }

    /// Where the next stretch of ours begins, if it is before the end of what was heard of.
    fn next_after(&self, upto: u64) -> u64 {
        let stretches = self.0.lock().unpoisoned();
        stretches.front().map_or(upto, |(after, _)| (*after).min(upto))
    }
}

pub(super) struct Hearing {
    pub(super) connector: Arc<PgConnector>,
    /// Changes whenever this node is to take over what others left.
    pub(super) gone: watch::Receiver<u64>,
    /// Turns `true` when the store is closed.
    pub(super) ends: watch::Receiver<bool>,
    pub(super) own: Arc<OwnWrites>,
    pub(super) told: mpsc::Sender<HeardOfOthers>,
    /// Where the journal ended when the store was opened.
    pub(super) position: u64,
}

struct Listener {
    client: Client,
    heard: Arc<Notify>,
    wire: JoinSet<()>,
}

impl Hearing {
    /// Until the store is closed, nobody listens, or this node's end has come.
    pub(super) async fn run(mut self) {
        let mut listener = None;
        while !self.connector.end().has_come() {
            if let Err(failure) = self.look(&mut listener).await {
                tracing::debug!(%failure, "it could not be looked at what other nodes wrote");
                listener = None;
            }
            let listens =
                listener.as_ref().filter(|listener: &&Listener| !listener.wire.is_empty());
            let pause = match listens {
                Some(_) => LOOK_WITH_LISTENER,
                None => LOOK_WITHOUT_LISTENER,
            };
            let notified = async {
                match listens {
                    Some(listener) => listener.heard.notified().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = notified => {}
                () = tokio::time::sleep(pause) => {}
                changed = self.gone.changed() => {
                    if changed.is_err() || self.told.send(HeardOfOthers::Gone).await.is_err() {
                        return;
                    }
                }
                () = async { drop(self.ends.wait_for(|ends| *ends).await) } => return,
                () = self.told.closed() => return,
            }
        }
    }

    /// Tells of what lies between the last look and the head, without the stretches that this node wrote.
    async fn look(&mut self, listener: &mut Option<Listener>) -> Result<(), PgFailure> {
        if listener.as_ref().is_none_or(|listener| listener.client.is_closed()) {
            *listener = Some(Listener::open(&self.connector).await?);
        }
        let Some(listener) = listener else { return Ok(()) };
        let seen = self.connector.seen();
        let row = in_time(ANSWER_WITHIN, async { Ok(reads::head().row(&listener.client).await?) });
        let Some(row) = row.await? else { return Ok(()) };
        let head = row.get::<_, i64>(0) as u64;
        let mark = JournalMark { seq: row.get::<_, i64>(1) as u64, hash: row.get(3) };
        self.connector.compare(&seen, &mark)?;
        self.connector.note(mark);
        loop {
            self.position = self.own.passed(self.position);
            if self.position >= head {
                return Ok(());
            }
            let (after, upto) = (self.position, self.own.next_after(head));
            self.position = upto;
            if self.told.send(HeardOfOthers::Wrote { after, upto }).await.is_err() {
                return Ok(());
            }
        }
    }
}

impl Listener {
    async fn open(connector: &PgConnector) -> Result<Listener, PgFailure> {
        let address = connector.address();
        let connecting = address.config.connect(tls(address)?);
        let connected = tokio::time::timeout(CONNECT_WITHIN, connecting).await;
        let (client, mut connection) = connected.map_err(|_| PgFailure::Silent)??;
        let heard = Arc::new(Notify::new());
        let mut wire = JoinSet::new();
        let notify = heard.clone();
        wire.spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if let AsyncMessage::Notification(_) = message {
                    notify.notify_one();
                }
            }
        });
        connector.check(&client).await?;
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        Ok(Listener { client, heard, wire })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told, when the head is seen at these positions.
    fn told(own: &OwnWrites, position: &mut u64, head: u64) -> Vec<(u64, u64)> {
        let mut told = Vec::new();
        loop {
            *position = own.passed(*position);
            if *position >= head {
                return told;
            }
            let upto = own.next_after(head);
            told.push((*position, upto));
            *position = upto;
        }
    }

    #[test]
    fn others_are_told_of_and_what_is_ours_is_not() {
        let (own, mut position) = (OwnWrites::default(), 10);
        own.note(10, 12);
        own.note(12, 15);
        assert_eq!(told(&own, &mut position, 15), []);
        own.note(18, 20);
        own.note(23, 24);
        assert_eq!(told(&own, &mut position, 25), [(15, 18), (20, 23), (24, 25)]);
        // Ours, and seen in the head before it was noted: told once too often, which harms nobody.
        assert_eq!(told(&own, &mut position, 30), [(25, 30)]);
        own.note(25, 30);
        assert_eq!(told(&own, &mut position, 30), []);
        assert!(own.0.lock().unwrap().is_empty());
    }
}
