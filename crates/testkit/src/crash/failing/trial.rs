//! One scenario with some orders to fail, driven to its end and examined.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::keeper::Keeper;
use super::log::PointLog;
use super::scenario::Scenario;
use crate::binary::Binary;
use crate::crash::approver::Approver;
use crate::crash::outsider::{Inbox, Outsider};
use crate::crash::report::Report;
use crate::crash::stage::Stage;
use crate::crash::talker::Talker;
use crate::crash::world::{Callers, World};
use crate::crash::{Parties, examine};
use crate::rng::Rng;

#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) scenario: &'static Scenario,
    /// One for each start, after the scenario's own.
    pub(super) orders: Vec<String>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Tried {
    pub(super) log: PointLog,
    /// Servers that were killed; a supervisor that was is none.
    pub(super) deaths: u64,
    pub(super) in_doubt: u64,
    pub(super) wrong: Vec<String>,
    pub(super) kept: Option<PathBuf>,
}

impl Trial {
    pub(super) async fn run(&self, seed: u64) -> Tried {
        let mut rng = Rng::new(seed);
        let world = World::new(Binary::find(), &mut rng);
        let before = self.scenario.before.map(str::to_owned);
        let mut keeper = Keeper::new(&world, before.into_iter().chain(self.orders.iter().cloned()));
        let stage = Arc::new(Stage::new());
        // From the beginning everything must end within its time.
        stage.close();
        let mut report = Report::default();
        let fatal = self.perform(&world, &mut keeper, &stage, &mut rng, &mut report).await.err();
        let mut tried = Tried {
            log: keeper.log(),
            deaths: keeper.deaths,
            in_doubt: report.in_doubt,
            wrong: keeper.wrong,
            kept: None,
        };
        tried.wrong.append(&mut stage.oracle.known().wrong);
        tried.wrong.append(&mut report.wrong);
        tried.wrong.extend(fatal);
        if !tried.wrong.is_empty() {
            tried.kept = Some(world.keep());
        }
        tried
    }

    async fn perform(
        &self,
        world: &World,
        keeper: &mut Keeper<'_>,
        stage: &Arc<Stage>,
        rng: &mut Rng,
        report: &mut Report,
    ) -> Result<(), String> {
        let mut server = keeper.ready().await?;
        let callers = world.callers()?;
        let (inbox, address, _receiving) =
            Inbox::open().await.map_err(|error| error.to_string())?;
        let mut parties = self.begin(world, stage, &callers, rng, (&inbox, &address));
        loop {
            let ended = tokio::select! {
                status = server.ended() => status,
                () = parties.finish(stage) => break,
            };
            keeper.bury(&server, ended)?;
            server = keeper.ready().await?;
        }
        let server = keeper.calm(server).await?;
        examine(world, stage, &callers, server, report).await?;
        report.wrong.extend(inbox.check(keeper.deaths));
        Ok(())
    }

    pub(super) fn begin(
        &self,
        world: &World,
        stage: &Arc<Stage>,
        callers: &Callers,
        rng: &mut Rng,
        (inbox, address): (&Inbox, &str),
    ) -> Parties {
        let mut talkers = JoinSet::new();
        let talker = Talker {
            name: self.scenario.name.to_owned(),
            api: callers.program.clone(),
            stage: stage.clone(),
            rng: rng.fork(),
        };
        talkers.spawn(talker.recite(self.scenario.says));
        if self.scenario.asks {
            let outsider = Outsider {
                api: callers.program.clone(),
                stage: stage.clone(),
                inbox: inbox.clone(),
                address: address.to_owned(),
            };
            talkers.spawn(outsider.ask_on());
        }
        let mut approver = JoinSet::new();
        let person = Approver {
            api: callers.person.clone(),
            stage: stage.clone(),
            traces: [world.witness(), world.ledger()],
            rng: rng.fork(),
            denies: 0,
            claims: if self.scenario.claims { 100 } else { 0 },
        };
        approver.spawn(person.answer_all());
        Parties { talkers, approver }
    }
}
