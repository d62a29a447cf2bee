//! Maps by id. Ids are mostly random bits that we drew ourselves, so nobody can choose them to collide,
//! and a hash need not be hard to guess: looking up gets several times cheaper.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// For keys that are ids of our own, or sums of such.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

#[derive(Clone, Copy, Default)]
pub struct IdHasher(u64);

/// Odd, and its bits are even: the fraction of the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl IdHasher {
    fn add(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(23) ^ word).wrapping_mul(SPREAD);
        self.0 = mixed ^ (mixed >> 32);
    }
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_u128(&mut self, number: u128) {
        self.add((number >> 64) as u64);
        self.add(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher as _;

    use super::*;
    use crate::id::{HoldId, SessionId, StreamId};

    /// Hash tables look at the lowest and at the highest bits.
    #[test]
    fn ids_that_differ_a_little_fall_into_different_places() {
        let hasher = BuildHasherDefault::<IdHasher>::default();
        let ids = (0..4_096).flat_map(|n| {
            let session = StreamId::Session(SessionId::new(1, n));
            [
                session,
                StreamId::Outside(HoldId::new(1, n)),
                StreamId::Session(SessionId::new(n as i64, 1)),
            ]
        });
        let hashes: HashSet<u64> = ids.map(|id| hasher.hash_one(id)).collect();
        assert!(hashes.len() > 3 * 4_096 - 3, "{}", hashes.len());
        let low: HashSet<u64> = hashes.iter().map(|hash| hash & 0xffff).collect();
        let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert!(low.len() > 9_000, "{} of 65,536 places", low.len());
        assert_eq!(high.len(), 128);
    }
}
