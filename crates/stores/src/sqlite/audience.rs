//! Whom a hold asks, as a text in its row, and how that is searched.
//!
//! A list of what somebody may answer walks over very many holds of others. So the text stands in the
//! index, and SQLite has a function of ours that looks at it once, whatever roles somebody has.

use std::cell::RefCell;

use domain::hold::Hold;
use domain::person::PersonId;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

/// `|p:ana|r:dba|`, and `x:ana|` for a requester who may look but not answer, or who made their login; `v:ana|` for
/// those who voted already.
pub(super) fn audience_text(hold: &Hold) -> String {
    let mut text = String::from("|");
    for person in &hold.audience.people {
        push(&mut text, 'p', person.as_str());
    }
    for role in &hold.audience.roles {
        push(&mut text, 'r', role);
    }
    if hold.audience.exclude_requester {
        let left_out = hold.requester.iter().chain(&hold.audience.login_makers);
        left_out.for_each(|person| push(&mut text, 'x', person.as_str()));
    }
    // After the decision nobody may answer, and who did is of no concern here.
    if hold.is_pending() {
        hold.votes.iter().for_each(|vote| push(&mut text, 'v', vote.by.as_str()));
    }
    text
}

/// `|p:ana|p:bob|`
pub(super) fn people_text(people: &[PersonId]) -> String {
    let mut text = String::from("|");
    people.iter().for_each(|person| push(&mut text, 'p', person.as_str()));
    text
}

/// The people whom such a text names.
pub(super) fn people_of(text: &str) -> Vec<PersonId> {
    let names = text.split('|').filter_map(|word| word.strip_prefix("p:"));
    names.map(|name| PersonId::new(&unescaped(name))).collect()
}

fn unescaped(name: &str) -> String {
    let (mut text, mut letters) = (String::new(), name.chars());
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next() {
                Some('b') => '|',
                Some(other) => other,
                None => break,
            },
            letter => letter,
        });
    }
    text
}

/// What an audience says that names this person, or a role of theirs.
pub(super) fn names(person: &PersonId, roles: &[String]) -> Vec<u8> {
    let mut words = Vec::new();
    add(&mut words, 'p', person.as_str());
    roles.iter().for_each(|role| add(&mut words, 'r', role));
    words
}

/// What an audience says that leaves this person out, or that they voted already.
pub(super) fn excluded(person: &PersonId) -> Vec<u8> {
    let mut words = Vec::new();
    add(&mut words, 'x', person.as_str());
    add(&mut words, 'v', person.as_str());
    words
}

/// Each word after its length, so that nobody has to look for its end again with every row.
fn add(words: &mut Vec<u8>, kind: char, name: &str) {
    let mut word = String::new();
    push(&mut word, kind, name);
    let word = word.trim_end_matches('|');
    words.extend((word.len() as u64).to_le_bytes());
    words.extend(word.as_bytes());
}

fn push(text: &mut String, kind: char, name: &str) {
    text.push(kind);
    text.push(':');
    // A name with a bar in it must not pass for two names.
    for letter in name.chars() {
        match letter {
            '|' => text.push_str("\\b"),
            '\\' => text.push_str("\\\\"),
            letter => text.push(letter),
        }
    }
    text.push('|');
}

/// In SQL: whether an audience says any of these words.
pub(super) fn teach(connection: &Connection) -> Result<(), rusqlite::Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let heard = RefCell::new(AudienceCache::default());
    connection.create_scalar_function(c"says", 2, flags, move |call: &Context<'_>| {
        let (audience, words) = (call.get_raw(0), call.get_raw(1));
        Ok(heard.borrow_mut().says(audience.as_bytes()?, words.as_bytes()?))
    })
}

/// Very many holds ask the same few people: what was said of an audience is not worked out again. A list
/// asks by turns whom a hold names and whom it leaves out.
#[derive(Default)]
struct AudienceCache([CachedAudiences; 2]);

/// The audiences that were last looked at for these words.
#[derive(Default)]
struct CachedAudiences {
    words: Vec<u8>,
    audiences: [Option<(Vec<u8>, bool)>; AUDIENCES],
}

/// A deployment has few, which come again and again.
const AUDIENCES: usize = 8;

impl AudienceCache {
    fn says(&mut self, audience: &[u8], words: &[u8]) -> bool {
        if self.0[0].words != words {
            self.0.swap(0, 1);
        }
        let latest = &mut self.0[0];
        if latest.words != words {
            // mutant: said-to-somebody-else
            *latest = CachedAudiences { words: words.to_owned(), ..CachedAudiences::default() };
        }
        latest.say(audience)
    }
}

impl CachedAudiences {
    fn say(&mut self, audience: &[u8]) -> bool {
        // Names differ in length, or else at their end.
        let end = audience.iter().nth_back(1).copied().unwrap_or_default();
        let place = &mut self.audiences[(audience.len() ^ usize::from(end)) % AUDIENCES];
        match place {
            // mutant: said-of-another-audience
            Some((known, said)) if known == audience => *said,
            _ => place.insert((audience.to_owned(), says(audience, &self.words))).1,
        }
    }
}

fn says(audience: &[u8], words: &[u8]) -> bool {
    // Nothing stands before the first bar and after the last.
    let mut said = audience.split(|byte| *byte == b'|').filter(|said| !said.is_empty());
    said.any(|said| is_among(said, words))
}

fn is_among(said: &[u8], mut words: &[u8]) -> bool {
    while let Some((length, rest)) = words.split_first_chunk() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((word, rest)) = rest.split_at_checked(length) else { return false };
        if word == said {
            return true;
        }
        words = rest;
    }
    false
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;

    fn audience(kind: char, name: &str) -> String {
        let mut text = String::from("|");
        push(&mut text, kind, name);
        text
    }

    fn word(kind: char, name: &str) -> Vec<u8> {
        let mut words = Vec::new();
        add(&mut words, kind, name);
        words
    }

    fn finds(audience: &str, words: &[u8]) -> bool {
        let connection = Connection::open_in_memory().unwrap();
        teach(&connection).unwrap();
        let sql = "SELECT says(?1, ?2)";
        connection.query_row(sql, params![audience, words], |row| row.get(0)).unwrap()
    }

    #[test]
    fn any_name_of_theirs_is_found_wherever_it_stands() {
        let audience = "|p:ana|r:dba|r:ops|x:eve|";
        let roles = ["night".to_owned(), "ops".to_owned()];
        assert!(finds(audience, &names(&PersonId::new("bob"), &roles)));
        assert!(finds(audience, &names(&PersonId::new("ana"), &[])));
        assert!(finds(audience, &excluded(&PersonId::new("eve"))));
        assert!(!finds(audience, &names(&PersonId::new("eve"), &roles[..1])));
        assert!(!finds("|", &names(&PersonId::new("ana"), &roles)), "nobody is asked");
        assert!(!finds(audience, b"") && !finds("|", &[0; 8]) && !finds(audience, &[9; 9]));
    }

    #[test]
    fn what_was_said_of_others_is_not_said_of_these() {
        let mut heard = AudienceCache::default();
        let names = ["ana", "bob", "eve", "dba", "dbb", "a", "", "ana|", "längere namen"];
        let audiences = names.map(|name| audience('p', name));
        for name in names.iter().chain(&names) {
            for (asked, text) in names.iter().zip(&audiences).chain(names.iter().zip(&audiences)) {
                let said = heard.says(text.as_bytes(), &word('p', name));
                assert_eq!(said, asked == name, "{asked} {name}");
            }
        }
    }

    #[test]
    fn people_are_read_as_they_were_written() {
        let people = ["ana", "a|b", "back\\slash", "\\b", "|"].map(PersonId::new);
        assert_eq!(people_of(&people_text(&people)), people);
        assert_eq!(people_of("|"), []);
    }

    #[test]
    fn a_name_cannot_pass_for_another() {
        let text = audience('r', "a|p:ana");
        assert!(!finds(&text, &word('p', "ana")), "{text}");
        assert!(finds(&text, &word('r', "a|p:ana")));
        assert!(!finds(&audience('r', "a\\b"), &word('r', "a|")));
        for (asked, name) in [("ana2", "ana"), ("ana", "ana2"), ("banana", "ana")] {
            assert!(!finds(&audience('p', asked), &word('p', name)), "{asked} is not {name}");
        }
        assert!(!finds(&audience('p', "dba"), &word('r', "dba")), "a person is not a role");
    }
}
