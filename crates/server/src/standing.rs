//! What is known of a connection. Until a request on it has shown valid credentials, it has a place among
//! strangers, which it may lose to a newer one; after that it has one of its own.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::share::{Share, Ticket};

/// The places of a listener.
#[derive(Clone)]
pub(crate) struct Places {
    known: Arc<Semaphore>,
    strangers: Arc<Share>,
}

impl Places {
    /// `strangers` of all `connections`, and never more than a quarter of them.
    pub(crate) fn new(connections: usize, strangers: usize) -> Places {
        let strangers = strangers.min(connections / 4).max(1);
        let known = Arc::new(Semaphore::new(connections.saturating_sub(strangers)));
        Places { known, strangers: Share::new(strangers) }
    }

    pub(crate) fn enter(&self, peer: IpAddr) -> Arc<Standing> {
        let ticket = self.strangers.enter(peer);
        Arc::new(Standing {
            known: self.known.clone(),
            evicted: ticket.evicted(),
            place: Mutex::new(ConnectionSlot::Stranger { _ticket: ticket }),
            is_known: AtomicBool::new(false),
        })
    }

    /// Closes the connection of a stranger, where the system has no room for another.
    pub(crate) fn evict_stranger(&self) -> bool {
        self.strangers.evict_one()
    }
}

/// Of one connection; put on every request by the listener.
pub(crate) struct Standing {
    known: Arc<Semaphore>,
    evicted: CancellationToken,
    place: Mutex<ConnectionSlot>,
    is_known: AtomicBool,
}

enum ConnectionSlot {
    Stranger { _ticket: Ticket },
    Known { _permit: OwnedSemaphorePermit },
}

impl Standing {
    /// A request on this connection has shown valid credentials. If all places of known callers are taken it
    /// is served nevertheless, and stays where it is.
    pub(crate) fn has_caller(&self) {
        if self.is_known.load(Ordering::Relaxed) {
            return;
        }
        let Ok(permit) = self.known.clone().try_acquire_owned() else { return };
        let mut place = self.place.lock().unpoisoned();
        *place = ConnectionSlot::Known { _permit: permit };
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Ends when the connection has to make room.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const ANYBODY: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn i50_a_known_connection_is_not_evicted_by_strangers() {
        let places = Places::new(8, 100);
        let caller = places.enter(ANYBODY);
        caller.has_caller();
        caller.has_caller();
        let strangers: Vec<_> = (0..5).map(|_| places.enter(ANYBODY)).collect();
        let cut = strangers.iter().filter(|stranger| stranger.evicted.is_cancelled()).count();
        assert_eq!(cut, 3, "two of eight places are for strangers");
        assert!(!caller.evicted.is_cancelled());
        assert_eq!(places.known.available_permits(), 5);
        drop(caller);
        assert_eq!(places.known.available_permits(), 6);
    }

    #[test]
    fn i50_a_caller_who_finds_no_place_is_served_among_strangers() {
        let places = Places::new(4, 1);
        let known: Vec<_> =
            (0..3).map(|_| places.enter(ANYBODY)).inspect(|one| one.has_caller()).collect();
        let late = places.enter(ANYBODY);
        late.has_caller();
        assert!(!late.evicted.is_cancelled(), "and may ask for a freeze");
        let later = places.enter(ANYBODY);
        assert!(late.evicted.is_cancelled() && !later.evicted.is_cancelled());
        assert!(known.iter().all(|caller| !caller.evicted.is_cancelled()));
    }
}
