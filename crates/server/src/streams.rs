//! Places for event streams: so many in all, so many per caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ports::unpoisoned::Unpoisoned as _;
use prometheus_client::metrics::gauge::Gauge;

use crate::limits::HttpLimits;
use crate::problem::Problem;

#[derive(Clone)]
pub(crate) struct Streams(Arc<StreamsInner>);

struct StreamsInner {
    most: usize,
    most_per_caller: usize,
    open: Mutex<HashMap<String, usize>>,
    gauge: Gauge,
}

/// A place; dropping it frees it.
pub(crate) struct StreamPermit {
    streams: Streams,
    caller: String,
}

impl Streams {
    pub(crate) fn new(limits: &HttpLimits, gauge: Gauge) -> Streams {
        Streams(Arc::new(StreamsInner {
            most: limits.streams,
            most_per_caller: limits.streams_per_caller,
            open: Mutex::default(),
            gauge,
        }))
    }

    pub(crate) fn take(&self, caller: String) -> Result<StreamPermit, Problem> {
        let mut open = self.0.open.lock().unpoisoned();
        if open.values().sum::<usize>() >= self.0.most {
            return Err(Problem::too_many("too many event streams are open; try again later", 5));
        }
        let own = open.entry(caller.clone()).or_insert(0);
        if *own >= self.0.most_per_caller {
            let most = self.0.most_per_caller;
            return Err(Problem::too_many(
                format!("you have {most} event streams open; close some"),
                5,
            ));
        }
        *own += 1;
        self.0.gauge.inc();
        Ok(StreamPermit { streams: self.clone(), caller })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let inner = &self.streams.0;
        let mut open = inner.open.lock().unpoisoned();
        if let Some(own) = open.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.caller);
            }
        }
        inner.gauge.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i41_places_are_bounded_and_come_back() {
        let limits = HttpLimits { streams: 3, streams_per_caller: 2, ..HttpLimits::default() };
        let streams = Streams::new(&limits, Gauge::default());
        let first = streams.take("ana".into()).expect("a place");
        let _second = streams.take("ana".into()).expect("a place");
        assert!(streams.take("ana".into()).is_err(), "her third");
        let _third = streams.take("bob".into()).expect("a place");
        assert!(streams.take("bob".into()).is_err(), "the fourth of all");
        drop(first);
        assert!(streams.take("bob".into()).is_ok());
    }
}
