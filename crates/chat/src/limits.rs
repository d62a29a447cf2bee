//! Every bound of the chat service, with its reason.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// From a call of a platform to its answer. A platform that needs longer is asked again under the same
    /// key; meanwhile its other chats have the other places.
    pub send_timeout: Duration,
    /// Messages on their way at once, in different chats of one channel, and as many repaints. Platforms
    /// take five a second for each chat, and fifty for all.
    pub sends_at_once: usize,
    /// Between attempts where the platform names no time: doubled each time, up to the last, and each between a half and
    /// the whole of that.
    pub retry: Duration,
    pub retry_max: Duration,
    /// With the pauses above this is about half a day: longer than the questions of a chat wait.
    pub attempts: u32,
    /// The same in chats: people talk there, and what stands already has buttons that look alive. So the
    /// pauses stay short, and there are so many that they are half a day, too.
    pub chat_retry_max: Duration,
    pub chat_attempts: u32,
    /// How long a press waits for a prompt that is being written down. Platforms want an answer in
    /// two or three seconds.
    pub press_wait: Duration,
    /// Between two questions back about the same hold.
    pub reask_every_ms: u64,
    /// After so many a hold is not asked about again: a person who has not understood three times will not.
    pub reasks: u32,
    /// Wrong codes for one prompt; then words do not answer it any more.
    pub bad_codes: u32,
    /// How long a seen event is remembered. Feishu delivers again after six hours; twelve are the least.
    pub seen_ms: u64,
    /// How long an old prompt is remembered, so that its buttons answer with the truth. Feishu's live
    /// for 30 days.
    pub kept_ms: u64,
    /// People who are asked directly about one hold. A role with more of them belongs in a chat.
    pub people_asked: usize,
    /// Open prompts that are looked at when something is written in a chat.
    pub open_in_a_chat: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            send_timeout: Duration::from_secs(10),
            sends_at_once: 16,
            retry: Duration::from_secs(1),
            retry_max: Duration::from_secs(3_600),
            attempts: 28,
            chat_retry_max: Duration::from_secs(60),
            chat_attempts: 960,
            press_wait: Duration::from_millis(1_500),
            reask_every_ms: 30_000,
            reasks: 3,
            bad_codes: 3,
            seen_ms: 24 * 3_600_000,
            kept_ms: 31 * 24 * 3_600_000,
            people_asked: 50,
            open_in_a_chat: 100,
        }
    }
}

/// After so many attempts, which are some minutes, something new does not hold up what is behind it any
/// longer: a message that its platform chokes on must not silence a chat.
pub(crate) const PATIENT_ATTEMPTS: u32 = 12;
/// Half a day: what could not be said or asked for so long is not new any more, and nobody waits for it.
pub(crate) const STALE_MS: u64 = 12 * 3_600_000;
/// How long it is remembered that something was said: as long as it may be tried, and a day more, in which the
/// log may be followed again from an earlier place.
pub(crate) const SAID_MS: u64 = STALE_MS + 24 * 3_600_000;
/// Records that are looked at in one go.
pub(crate) const PAGE: usize = 200;
/// How often a record is changed anew when somebody else was first. Past this something is hammering it.
pub(crate) const UPDATE_ATTEMPTS: u32 = 50;
/// How long a record that was taken up is nobody else's business, beyond what a send can take.
pub(crate) const LEASE_MS: u64 = 50_000;
/// How long the answer to a press has the card to itself. It draws it too, and whichever comes last is
/// seen.
pub(crate) const REPLY_FIRST_MS: u64 = 500;
/// How long a prompt asks once more after the first press of a dangerous yes.
pub(crate) const ARMED_MS: u64 = 60_000;
/// Until a record is looked at again that cannot be read, perhaps by a newer version.
pub(crate) const UNREADABLE_MS: u64 = 3_600_000;
/// Earlier forms of one prompt whose buttons are told that it has changed. Those of older ones are
/// nobody's.
pub(crate) const OLD_NONCES: usize = 8;
/// Messages with one prompt that are drawn besides the one that we know was sent. Each stands for one
/// answer of a platform that was lost. A platform so slow that drawing all of them outlasts the lease has
/// them drawn twice, which is the same.
pub(crate) const COPIES_MAX: usize = 8;
/// Steps of one hold that wait for a program which does not answer. A hold has four; more are votes and
/// edits, of which the newest tells the most.
pub(crate) const STEPS_MAX: usize = 32;
/// Events after which the place in the log is noted, when none of them concerned a chat.
pub(crate) const NOTE_EVERY: u64 = 256;
/// Until the store is asked again that could not be reached.
pub(crate) const STORE_RETRY: Duration = Duration::from_secs(1);
/// What an agent may say in one message of a chat. More is on the page.
pub(crate) const TEXT_BYTES_MAX: usize = 16_000;
/// Names that one chat has had. A group of Telegram's gets another one once.
pub(crate) const NAMES_MAX: usize = 4;
/// Refused answers of one channel that are listed in the log one by one, and for how long. A person makes a
/// few mistakes in an hour; an account that makes more is known by then, and the rest is counted.
pub(crate) const REFUSALS_PER_WINDOW: u32 = 100;
pub(crate) const REFUSALS_WINDOW_MS: u64 = 3_600_000;
