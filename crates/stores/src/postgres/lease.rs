//! Which nodes live, judged without trusting anybody's clock.
//!
//! A node renews its row every second. A renewal lets it begin calls for four seconds, counted by a clock that goes on
//! while the machine sleeps, from when the renewal was *sent*. Others take it for gone when they have seen no
//! renewal for eight seconds by such a clock of their own, while their own renewals succeeded. So it has stopped by
//! itself before anybody takes over. When the database was away, nobody renewed, and everybody gets eight new seconds.
//!
//! Taking a node for gone locks the head of the journal, as every write does: after that nothing of it is
//! written any more, and what it wrote before is seen.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::time::Timestamp;
use futures_util::future;
use nix::time::{ClockId, clock_gettime};
use tokio::sync::{Notify, watch};

use super::connection::{PgConnection, begin_within, in_time};
use super::connector::PgConnector;
use super::database_clock::{DATABASE_NOW, DatabaseClock};
use super::error::PgFailure;
use super::limits::{BEAT, SILENT_FOR, VALID_FOR};
use super::node_end::{NodeEnd, PgNodeEnd};
use super::sql::TypedSql;
use super::transaction::{forget_side_mark, lock_head};

/// Since the machine was switched on, sleep included.
fn since_boot() -> Duration {
    // A machine without this clock has never been seen. Time that stands still lets nothing begin for long: see
    // `NodeLease::is_valid`.
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from)
}

/// What this process knows of its own row.
pub(super) struct NodeLease {
    node: Vec<u8>,
    /// In milliseconds since the machine was switched on.
    valid_until: AtomicU64,
    end: NodeEnd,
    /// The version of the global state that this node acts by.
    global_seen: AtomicU64,
    renew_now: Notify,
    ends: watch::Sender<bool>,
    /// One more whenever this node is to take over what others left. The hearer looks for all of that.
    pub(super) gone: watch::Sender<u64>,
    clock: DatabaseClock,
}

/// The other nodes, as this one sees them.
pub(super) struct OtherNodes {
    /// Those that live, and when each was seen to renew.
    beats: HashMap<Vec<u8>, LastBeat>,
    /// Nodes that are gone and whose work this one has been told to take over, or had found gone when it began. A number
    /// that only grows, so that an end which was missed while the database was away is noticed at the next look.
    taken_over: i64,
}

/// Of another node, what was seen last and when.
struct LastBeat {
    beat: i64,
    since: Duration,
}

impl NodeLease {
    /// Enters this process among the living.
    pub(super) async fn register(
        node: Vec<u8>,
        connection: &PgConnection,
        end: NodeEnd,
    ) -> Result<(Arc<NodeLease>, OtherNodes), PgFailure> {
        let sent = since_boot();
        let entered = TypedSql::new(format!(
            "INSERT INTO holdpoint.nodes (id, beat, until, global_seen, gone) \
             VALUES ($1, 1, clock_timestamp() + $2 * interval '1 millisecond', 0, false) \
             RETURNING (SELECT count(*) FROM holdpoint.nodes WHERE gone), {DATABASE_NOW}",
        ));
        let entered = entered.with(node.clone()).with(SILENT_FOR.as_millis() as i64);
        let entered = entered.row(&connection.client).await?.ok_or(PgFailure::Silent)?;
        // The start itself looks for what those have left.
        let taken_over = entered.get(0);
        let lease = NodeLease {
            node,
            valid_until: AtomicU64::new((sent + VALID_FOR).as_millis() as u64),
            end,
            global_seen: AtomicU64::new(0),
            renew_now: Notify::new(),
            ends: watch::Sender::new(false),
            gone: watch::Sender::new(0),
            clock: DatabaseClock::new(entered.get(1), sent, since_boot()),
        };
        Ok((Arc::new(lease), OtherNodes { beats: HashMap::new(), taken_over }))
    }

    /// Whether this node may begin a call at this moment.
    pub(super) fn is_valid(&self) -> bool {
        let now = since_boot().as_millis() as u64;
        now != 0 && now < self.valid_until.load(Ordering::Acquire) && !self.end.has_come()
    }

    /// The time by the database's clock.
    pub(super) fn database_now(&self) -> Timestamp {
        self.clock.now(since_boot())
    }

    /// Turns `true` when the store is closed.
    pub(super) fn ends(&self) -> watch::Receiver<bool> {
        self.ends.subscribe()
    }

    /// From here on this node acts by that version of the global state.
    pub(super) fn note_global(&self, version: u64) {
        if self.global_seen.fetch_max(version, Ordering::AcqRel) < version {
            self.renew_now.notify_one();
        }
    }

    /// Renews until the store is closed, or this node's end has come.
    pub(super) async fn keep(self: Arc<Self>, connector: Arc<PgConnector>, mut others: OtherNodes) {
        let mut ends = self.ends.subscribe();
        let mut connection = None;
        let mut renewing_since = None;
        while !self.end.has_come() {
            let beat = self.beat(&connector, &mut connection, &mut others, &mut renewing_since);
            tokio::select! {
                beaten = beat => if let Err(failure) = beaten {
                    connection = None;
                    // Nobody is judged by what was not seen while we could not look.
                    renewing_since = None;
                    others.beats.clear();
                    tracing::warn!(%failure, "this node's lease could not be renewed");
                },
                _ = ends.wait_for(|ends| *ends) => return,
            }
            tokio::select! {
                () = tokio::time::sleep(BEAT) => {}
                () = self.renew_now.notified() => {}
                _ = ends.wait_for(|ends| *ends) => return,
            }
        }
    }

    async fn beat(
        &self,
        connector: &PgConnector,
        connection: &mut Option<PgConnection>,
        others: &mut OtherNodes,
        renewing_since: &mut Option<Duration>,
    ) -> Result<(), PgFailure> {
        if connection.as_ref().is_none_or(PgConnection::is_closed) {
            *connection = Some(connector.connect().await?);
        }
        let Some(connection) = connection else { return Err(PgFailure::Silent) };
        let sent = since_boot();
        let renewed = in_time(VALID_FOR, self.renew(connection)).await?;
        if !renewed {
            self.end.end(&PgNodeEnd::Fenced);
            return Ok(());
        }
        self.valid_until.fetch_max((sent + VALID_FOR).as_millis() as u64, Ordering::AcqRel);
        // A pause of our own is as long as a silence of the others.
        let paused = renewing_since.is_none_or(|last| sent > last + VALID_FOR);
        if paused {
            others.beats.clear();
        }
        *renewing_since = Some(sent);
        in_time(VALID_FOR, self.judge(connection, others)).await
    }

    async fn renew(&self, connection: &PgConnection) -> Result<bool, PgFailure> {
        let renewed = TypedSql::new(
            "UPDATE holdpoint.nodes SET beat = beat + 1, global_seen = $3, \
                 until = clock_timestamp() + $2 * interval '1 millisecond' \
             WHERE id = $1 AND NOT gone",
        )
        .with(self.node.clone())
        .with(SILENT_FOR.as_millis() as i64)
        .with(self.global_seen.load(Ordering::Acquire) as i64);
        let (client, begin) = (&connection.client, begin_within(VALID_FOR));
        // Sent at once, and done by the server in this order.
        let (begun, renewed, committed) =
            future::join3(client.batch_execute(&begin), renewed.run(client), connection.commit())
                .await;
        begun?;
        let renewed = renewed?;
        committed?;
        Ok(renewed == 1)
    }

    /// Looks whether another node says nothing any more.
    async fn judge(
        &self,
        connection: &PgConnection,
        others: &mut OtherNodes,
    ) -> Result<(), PgFailure> {
        let living = TypedSql::new(format!(
            "SELECT id, beat, until < clock_timestamp(), \
                 (SELECT count(*) FROM holdpoint.nodes WHERE gone), {DATABASE_NOW} \
             FROM holdpoint.nodes WHERE NOT gone ORDER BY id",
        ));
        let asked = since_boot();
        let living = living.rows(&connection.client).await?;
        let now = since_boot();
        if let Some(row) = living.first() {
            self.clock.note(row.get(4), asked, now);
        }
        let mut silent = Vec::new();
        let mut known = HashMap::new();
        for row in &living {
            let (id, beat, is_over): (Vec<u8>, i64, bool) = (row.get(0), row.get(1), row.get(2));
            if id == self.node {
                continue;
            }
            let since = match others.beats.get(&id) {
                Some(last) if last.beat == beat => last.since,
                _ => now,
            };
            if is_over && now >= since + SILENT_FOR {
                silent.push((id.clone(), beat));
            }
            known.insert(id, LastBeat { beat, since });
        }
        others.beats = known;
        // Of those who see it, one takes its work over: the first of the living. If that one dies meanwhile, the next sees
        // so in turn.
        if let Some(first) = living.first()
            && first.get::<_, &[u8]>(0) == self.node
            && first.get::<_, i64>(3) > others.taken_over
        {
            others.taken_over = first.get(3);
            self.gone.send_modify(|count| *count += 1);
        }
        for (id, beat) in silent {
            self.fence(connection, id, beat).await?;
        }
        Ok(())
    }

    async fn fence(
        &self,
        connection: &PgConnection,
        id: Vec<u8>,
        beat: i64,
    ) -> Result<(), PgFailure> {
        let client = &connection.client;
        client.batch_execute(&begin_within(VALID_FOR)).await?;
        lock_head().rows(client).await?;
        let fenced = TypedSql::new(
            "UPDATE holdpoint.nodes SET gone = true \
             WHERE id = $1 AND beat = $2 AND until < clock_timestamp() AND NOT gone",
        )
        .with(id.clone())
        .with(beat)
        .run(client)
        .await?;
        if fenced == 1 {
            forget_side_mark(&id).run(client).await?;
        }
        connection.commit().await?;
        if fenced == 1 {
            tracing::warn!(
                "a node was not heard of for {} s and is taken for gone",
                SILENT_FOR.as_secs()
            );
            // The first of the living sees it at its next look: if that is this node, now.
            self.renew_now.notify_one();
        }
        Ok(())
    }

    /// The last word of this process: others need not wait for it.
    pub(super) async fn close(&self, connector: &PgConnector, connection: Option<PgConnection>) {
        self.ends.send_replace(true);
        self.valid_until.store(0, Ordering::Release);
        if self.end.has_come() {
            return;
        }
        let saying = async {
            let connection = match connection.filter(|connection| !connection.is_closed()) {
                Some(connection) => connection,
                None => connector.connect().await?,
            };
            let client = &connection.client;
            client.batch_execute(&begin_within(VALID_FOR)).await?;
            TypedSql::new("UPDATE holdpoint.nodes SET gone = true WHERE id = $1")
                .with(self.node.clone())
                .run(client)
                .await?;
            forget_side_mark(&self.node).run(client).await?;
            connection.commit().await
        };
        if let Err(failure) = in_time(VALID_FOR, saying).await {
            tracing::warn!(%failure, "the other nodes could not be told that this one has ended");
        }
    }
}
