//! What hostile bytes may do to our parsers: nothing. Each target is a function of bytes that panics
//! when a promise is broken. They live here once and run twice: for a few seconds with every test
//! run (`tests/fuzz.rs`), and under libFuzzer for as long as anybody likes (`cargo xtask fuzz`).
//!
//! A target says what must hold for every input: what was taken can be written and read again, what
//! was refused is refused with a short text, two inputs that differ are told apart.

mod answer;
mod arguments;
mod audit;
mod bodies;
mod config;
mod doors;
mod framing;
mod gestures;
mod headers;
mod http_answer;
mod http_request;
mod mcp;
mod model_stream;
pub mod mutate;
mod notes;
mod pieces;
mod pins;
mod policy;
mod problem;
mod query;
mod record;
mod reply;
mod schema;
mod script;
mod server_replies;
mod shell;
mod shell_line;
mod signed;
mod spool;
mod sql;
mod sse;
mod visible;
mod webhook;
mod words;

use pieces::Pieces;

/// One parser, or a family of them.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub about: &'static str,
    pub run: fn(&[u8]),
    /// More seeds than `fuzz/seeds/<name>`: files of the repository, or folders with all that is in them.
    pub also: &'static [&'static str],
}

const fn target(name: &'static str, about: &'static str, run: fn(&[u8])) -> Target {
    Target { name, about, run, also: &[] }
}

pub const TARGETS: [Target; 36] = [
    target("answer", "an answer to a hold, as the server reads it", answer::run),
    target("arguments", "the arguments of a call: strict JSON", arguments::run),
    target("audit", "an export of the audit log, and the offline verifier", audit::run),
    target("bodies", "the other request bodies of the API", bodies::run),
    Target {
        also: &["holdpoint.example.toml"],
        ..target("config", "the configuration file", config::run)
    },
    target(
        "decisions",
        "decisions that a program brings over a signed webhook",
        gestures::decisions,
    ),
    target("doors", "bodies of the doors for clients of other systems", doors::run),
    target("frames", "frames of chat platforms, and the pointers in buttons", signed::frames),
    target("framing", "what an approval is bound to: digests over framed fields", framing::run),
    target(
        "gestures",
        "messages and presses in chats, once the platform is believed",
        gestures::gestures,
    ),
    target("headers", "idempotency keys, tokens and cookies", headers::run),
    target("http_answer", "what services answer to the tool `http`", http_answer::run),
    target("http_request", "where the arguments of a call to `http` lead", http_request::run),
    target("mcp", "what MCP servers say", mcp::run),
    target("model_stream", "answers of models, in all three APIs", model_stream::run),
    target("notes", "what channels and doors have noted down", notes::run),
    target("pins", "tool definitions that people have agreed to, on disk", pins::run),
    target("platform_answers", "what chat platforms answer to us", gestures::answers),
    target("policy", "rules and conditions of the policy", policy::run),
    target("problem", "what a server tells the command line", problem::run),
    target("query", "queries of the API, and the cursors of its lists", query::run),
    Target {
        also: &["crates/stores/golden"],
        ..target("record", "rows, holds and grants on disk", record::run)
    },
    target("reply", "what a reply in a chat means", reply::run),
    target("schema", "JSON Schemas of tools and forms, and their secrets", schema::run),
    target("script", "files of the scripted model", script::run),
    target("server_replies", "what the command line makes of replies", server_replies::run),
    target("shell", "a command line, as a person is shown it", shell::run),
    target("shell_line", "a shell command line, as the policy reads it", shell_line::run),
    target("spool", "what a command and its supervisor leave behind", spool::run),
    target("sql", "what a statement is, to two readers", sql::run),
    target("sse", "event streams, and where to go on in them", sse::run),
    target("visible", "text as people see it", visible::run),
    target("webhook_secret", "the secrets that sign callbacks", webhook::secret),
    target("webhook_url", "where a callback may go", webhook::url),
    target(
        "webhooks_in",
        "what arrives from chat platforms, with its signatures",
        signed::webhooks,
    ),
    target("words", "ids, digests, times and the small words of the API", words::run),
];

/// The target of this name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// Text from bytes, if they are any. Most parsers take text; what is not UTF-8 is refused before.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// What is told about bad input must not grow without bound, and must not move a terminal's cursor.
fn told_plainly(told: &str, input_bytes: usize) {
    assert!(told.len() <= 2_000 + 16 * input_bytes, "{} bytes are told", told.len());
    let control = told.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "a control character is told: {told:?}");
}
