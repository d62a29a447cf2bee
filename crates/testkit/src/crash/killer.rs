//! Kills the server at random moments and starts it again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::phases::{Follower, Phases, in_flight};
use super::stage::{Moment, Stage};
use super::world::{START_WITHIN, World};
use crate::binary::Server;
use crate::chance::Chance;

/// A moment that does not come by then is not waited for.
const MOMENT_WITHIN: Duration = Duration::from_millis(500);
/// How long after its moment a kill comes: mostly at once, sometimes so late that whatever the
/// moment set going is over.
const DELAYS: [Duration; 4] = [
    Duration::from_millis(2),
    Duration::from_millis(15),
    Duration::from_millis(90),
    Duration::from_millis(300),
];
/// Out of a hundred kills, those that hit a server that is still starting, and within what time.
const EARLY_PERCENT: u64 = 12;
const EARLY_WITHIN: Duration = Duration::from_millis(150);

/// How a server comes to its end, and what its disk is like afterwards.
pub(crate) trait Ending {
    /// Where the data will lie, before the first start.
    fn begin(&mut self, data: &Path);

    async fn end(&mut self, server: Server) -> Result<(), String>;
}

/// SIGKILL. What the kernel was given survives.
pub(super) struct Kill;

impl Ending for Kill {
    fn begin(&mut self, _: &Path) {}

    async fn end(&mut self, server: Server) -> Result<(), String> {
        server.kill().await;
        Ok(())
    }
}

pub(super) struct Killer<'a, E> {
    pub(super) world: &'a World,
    pub(super) ending: &'a mut E,
    pub(super) stage: Arc<Stage>,
    pub(super) chance: Chance,
    pub(super) killed: Killed,
}

/// What the kills came to.
#[derive(Debug, Default)]
pub struct Killed {
    pub kills: u64,
    pub restarts: u64,
    pub phases: Phases,
}

impl<E: Ending> Killer<'_, E> {
    /// Returns a server that runs, after so many that do not.
    pub(super) async fn kill(&mut self, mut server: Server, kills: u64) -> Result<Server, String> {
        let mut follower = Follower::default();
        for number in 0..kills {
            let early = number > 0 && self.chance.percent(EARLY_PERCENT);
            if early {
                sleep(self.chance.up_to(EARLY_WITHIN)).await;
            } else {
                server.ready(&self.world.api, START_WITHIN).await?;
                self.wait_for_a_moment().await;
            }
            let requests = self.stage.oracle.known().in_flight.clone();
            self.ending.end(server).await?;
            self.killed.kills += 1;
            let journal = follower.read_on(&self.world.database())?;
            let mut phases = follower.phases(|call| {
                self.world.witness().has_seen(call) || self.world.ledger().has_seen(call)
            });
            if early {
                phases.insert("starting".into(), 1);
            } else {
                phases.extend(in_flight(&journal, &requests));
            }
            for (phase, hits) in phases {
                *self.killed.phases.entry(phase).or_default() += hits;
            }
            server = self.world.start();
            self.killed.restarts += 1;
        }
        server.ready(&self.world.api, START_WITHIN).await?;
        Ok(server)
    }

    async fn wait_for_a_moment(&mut self) {
        let wanted = *self.chance.pick(&Moment::ALL);
        let mut moments = self.stage.moments();
        let comes = async {
            loop {
                match moments.recv().await {
                    Ok(moment) if moment != wanted => {}
                    _ => return,
                }
            }
        };
        let _ = timeout(MOMENT_WITHIN, comes).await;
        let longest = *self.chance.pick(&DELAYS);
        sleep(self.chance.up_to(longest)).await;
    }
}
