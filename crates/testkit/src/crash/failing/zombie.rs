//! A server that is stopped in the middle of its work, and wakes up later, or never.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::{Instant, sleep, timeout};

use super::keeper::Keeper;
use super::scenario::Scenario;
use super::trial::Trial;
use crate::binary::{Binary, Server};
use crate::crash::killer::refuses_a_second;
use crate::crash::outsider::Inbox;
use crate::crash::report::Report;
use crate::crash::stage::Stage;
use crate::crash::world::{START_WITHIN, World};
use crate::crash::{STOP_WITHIN, examine};
use crate::rng::Rng;

/// Long enough for a tool to run beside the stopped server, if it is let.
const ASLEEP: Duration = Duration::from_millis(600);

/// One such test.
#[derive(Clone, Copy, Debug)]
pub struct Zombie {
    /// The fail point at which the server stops itself.
    pub at: &'static str,
    /// Whether it wakes up again; otherwise it is killed, and another one takes over.
    pub wakes: bool,
    /// Effects that the tool may have had while the server slept.
    pub effects_asleep: u64,
}

static ONE_CALL: Scenario =
    Scenario { name: "zombie", before: None, says: &["witness"], asks: false, claims: false };

impl Zombie {
    /// What is wrong with how it went.
    pub async fn run(self, seed: u64) -> Vec<String> {
        let mut rng = Rng::new(seed);
        let world = World::new(Binary::find(), &mut rng);
        let stage = Arc::new(Stage::new());
        stage.close();
        let mut report = Report::default();
        let fatal = self.perform(&world, &stage, &mut rng, &mut report).await.err();
        let mut wrong = std::mem::take(&mut stage.oracle.known().wrong);
        wrong.append(&mut report.wrong);
        wrong.extend(fatal);
        if !wrong.is_empty() {
            wrong.push(format!("the data is in {}", world.keep().display()));
        }
        wrong
    }

    async fn perform(
        self,
        world: &World,
        stage: &Arc<Stage>,
        rng: &mut Rng,
        report: &mut Report,
    ) -> Result<(), String> {
        let trial = Trial { scenario: &ONE_CALL, orders: vec![format!("{}=stop", self.at)] };
        let mut keeper = Keeper::new(world, trial.orders.clone());
        let server = keeper.ready().await?;
        let callers = world.callers()?;
        let inbox = Inbox::default();
        let mut parties = trial.begin(world, stage, &callers, rng, (&inbox, ""));
        let asleep = tokio::select! {
            () = parties.finish(stage) => Err("it was never stopped".to_owned()),
            asleep = self.sleeps(&keeper, &server) => asleep,
        };
        asleep?;
        refuses_a_second(world).await?;
        sleep(ASLEEP).await;
        let effects = world.witness().lines()?.len() as u64;
        if effects != self.effects_asleep {
            return Err(format!("{effects} effects while the server slept"));
        }
        let server = if self.wakes {
            server.signal(Signal::SIGCONT)?;
            server
        } else {
            server.kill().await;
            keeper.ready().await?
        };
        let finished = timeout(START_WITHIN + STOP_WITHIN, parties.finish(stage)).await;
        finished.map_err(|_| format!("it does not end: {}", server.last_words()))?;
        let server = keeper.calm(server).await?;
        examine(world, stage, &callers, server, report).await?;
        let executions = world.witness().lines()?.len();
        if executions != 1 {
            return Err(format!("TWICE: {executions} effects of one call"));
        }
        Ok(())
    }

    /// Returns when the server has stopped itself.
    async fn sleeps(&self, keeper: &Keeper<'_>, server: &Server) -> Result<(), String> {
        let until = Instant::now() + START_WITHIN;
        let status = format!("/proc/{}/status", server.started_as());
        while Instant::now() < until {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            if keeper.log().did(self.at, "stop") > 0 && text.contains("State:\tT") {
                return Ok(());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Err(format!("`{}` was never reached: {}", self.at, server.last_words()))
    }
}
