//! Every bound of the domain, with its reason.

/// A turn with more calls than this is a model gone wrong; nobody can review it.
pub const CALLS_PER_TURN_MAX: usize = 64;
/// More open questions than this in one session cannot be meant for people.
pub const OPEN_HOLDS_PER_SESSION_MAX: usize = 256;
/// Messages that wait for a run to end. A person who typed a hundred has not been listened to.
pub const QUEUED_MESSAGES_MAX: usize = 100;
/// Options that a person can still overlook.
pub const OPTIONS_MAX: usize = 100;
pub const OPTION_BYTES_MAX: usize = 1_000;
/// Questions of one inquiry. A person who has to answer more is filling in a form, not deciding.
pub const QUESTIONS_MAX: usize = 20;
/// Ids are repeated with every answer; nobody reads long ones.
pub const QUESTION_ID_BYTES_MAX: usize = 200;
/// One question, its header, or what explains an option.
pub const INQUIRY_TEXT_BYTES_MAX: usize = 4_000;
pub const TITLE_BYTES_MAX: usize = 500;
pub const REASON_BYTES_MAX: usize = 10_000;
pub const CONTENT_BYTES_MAX: usize = 1 << 20;
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
pub const CONTEXT_BYTES_MAX: usize = 256 << 10;
/// A standing grant ends after this, whatever was asked for.
pub const GRANT_MS_MAX: u64 = 24 * 60 * 60 * 1000;
pub const GRANT_USES_MAX: u32 = 1_000;
pub const GRANT_USES_DEFAULT: u32 = 100;
/// How long an approved call may wait to start (frozen, siblings undecided, a tool gone missing).
pub const EXECUTE_WITHIN_MS: u64 = 24 * 60 * 60 * 1000;
/// Model calls in one run before somebody is asked, whatever the configuration says: a loop between
/// model and tools comes to people's notice.
pub const TURNS_PER_RUN_MAX: u32 = 200;
/// Denials of a session that a new call is held against, the latest first: older ones nobody remembers.
pub const DENIALS_LOOKED_AT: usize = 20;
/// Of the reason of such a denial, as the warning repeats it; the denied hold has it whole.
pub const SIMILAR_REASON_CHARS: usize = 200;
