//! I-15, I-16: a call that may run at most once had at most one effect for each revision that somebody
//! allowed, whatever crashed; and no start of it was made again without proof that it never began.

use std::collections::BTreeMap;

use domain::tool::Effects;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut seen = BTreeMap::new();
    for effect in &evidence.records.effects {
        if effect.effects != Effects::AtMostOnce {
            continue;
        }
        let earlier = seen.insert((effect.call, effect.revision), effect.attempt);
        if let Some(earlier) = earlier {
            return Err(format!(
                "{} had its effect twice for {} revision {}: in attempt {earlier} and in attempt {}",
                effect.tool, effect.call, effect.revision, effect.attempt
            ));
        }
    }
    Ok(())
}
