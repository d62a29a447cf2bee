//! Where a session lives.

use std::sync::Arc;

use super::Session;
use crate::outcome::{NotRun, ToolResult};

/// The door or the channel that a session was opened through, and what the conversation is called there.
/// A session of our own API has none. It is an address and gives nobody any right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Home {
    /// `worlds`, `ai_sdk`, or the name of a channel.
    pub door: Arc<str>,
    /// `my-world/chat-7`; for a chat `account:chat`, with `:thread` where there is one.
    pub place: String,
}

/// The door whose origin words denials and expiries in its own way.
const WORLDS: &str = "worlds";

impl Home {
    /// What the model is told, where this door's origin has its own words for it. Agents were written
    /// for these, so they are kept to the letter.
    fn words(&self, why: &NotRun) -> Option<String> {
        if &*self.door != WORLDS {
            return None;
        }
        match why {
            NotRun::DeniedBy { reason, .. } => {
                let denied = "Tool execution was denied by the user.";
                Some(match reason {
                    Some(reason) => format!("{denied} Reason: {reason}"),
                    None => denied.to_owned(),
                })
            }
            NotRun::Expired => Some("No decision was made in time; the tool was not run.".into()),
            _ => None,
        }
    }
}

impl Session {
    /// The result for a call that was not run, in the words of the door that the session was opened on.
    pub(super) fn word_not_run(&self, why: &NotRun) -> ToolResult {
        let result = why.result();
        match self.home.as_ref().and_then(|home| home.words(why)) {
            Some(content) => ToolResult { content, ..result },
            None => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SessionId;

    fn word_by_door(door: Option<&str>, why: &NotRun) -> String {
        let mut session = Session::begin(SessionId::new(1, 1));
        session.home = door.map(|door| Home { door: door.into(), place: "p".into() });
        session.word_not_run(why).content
    }

    #[test]
    fn the_door_that_a_session_was_opened_on_words_its_denials() {
        let reason = Some("not on a Friday".to_owned());
        let denied = NotRun::DeniedBy { name: "Ana".into(), reason };
        let plainly = NotRun::DeniedBy { name: "Ana".into(), reason: None };
        let worlds = Some("worlds");
        assert_eq!(
            word_by_door(worlds, &denied),
            "Tool execution was denied by the user. Reason: not on a Friday"
        );
        assert_eq!(word_by_door(worlds, &plainly), "Tool execution was denied by the user.");
        assert_eq!(
            word_by_door(worlds, &NotRun::Expired),
            "No decision was made in time; the tool was not run."
        );
        for elsewhere in [None, Some("ai_sdk"), Some("slack")] {
            assert_eq!(word_by_door(elsewhere, &denied), denied.result().content);
            assert_eq!(word_by_door(elsewhere, &NotRun::Expired), NotRun::Expired.result().content);
        }
        assert_eq!(word_by_door(worlds, &NotRun::Superseded), NotRun::Superseded.result().content);
    }
}
