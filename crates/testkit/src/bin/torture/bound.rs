//! The rule of three.

/// After so many trials without a failure, the rate is below this with 95 % confidence. Of one or two it says nothing.
pub(crate) fn bound(trials: u64, failures: u64) -> Option<f64> {
    (failures == 0 && trials > 0).then(|| (3.0 / trials as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_three() {
        assert_eq!(bound(300, 0), Some(0.01));
        assert_eq!(bound(300, 1), None);
        assert_eq!(bound(0, 0), None);
        assert_eq!(bound(2, 0), Some(1.0));
    }
}
