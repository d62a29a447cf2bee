//! Every bound of the channels, with its reason.

use std::time::Duration;

/// What servers and proxies take without complaint.
pub(crate) const URL_BYTES_MAX: usize = 2048;
/// A longer text goes to a program without its parts, which are in the API.
pub(crate) const WEBHOOK_PARTS_TEXT_BYTES_MAX: usize = 20_000;
/// From the first packet to the answer's headers. A receiver that needs longer should accept first
/// and work later; deliveries behind it wait.
pub(crate) const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Between the attempts to tell a program of something. They go on for seven hours: a deployment, an
/// outage or a night's sleep; then it is given up.
pub(crate) const RETRIES: [Duration; 6] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(3_600),
    Duration::from_secs(6 * 3_600),
];
/// Where a title is a heading. It stands in full in the body.
pub(crate) const TITLE_CHARACTERS_MAX: usize = 120;
/// The names of people, rules and agents on a card: a line each.
pub(crate) const FACT_CHARACTERS_MAX: usize = 120;
/// People and votes that are named on a card; of the others, how many they are.
pub(crate) const NAMES_SHOWN_MAX: usize = 8;
/// What is written as the reason of a no. It is for an agent to read.
pub(crate) const REASON_CHARACTERS_MAX: usize = 1_000;
/// The first line of a result, behind who approved it.
pub(crate) const RESULT_CHARACTERS_MAX: usize = 200;
/// Slack's bound, the smallest; Feishu takes 100.
pub(crate) const BUTTON_CHARACTERS_MAX: usize = 75;
/// A label beside an input.
pub(crate) const FIELD_CHARACTERS_MAX: usize = 100;
/// A form with more fields is one for the page.
pub(crate) const FIELDS_MAX: usize = 12;
/// The same for a list to pick from; Slack takes 100.
pub(crate) const FORM_OPTIONS_MAX: usize = 100;
/// More options than this become a menu: the platforms draw no more buttons in a row.
pub(crate) const BUTTONS_MAX: usize = 5;
/// A card of Feishu may have 30 KB; counted as the message carries it, escaped twice.
pub(crate) const FEISHU_CARD_BYTES_MAX: usize = 30_000;
/// A card of Feishu may have 200 elements, those inside of others included.
pub(crate) const FEISHU_ELEMENTS_MAX: usize = 44;
/// A text or post of Feishu may have 150 KB, which nobody reads in a chat.
pub(crate) const FEISHU_TEXT_BYTES_MAX: usize = 20_000;
/// What DingTalk takes as `msgParam`.
pub(crate) const DINGTALK_PARAM_BYTES_MAX: usize = 15_000;
/// A longer variable of a card is silently not shown.
pub(crate) const DINGTALK_VALUE_BYTES_MAX: usize = 1_024;
/// What Slack takes in one section.
pub(crate) const SLACK_SECTION_UNITS_MAX: usize = 3_000;
/// Fifty blocks are allowed: these are to be read, and a few more have the headline, the buttons and
/// the link.
pub(crate) const SLACK_FLOW_BLOCKS_MAX: usize = 44;
/// More foreign text than this is not read in a chat.
pub(crate) const SLACK_TEXT_UNITS_MAX: usize = 10 * SLACK_SECTION_UNITS_MAX;
/// A plain text that is wrapped here is not wrapped again on a phone, which has 35 columns.
pub(crate) const PLAIN_COLUMNS_MAX: usize = 32;
/// What Telegram takes in one message.
pub(crate) const TELEGRAM_UNITS_MAX: usize = 4_096;
/// Mail programs hide what comes after about this much.
pub(crate) const EMAIL_BODY_BYTES_MAX: usize = 100_000;
/// Lists of mails show less.
pub(crate) const EMAIL_SUBJECT_CHARACTERS_MAX: usize = 150;
/// What no platform's event is larger than; Feishu says so of its own.
pub(crate) const EVENT_BYTES_MAX: usize = 1 << 20;
/// How far a signed time may be from ours.
pub(crate) const SIGNATURE_WINDOW_MS: u64 = 300_000;
/// DingTalk signs its robot's requests once for an hour.
pub(crate) const DINGTALK_WINDOW_MS: u64 = 3_600_000;
/// A frame has seven headers.
pub(crate) const FRAME_HEADERS_MAX: usize = 64;
/// Frames of one event. They come in pieces of many kilobytes.
pub(crate) const PARTS_MAX: usize = 64;
/// Events that wait for their parts at the same time, on one connection.
pub(crate) const PARTS_OPEN_MAX: usize = 64;
/// Then the platform sends the event again.
pub(crate) const PARTS_WAIT_MS: u64 = 5_000;
/// From the first packet to the last byte of a platform's answer. They answer within a second or not
/// at all; deliveries behind it wait.
pub(crate) const REST_WITHIN: Duration = Duration::from_secs(10);
/// The part of it in which nothing was said yet.
pub(crate) const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Answers are a few hundred bytes; a list of scopes has some thousands.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;
/// An event, with the frame around it.
pub(crate) const SOCKET_MESSAGE_BYTES_MAX: usize = EVENT_BYTES_MAX + (64 << 10);
/// What a platform says of a failure, in our log and on the page.
pub(crate) const SAID_CHARACTERS_MAX: usize = 300;
/// A platform that wants us to wait for longer is asked again after this all the same.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(3_600);
/// Below half an hour a new token is given, and the old one still works.
pub(crate) const FEISHU_TOKEN_LEFT_MS: u64 = 30 * 60_000;
/// Cards can be changed for fourteen days after they are sent. One of them is for a platform that is away
/// when the question ends.
pub(crate) const FEISHU_CARD_MS: u64 = 13 * 24 * 3_600_000;
/// The reply to a press must be there within three seconds, the way of it included.
pub(crate) const FEISHU_PRESS_WITHIN: Duration = Duration::from_millis(2_500);
/// Old messages may be delivered again to a new connection; nobody waits for an answer to them.
pub(crate) const FEISHU_MESSAGE_OLD_MS: u64 = 30 * 60_000;
/// An hour between pings or attempts is no pace.
pub(crate) const FEISHU_TEMPO_MAX: u64 = 3_600;
/// When the platform wants no more attempts.
pub(crate) const FEISHU_REST: Duration = Duration::from_secs(600);
/// Requests of ten minutes are remembered: both sides of the window in which their time is good.
pub(crate) const REPLAYS_MS: u64 = 2 * SIGNATURE_WINDOW_MS;
/// A busy app gets some hundred events a minute.
pub(crate) const REPLAYS_MAX: usize = 10_000;
/// Address, TCP, TLS and the upgrade.
pub(crate) const SOCKET_OPEN_WITHIN: Duration = Duration::from_secs(15);
/// A few hundred bytes that the other side does not take are a dead line.
pub(crate) const SOCKET_SEND_WITHIN: Duration = Duration::from_secs(5);
/// Room for a slow answer to a ping.
pub(crate) const SOCKET_SILENCE: Duration = Duration::from_secs(10);
/// Events that are worked at, on one connection. Each waits for one commit.
pub(crate) const EVENTS_AT_ONCE_MAX: usize = 256;
/// What was begun may end when we are to stop; it takes a commit.
pub(crate) const STOP_WITHIN: Duration = Duration::from_secs(3);
/// More than this, and signatures and deadlines are judged wrongly.
pub(crate) const CLOCK_SKEW_MS_MAX: u64 = 60_000;
/// The first wait before a connection is opened again, and the longest: a minute after the platform is
/// back, so are we.
pub(crate) const RECONNECT_FIRST: Duration = Duration::from_secs(1);
pub(crate) const RECONNECT_MOST: Duration = Duration::from_secs(60);
/// Private replies under way at the same time. More would mean that the platform hangs.
pub(crate) const ERRANDS_MAX: usize = 256;
/// What is said in a chat is cut into so many messages at the most; nobody reads more.
pub(crate) const SAID_PIECES_MAX: usize = 5;
/// What somebody is told of what they filled in wrongly.
pub(crate) const REFUSAL_CHARACTERS_MAX: usize = 300;
/// How long Telegram holds a request for updates open, as its documents advise; our own patience is a
/// little longer.
pub(crate) const TELEGRAM_POLL_S: u64 = 50;
pub(crate) const TELEGRAM_POLL_WITHIN: Duration = Duration::from_secs(65);
/// Updates at once. One has up to 40 KB, with the message that it replies to, so they fit in an answer.
pub(crate) const TELEGRAM_UPDATES_MAX: u64 = 20;
/// A hundred keys are all there is, and the last one says no.
pub(crate) const TELEGRAM_OPTIONS_MAX: usize = 99;
/// What Telegram shows above a chat when a key was pressed.
pub(crate) const TELEGRAM_TOAST_CHARACTERS_MAX: usize = 200;
/// Pressed keys that were answered. Telegram repeats an update for a day, but a key's press only until
/// it is confirmed, which is at once.
pub(crate) const ANSWERED_MAX: usize = 4_096;
/// Slack advises four thousand characters in a text; escapes make it longer.
pub(crate) const SLACK_SAID_UNITS_MAX: usize = 3_000;
/// Messages of which it is remembered that they were tried, to look for them before a second try.
pub(crate) const SLACK_TRIED_MAX: usize = 10_000;
/// What was asked longer ago than this may have been sent by a process that is no more.
pub(crate) const SLACK_NEW_MS: u64 = 10_000;
/// Slack pings every few seconds. A connection without a sign of life for a minute is dead.
pub(crate) const SLACK_PING_EVERY: Duration = Duration::from_secs(20);
pub(crate) const SLACK_SILENT_PINGS_MAX: u32 = 2;
/// DingTalk's tokens are renewed five minutes before they die.
pub(crate) const DINGTALK_TOKEN_LEFT_MS: u64 = 5 * 60_000;
/// How long a machine is turned away that asked too much, where they do not say it.
pub(crate) const DINGTALK_BLOCKED: Duration = Duration::from_secs(300);
/// The reply to a press must be there within two seconds, the way of it included.
pub(crate) const DINGTALK_PRESS_WITHIN: Duration = Duration::from_millis(1_600);
/// Half-open connections are the usual failure of the stream, so it is tried often.
pub(crate) const DINGTALK_PING: Duration = Duration::from_secs(20);
/// Three pings without an answer.
pub(crate) const DINGTALK_SILENCE_MS: u64 = 65_000;
/// Conversations whose own address is remembered. Each is some hundred bytes, and good for an hour and a half.
pub(crate) const DINGTALK_SESSIONS_MAX: usize = 10_000;
/// They are good for an hour and a half; one that says more is not believed for longer than this.
pub(crate) const DINGTALK_SESSION_MAX_MS: u64 = 2 * 60 * 60 * 1_000;
/// Longer ones are no addresses of DingTalk's, and so many of them would be much to keep.
pub(crate) const DINGTALK_SESSION_URL_BYTES_MAX: usize = 2_048;
/// An address that ends sooner than this may be gone when a message arrives there.
pub(crate) const DINGTALK_SESSION_LEFT_MS: u64 = 30_000;
/// Before a new connection is asked for.
pub(crate) const DINGTALK_RECONNECT: (Duration, Duration) =
    (Duration::from_secs(1), Duration::from_secs(10));
/// To connect to a mail server and log in. Some of them let a stranger wait on purpose.
pub(crate) const EMAIL_LOGIN_WITHIN: Duration = Duration::from_secs(20);
/// To hand a message over: the server may look into it before it says yes.
pub(crate) const EMAIL_SEND_WITHIN: Duration = Duration::from_secs(60);
