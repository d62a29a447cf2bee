//! The one place of this tool that looks at a clock.

use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "time limits of real processes need the real clock; nothing here is simulated"
    )]
    pub(crate) fn start() -> Self {
        Stopwatch(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
