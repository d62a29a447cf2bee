//! The crash test of the real program: clients work, a supervisor kills the server again and again,
//! and an oracle that was never killed compares what was promised with what is there.
//!
//! Killing a process does not test the disk: what the kernel was given survives. Whether it is told
//! to write is the store's own test.

mod approver;
pub mod checks;
pub mod failing;
mod killer;
mod outsider;
mod phases;
mod report;
mod stage;
mod talker;
mod world;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::binary::{Binary, Server};
use crate::rng::Rng;
use approver::Approver;
use killer::{Kill, Killer};
use outsider::{Inbox, Outsider};
use stage::Stage;
use talker::Talker;
use world::{Callers, START_WITHIN, World};

pub(crate) use killer::Ending;
pub use killer::Killed;
pub use phases::{Facts, Phases};
pub use report::Report;

/// Enough to keep two cores busy, few enough that the server is not only starting.
const TALKERS: usize = 6;
/// A server that is stopped finishes what it does, which is never much.
const STOP_WITHIN: Duration = Duration::from_secs(15);

/// One crash test.
#[derive(Clone, Copy, Debug)]
pub struct Crash {
    pub kills: u64,
    pub seed: u64,
    /// Told of every kill.
    pub tell: Option<fn(&Killed)>,
}

impl Crash {
    /// The settings of the environment: `HOLDPOINT_KILLS` and `HOLDPOINT_SEED`.
    pub fn from_env(kills: u64) -> Crash {
        let number =
            |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
        Crash {
            kills: number("HOLDPOINT_KILLS").unwrap_or(kills),
            seed: number("HOLDPOINT_SEED").unwrap_or_else(Rng::fresh_seed),
            tell: None,
        }
    }

    pub async fn run(self) -> Report {
        self.run_with(Binary::find(), &mut Kill).await
    }

    /// The same with another way to end a server.
    pub(crate) async fn run_with(self, binary: Binary, ending: &mut impl Ending) -> Report {
        let mut rng = Rng::new(self.seed);
        let world = World::new(binary, &mut rng);
        ending.begin(&world.data());
        let stage = Arc::new(Stage::new());
        let mut report = Report { seed: self.seed, ..Report::default() };
        if let Err(fatal) = self.perform(&world, ending, &stage, &mut rng, &mut report).await {
            report.wrong.push(fatal);
        }
        let mut known = stage.oracle.known();
        report.counts = known.counts;
        // What clients saw comes first: the rest often only follows from it.
        report.wrong.splice(0..0, known.wrong.drain(..));
        drop(known);
        if !report.wrong.is_empty() {
            report.kept = Some(world.keep());
        }
        report
    }

    async fn perform(
        self,
        world: &World,
        ending: &mut impl Ending,
        stage: &Arc<Stage>,
        rng: &mut Rng,
        report: &mut Report,
    ) -> Result<(), String> {
        let mut server = world.start();
        server.ready(&world.api, START_WITHIN).await?;
        let callers = world.callers()?;
        let (inbox, address, _receiving) =
            Inbox::open().await.map_err(|error| error.to_string())?;
        let outsider = Outsider {
            api: callers.program.clone(),
            stage: stage.clone(),
            inbox: inbox.clone(),
            address,
        };
        let mut parties = Parties::begin(world, stage, &callers, rng, outsider);
        let mut killer = Killer {
            world,
            ending,
            stage: stage.clone(),
            rng: rng.fork(),
            killed: Killed::default(),
            tell: self.tell,
        };
        let server = killer.kill(server, self.kills).await;
        report.killed = killer.killed;
        stage.close();
        let server = server?;
        parties.finish(stage).await;
        examine(world, stage, &callers, server, report).await?;
        report.callbacks = inbox.told().len() as u64;
        report.wrong.extend(inbox.check(self.kills));
        Ok(())
    }
}

/// Compares what was promised with what is there, now that everything is over.
async fn examine(
    world: &World,
    stage: &Stage,
    callers: &Callers,
    server: Server,
    report: &mut Report,
) -> Result<(), String> {
    let found = checks::Found::collect(world, callers).await?;
    checks::audit(world, callers, report).await?;
    let status = server.stop(STOP_WITHIN).await?;
    if !status.success() {
        report.wrong.push(format!("the server was told to stop, and ended with {status}"));
    }
    let rows = checks::database(world, report)?;
    let facts = phases::facts(&rows);
    let known = stage.oracle.known().clone();
    report.count(&found, &facts);
    report.wrong.extend(checks::holds(&known, &found, &facts, &callers.person_id));
    report.wrong.extend(checks::effects(&found, &facts));
    report.wrong.extend(checks::transcripts(&known, &found));
    report.wrong.extend(checks::leftovers(world).await);
    Ok(())
}

/// Everybody who calls the server.
struct Parties {
    talkers: JoinSet<()>,
    approver: JoinSet<()>,
}

impl Parties {
    fn begin(
        world: &World,
        stage: &Arc<Stage>,
        callers: &Callers,
        rng: &mut Rng,
        outsider: Outsider,
    ) -> Parties {
        let mut talkers = JoinSet::new();
        talkers.spawn(outsider.ask_on());
        for number in 0..TALKERS {
            let talker = Talker {
                name: format!("t{number}"),
                api: callers.program.clone(),
                stage: stage.clone(),
                rng: rng.fork(),
            };
            talkers.spawn(talker.talk());
        }
        let mut approver = JoinSet::new();
        let person = Approver {
            api: callers.person.clone(),
            stage: stage.clone(),
            traces: [world.witness(), world.ledger()],
            rng: rng.fork(),
            denies: 25,
            claims: 15,
        };
        approver.spawn(person.answer_all());
        Parties { talkers, approver }
    }

    async fn finish(&mut self, stage: &Stage) {
        while self.talkers.join_next().await.is_some() {}
        stage.end();
        let done = tokio::time::timeout(talker::CALM_WITHIN, self.approver.join_next()).await;
        if done.is_err() {
            stage.oracle.wrong("holds are pending that no answer ends");
        }
    }
}
