//! What the parser says, and why.

/// The meaning of one reply to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Confirm(How),
    Cancel(How),
    Choice(Chosen, How),
    /// Nothing is decided. The text is not lost: it stays what somebody said.
    Ambiguous(Reason),
}

impl Verdict {
    /// The one word of it: `confirm`, `cancel`, `choice`, `ambiguous`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Confirm(_) => "confirm",
            Verdict::Cancel(_) => "cancel",
            Verdict::Choice(..) => "choice",
            Verdict::Ambiguous(_) => "ambiguous",
        }
    }

    /// The word that says why.
    pub fn why(&self) -> &'static str {
        match self {
            Verdict::Confirm(how) | Verdict::Cancel(how) | Verdict::Choice(_, how) => how.name(),
            Verdict::Ambiguous(reason) => reason.name(),
        }
    }

    /// The same for people, as a sentence.
    pub fn because(&self) -> &'static str {
        match self {
            Verdict::Confirm(how) | Verdict::Cancel(how) | Verdict::Choice(_, how) => how.because(),
            Verdict::Ambiguous(reason) => reason.because(),
        }
    }
}

/// Options by their place in the prompt, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    One(usize),
    /// Sorted, and each only once.
    Several(Vec<usize>),
}

/// What a decision was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Word,
    Negated,
    Slash,
    Emoji,
    Number,
    Label,
    Multi,
    Code,
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            How::Word => "word",
            How::Negated => "negated",
            How::Slash => "slash",
            How::Emoji => "emoji",
            How::Number => "number",
            How::Label => "label",
            How::Multi => "multi",
            How::Code => "code",
        }
    }

    fn because(self) -> &'static str {
        match self {
            How::Word => "every word of it is known, and they all say the same",
            How::Negated => "a yes that is negated, with nothing left over",
            How::Slash => "a command",
            How::Emoji => "an emoji, and nothing else",
            How::Number => "a number of the prompt",
            How::Label => "exactly the label of an option",
            How::Multi => "several numbers of the prompt",
            How::Code => "exactly the code of the prompt",
        }
    }
}

/// Why nothing was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Attachment,
    Bidi,
    /// Struck out, hidden or set as code, in part or whole.
    Formatted,
    OtherMention,
    TooLong,
    /// Somebody's words between quotation marks.
    Quoted,
    /// It ends where more was to come.
    Unfinished,
    Empty,
    Mixed,
    /// A picture beside the answer that may say anything.
    Symbol,
    Weak,
    /// Somebody asks others for a yes.
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

impl Reason {
    pub const ALL: [Reason; 23] = [
        Reason::Attachment,
        Reason::Bidi,
        Reason::Formatted,
        Reason::OtherMention,
        Reason::TooLong,
        Reason::Quoted,
        Reason::Unfinished,
        Reason::Empty,
        Reason::Mixed,
        Reason::Symbol,
        Reason::Weak,
        Reason::Request,
        Reason::Command,
        Reason::Question,
        Reason::DoubleNegative,
        Reason::OutOfRange,
        Reason::CodeRequired,
        Reason::BadCode,
        Reason::Hold,
        Reason::Ack,
        Reason::WhichOption,
        Reason::Unknown,
        Reason::MultiplePending,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Reason::Attachment => "attachment",
            Reason::Bidi => "bidi",
            Reason::Formatted => "formatted",
            Reason::OtherMention => "other_mention",
            Reason::TooLong => "too_long",
            Reason::Quoted => "quoted",
            Reason::Unfinished => "unfinished",
            Reason::Empty => "empty",
            Reason::Mixed => "mixed",
            Reason::Symbol => "symbol",
            Reason::Weak => "weak",
            Reason::Request => "request",
            Reason::Command => "command",
            Reason::Question => "question",
            Reason::DoubleNegative => "double_negative",
            Reason::OutOfRange => "out_of_range",
            Reason::CodeRequired => "code_required",
            Reason::BadCode => "bad_code",
            Reason::Hold => "hold",
            Reason::Ack => "ack",
            Reason::WhichOption => "which_option",
            Reason::Unknown => "unknown",
            Reason::MultiplePending => "multiple_pending",
        }
    }

    /// Whether the question is put again. Whoever said "wait" or "got it" has read it.
    pub fn asks_again(self) -> bool {
        !matches!(self, Reason::Hold | Reason::Ack)
    }

    fn because(self) -> &'static str {
        match self {
            Reason::Attachment => "only plain text answers",
            Reason::Bidi => "it turns the direction of writing, so it may not read as it is",
            Reason::Formatted => "some of it is struck out, hidden or set as code",
            Reason::OtherMention => "it speaks to somebody else too",
            Reason::TooLong => "an answer is short",
            Reason::Quoted => "it quotes somebody's words",
            Reason::Unfinished => "it ends as if more were to come",
            Reason::Empty => "nothing is left of it",
            Reason::Mixed => "it says yes and no",
            Reason::Symbol => "a picture in it may mean anything",
            Reason::Weak => "a clear word is needed here, such as `confirm`",
            Reason::Request => "it asks others for a yes; an answer begins with the yes itself",
            Reason::Command => "it is some other command",
            Reason::Question => "it is a question",
            Reason::DoubleNegative => "two negations can be read in two ways",
            Reason::OutOfRange => "there is no option of that number",
            Reason::CodeRequired => "the code of the prompt is missing",
            Reason::BadCode => "that is not the code of the prompt",
            Reason::Hold => "they want to wait",
            Reason::Ack => "it was heard, but not answered",
            Reason::WhichOption => "it does not say which option",
            Reason::Unknown => "something in it is not among the known words",
            Reason::MultiplePending => "several questions are open here, and it names none",
        }
    }
}
