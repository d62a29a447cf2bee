//! Maps by id. Ids are mostly random bits that we drew ourselves, so nobody can choose them to collide,
//! and a hash need not be hard to guess: looking up gets several times cheaper.

use std::collections::HashMap;

/// For keys that are ids of our own, or sums of such. The seed is fixed: `domain` has no randomness, and a
/// simulation repeats itself.
pub type IdMap<K, V> = HashMap<K, V, foldhash::fast::FixedState>;
