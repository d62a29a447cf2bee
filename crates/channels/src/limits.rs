//! Every bound of the channels, with its reason.

use std::time::Duration;

/// What servers and proxies take without complaint.
pub(crate) const URL_BYTES_MAX: usize = 2048;
/// From the first packet to the answer's headers. A receiver that needs longer should accept first
/// and work later; deliveries behind it wait.
pub(crate) const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// An answer is a word or two, with a courtesy. What is longer says more than yes or no.
pub(crate) const REPLY_CHARACTERS_MAX: usize = 120;
