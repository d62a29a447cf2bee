//! What a person or a retry can run into on an ordinary day. Not errors: the store is sound, the
//! program is right, and the answer is no.

use crate::hold::Hold;
use crate::id::HoldId;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Also for things that exist but that the caller may not see.
    #[error("there is no such {what}")]
    NotFound { what: &'static str },
    #[error("you may see this, but not do it: {why}")]
    NotEntitled { why: String },
    #[error("the hold is already {}", .hold.state.name())]
    AlreadyDecided { hold: Box<Hold> },
    #[error("you have already voted otherwise on this hold")]
    AlreadyVoted { hold: Box<Hold> },
    #[error("the call has changed since it was shown to you: read it again")]
    VersionConflict { hold: Box<Hold> },
    #[error("the hold expired before this answer arrived; nothing was done")]
    Expired { hold: Box<Hold> },
    #[error("{why}")]
    AnswerInvalid { field: String, why: AnswerFault },
    #[error("{} of this session wait for an answer: answer or cancel them, or send while_pending", plural(.holds.len()))]
    HoldsOpen { holds: Vec<HoldId> },
    #[error("the run is {is}, so it cannot {wanted}")]
    OutOfTurn { is: &'static str, wanted: &'static str },
    #[error("everything is frozen: {reason}")]
    Frozen { reason: String },
    #[error("{what}: the limit is {limit}")]
    TooMany { what: &'static str, limit: usize },
    /// Several answers came together, and this one does not count: so none of them does.
    #[error("{why} ({hold}: none of the {answers} answers was stored)")]
    OneOfSeveral { hold: HoldId, answers: usize, why: Box<Refusal> },
    /// Another command made this one moot; nothing is to be done.
    #[error("this was overtaken by something else")]
    Overtaken,
}

impl Refusal {
    /// The refusal of one of `answers` that came together. One that came alone is refused in its own words.
    pub fn of_answer(self, hold: HoldId, answers: usize) -> Refusal {
        match answers {
            1 => self,
            _ => Refusal::OneOfSeveral { hold, answers, why: Box::new(self) },
        }
    }
}

/// Why an answer does not count as it is. A type, so that chats can say it in their own language: their words
/// are a match over it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    #[error("is longer than {bytes_max} bytes")]
    TooLong { bytes_max: usize },
    #[error("`{field}` is longer than {bytes_max} bytes")]
    FieldTooLong { field: String, bytes_max: usize },
    #[error("say something")]
    NothingSaid,
    #[error("say what the model is to get in the tool's place")]
    NoContent,
    #[error("a `{question}` hold cannot be answered with `{answer}`")]
    OtherKind { question: &'static str, answer: &'static str },
    #[error("choose an option")]
    NothingChosen,
    #[error("choose only one option")]
    MoreThanOne,
    #[error("more was chosen than there are options")]
    MoreThanThereAre,
    #[error("`{text}` is none of: {}", .labels.join(", "))]
    NotAnOption { text: String, labels: Vec<String> },
    #[error("`{text}` was chosen twice")]
    ChosenTwice { text: String },
    #[error("send {{\"text\": \"…\"}}")]
    NotOneText,
    /// What the validator of JSON Schema says.
    #[error("{0}")]
    NotAsTheForm(String),
    #[error("no call waits here: approve to let the run go on, or deny")]
    NoCallWaits,
    #[error("an approval must name the digest of the call that was shown")]
    NoDigest,
    #[error("a standing grant needs a call of a session, and a rule that one person satisfies")]
    NoGrantHere,
    /// For programs, which alone can send what it is about.
    #[error("{0}")]
    Told(String),
}

impl From<String> for AnswerFault {
    fn from(why: String) -> AnswerFault {
        AnswerFault::Told(why)
    }
}

impl From<&str> for AnswerFault {
    fn from(why: &str) -> AnswerFault {
        AnswerFault::Told(why.to_owned())
    }
}

fn plural(count: usize) -> String {
    if count == 1 { "1 hold".into() } else { format!("{count} holds") }
}
