//! Places where a test makes the program fail, to see what the next start makes of it.
//!
//! Nothing of this ships. Without the feature `failpoints`, [`failpoint!`](crate::failpoint!) expands
//! to nothing, whatever stands in it, and there is nothing here to be called. The feature is turned on
//! for one program only, `holdpoint-failing` of `testkit`.
//!
//! ```
//! // Dies, pauses or stops here, if a test wants that.
//! holdpoint_ports::failpoint!("execute.before_run");
//! ```

#[cfg(any(test, feature = "failpoints"))]
mod orders;
#[cfg(any(test, feature = "failpoints"))]
mod points;

#[cfg(any(test, feature = "failpoints"))]
pub use orders::{Orders, errs, obey, reach};
#[cfg(any(test, feature = "failpoints"))]
pub use points::POINTS;

/// A point that has a name in the table; only under a condition, `failpoint!("…", if …)`; or, where
/// an error can be had, with what to do then, `failpoint!("…", return Err(…))`.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! failpoint {
    ($point:expr) => {
        $crate::failpoint::reach($point);
    };
    ($point:expr, if $condition:expr) => {
        if $condition {
            $crate::failpoint::reach($point);
        }
    };
    ($point:expr, $otherwise:expr) => {
        if $crate::failpoint::errs($point) {
            $otherwise
        }
    };
}

/// Nothing: this is not a build for tests.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! failpoint {
    ($($point:tt)*) => {};
}
