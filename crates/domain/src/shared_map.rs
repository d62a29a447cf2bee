//! A map for the parts of a session. Every command copies the session before it changes it: a copy of
//! this map costs the same however long it is, because copies share what they have in common.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

/// So many are copied to change one of the newest. All are copied only once in so many new ones.
const RECENT_MAX: usize = 16;

/// Kept in the order of its keys. New keys are nearly always the greatest, because ids grow with time,
/// and what changes is nearly always among the newest: those are apart from the others.
#[derive(Clone)]
pub struct SharedMap<K, V> {
    older: SharedRow<(K, V)>,
    /// All greater than the older ones.
    recent: SharedRow<(K, V)>,
}

/// Where something is, or would be.
enum At {
    Older(usize),
    Recent(usize),
}

impl<K: Ord, V> SharedMap<K, V> {
    /// Without any entries.
    pub const fn new() -> SharedMap<K, V> {
        SharedMap { older: SharedRow(None), recent: SharedRow(None) }
    }

    /// By binary search.
    pub fn get(&self, key: &K) -> Option<&V> {
        match self.find(key).ok()? {
            At::Older(at) => Some(&self.older.all()[at].1),
            At::Recent(at) => Some(&self.recent.all()[at].1),
        }
    }

    /// Whether there is an entry for the key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    fn find(&self, key: &K) -> Result<At, At> {
        match self.older.all().last() {
            Some((last, _)) if key <= last => {
                self.older.find(key).map(At::Older).map_err(At::Older)
            }
            _ => self.recent.find(key).map(At::Recent).map_err(At::Recent),
        }
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// To change one value in place. Copies that share it keep the old one.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.find(key).ok()? {
            At::Older(at) => Some(&mut self.older.all_mut()[at].1),
            At::Recent(at) => Some(&mut self.recent.all_mut()[at].1),
        }
    }

    /// The value that was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(At::Older(at)) => Some(std::mem::replace(&mut self.older.all_mut()[at].1, value)),
            Ok(At::Recent(at)) => Some(std::mem::replace(&mut self.recent.all_mut()[at].1, value)),
            Err(At::Older(at)) => {
                self.older = self.older.with(at, (key, value));
                None
            }
            Err(At::Recent(at)) => {
                self.recent = self.recent.with(at, (key, value));
                if self.recent.all().len() > RECENT_MAX {
                    self.older = self.iter_pairs().cloned().collect();
                    self.recent = SharedRow(None);
                }
                None
            }
        }
    }
}

impl<K, V> SharedMap<K, V> {
    /// In the order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.iter_pairs().map(|(key, value)| (key, value))
    }

    /// In their order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter_pairs().map(|(key, _)| key)
    }

    /// In the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter_pairs().map(|(_, value)| value)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.older.all().len() + self.recent.all().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn iter_pairs(&self) -> impl DoubleEndedIterator<Item = &(K, V)> {
        self.older.all().iter().chain(self.recent.all())
    }
}

impl<K: Ord, V> SharedMap<K, Arc<V>> {
    /// What is new or different since an earlier state of the same map. States share what did not
    /// change, so looking at addresses is enough.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Arc<V>> {
        let rows = [(&self.older, &before.older), (&self.recent, &before.recent)];
        let changed = rows.into_iter().filter(|(now, then)| !now.is_same(then));
        changed.flat_map(|(now, _)| now.all()).filter_map(|(key, value)| {
            let is_same = before.get(key).is_some_and(|old| Arc::ptr_eq(old, value));
            (!is_same).then_some(value)
        })
    }
}

/// Neighbours in memory, shared until one of those who share them changes something.
struct SharedRow<T>(Option<Arc<[T]>>);

impl<T> SharedRow<T> {
    fn all(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }

    fn is_same(&self, other: &SharedRow<T>) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<K: Ord, V> SharedRow<(K, V)> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        match self.all().last() {
            Some((last, _)) if last < key => Err(self.all().len()),
            _ => self.all().binary_search_by(|(known, _)| known.cmp(key)),
        }
    }
}

impl<T: Clone> SharedRow<T> {
    fn all_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map(Arc::make_mut).unwrap_or_default()
    }

    fn with(&self, at: usize, one: T) -> SharedRow<T> {
        let (before, after) = self.all().split_at(at);
        before.iter().cloned().chain([one]).chain(after.iter().cloned()).collect()
    }
}

impl<T> FromIterator<T> for SharedRow<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> SharedRow<T> {
        SharedRow(Some(all.into_iter().collect()))
    }
}

impl<T> Clone for SharedRow<T> {
    fn clone(&self) -> SharedRow<T> {
        SharedRow(self.0.clone())
    }
}

impl<K: Ord, V> Index<&K> for SharedMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("there is such a key")
    }
}

impl<K: Clone, V: Clone> IntoIterator for SharedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_pairs().cloned().collect::<Vec<_>>().into_iter()
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> SharedMap<K, V> {
        SharedMap { older: SharedRow(None), recent: SharedRow(None) }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &SharedMap<K, V>) -> bool {
        self.iter_pairs().eq(other.iter_pairs())
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SharedMap<K, V> {
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
        fn it_is_a_map(steps in prop::collection::vec((0u8..80, any::<u8>()), 0..120)) {
            let (mut sorted, mut tree) = (SharedMap::new(), BTreeMap::new());
            for (key, value) in steps {
                prop_assert_eq!(sorted.insert(key, value), tree.insert(key, value));
                prop_assert_eq!(sorted.len(), tree.len());
            }
            prop_assert!(sorted.iter().eq(tree.iter()));
            prop_assert!(sorted.keys().rev().eq(tree.keys().rev()));
            prop_assert!(sorted.values().eq(tree.values()));
            for key in 0..80 {
                prop_assert_eq!(sorted.get(&key), tree.get(&key));
                prop_assert_eq!(sorted.get_mut(&key), tree.get_mut(&key));
                prop_assert_eq!(sorted.contains_key(&key), tree.contains_key(&key));
            }
            prop_assert!(sorted.into_iter().eq(tree));
        }

        /// Whichever copy changes, in whatever order, it is a map of its own, and knows what is new in it.
        #[test]
        fn a_copy_is_its_own_map(
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0u8..80, any::<bool>()), 0..120)
        ) {
            let mut maps = vec![(SharedMap::new(), BTreeMap::new())];
            for (number, (which, key, copies)) in steps.into_iter().enumerate() {
                let which = which.index(maps.len());
                if copies {
                    let copy = maps[which].clone();
                    maps.push(copy);
                }
                let (sorted, tree) = &mut maps[which];
                let before = (sorted.clone(), tree.clone());
                // By an insertion, or in place.
                match sorted.get_mut(&key).filter(|_| number % 2 == 0) {
                    Some(value) => *value = Arc::new(number),
                    None => drop(sorted.insert(key, Arc::new(number))),
                }
                tree.insert(key, number);
                let changed: Vec<usize> =
                    sorted.changed_since(&before.0).map(|value| **value).collect();
                prop_assert_eq!(changed, [number]);
                prop_assert_eq!(sorted.changed_since(sorted).count(), 0);
                let all = maps.iter().chain([&before]);
                for (sorted, tree) in all {
                    let found = sorted.iter().map(|(key, value)| (*key, **value));
                    prop_assert!(found.eq(tree.iter().map(|(key, value)| (*key, *value))));
                }
            }
        }
    }

    #[test]
    fn a_copy_shares_what_it_has_in_common() {
        let mut map = SharedMap::new();
        for key in 0..40 {
            map.insert(key, key);
        }
        let mut copy = map.clone();
        assert!(copy.older.is_same(&map.older) && copy.recent.is_same(&map.recent));
        copy.insert(40, 40);
        *copy.get_mut(&39).unwrap() = 0;
        assert!(copy.older.is_same(&map.older), "the older ones are not copied for a new one");
        assert!(map.older.all().len() > RECENT_MAX && map.recent.all().len() <= RECENT_MAX);
        assert_eq!((map[&39], map.len()), (39, 40));
    }
}
