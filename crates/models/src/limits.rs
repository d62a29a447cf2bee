//! Every bound of the models' clients, with its reason.

use std::time::Duration;

/// One line of an event stream, and all lines of one event. The last event of the Responses API
/// repeats the whole turn, so this is more than a turn may have.
pub const EVENT_BYTES_MAX: usize = 24 << 20;
/// All that one attempt may send, however it is cut into events. A turn of the largest models, in
/// the most wordy of the formats, is a tenth of it.
pub(crate) const STREAM_BYTES_MAX: usize = 96 << 20;
/// Text, thinking and arguments of one turn together: all of it is kept for as long as the session.
pub(crate) const TURN_BYTES_MAX: usize = 8 << 20;
/// Pieces of one turn besides its calls. Real turns have a handful.
pub(crate) const PARTS_MAX: usize = 1_024;
/// Names and ids that a model made up. They go back with every later request.
pub(crate) const NAME_BYTES_MAX: usize = 1_024;

/// What is read of an answer that only says what is wrong.
pub(crate) const PROBLEM_BYTES_MAX: usize = 64 << 10;
/// What people are shown of it.
pub(crate) const PROBLEM_CHARS_MAX: usize = 400;

/// The first pause before another attempt; each later one is twice as long.
pub(crate) const BACKOFF: Duration = Duration::from_millis(500);
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// A provider that wants us to stay away for longer is better waited for by a person, who can see
/// why nothing happens.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);
/// Attempts that a configuration may ask for.
pub const RETRIES_MAX: u32 = 20;
pub const RETRIES: u32 = 5;

/// How often a provider may pause one turn and be asked to go on with it.
pub(crate) const PAUSES_MAX: usize = 16;
/// How long the count of tokens is waited for, once a turn is complete. It is worth a moment, and
/// some servers never send it and never hang up.
pub(crate) const USAGE_WITHIN: Duration = Duration::from_secs(5);

/// What Anthropic is asked for where the configuration says nothing; the API wants a number.
pub const MAX_TOKENS: u32 = 16_000;
