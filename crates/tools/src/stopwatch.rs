//! Real time, for real processes: the one place in this crate that reads a clock.

use std::time::{Duration, Instant, SystemTime};

pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "a child process runs in real time, whatever a simulation's clock says"
    )]
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    pub(crate) fn time_left(&self, of: Duration) -> Duration {
        of.saturating_sub(self.elapsed())
    }
}

/// How old a file is; one from the future is new.
#[expect(clippy::disallowed_methods, reason = "files carry the time of the machine")]
pub(crate) fn file_age(modified: SystemTime) -> Duration {
    SystemTime::now().duration_since(modified).unwrap_or_default()
}
