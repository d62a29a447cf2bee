//! How many threads the program works with.

use std::num::NonZero;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// Where somebody says it themselves, in the way of the runtime that we use.
const SAID: &str = "TOKIO_WORKER_THREADS";

/// One thread for each processor but one, and at least one. That one is the writer's, which is a thread of
/// its own: with a worker for every processor they stand in each other's way, and less gets done.
pub fn runtime() -> std::io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if std::env::var_os(SAID).is_none() {
        let processors = available_parallelism().map_or(1, NonZero::get);
        builder.worker_threads(workers(processors));
    }
    builder.enable_all().build()
}

fn workers(processors: usize) -> usize {
    processors.saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_left_to_the_writer() {
        assert_eq!([0, 1, 2, 3, 64].map(workers), [1, 1, 1, 2, 63]);
        let expected = workers(available_parallelism().unwrap().get());
        assert_eq!(runtime().unwrap().metrics().num_workers(), expected);
    }
}
