//! What people say to one another about a hold. A comment decides nothing, whatever it says: only
//! [`HoldCommand::Answer`](super::HoldCommand::Answer) is judged. No model is told of it, and wherever it is drawn it is
//! foreign text.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Hold, HoldChange, HoldState};
use crate::context::Context;
use crate::event::HoldEvent;
use crate::limits::{
    COMMENT_BYTES_MAX, COMMENTED_AFTER_MS, COMMENTS_PER_HOLD_MAX, MENTION_CHARS_MAX, MENTIONS_MAX,
};
use crate::person::{AuthenticatedPerson, People, PersonId};
use crate::refusal::{AnswerFault, Refusal};
use crate::time::Timestamp;

/// What a person says to others about a hold. It decides nothing, and no model reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// Who wrote it.
    pub by: PersonId,
    /// The surface: `web`, `cli`, …
    pub via: String,
    /// When it was committed.
    pub at: Timestamp,
    /// As it was written; drawn as foreign text everywhere.
    pub text: String,
    /// People who are told of it. Each could see the hold when it was written.
    pub mentions: BTreeSet<PersonId>,
}

impl Hold {
    /// Whether this person may see it: who opened it, who may answer it, and admins.
    pub fn is_seen_by(&self, who: &PersonId, people: &People) -> bool {
        let Some(person) = people.get(who) else { return false };
        let roles = &self.audience.roles;
        people.is_admin(who)
            || matches!(&self.opener, crate::person::Actor::Person(opener) if opener == who)
            || self.audience.people.contains(who)
            || person.roles.iter().any(|role| roles.contains(role))
    }

    /// When it came to its end, by whatever way.
    pub fn decided_at(&self) -> Option<Timestamp> {
        match &self.state {
            HoldState::Pending => None,
            HoldState::Approved(decision)
            | HoldState::Denied(decision)
            | HoldState::Answered(decision) => Some(decision.at()),
            HoldState::Expired { at } | HoldState::Cancelled { at, .. } => Some(*at),
        }
    }

    /// Who was addressed and has said nothing since.
    pub fn mentioned(&self) -> BTreeSet<&PersonId> {
        let mut mentioned = BTreeSet::new();
        for comment in &self.comments {
            mentioned.remove(&comment.by);
            mentioned.extend(&comment.mentions);
        }
        mentioned
    }

    pub(crate) fn comment(
        &self,
        by: &AuthenticatedPerson,
        text: &str,
        context: &Context<'_>,
    ) -> Result<Vec<HoldEvent>, Refusal> {
        let invalid = |why| Refusal::AnswerInvalid { field: "text".into(), why };
        let text = text.trim();
        if text.is_empty() {
            return Err(invalid(AnswerFault::NothingSaid));
        }
        if text.len() > COMMENT_BYTES_MAX {
            return Err(invalid(AnswerFault::TooLong { bytes_max: COMMENT_BYTES_MAX }));
        }
        let is_long_ago = |at: Timestamp| context.now.ms_since(at) > COMMENTED_AFTER_MS;
        if self.decided_at().is_some_and(is_long_ago) {
            return Err(Refusal::AlreadyDecided { hold: Box::new(self.clone()) });
        }
        if self.comments.len() >= COMMENTS_PER_HOLD_MAX {
            return Err(Refusal::TooMany {
                what: "comments on this hold",
                limit: COMMENTS_PER_HOLD_MAX,
            });
        }
        let mut mentions = mentioned(text, |who| self.is_seen_by(who, context.people));
        mentions.remove(by.id());
        let comment = Comment {
            by: by.id().clone(),
            via: by.via().to_owned(),
            at: context.now,
            text: text.to_owned(),
            mentions,
        };
        let change = HoldChange::Commented(Arc::new(comment));
        Ok(vec![HoldEvent::Updated { hold: self.id, change }])
    }
}

/// People whom a text addresses as `@id`, among those of whom `may` says so. Whoever else it addresses is text.
fn mentioned(text: &str, may: impl Fn(&PersonId) -> bool) -> BTreeSet<PersonId> {
    let mut found = BTreeSet::new();
    let mut before = None;
    for (at, letter) in text.char_indices() {
        // An address of e-mail is no mention.
        let begins = letter == '@' && !before.is_some_and(|c: char| c.is_ascii_alphanumeric());
        before = Some(letter);
        if !begins {
            continue;
        }
        let rest = &text[at + 1..];
        let ends = rest.char_indices().map(|(end, _)| end).chain([rest.len()]);
        let mut ends: Vec<usize> = ends.take(MENTION_CHARS_MAX + 1).skip(1).collect();
        // The longest that is somebody: of `ben` and `ben.smith`, who was written.
        ends.reverse();
        let who = ends.into_iter().filter(|end| is_end_of_word(&rest[*end..])).find_map(|end| {
            let who = PersonId::new(&rest[..end]);
            may(&who).then_some(who)
        });
        found.extend(who);
        if found.len() >= MENTIONS_MAX {
            break;
        }
    }
    found
}

/// Whether a name may end before this. Chinese writes on without a space.
fn is_end_of_word(rest: &str) -> bool {
    let mut letters = rest.chars();
    match letters.next() {
        None => true,
        Some('.' | '@') => !letters.next().is_some_and(|next| next.is_ascii_alphanumeric()),
        Some(next) => !(next.is_ascii_alphanumeric() || matches!(next, '_' | '-')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let known = ["ana", "ben", "ben.smith", "小明", "on-call"];
        let found = mentioned(text, |who| known.contains(&who.as_str()));
        assert_eq!(found.iter().map(PersonId::as_str).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn people_are_addressed_by_id_wherever_a_word_ends() {
        check("is this the staging database? @ben", &["ben"]);
        check("@ana, @ben: look", &["ana", "ben"]);
        check("(@ben) @ben. @ben!", &["ben"]);
        check("@ben这是测试库吗 @小明你好", &["ben", "小明"]);
        check("ask @ben.smith", &["ben.smith"]);
        check("ask @on-call", &["on-call"]);
    }

    #[test]
    fn what_only_looks_like_an_address_is_text() {
        check("ana@ben", &[]);
        check("@benny and @Ben and @ben-x and @ben_ and @ben.jones", &[]);
        check("@nobody @ @", &[]);
        check("@ ben", &[]);
    }

    #[test]
    fn a_text_of_signs_is_read_in_no_time_and_tells_few() {
        let all = |_: &PersonId| true;
        let many: String = (0..500).map(|n| format!("@p{n} ")).collect();
        assert_eq!(mentioned(&many, all).len(), MENTIONS_MAX);
        assert_eq!(mentioned(&"@".repeat(COMMENT_BYTES_MAX), |_| false).len(), 0);
    }
}
