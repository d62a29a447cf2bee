//! Waiting a random time, so that those who were cut off together do not come back together.

use std::time::Duration;

use ports::clock::Rng;

/// Anything from `least` to `most`.
pub(crate) fn between(least: Duration, most: Duration, rng: &dyn Rng) -> Duration {
    let span = most.saturating_sub(least).as_millis() + 1;
    let extra = u64::try_from(rng.bits() % span).unwrap_or(u64::MAX);
    least.saturating_add(Duration::from_millis(extra))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bits(u128);

    impl Rng for Bits {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn both_ends_can_be_reached_and_nothing_beyond() {
        let (least, most) = (Duration::from_secs(1), Duration::from_secs(10));
        assert_eq!(between(least, most, &Bits(0)), least);
        assert_eq!(between(least, most, &Bits(9_000)), most);
        assert_eq!(between(least, most, &Bits(9_001)), least);
        assert_eq!(between(most, least, &Bits(u128::MAX)), most, "never less than the least");
    }
}
