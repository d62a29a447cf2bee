//! What a person or a retry can run into on an ordinary day. Not errors: the store is sound, the
//! program is right, and the answer is no.

use crate::hold::Hold;
use crate::id::HoldId;
use crate::schema::SchemaErrors;

/// An expected no. Surfaces have words of their own for each.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Also for things that exist but that the caller may not see.
    #[error("there is no such {what}")]
    NotFound {
        /// What was looked for: `hold`, `grant`, `session`.
        what: &'static str,
    },
    /// The caller sees the thing, and has no right to do this to it.
    #[error("you may see this, but not do it: {why}")]
    NotEntitled {
        /// Which right is missing.
        why: String,
    },
    /// Another answer came first, or the hold has ended otherwise.
    #[error("the hold is already {}", .hold.state.name())]
    AlreadyDecided {
        /// As it stands. It says who decided what.
        hold: Box<Hold>,
    },
    /// One person has one vote, and it cannot be changed.
    #[error("you have already voted otherwise on this hold")]
    AlreadyVoted {
        /// As it stands.
        hold: Box<Hold>,
    },
    /// The digest that came with the answer is of something else than what is asked now.
    #[error("the call has changed since it was shown to you: read it again")]
    VersionConflict {
        /// As it is now, to be shown again.
        hold: Box<Hold>,
    },
    /// The answer came after the deadline. The expiry is on record by now.
    #[error("the hold expired before this answer arrived; nothing was done")]
    Expired {
        /// As it stands: expired.
        hold: Box<Hold>,
    },
    /// The answer does not fit the question. Nothing was stored; a better one may follow.
    #[error("{why}")]
    AnswerInvalid {
        /// The field of the answer, as the API names it.
        field: String,
        /// What is wrong with it.
        why: AnswerFault,
    },
    /// A message came while people are asked, and the setting is to refuse it.
    #[error("{} of this session wait for an answer: answer or cancel them, or send while_pending", plural(.holds.len()))]
    HoldsOpen {
        /// Those that wait.
        holds: Vec<HoldId>,
    },
    /// The run is in a state in which this cannot be done to it.
    #[error("the run is {is}, so it cannot {wanted}")]
    OutOfTurn {
        /// The name of the state.
        is: &'static str,
        /// What was to be done.
        wanted: &'static str,
    },
    /// No call may start. It works again after a thaw.
    #[error("everything is frozen: {reason}")]
    Frozen {
        /// As the admin gave it.
        reason: String,
    },
    /// A bound of ours is reached.
    #[error("{what}: the limit is {limit}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// Several answers came together, and this one does not count: so none of them does.
    #[error("{why} ({hold}: none of the {answers} answers was stored)")]
    OneOfSeveral {
        /// The hold whose answer does not count.
        hold: HoldId,
        /// How many came together.
        answers: usize,
        /// Why that one does not count.
        why: Box<Refusal>,
    },
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
    /// A text that is over its bound; which one is plain from the question.
    #[error("is longer than {bytes_max} bytes")]
    TooLong {
        /// How many bytes are taken.
        bytes_max: usize,
    },
    /// A named text that is over its bound.
    #[error("`{field}` is longer than {bytes_max} bytes")]
    FieldTooLong {
        /// The field of the answer, as the API names it.
        field: String,
        /// How many bytes are taken.
        bytes_max: usize,
    },
    /// A comment or reply without a word in it.
    #[error("say something")]
    NothingSaid,
    /// A result in the tool's place without a word in it.
    #[error("say what the model is to get in the tool's place")]
    NoContent,
    /// An answer to another kind of question.
    #[error("a `{question}` hold cannot be answered with `{answer}`")]
    OtherKind {
        /// The kind of the question.
        question: &'static str,
        /// The name of the answer.
        answer: &'static str,
    },
    /// A choice of nothing.
    #[error("choose an option")]
    NothingChosen,
    /// Several options, where one may be chosen.
    #[error("choose only one option")]
    MoreThanOne,
    /// More options than the question has.
    #[error("more was chosen than there are options")]
    MoreThanThereAre,
    /// The labels are the asker's words, and so are not said here.
    #[error("`{text}` is none of the options")]
    NotAnOption {
        /// What was sent in place of an option.
        text: String,
    },
    /// The same option twice.
    #[error("an option was chosen twice")]
    ChosenTwice,
    /// Free text that is not in the one field that it belongs in.
    #[error("send {{\"text\": \"…\"}}")]
    NotOneText,
    /// A form that its schema refuses.
    #[error("{0}")]
    NotAsTheForm(SchemaErrors),
    /// An edited call.
    #[error("the arguments do not fit the tool's schema: {0}")]
    NotAsTheTool(SchemaErrors),
    /// The stored schema cannot be used, so no answer can be checked.
    #[error("the form of this question cannot be read: deny it, and let it be asked again")]
    FormUnreadable,
    /// An answer in the tool's place, or an edit, where no tool waits.
    #[error("no call waits here: approve to let the run go on, or deny")]
    NoCallWaits,
    /// An approval that does not say what was shown.
    #[error("an approval must name the digest of the call that was shown")]
    NoDigest,
    /// A grant where none could be used, or which would outvote others.
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
