//! Kills the server at random moments and starts it again; now and then it only stops it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::{sleep, timeout};

use super::checks;
use super::phases::{Follower, Phases, in_flight};
use super::stage::{Moment, Stage};
use super::world::{START_WITHIN, World};
use crate::binary::Server;
use crate::rng::Rng;

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
/// Out of a hundred moments, those at which the server is stopped (SIGSTOP), and for how long: the
/// longest is more than callers wait for an answer.
const STOP_PERCENT: u64 = 15;
const STOPPED: [Duration; 4] = [
    Duration::from_millis(30),
    Duration::from_millis(200),
    Duration::from_millis(200),
    Duration::from_millis(1_900),
];
/// Out of a hundred stopped servers, those that are killed without waking up again.
const NEVER_WAKES_PERCENT: u64 = 40;

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
    pub(super) rng: Rng,
    pub(super) killed: Killed,
    /// Told of every kill.
    pub(super) tell: Option<fn(&Killed)>,
}

/// What the kills came to.
#[derive(Clone, Debug, Default)]
pub struct Killed {
    pub kills: u64,
    pub restarts: u64,
    /// How often a server was stopped, and how often it never woke up.
    pub stops: u64,
    pub killed_stopped: u64,
    /// Second servers that did not start on the data of a stopped one.
    pub refused: u64,
    pub phases: Phases,
}

impl<E: Ending> Killer<'_, E> {
    /// Returns a server that runs, after so many that do not.
    pub(super) async fn kill(&mut self, mut server: Server, kills: u64) -> Result<Server, String> {
        let mut follower = Follower::default();
        for number in 0..kills {
            let early = number > 0 && self.rng.percent(EARLY_PERCENT);
            if early {
                sleep(self.rng.up_to(EARLY_WITHIN)).await;
            } else {
                server.ready(&self.world.api, START_WITHIN).await?;
                self.wait_for_a_moment().await;
                while self.rng.percent(STOP_PERCENT) && self.stop(&server).await? {
                    self.wait_for_a_moment().await;
                }
            }
            let requests = self.stage.oracle.known().in_flight.clone();
            self.ending.end(server).await?;
            self.killed.kills += 1;
            let journal = follower.read_on(&self.world.database())?;
            for what in checks::begun(&self.world.begun(), &follower.facts) {
                self.stage.oracle.wrong(what);
            }
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
            if let Some(tell) = self.tell {
                tell(&self.killed);
            }
        }
        server.ready(&self.world.api, START_WITHIN).await?;
        Ok(server)
    }

    /// Stops the server for a while. False if it is to be killed as it is.
    async fn stop(&mut self, server: &Server) -> Result<bool, String> {
        server.signal(Signal::SIGSTOP)?;
        self.killed.stops += 1;
        if self.rng.percent(30) {
            match refuses_a_second(self.world).await {
                Ok(()) => self.killed.refused += 1,
                Err(what) => self.stage.oracle.wrong(what),
            }
        }
        let longest = *self.rng.pick(&STOPPED);
        sleep(self.rng.up_to(longest)).await;
        if self.rng.percent(NEVER_WAKES_PERCENT) {
            self.killed.killed_stopped += 1;
            return Ok(false);
        }
        server.signal(Signal::SIGCONT)?;
        Ok(true)
    }

    async fn wait_for_a_moment(&mut self) {
        let wanted = *self.rng.pick(&Moment::ALL);
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
        let longest = *self.rng.pick(&DELAYS);
        sleep(self.rng.up_to(longest)).await;
    }
}

/// While somebody has the data, awake or not, nobody else gets it.
pub(super) async fn refuses_a_second(world: &World) -> Result<(), String> {
    let mut second = world.start_beside();
    match timeout(START_WITHIN, second.ended()).await {
        Ok(status) if !status.success() && second.last_words().contains(IN_USE) => Ok(()),
        Ok(status) => Err(format!(
            "SECOND: another server on the data of one that is stopped ended with {status}: {}",
            second.last_words()
        )),
        Err(_) => Err(format!(
            "SECOND: another server on the data of one that is stopped does not end: {}",
            second.last_words()
        )),
    }
}

const IN_USE: &str = "another Holdpoint server is using";
