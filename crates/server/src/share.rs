//! A bounded share of places for strangers, in which the newest always finds one: the oldest of the address
//! that has the most places leaves for it. An honest client has few and is done in a moment; one that comes
//! again and again, or only holds places, loses its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard};

use ports::unpoisoned::Unpoisoned as _;
use tokio_util::sync::CancellationToken;

pub(crate) struct Share {
    places: usize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    next: u64,
    tickets: BTreeMap<u64, (IpAddr, CancellationToken)>,
    /// The tickets of each address, in the order of arrival.
    by_address: HashMap<IpAddr, BTreeSet<u64>>,
    /// How many places each address has, and its oldest ticket. The last is the next to leave.
    by_count: BTreeSet<(usize, Reverse<u64>, IpAddr)>,
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

    pub(crate) fn enter(self: &Arc<Share>, address: IpAddr) -> Ticket {
        let mut inside = self.inside();
        while inside.tickets.len() >= self.places {
            inside.evict_one();
        }
        let evicted = CancellationToken::new();
        let number = inside.add(network(address), evicted.clone());
        Ticket { share: self.clone(), number, evicted }
    }

    /// Makes room without coming in. `false`: it is empty.
    pub(crate) fn evict_one(&self) -> bool {
        self.inside().evict_one()
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unpoisoned()
    }
}

/// One network has 2^64 IPv6 addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        short @ IpAddr::V4(_) => short,
    }
}

impl Inside {
    fn add(&mut self, address: IpAddr, evicted: CancellationToken) -> u64 {
        let number = self.next;
        self.next += 1;
        self.tickets.insert(number, (address, evicted));
        self.change(address, |numbers| numbers.insert(number));
        number
    }

    fn remove(&mut self, number: u64) -> Option<CancellationToken> {
        let (address, evicted) = self.tickets.remove(&number)?;
        self.change(address, |numbers| numbers.remove(&number));
        Some(evicted)
    }

    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut BTreeSet<u64>) -> bool) {
        let numbers = self.by_address.entry(address).or_default();
        if let Some(oldest) = numbers.first() {
            self.by_count.remove(&(numbers.len(), Reverse(*oldest), address));
        }
        change(numbers);
        match numbers.first() {
            Some(oldest) => {
                self.by_count.insert((numbers.len(), Reverse(*oldest), address));
            }
            None => {
                self.by_address.remove(&address);
            }
        }
    }

    fn evict_one(&mut self) -> bool {
        let Some((_, Reverse(oldest), _)) = self.by_count.last().copied() else { return false };
        self.remove(oldest).inspect(CancellationToken::cancel).is_some()
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
        self.share.inside().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn i50_the_newest_finds_a_place_and_the_oldest_leaves() {
        let share = Share::new(2);
        let (first, second) = (share.enter(at(1)), share.enter(at(1)));
        assert!(!first.evicted().is_cancelled());
        let third = share.enter(at(1));
        assert!(first.evicted().is_cancelled());
        assert!(!second.evicted().is_cancelled() && !third.evicted().is_cancelled());
        // A place that was given back is free: no other has to be closed for the next.
        drop(second);
        let fourth = share.enter(at(1));
        assert!(!third.evicted().is_cancelled() && !fourth.evicted().is_cancelled());
        assert!(share.evict_one());
        assert!(third.evicted().is_cancelled());
        drop((first, third, fourth));
        assert!(!share.evict_one());
        assert!(share.inside().by_address.is_empty() && share.inside().by_count.is_empty());
    }

    #[test]
    fn i50_whoever_comes_again_and_again_makes_room_for_themselves() {
        let share = Share::new(5);
        // Before the others, or the oldest of all would be somebody else's.
        let honest = [share.enter(at(1)), share.enter(at(2))];
        let mut churned = Vec::new();
        for number in 0..1_000 {
            churned.push(share.enter(at(9)));
            // Some leave by themselves.
            if number % 3 == 0 {
                churned.pop();
            }
        }
        assert!(honest.iter().all(|ticket| !ticket.evicted().is_cancelled()));
        // Another one finds a place as well.
        let late = share.enter(at(3));
        churned.push(share.enter(at(9)));
        let mut honest = honest.iter().chain([&late]);
        assert!(honest.all(|ticket| !ticket.evicted().is_cancelled()));
    }

    #[test]
    fn i50_addresses_with_as_many_places_leave_in_the_order_of_arrival() {
        let share = Share::new(3);
        // The order of arrival, and not of the addresses, decides.
        let tickets: Vec<_> = [7, 9, 1, 8, 2].map(|last| share.enter(at(last))).into();
        let evicted: Vec<bool> =
            tickets.iter().map(|ticket| ticket.evicted().is_cancelled()).collect();
        assert_eq!(evicted, [true, true, false, false, false]);
    }

    #[test]
    fn i50_all_addresses_of_an_ipv6_network_count_as_one() {
        let share = Share::new(3);
        let honest = share.enter(at(1));
        for number in 1..100 {
            let address = format!("2001:db8:1:2::{number}").parse().expect("an address");
            std::mem::forget(share.enter(address));
        }
        assert!(!honest.evicted().is_cancelled());
        assert_eq!(network("::ffff:192.0.2.7".parse().expect("an address")), at(7));
    }
}
