//! What a poisoned lock holds, taken all the same.
//!
//! Our locks guard short steps that leave what they guard sound between any two statements, so a panic of another
//! thread is no reason to fail here too.

use std::sync::LockResult;

/// Takes the guard out of a lock in any case.
pub trait Unpoisoned<G> {
    /// The guard, whether or not another thread panicked while it held the lock.
    ///
    /// ```
    /// use holdpoint_ports::unpoisoned::Unpoisoned as _;
    ///
    /// let count = std::sync::Mutex::new(1);
    /// *count.lock().unpoisoned() += 1;
    /// assert_eq!(*count.lock().unpoisoned(), 2);
    /// ```
    fn unpoisoned(self) -> G;
}

impl<G> Unpoisoned<G> for LockResult<G> {
    fn unpoisoned(self) -> G {
        self.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_lock_that_a_panic_poisoned_is_taken_with_what_it_holds() {
        let count = Mutex::new(7);
        std::thread::scope(|scope| {
            let panicked = scope.spawn(|| {
                let _guard = count.lock();
                panic!("on purpose");
            });
            assert!(panicked.join().is_err());
        });
        assert!(count.is_poisoned());
        assert_eq!(*count.lock().unpoisoned(), 7);
    }
}
