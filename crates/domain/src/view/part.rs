//! What a view is made of. Labels and facts are ours; everything that anybody else had a say in is
//! foreign text with its author.

use super::fields::Field;
use super::foreign::ForeignText;
use super::form::FormField;
use crate::caption::CaptionKind;
use crate::hold::Choice;
use crate::phrase::RunDetail;
use crate::warning::WarningKind;

/// One part of a view. Its type says whose words it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewPart {
    /// A word or a number of our own: no character of it was chosen by anybody else.
    Fact {
        /// What it is about.
        label: Label,
        /// The word or number.
        value: String,
    },
    /// Foreign text.
    Quote {
        /// What it is about.
        label: Label,
        /// Who wrote it.
        by: Author,
        /// What they wrote.
        text: ForeignText,
        /// What a title or a summary of ours says, for surfaces in another language.
        kind: Option<CaptionKind>,
    },
    /// How a call runs. Some of its lines are phrases of ours.
    Runs {
        /// Who wrote the lines that are not ours.
        by: Author,
        /// Its lines.
        detail: RunDetail,
    },
    /// Foreign values with foreign names: arguments, context.
    Fields {
        /// What it is about.
        label: Label,
        /// Who chose names and values.
        by: Author,
        /// In the order of the data, one below the other.
        fields: Vec<Field>,
    },
    /// What can be chosen.
    Options {
        /// Who wrote the options.
        by: Author,
        /// More than one may be chosen.
        multiple: bool,
        /// A text that is none of the options is taken as well.
        allow_other: bool,
        /// In the order in which they are shown.
        options: Vec<Picked>,
    },
    /// A form to fill in. `more` says that the schema has rules beyond what is shown.
    Form {
        /// Who wrote the schema.
        by: Author,
        /// In the order of the schema.
        fields: Vec<FormField>,
        /// The schema demands more than is shown; the full schema is on the page.
        more: bool,
    },
    /// What would be edited, or how an edit changed a call.
    Diff {
        /// What it is about.
        label: Label,
        /// Who wrote the lines.
        by: Author,
        /// In order.
        lines: Vec<DiffLine>,
    },
    /// Something that the approver should not overlook. It may quote foreign words.
    Warning {
        /// Who says so.
        by: Author,
        /// The sentence.
        text: ForeignText,
        /// What the text says, for surfaces in another language; `None` for words that we do not know.
        kind: Option<WarningKind>,
    },
}

/// Who wrote a foreign text, as far as we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The runtime, in a sentence that may quote others.
    Holdpoint,
    /// A model.
    Agent,
    /// An outside program.
    Program,
    /// A tool of ours, which may repeat what a database or another server told it.
    Tool,
    /// A person who answered or wrote before.
    Person,
    /// The person who configured the server.
    Operator,
}

impl Author {
    /// The word by which the API tells it.
    pub fn name(self) -> &'static str {
        match self {
            Author::Holdpoint => "holdpoint",
            Author::Agent => "agent",
            Author::Program => "program",
            Author::Tool => "tool",
            Author::Person => "person",
            Author::Operator => "operator",
        }
    }
}

/// What a part is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Who asks.
    Asks,
    /// What is asked, in one line.
    Title,
    /// What an edit changed.
    Edit,
    /// The summary of what the tool found out.
    Preview,
    /// How many rows change.
    Rows,
    /// The tool's name.
    Tool,
    /// What people are asked to do or to say.
    Prompt,
    /// What the call is made with.
    Arguments,
    /// What is to be filled in.
    Form,
    /// What would be edited.
    Diff,
    /// What the asker shows beside the question.
    Context,
    /// What a second run would do.
    Effects,
    /// The folder in which it runs.
    WorkingDirectory,
    /// How and where it runs.
    Runs,
}

impl Label {
    /// In the API; surfaces have their own words for it.
    pub fn name(self) -> &'static str {
        match self {
            Label::Asks => "asks",
            Label::Title => "title",
            Label::Edit => "edit",
            Label::Preview => "preview",
            Label::Rows => "rows",
            Label::Tool => "tool",
            Label::Prompt => "prompt",
            Label::Arguments => "arguments",
            Label::Form => "form",
            Label::Diff => "diff",
            Label::Context => "context",
            Label::Effects => "effects",
            Label::WorkingDirectory => "working_directory",
            Label::Runs => "runs",
        }
    }

    /// In the text.
    pub fn words(self) -> &'static str {
        match self {
            Label::Edit => "changed by an edit",
            Label::Form => "fill in",
            Label::WorkingDirectory => "in",
            label => label.name(),
        }
    }
}

/// An option to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// What an answer names it by.
    pub id: ForeignText,
    /// What people read.
    pub label: ForeignText,
    /// Shown beside the label.
    pub description: Option<ForeignText>,
}

impl Picked {
    /// The option of ours, as [`Choice::link_opened`] makes it.
    pub fn is_link_opened(&self) -> bool {
        let ours = Choice::link_opened();
        self.id.raw() == ours.id && self.label.raw() == ours.label
    }

    /// The id, if the asker chose it. People see the place of an option in the list, because that is
    /// what buttons and replies count; an id that we made says nothing beside it.
    pub fn foreign_id(&self, place: usize) -> Option<&ForeignText> {
        if self.is_link_opened() {
            return None;
        }
        let ours = [place.to_string(), format!("opt_{place}")];
        let id = self.id.raw();
        (!ours.contains(&id)).then_some(&self.id)
    }
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// What happens to the line.
    pub sign: Sign,
    /// The line without its sign.
    pub text: ForeignText,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is new.
    Added,
    /// It goes.
    Removed,
    /// It stays, and is shown for orientation.
    Same,
}

impl Sign {
    /// The word by which the API tells it.
    pub fn name(self) -> &'static str {
        match self {
            Sign::Added => "added",
            Sign::Removed => "removed",
            Sign::Same => "same",
        }
    }

    pub(super) fn mark(self) -> &'static str {
        match self {
            Sign::Added => "+",
            Sign::Removed => "-",
            Sign::Same => " ",
        }
    }
}
