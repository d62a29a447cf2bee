//! Every bound of the server, with its reason.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// Arguments may have 1 MiB and a message too; with escapes and what surrounds them this is
    /// enough for either, and little enough for many callers at once.
    pub body_bytes: usize,
    /// A body that trickles in would hold a place for ever.
    pub body_timeout: Duration,
    /// The same for the head of a request, and for a connection on which none ever comes.
    pub header_timeout: Duration,
    /// Requests that a caller may send per second over a longer time; `None` lifts the limit.
    pub requests_per_second: Option<u32>,
    /// How many a caller may send at once before that rate applies.
    pub request_burst: u32,
    /// Callers whose rate is remembered. A caller beyond that starts anew, which is harmless.
    pub callers_remembered: usize,
    /// Requests that are being answered; more are asked to come back.
    pub requests_at_once: usize,
    /// Of strangers, apart from those of known callers. Nothing that strangers may ask takes long.
    pub strangers_at_once: usize,
    /// Connections that are open.
    pub connections: usize,
    /// Of these, connections on which nobody has shown yet who they are, at most a quarter. When there
    /// are more, the oldest of the address that has the most is closed: whoever has a token is known
    /// after one request.
    pub stranger_connections: usize,
    /// Bodies of strangers that are being read (logins, requests of chat platforms). When there are
    /// more, the oldest of the address that has the most is given up.
    pub stranger_bodies: usize,
    /// A login is a few hundred bytes in one packet.
    pub stranger_body_timeout: Duration,
    /// Open event streams, of all callers and of one.
    pub streams: usize,
    pub streams_per_caller: usize,
    /// A comment line on a silent stream, and a look whether its caller is still welcome. The
    /// contract says at least every 25 s; proxies cut what is silent for 30 or 60.
    pub heartbeat: Duration,
    /// How long the reply to a message waits for its run to pause or end, so that it can be told whole. Too
    /// short for a person to notice; a model that is not a script takes longer for its first word.
    pub moment: Duration,
    /// Wrong tokens and codes from one address in a minute. Guessing 256 bits is hopeless anyway:
    /// this keeps the log readable.
    pub failures_per_minute: u32,
    /// How long requests under way may take to end once the server stops.
    pub closing_grace: Duration,
}

impl Default for HttpLimits {
    fn default() -> HttpLimits {
        HttpLimits {
            body_bytes: 2 << 20,
            body_timeout: Duration::from_secs(30),
            header_timeout: Duration::from_secs(15),
            requests_per_second: Some(5_000),
            request_burst: 10_000,
            callers_remembered: 10_000,
            requests_at_once: 8_192,
            strangers_at_once: 1_024,
            connections: 10_000,
            stranger_connections: 2_048,
            stranger_bodies: 256,
            stranger_body_timeout: Duration::from_secs(5),
            streams: 8_192,
            streams_per_caller: 4_096,
            heartbeat: Duration::from_secs(15),
            moment: Duration::from_millis(20),
            failures_per_minute: 20,
            closing_grace: Duration::from_secs(10),
        }
    }
}

/// A long poll is answered before proxies lose patience.
pub(crate) const WAIT_S_MAX: u64 = 60;
pub(crate) const WAIT_S_DEFAULT: u64 = 30;
/// Of a body that is too large, this much is read for the sake of the reply. Nothing is kept of it.
pub(crate) const DRAINED_BYTES_MAX: usize = 64 << 20;
/// What waits on one connection to be sent, and the longest head of a request: whoever does not read
/// makes the server keep no more than this.
pub(crate) const CONNECTION_BYTES: usize = 128 << 10;
/// Events that are ready go out together until they are so long. Whoever reads a long log should
/// see the first of it soon.
pub(crate) const PIECE_BYTES: usize = 64 << 10;
pub(crate) const PAGE_DEFAULT: usize = 50;
pub(crate) const PAGE_MAX: usize = 200;
/// Long enough for a digest of anything, short enough to index.
pub(crate) const KEY_BYTES_MAX: usize = 255;
/// Replies kept in memory for requests that leave none in the store.
pub(crate) const RECENT_REPLIES: usize = 4_096;
/// Replies that hold a secret are kept only for a client that lost the first one on the way.
pub(crate) const SECRETS_KEPT_MS: u64 = 600_000;
/// Places kept for freezing, thawing and cancelling when everything else is full.
pub(crate) const URGENT_AT_ONCE: usize = 64;
/// Cookies that are being looked up; more wait a moment for their turn. Anybody can send one.
pub(crate) const COOKIE_LOOKUPS: usize = 256;
/// Requests that wait for such a turn. When there are more, one of the address that has the most is told
/// to come back.
pub(crate) const COOKIE_WAITS: usize = 1_024;
/// The longest body that a stranger has to send, except to a chat channel's address.
pub(crate) const STRANGER_BYTES_MAX: usize = 8 << 10;
/// One field of what an authorization server sends along with a browser. Codes of some are tokens of two kilobytes.
pub(crate) const CALLBACK_FIELD_BYTES_MAX: usize = 4 << 10;
/// Login links that one address may ask for in a minute.
pub(crate) const LINKS_PER_MINUTE: u32 = 5;
/// Between two login links to the same person: nobody can flood somebody else's chat.
pub(crate) const LINK_PAUSE_MS: u64 = 60_000;
/// Previews of edits that one caller may ask for in a second over a longer time, and at once: each lets a tool look at a
/// call, which may count rows of a database.
pub(crate) const PREVIEWS_PER_SECOND: u32 = 2;
pub(crate) const PREVIEW_BURST: u32 = 10;
/// What holds are searched for. Titles have at most 500 characters.
pub(crate) const SEARCH_BYTES_MAX: usize = 1_000;
/// Answers in one request: a page that people still look through before they decide.
pub(crate) const ANSWERS_AT_ONCE: usize = 100;
/// Audit entries that one request searches. The reply says where to go on.
pub(crate) const AUDIT_SEARCHED: usize = 5_000;
/// How long the whole log may be checked while somebody waits. A longer one is checked offline.
pub(crate) const AUDIT_CHECK_WITHIN: Duration = Duration::from_secs(60);
/// A handshake that takes longer is no browser.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);
/// Audit entries read at once for an export.
pub(crate) const EXPORT_PAGE: usize = 500;
/// No event of a chat platform is larger; Feishu says so of its own.
pub(crate) const HOOK_BYTES_MAX: usize = 1 << 20;
/// A platform sends from a few addresses. A group of a thousand people does not write faster.
pub(crate) const HOOKS_PER_SECOND: u32 = 200;
/// What a platform may send at once when it delivers again what it could not deliver for a while.
pub(crate) const HOOK_BURST: u32 = 1_000;
/// Requests that are being judged: a signature over 1 MiB takes a millisecond.
pub(crate) const HOOKS_AT_ONCE: usize = 256;
/// A whole file on its way in, over a slow line, and a pause in it: a phone that changes its network.
pub(crate) const UPLOAD_WITHIN: Duration = Duration::from_secs(15 * 60);
pub(crate) const UPLOAD_SILENCE: Duration = Duration::from_secs(30);
/// How long what is left of a refused file is read on: a client may wait for the reply before it sends any of it.
pub(crate) const UPLOAD_DRAINED_WITHIN: Duration = Duration::from_secs(5);
