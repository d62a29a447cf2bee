//! A bounded share of places for strangers, in which the newest always finds one: the oldest leaves for
//! it. Whoever is honest is done in a moment, and whoever only holds a place loses it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;

pub(crate) struct Share {
    places: usize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    next: u64,
    /// In the order of arrival.
    tickets: BTreeMap<u64, CancellationToken>,
}

/// A place, until it is dropped or [`Ticket::evicted`].
pub(crate) struct Ticket {
    share: Arc<Share>,
    number: u64,
    evicted: CancellationToken,
}

impl Share {
    /// With one place at least.
    pub(crate) fn new(places: usize) -> Arc<Share> {
        Arc::new(Share { places: places.max(1), inside: Mutex::default() })
    }

    pub(crate) fn enter(self: &Arc<Share>) -> Ticket {
        let mut inside = self.inside();
        while inside.tickets.len() >= self.places {
            inside.evict_oldest();
        }
        let (number, evicted) = (inside.next, CancellationToken::new());
        inside.next += 1;
        inside.tickets.insert(number, evicted.clone());
        Ticket { share: self.clone(), number, evicted }
    }

    /// Makes room without coming in. `false`: nobody is inside.
    pub(crate) fn evict_oldest(&self) -> bool {
        self.inside().evict_oldest()
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Inside {
    fn evict_oldest(&mut self) -> bool {
        let oldest = self.tickets.pop_first();
        oldest.inspect(|(_, evicted)| evicted.cancel()).is_some()
    }
}

impl Ticket {
    /// Ends when somebody newer needed the place.
    pub(crate) fn evicted(&self) -> CancellationToken {
        self.evicted.clone()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.share.inside().tickets.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i50_the_newest_finds_a_place_and_the_oldest_leaves() {
        let share = Share::new(2);
        let (first, second) = (share.enter(), share.enter());
        assert!(!first.evicted().is_cancelled());
        let third = share.enter();
        assert!(first.evicted().is_cancelled());
        assert!(!second.evicted().is_cancelled() && !third.evicted().is_cancelled());
        // A place that was given back is free: nobody has to leave for the next.
        drop(second);
        let fourth = share.enter();
        assert!(!third.evicted().is_cancelled() && !fourth.evicted().is_cancelled());
        assert!(share.evict_oldest());
        assert!(third.evicted().is_cancelled());
        drop((first, third, fourth));
        assert!(!share.evict_oldest());
    }
}
