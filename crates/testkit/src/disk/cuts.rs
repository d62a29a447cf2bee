//! The crash test again, with power cuts in the place of kills.

use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use super::report::Report;
use super::shim::Lossy;
use super::undo::Loss;
use crate::binary::{Binary, Server};
use crate::crash::{Crash, Ending};
use crate::rng::Rng;

/// Out of a hundred cuts, those after which nothing is there that was not synced.
const EVERYTHING_PERCENT: u64 = 40;
/// The longest that a sync takes, so that many cuts come while one is under way.
const SYNC_WITHIN: Duration = Duration::from_millis(4);
/// Out of a hundred cuts, those before which some syncs fail, how many at most, and how long before:
/// sometimes the cut comes in the middle, and sometimes when all is well again.
const FAILING_PERCENT: u64 = 30;
const FAILING_MAX: u64 = 4;
const FAILING_FOR: Duration = Duration::from_millis(300);
/// How long a disk that lies is trusted: long enough that much is acknowledged in vain.
const TRUSTED: Duration = Duration::from_millis(1_500);

/// One test of power cuts.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    pub cuts: u64,
    pub seed: u64,
    /// Before the last cut, the disk only says that it syncs.
    pub lies: bool,
}

/// Cuts the power of the real program so often, and says what became of it.
pub async fn torture(cuts: u64, seed: u64) -> Report {
    Cuts { cuts, seed, lies: false }.run().await
}

impl Cuts {
    /// The settings of the environment: `HOLDPOINT_CUTS` and `HOLDPOINT_SEED`.
    pub fn from_env(cuts: u64) -> Cuts {
        let number =
            |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
        Cuts {
            cuts: number("HOLDPOINT_CUTS").unwrap_or(cuts),
            seed: number("HOLDPOINT_SEED").unwrap_or_else(Rng::fresh_seed),
            lies: false,
        }
    }

    pub async fn run(self) -> Report {
        // Another source than that of the crash test itself, which begins with the same seed.
        let rng = Rng::new(self.seed).fork();
        let lossy = Lossy::new(Binary::find());
        let binary = lossy.binary();
        let mut power = Power { cuts: self, lossy, rng, report: Report::default() };
        let mut crash = Crash::from_env(self.cuts);
        (crash.kills, crash.seed) = (self.cuts, self.seed);
        let crash = crash.run_with(binary, &mut power).await;
        Report { crash, ..power.report }
    }
}

struct Power {
    cuts: Cuts,
    lossy: Lossy,
    rng: Rng,
    report: Report,
}

impl Ending for Power {
    fn begin(&mut self, data: &Path) {
        self.lossy.watch(data);
        self.next_life();
    }

    async fn end(&mut self, server: Server) -> Result<(), String> {
        if self.lies() {
            sleep(TRUSTED).await;
        }
        if self.rng.percent(FAILING_PERCENT) {
            self.lossy.fail(1 + self.rng.below(FAILING_MAX));
            sleep(self.rng.up_to(FAILING_FOR)).await;
            self.report.failing += 1;
        }
        let everything = self.lies() || self.rng.percent(EVERYTHING_PERCENT);
        let loss = if everything { Loss::Everything } else { Loss::Some };
        let lost = self.lossy.cut(server, loss, &mut self.rng).await?;
        self.report.took(loss, lost);
        self.next_life();
        Ok(())
    }
}

impl Power {
    fn next_life(&mut self) {
        self.lossy.sync_takes(self.rng.up_to(SYNC_WITHIN));
        self.lossy.lie(self.lies());
    }

    fn lies(&self) -> bool {
        self.cuts.lies && self.report.cuts() + 1 == self.cuts.cuts
    }
}
