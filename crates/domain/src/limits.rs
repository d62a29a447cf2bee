//! Every bound of the domain, with its reason.

/// A turn with more calls than this is a model gone wrong; nobody can review it.
pub const CALLS_PER_TURN_MAX: usize = 64;
/// More open questions than this in one session cannot be meant for people.
pub const OPEN_HOLDS_PER_SESSION_MAX: usize = 256;
/// Messages that wait for a run to end. A person who typed a hundred has not been listened to.
pub const QUEUED_MESSAGES_MAX: usize = 100;
/// Options that a person can still overlook.
pub const OPTIONS_MAX: usize = 100;
/// An option is a line; what explains it has a field of its own.
pub const OPTION_BYTES_MAX: usize = 1_000;
/// Questions of one questionnaire. A person who has to answer more is filling in a form, not deciding.
pub const QUESTIONS_MAX: usize = 20;
/// Ids are repeated with every answer; nobody reads long ones.
pub const QUESTION_ID_BYTES_MAX: usize = 200;
/// One question, its header, or what explains an option.
pub const QUESTION_TEXT_BYTES_MAX: usize = 4_000;
/// Titles are one line in a list.
pub const TITLE_BYTES_MAX: usize = 500;
/// Reasons and notes: several pages, which is more than a person reads before deciding.
pub const REASON_BYTES_MAX: usize = 10_000;
/// What a person gives in a tool's place, or fills in: as much as one message.
pub const CONTENT_BYTES_MAX: usize = 1 << 20;
/// One message: more is a file.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// What a program shows beside its question. It is in the hold's row, which is written anew with each change.
pub const CONTEXT_BYTES_MAX: usize = 256 << 10;
/// A standing grant ends after this, whatever was asked for.
pub const GRANT_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// Uses of one grant: a person who approved once has not looked at more.
pub const GRANT_USES_MAX: u32 = 1_000;
/// Uses of a grant whose approval does not say.
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
/// A comment is a remark to colleagues; what is longer belongs elsewhere, and they would not read it before deciding.
pub const COMMENT_BYTES_MAX: usize = 2_000;
/// Comments on one hold. All of them are in its row, which is written anew with each change.
pub const COMMENTS_PER_HOLD_MAX: usize = 50;
/// How long after its end a hold may be talked about: a week, for what people find out afterwards.
pub const COMMENTED_AFTER_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// People whom one comment tells. More than these are a crowd, and the rest of its addresses are text.
pub const MENTIONS_MAX: usize = 10;
/// Ids of people are not longer, so a name is looked for no further.
pub const MENTION_CHARS_MAX: usize = 100;
/// Files of one message. A person who sends more sends an archive.
pub const FILES_PER_MESSAGE_MAX: usize = 20;
/// What every file system takes as one name.
pub const FILE_NAME_BYTES_MAX: usize = 255;
/// Pixels of one side of what we call an image: what browsers and models still decode.
pub const IMAGE_SIDE_MAX: u32 = 16_384;
/// All pixels of one: 256 MB when it is drawn.
pub const IMAGE_PIXELS_MAX: u64 = 64_000_000;
