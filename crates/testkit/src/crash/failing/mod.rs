//! The real program, killed at every fail point: once at the first reach, after a pause in which
//! whatever does not wait for this step gets ahead; once more at a later reach, and again when the
//! next start comes by. What ships then goes on from what is left, and the same checks follow as
//! after random kills.

mod keeper;
mod log;
mod report;
mod scenario;
mod trial;
mod zombie;

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};

use crate::binary::Binary;
use crate::rng::Rng;
use log::Reached;
pub use report::{PointReport, Row};
use scenario::{Doubt, SCENARIOS, Scenario, can_be_in_doubt};
use trial::{Trial, Tried};
pub use zombie::Zombie;

/// Long enough for a tool to start and have its effect, if it is let.
const PAUSE_MS: u64 = 200;
/// These are reached by every commit, and each of those is another place.
const SWEPT: [&str; 2] = ["writer.", "followup."];
/// Reaches of the writer that fail: how many of them belong to the start of a server differs from run to run, since
/// commits that come together share a transaction.
const FAILED: usize = 14;

/// How thoroughly.
#[derive(Clone, Debug)]
pub struct FailPoints {
    pub seed: u64,
    /// Trials at a time: they mostly wait.
    pub at_once: usize,
    /// Up to which reach points are killed that every commit comes past.
    pub sweep: u64,
    /// Only points whose names begin so; all of them, if it is empty.
    pub only: String,
}

impl Default for FailPoints {
    fn default() -> FailPoints {
        FailPoints { seed: Rng::fresh_seed(), at_once: 4, sweep: 6, only: String::new() }
    }
}

impl FailPoints {
    /// The settings of the environment: `HOLDPOINT_POINTS` and `HOLDPOINT_SEED`.
    pub fn from_env() -> FailPoints {
        let seed = std::env::var("HOLDPOINT_SEED").ok();
        FailPoints {
            seed: seed.map_or_else(Rng::fresh_seed, |seed| seed.parse().expect("a number")),
            only: std::env::var("HOLDPOINT_POINTS").unwrap_or_default(),
            ..FailPoints::default()
        }
    }
}

/// One trial of the plan, and what it is about.
struct Planned {
    point: String,
    trial: Trial,
    /// The act that must be carried out, and how often at least.
    must: Option<(&'static str, u64)>,
    doubt: Doubt,
}

impl FailPoints {
    pub async fn run(&self) -> PointReport {
        let mut rng = Rng::new(self.seed);
        let mut report = PointReport { seed: self.seed, ..PointReport::default() };
        let names = match names().await {
            Ok(names) => names,
            Err(why) => {
                report.wrong.push(why);
                return report;
            }
        };
        let traced: Vec<Planned> = SCENARIOS.iter().map(tracing).collect();
        let mut reached = BTreeMap::new();
        for (planned, tried) in self.run_all(traced, &mut rng).await {
            reached.insert(planned.trial.scenario.name, tried.log.reached.clone());
            report.wrong.extend(told(&planned, tried));
        }
        let mut plan = Vec::new();
        for name in names.iter().filter(|name| name.starts_with(&self.only)) {
            match place(name, &reached) {
                Some((scenario, count)) => plan.extend(self.plan(name, scenario, count)),
                None => report.wrong.push(format!("no scenario comes past `{name}`")),
            }
        }
        for (planned, tried) in self.run_all(plan, &mut rng).await {
            report.take(&planned, &tried);
            report.wrong.extend(told(&planned, tried));
        }
        report
    }

    async fn run_all(&self, plan: Vec<Planned>, rng: &mut Rng) -> Vec<(Planned, Tried)> {
        let seeds: Vec<u64> = plan.iter().map(|_| rng.bits()).collect();
        let trials = plan.into_iter().zip(seeds).map(|(planned, seed)| async move {
            let tried = planned.trial.run(seed).await;
            (planned, tried)
        });
        stream::iter(trials).buffer_unordered(self.at_once).collect().await
    }

    fn plan(&self, point: &str, scenario: &'static Scenario, count: u64) -> Vec<Planned> {
        let plan = |orders: Vec<String>, must, doubt| Planned {
            point: point.to_owned(),
            trial: Trial { scenario, orders },
            must,
            doubt,
        };
        // One call is recovered there; a second reach is the same step, taken anew after another was faster.
        let later = if scenario.before.is_some() { 1 } else { count.min(2) };
        let mut planned = vec![
            plan(
                vec![format!("{point}=kill:{PAUSE_MS}")],
                Some(("kill", 1)),
                scenario.doubt(point),
            ),
            plan(
                vec![format!("{point}=kill@{later}"), format!("{point}=kill")],
                Some(("kill", 1)),
                Doubt::May,
            ),
        ];
        let swept = SWEPT.iter().any(|prefix| point.starts_with(prefix));
        for at in (3..=count.min(self.sweep)).filter(|_| swept) {
            // Commits that come together share a transaction, so the last of them may be missed.
            planned.push(plan(vec![format!("{point}=kill@{at}")], None, Doubt::May));
        }
        if matches!(point, "writer.before_commit" | "writer.committed") {
            for at in (1..count).take(FAILED) {
                let order = vec![format!("{point}=error@{at}")];
                planned.push(plan(order, Some(("error", 1)), Doubt::May));
            }
        }
        planned
    }
}

fn tracing(scenario: &'static Scenario) -> Planned {
    Planned {
        point: format!("the scenario `{}`", scenario.name),
        // Told nothing; it is only watched.
        trial: Trial { scenario, orders: vec![String::new()] },
        must: None,
        doubt: Doubt::May,
    }
}

/// The first scenario that comes past a point, and how often one process does. What recovery does is best seen where
/// there is something to recover.
fn place(
    point: &str,
    reached: &BTreeMap<&'static str, BTreeMap<String, Reached>>,
) -> Option<(&'static Scenario, u64)> {
    let recovers = point.starts_with("recover.");
    let past = SCENARIOS.iter().filter(|scenario| !recovers || scenario.before.is_some());
    past.filter_map(|scenario| Some((scenario, reached.get(scenario.name)?.get(point)?.by_one)))
        .next()
}

fn told(planned: &Planned, tried: Tried) -> Vec<String> {
    let mut wrong = tried.wrong;
    if let Some((act, times)) = planned.must
        && tried.log.did(&planned.point, act) < times
    {
        wrong.push(format!("it was never reached: {:?}", tried.log.acts));
    }
    wrong.extend(planned.doubt.check(tried.in_doubt, can_be_in_doubt(&tried.log)));
    let kept = tried.kept.map(|kept| format!(" (the data is in {})", kept.display()));
    let at = format!("{} {:?}", planned.point, planned.trial.orders);
    wrong
        .iter()
        .map(|what| format!("{at}: {what}{}", kept.as_deref().unwrap_or_default()))
        .collect()
}

/// The table of points, as the program itself prints it.
async fn names() -> Result<Vec<String>, String> {
    let list = Binary::failing().command().env("HOLDPOINT_FAIL", "list").output().await;
    let list = list.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&list.stdout);
    let names: Vec<String> =
        text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    match names.is_empty() {
        true => Err("`holdpoint-failing` has no list of points".into()),
        false => Ok(names),
    }
}
