//! A random number generator with a seed, so that a run that found something can be told from others.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// SplitMix64: small, fast, and good enough to choose moments and answers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// A seed that nobody chose.
    pub fn fresh_seed() -> u64 {
        RandomState::new().build_hasher().finish()
    }

    /// Another source, whose numbers do not depend on how many are taken from this one.
    pub fn fork(&mut self) -> Rng {
        Rng(self.bits())
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    pub fn percent(&mut self, likely: u64) -> bool {
        self.below(100) < likely
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    pub fn up_to(&mut self, longest: Duration) -> Duration {
        Duration::from_micros(self.below(longest.as_micros() as u64 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_everything() {
        let draw = |seed| -> Vec<u64> {
            let mut rng = Rng::new(seed);
            (0..8).map(|_| rng.below(1_000)).collect()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(Rng::fresh_seed(), Rng::fresh_seed());
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut rng = Rng::new(1);
        let drawn: Vec<u64> = (0..1_000).map(|_| rng.below(4)).collect();
        assert!((0..4).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| *number < 4));
        assert!(
            (0..1_000).all(|_| rng.up_to(Duration::from_millis(3)) <= Duration::from_millis(3))
        );
        assert!(!rng.percent(0) && rng.percent(100));
    }
}
