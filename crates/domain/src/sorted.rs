//! A map for the parts of a session. Every command copies the session before it changes it, and most
//! sessions are small: one row of keys and values is copied much faster than a tree.

use std::fmt;
use std::ops::Index;

/// Kept in the order of its keys. New keys are nearly always the greatest: ids grow with time.
#[derive(Clone, PartialEq)]
pub struct Sorted<K, V>(Vec<(K, V)>);

impl<K: Ord, V> Sorted<K, V> {
    pub const fn new() -> Sorted<K, V> {
        Sorted(Vec::new())
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// The value that was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        match self.0.last() {
            Some((last, _)) if last < key => Err(self.0.len()),
            _ => self.0.binary_search_by(|(known, _)| known.cmp(key)),
        }
    }
}

impl<K, V> Sorted<K, V> {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + ExactSizeIterator {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.0.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator {
        self.0.iter().map(|(_, value)| value)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord, V> Index<&K> for Sorted<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("there is such a key")
    }
}

impl<K, V> IntoIterator for Sorted<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Sorted<K, V> {
        Sorted(Vec::new())
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Sorted<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0u8..20, any::<u8>()), 0..60)) {
            let (mut sorted, mut tree) = (Sorted::new(), BTreeMap::new());
            for (key, value) in steps {
                prop_assert_eq!(sorted.insert(key, value), tree.insert(key, value));
                prop_assert_eq!(sorted.len(), tree.len());
            }
            prop_assert!(sorted.iter().eq(tree.iter()));
            prop_assert!(sorted.keys().rev().eq(tree.keys().rev()));
            prop_assert!(sorted.values().eq(tree.values()));
            for key in 0..20 {
                prop_assert_eq!(sorted.get(&key), tree.get(&key));
                prop_assert_eq!(sorted.get_mut(&key), tree.get_mut(&key));
                prop_assert_eq!(sorted.contains_key(&key), tree.contains_key(&key));
            }
            prop_assert!(sorted.into_iter().eq(tree));
        }
    }
}
