//! A list that only grows. Every command copies the session before it changes it: a copy of this list
//! costs the same however long it is, because copies share what they have in common.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Index;
use std::sync::{Arc, OnceLock};

const FIRST_ROOM: usize = 8;

/// Slots are shared between clones, and each is filled once. When two clones push to the same slot, the
/// later one copies.
pub struct SharedVec<T> {
    places: Arc<[OnceLock<T>]>,
    len: usize,
}

impl<T> SharedVec<T> {
    /// Without any elements.
    pub fn new() -> SharedVec<T> {
        SharedVec { places: Arc::default(), len: 0 }
    }

    /// How many there are here; another copy may have more.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The newest element.
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }

    /// The element at a place, from 0.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.filled().get(at)?.get()
    }

    /// From the oldest to the newest.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.filled().iter())
    }

    /// What comes after the first so many.
    pub fn after(&self, at: usize) -> Iter<'_, T> {
        Iter(self.filled().get(at..).unwrap_or_default().iter())
    }

    fn filled(&self) -> &[OnceLock<T>] {
        &self.places[..self.len]
    }
}

impl<T: Clone> SharedVec<T> {
    /// Adds one at the end. Copies made before do not see it.
    pub fn push(&mut self, value: T) {
        let left = match self.places.get(self.len) {
            // mutant: two-histories-share-a-place
            Some(place) => place.set(value),
            None => Err(value),
        };
        if let Err(value) = left {
            let room = (self.len * 2).max(FIRST_ROOM);
            let own = self.iter().cloned().chain([value]).map(OnceLock::from);
            let free = (self.len + 1..room).map(|_| OnceLock::new());
            self.places = own.chain(free).collect();
        }
        self.len += 1;
    }
}

/// The elements of a [`SharedVec`], from the oldest to the newest.
pub struct Iter<'a, T>(std::slice::Iter<'a, OnceLock<T>>);

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().and_then(OnceLock::get)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a, T> DoubleEndedIterator for Iter<'a, T> {
    fn next_back(&mut self) -> Option<&'a T> {
        self.0.next_back().and_then(OnceLock::get)
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}
impl<T> FusedIterator for Iter<'_, T> {}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter(self.0.clone())
    }
}

impl<T> Clone for SharedVec<T> {
    fn clone(&self) -> SharedVec<T> {
        SharedVec { places: self.places.clone(), len: self.len }
    }
}

impl<T> Default for SharedVec<T> {
    fn default() -> SharedVec<T> {
        SharedVec::new()
    }
}

impl<T: PartialEq> PartialEq for SharedVec<T> {
    fn eq(&self, other: &SharedVec<T>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: fmt::Debug> fmt::Debug for SharedVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Index<usize> for SharedVec<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.get(at).expect("there is such a place")
    }
}

impl<'a, T> IntoIterator for &'a SharedVec<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Clone> FromIterator<T> for SharedVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> SharedVec<T> {
        let places: Arc<[_]> = values.into_iter().map(OnceLock::from).collect();
        SharedVec { len: places.len(), places }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whichever copy grows, in whatever order, it is a list of its own.
        #[test]
        fn it_is_a_list(steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..80)) {
            let mut lists = vec![(SharedVec::new(), Vec::new())];
            for (number, (which, copies)) in steps.into_iter().enumerate() {
                let which = which.index(lists.len());
                if copies {
                    let copy = lists[which].clone();
                    lists.push(copy);
                }
                let (grown, list) = &mut lists[which];
                grown.push(number);
                list.push(number);
                for (grown, list) in &lists {
                    prop_assert!(grown.iter().eq(list));
                    prop_assert!(grown.iter().rev().eq(list.iter().rev()));
                    prop_assert!(grown.after(list.len() / 2).eq(&list[list.len() / 2..]));
                    prop_assert_eq!(grown.len(), list.len());
                    prop_assert_eq!(grown.last(), list.last());
                    prop_assert_eq!(grown.get(list.len()), None);
                }
            }
        }
    }

    #[test]
    fn a_copy_shares_what_it_has_in_common() {
        let mut list: SharedVec<u8> = (0..9).collect();
        list.push(9);
        let copy = list.clone();
        list.push(10);
        assert!(Arc::ptr_eq(&list.places, &copy.places));
        assert_eq!((list.len(), copy.len()), (11, 10));
        // Two who go on from the same place part.
        let mut other = copy.clone();
        other.push(11);
        assert!(!Arc::ptr_eq(&list.places, &other.places));
        assert_eq!((list.last(), other.last()), (Some(&10), Some(&11)));
    }
}
