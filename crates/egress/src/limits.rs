//! Every bound of the way out, with its reason.

/// A name with more addresses than this is not one receiver.
pub(crate) const ADDRESSES_MAX: usize = 64;
