//! Queries of the API. What a list is asked for is what was sent, within its bounds; whoever follows the
//! cursors that we hand out gets everything once.

use std::fmt::{Debug, Display};
use std::time::Duration;

use domain::hold::{HoldStateName, QuestionKind, Risk};
use domain::id::{Bits, HoldId, SessionId, TokenId};
use engine::{HoldFilter, Until};
use reqwest::Url;
use serde_json::Value;
use server::fuzz_api::{self, QueryRead};

use super::bodies::is_a_problem;
use super::{Pieces, text, told_plainly};

/// Of one page, of one wait.
const PAGE_MAX: usize = 200;
const DOOR_PAGE_MAX: usize = 100;
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(super) fn run(bytes: &[u8]) {
    walks(bytes);
    let Some(query) = text(bytes) else { return };
    // Read once more by whoever reads addresses for us.
    let Ok(sent) = Url::parse(&format!("http://h/?{query}")).map(Sent) else { return };
    if let Some(filter) = taken(query, fuzz_api::list_of_holds(query)) {
        holds(&filter, &sent);
    }
    if let Some((agent, limit, after)) = taken(query, fuzz_api::list_of_sessions(query)) {
        assert_eq!(agent, sent.one("agent"));
        sent.asks_for(limit, after);
    }
    if let Some((limit, after)) = taken(query, fuzz_api::list_of_tokens(query)) {
        sent.asks_for(limit, after);
    }
    if let Some((limit, after)) = taken(query, fuzz_api::list_of_entries(query)) {
        sent.asks_for::<u64>(limit, None);
        let (cursor, from) = (sent.number("cursor"), sent.number("after"));
        assert_eq!(after, cursor.or(from).unwrap_or(0), "after what was said");
    }
    if let Some((until, patience)) = taken(query, fuzz_api::wait(query)) {
        assert!(patience <= WAIT_MAX);
        assert_eq!(until == Until::Settled, sent.one("until").as_deref() == Some("settled"));
    }
    if let Some(after) = taken(query, fuzz_api::events(query)) {
        assert_eq!(after, sent.number("after"));
    }
    if let Some(Some(code)) = taken(query, fuzz_api::login_link(query)) {
        assert!(code.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{code:?} is in a page");
        assert_eq!(Some(code), sent.one("code"));
    }
    at_a_door(query, &sent);
}

fn holds(filter: &HoldFilter, sent: &Sent) {
    assert_eq!(filter.state.map(HoldStateName::name), sent.one("state").as_deref());
    assert_eq!(filter.agent, sent.one("agent"));
    assert_eq!(filter.session.map(|id| id.to_string()), sent.one("session"));
    assert_eq!(filter.kind.map(QuestionKind::name), sent.one("kind").as_deref());
    assert_eq!(filter.risk.map(Risk::name), sent.one("risk").as_deref());
    assert_eq!(filter.mine, sent.one("mine").as_deref() == Some("true"));
    assert_eq!(filter.text, sent.one("q").filter(|text| !text.is_empty()));
    sent.asks_for(filter.limit, filter.after);
}

fn at_a_door(query: &str, sent: &Sent) {
    if let Some((limit, offset, kind)) = taken(query, fuzz_api::door_sessions(query)) {
        assert!((1..=DOOR_PAGE_MAX).contains(&limit), "{limit} at once");
        assert_eq!(offset as u64, sent.number("offset").unwrap_or(0));
        assert_eq!(kind, sent.one("agent_type"));
    }
    if let Some((limit, before, kind)) = taken(query, fuzz_api::door_conversations(query)) {
        assert!((1..=DOOR_PAGE_MAX).contains(&limit), "{limit} at once");
        assert_eq!(before.map(|number| number as u64), sent.number("before"));
        assert_eq!(kind, sent.one("agent_type"));
    }
    let Some((rest, chat)) = fuzz_api::door_chat(query) else { return };
    // A plus is a plus in a path.
    let behind = query.split('#').next().unwrap_or_default().strip_prefix(&rest);
    let name = behind.and_then(|behind| behind.strip_prefix('/')?.strip_suffix("/stream"));
    let name = name.expect("a chat stands behind the query").replace('+', "%2B");
    let read = Url::parse(&format!("http://h/?name={}", name.replace('&', "%26")));
    let read = Sent(read.expect("an address")).one("name").unwrap_or_default();
    assert!(chat == read || chat.is_empty() && read.contains('\u{fffd}'), "{chat:?}, not {read:?}");
}

/// What is taken; what is refused is refused with a problem, in plain words.
fn taken<T>(query: &str, read: QueryRead<T>) -> Option<T> {
    match read? {
        Ok(taken) => Some(taken),
        Err(document) => {
            is_a_problem(&document, query.len());
            let problem: Value = serde_json::from_str(&document).expect("a problem is JSON");
            let detail = problem["detail"].as_str().expect("it says what is wrong");
            assert!(!detail.is_empty());
            told_plainly(detail, 0);
            None
        }
    }
}

/// What was sent, to another reader.
struct Sent(Url);

impl Sent {
    /// Nobody may say two things.
    fn one(&self, name: &str) -> Option<String> {
        let mut values = self.0.query_pairs().filter(|(key, _)| key == name);
        let first = values.next().map(|(_, value)| value.into_owned());
        assert_eq!(values.next(), None, "`{name}` is said twice, and taken");
        first
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.one(name).map(|number| number.parse().expect("what is taken is a number"))
    }

    fn asks_for<C: Display + Debug>(&self, limit: usize, after: Option<C>) {
        assert!((1..=PAGE_MAX).contains(&limit), "{limit} at once");
        if let Some(asked) = self.number("limit") {
            assert_eq!(limit as u64, asked, "as many as were asked for");
        }
        if let Some(after) = after {
            assert_eq!(Some(after.to_string()), self.one("cursor"), "a cursor has one spelling");
        }
    }
}

/// Whoever follows our cursors to the end gets everything, once and in order.
fn walks(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let limit = usize::from(pieces.byte() % 5) + 1;
    let mut numbers: Vec<u128> = Vec::new();
    while !pieces.is_empty() && numbers.len() < 24 {
        let high = u128::from(pieces.byte()) << 120;
        numbers.push(high | pieces.piece().iter().fold(0, |n, byte| n << 8 | u128::from(*byte)));
    }
    numbers.sort_unstable();
    numbers.dedup();
    let entries = numbers.iter().map(|number| *number as u64).filter(|seq| *seq > 0);
    let mut entries: Vec<u64> = entries.collect();
    entries.sort_unstable();
    entries.dedup();
    let on = |query: &str| fuzz_api::list_of_entries(query)?.ok().map(|(_, after)| after);
    walk(&entries, limit, |one, after| one > after, on);
    numbers.reverse();
    let bits: Vec<Bits> = numbers.into_iter().map(Bits).collect();
    walk_back(&bits, HoldId, limit, |query| fuzz_api::list_of_holds(query)?.ok()?.after);
    walk_back(&bits, SessionId, limit, |query| fuzz_api::list_of_sessions(query)?.ok()?.2);
    walk_back(&bits, TokenId, limit, |query| fuzz_api::list_of_tokens(query)?.ok()?.1);
}

/// From the newest to the oldest.
fn walk_back<T: Copy + PartialOrd + Debug + ToString>(
    bits: &[Bits],
    id: impl Fn(Bits) -> T,
    limit: usize,
    on: impl Fn(&str) -> Option<T>,
) {
    let all: Vec<T> = bits.iter().copied().map(id).collect();
    walk(&all, limit, |one, after| one < after, on);
}

fn walk<T: Copy + PartialEq + Debug + ToString>(
    all: &[T],
    limit: usize,
    follows: impl Fn(&T, &T) -> bool,
    on: impl Fn(&str) -> Option<T>,
) {
    let mut seen: Vec<T> = Vec::new();
    let mut after = None;
    loop {
        let rest = all.iter().filter(|one| after.is_none_or(|after| follows(one, &after)));
        let (page, next) = fuzz_api::page(rest.take(limit + 1).copied().collect(), limit);
        assert!(page.len() <= limit);
        seen.extend(&page);
        assert!(seen.len() <= all.len(), "round in circles");
        let Some(next) = next else { break };
        after = on(&format!("limit={limit}&cursor={next}"));
        assert_eq!(after, page.last().copied(), "our own cursor leads to where it was made");
    }
    assert_eq!(seen, all, "everything, once and in order");
}
