//! Names on this wire: worlds, chats and agents by kebab-cased names, prompts by an id of their own.
//!
//! A prompt's id is a prefix and the unguessable part of its hold's id; the model's own id of the call is
//! known too, and the answer may name either. What the model is told only ever has its own.

use domain::hold::{Hold, Question};
use domain::id::HoldId;

/// `My World` is `my-world`.
pub(super) fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len());
    let mut last = None::<char>;
    for letter in name.trim().chars() {
        let begins = letter.is_uppercase()
            && last.is_some_and(|last| last.is_lowercase() || last.is_ascii_digit());
        if (begins || !letter.is_alphanumeric()) && !kebab.is_empty() && !kebab.ends_with('-') {
            kebab.push('-');
        }
        if letter.is_alphanumeric() {
            kebab.extend(letter.to_lowercase());
        }
        last = Some(letter);
    }
    kebab.truncate(kebab.trim_end_matches('-').len());
    kebab
}

/// Where a chat's session with one agent lives: `world/chat` with the main agent of the world, and
/// `world/chat/@agent` with any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionPlace {
    pub(super) world: String,
    pub(super) chat: String,
    pub(super) agent: Option<String>,
}

impl SessionPlace {
    pub(super) fn read(place: &str) -> Option<SessionPlace> {
        let mut parts = place.split('/');
        let (world, chat) = (parts.next()?, parts.next()?);
        let agent = match parts.next() {
            None => None,
            Some(agent) => Some(agent.strip_prefix('@')?.to_owned()),
        };
        match parts.next() {
            None => Some(SessionPlace { world: world.into(), chat: chat.into(), agent }),
            Some(_) => None,
        }
    }

    pub(super) fn text(&self) -> String {
        match &self.agent {
            None => format!("{}/{}", self.world, self.chat),
            Some(agent) => format!("{}/{}/@{agent}", self.world, self.chat),
        }
    }
}

/// What a client may be meant to call a chat: one path segment.
pub(super) fn is_chat_id(text: &str) -> bool {
    (1..=100).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
}

const APPROVAL: &str = "approval_";
const HITL: &str = "hitl_";

/// The id by which clients know the prompt of a hold. It is the same every time.
pub(super) fn prompt_id(hold: &Hold) -> String {
    let prefix = match hold.question {
        Question::Approve => APPROVAL,
        _ => HITL,
    };
    let id = hold.id.to_string();
    format!("{prefix}{}", id.strip_prefix(HoldId::PREFIX).unwrap_or_default())
}

/// The hold that a client's id names, if it has the form of one of ours.
pub(super) fn hold_id(text: &str) -> Option<HoldId> {
    let rest = [APPROVAL, HITL].iter().find_map(|prefix| text.strip_prefix(prefix));
    format!("{}{}", HoldId::PREFIX, rest?).parse().ok()
}

/// What the model calls the call that a hold is about. One that asks whether a run may go on is about
/// none, and is called by its own id. So is a call that the model named like a prompt: an answer to it
/// must not be taken for an answer to that prompt.
pub(super) fn call_id(hold: &Hold) -> String {
    match hold.call() {
        Some(call) if hold_id(&call.tool_use_id).is_none() => call.tool_use_id.clone(),
        _ => prompt_id(hold),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_kebabs() {
        for (name, kebab) in [
            ("My World", "my-world"),
            ("my-world", "my-world"),
            ("MyWorld2Go", "my-world2-go"),
            ("  a  b_c.d ", "a-b-c-d"),
            ("Ärger", "ärger"),
            ("--", ""),
        ] {
            assert_eq!(super::kebab(name), kebab, "{name}");
        }
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["w/c", "w/c/@a1"] {
            assert_eq!(SessionPlace::read(text).unwrap().text(), text);
        }
        for other in ["w", "w/c/a", "w/c/@a/x", ""] {
            assert_eq!(SessionPlace::read(other), None, "{other}");
        }
        assert!(is_chat_id("chat-7.x:y_Z"));
        for bad in ["", "a/b", "a b", "ä", "a\u{0}"] {
            assert!(!is_chat_id(bad), "{bad:?}");
        }
    }

    #[test]
    fn an_id_of_ours_leads_to_its_hold_under_either_prefix() {
        let id = HoldId::new(1_800_000_000_000, 7);
        let rest = id.to_string().replace("hold_", "");
        for prefix in ["hitl_", "approval_"] {
            assert_eq!(hold_id(&format!("{prefix}{rest}")), Some(id));
        }
        for other in [
            "",
            "hitl_",
            "call_1",
            &rest,
            &id.to_string(),
            &format!("hitl_{rest}x"),
            "hitl_ünicode",
        ] {
            assert_eq!(hold_id(other), None, "{other}");
        }
    }
}
