//! What the parser says, and why.

/// The meaning of one reply to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyVerdict {
    Confirm(VerdictSource),
    Cancel(VerdictSource),
    Choice(ChosenOptions, VerdictSource),
    /// Nothing is decided. The text is not lost: it stays what somebody said.
    Ambiguous(AmbiguityReason),
}

impl ReplyVerdict {
    /// The one word of it: `confirm`, `cancel`, `choice`, `ambiguous`.
    pub fn name(&self) -> &'static str {
        match self {
            ReplyVerdict::Confirm(_) => "confirm",
            ReplyVerdict::Cancel(_) => "cancel",
            ReplyVerdict::Choice(..) => "choice",
            ReplyVerdict::Ambiguous(_) => "ambiguous",
        }
    }

    /// The word that says why.
    pub fn reason_name(&self) -> &'static str {
        match self {
            ReplyVerdict::Confirm(how)
            | ReplyVerdict::Cancel(how)
            | ReplyVerdict::Choice(_, how) => how.name(),
            ReplyVerdict::Ambiguous(reason) => reason.name(),
        }
    }

    /// The same for people, as a sentence.
    pub fn describe(&self) -> &'static str {
        match self {
            ReplyVerdict::Confirm(how)
            | ReplyVerdict::Cancel(how)
            | ReplyVerdict::Choice(_, how) => how.describe(),
            ReplyVerdict::Ambiguous(reason) => reason.describe(),
        }
    }
}

/// Options by their place in the prompt, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenOptions {
    One(usize),
    /// Sorted, and each only once.
    Several(Vec<usize>),
}

/// What a decision was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictSource {
    Word,
    Negated,
    Slash,
    Emoji,
    Number,
    Label,
    Multi,
    Code,
}

impl VerdictSource {
    pub fn name(self) -> &'static str {
        match self {
            VerdictSource::Word => "word",
            VerdictSource::Negated => "negated",
            VerdictSource::Slash => "slash",
            VerdictSource::Emoji => "emoji",
            VerdictSource::Number => "number",
            VerdictSource::Label => "label",
            VerdictSource::Multi => "multi",
            VerdictSource::Code => "code",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            VerdictSource::Word => "every word of it is known, and they all say the same",
            VerdictSource::Negated => "a yes that is negated, with nothing left over",
            VerdictSource::Slash => "a command",
            VerdictSource::Emoji => "an emoji, and nothing else",
            VerdictSource::Number => "a number of the prompt",
            VerdictSource::Label => "exactly the label of an option",
            VerdictSource::Multi => "several numbers of the prompt",
            VerdictSource::Code => "exactly the code of the prompt",
        }
    }
}

/// Why nothing was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmbiguityReason {
    Attachment,
    Bidi,
    /// Struck out, hidden or set as code, in part or whole.
    Formatted,
    OtherMention,
    TooLong,
    /// Words between quotation marks.
    Quoted,
    /// It ends where more was to come.
    Unfinished,
    Empty,
    Mixed,
    /// A picture beside the answer that may say anything.
    Symbol,
    Weak,
    /// The sender asks other people for a yes.
    Request,
    Command,
    Question,
    DoubleNegative,
    OutOfRange,
    CodeRequired,
    /// Counted: after three of them the hold takes no more answers in words.
    BadCode,
    /// "Wait": keep waiting, and do not nag.
    Hold,
    /// "Got it": heard, but not answered.
    Ack,
    WhichOption,
    Unknown,
    /// Several holds wait for this person here, and the message names none of them.
    MultiplePending,
}

impl AmbiguityReason {
    pub const ALL: [AmbiguityReason; 23] = [
        AmbiguityReason::Attachment,
        AmbiguityReason::Bidi,
        AmbiguityReason::Formatted,
        AmbiguityReason::OtherMention,
        AmbiguityReason::TooLong,
        AmbiguityReason::Quoted,
        AmbiguityReason::Unfinished,
        AmbiguityReason::Empty,
        AmbiguityReason::Mixed,
        AmbiguityReason::Symbol,
        AmbiguityReason::Weak,
        AmbiguityReason::Request,
        AmbiguityReason::Command,
        AmbiguityReason::Question,
        AmbiguityReason::DoubleNegative,
        AmbiguityReason::OutOfRange,
        AmbiguityReason::CodeRequired,
        AmbiguityReason::BadCode,
        AmbiguityReason::Hold,
        AmbiguityReason::Ack,
        AmbiguityReason::WhichOption,
        AmbiguityReason::Unknown,
        AmbiguityReason::MultiplePending,
    ];

    pub fn name(self) -> &'static str {
        match self {
            AmbiguityReason::Attachment => "attachment",
            AmbiguityReason::Bidi => "bidi",
            AmbiguityReason::Formatted => "formatted",
            AmbiguityReason::OtherMention => "other_mention",
            AmbiguityReason::TooLong => "too_long",
            AmbiguityReason::Quoted => "quoted",
            AmbiguityReason::Unfinished => "unfinished",
            AmbiguityReason::Empty => "empty",
            AmbiguityReason::Mixed => "mixed",
            AmbiguityReason::Symbol => "symbol",
            AmbiguityReason::Weak => "weak",
            AmbiguityReason::Request => "request",
            AmbiguityReason::Command => "command",
            AmbiguityReason::Question => "question",
            AmbiguityReason::DoubleNegative => "double_negative",
            AmbiguityReason::OutOfRange => "out_of_range",
            AmbiguityReason::CodeRequired => "code_required",
            AmbiguityReason::BadCode => "bad_code",
            AmbiguityReason::Hold => "hold",
            AmbiguityReason::Ack => "ack",
            AmbiguityReason::WhichOption => "which_option",
            AmbiguityReason::Unknown => "unknown",
            AmbiguityReason::MultiplePending => "multiple_pending",
        }
    }

    /// Whether the question is put again. A person who said "wait" or "got it" has read it.
    pub fn asks_again(self) -> bool {
        !matches!(self, AmbiguityReason::Hold | AmbiguityReason::Ack)
    }

    fn describe(self) -> &'static str {
        match self {
            AmbiguityReason::Attachment => "only plain text answers",
            AmbiguityReason::Bidi => {
                "it turns the direction of writing, so it may not read as it is"
            }
            AmbiguityReason::Formatted => "some of it is struck out, hidden or set as code",
            AmbiguityReason::OtherMention => "it speaks to somebody else too",
            AmbiguityReason::TooLong => "an answer is short",
            AmbiguityReason::Quoted => "it quotes somebody's words",
            AmbiguityReason::Unfinished => "it ends as if more were to come",
            AmbiguityReason::Empty => "nothing is left of it",
            AmbiguityReason::Mixed => "it says yes and no",
            AmbiguityReason::Symbol => "a picture in it may mean anything",
            AmbiguityReason::Weak => "a clear word is needed here, such as `confirm`",
            AmbiguityReason::Request => {
                "it asks others for a yes; an answer begins with the yes itself"
            }
            AmbiguityReason::Command => "it is some other command",
            AmbiguityReason::Question => "it is a question",
            AmbiguityReason::DoubleNegative => "two negations can be read in two ways",
            AmbiguityReason::OutOfRange => "there is no option of that number",
            AmbiguityReason::CodeRequired => "the code of the prompt is missing",
            AmbiguityReason::BadCode => "that is not the code of the prompt",
            AmbiguityReason::Hold => "they want to wait",
            AmbiguityReason::Ack => "it was heard, but not answered",
            AmbiguityReason::WhichOption => "it does not say which option",
            AmbiguityReason::Unknown => "something in it is not among the known words",
            AmbiguityReason::MultiplePending => {
                "several questions are open here, and it names none"
            }
        }
    }
}
