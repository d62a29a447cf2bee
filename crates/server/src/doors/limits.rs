//! Every bound that doors have in common, with its reason.

/// What a conversation may be called: clients send UUIDs and short random words. It is a key in the
/// store.
pub(crate) const PLACE_BYTES_MAX: usize = 200;
/// What was shown is remembered for as long as the hold could be answered, and then some.
pub(crate) const SHOWN_KEPT_MS: u64 = 40 * 24 * 60 * 60 * 1000;
/// A body that carries a whole chat, of which only the end is read. At a long message of 100 KiB each,
/// more than a hundred of them; a chat that is longer can go on in a new one.
pub(crate) const HISTORY_BYTES_MAX: usize = 16 << 20;
/// Pieces of a stream that are written and not yet sent. A slower client makes the writer wait; what it
/// misses meanwhile is read from the store.
pub(crate) const AHEAD: usize = 64;
/// For how long it is remembered that a reply was delivered. A run may wait for people that long.
pub(crate) const DELIVERED_KEPT_MS: u64 = 40 * 24 * 60 * 60 * 1000;
