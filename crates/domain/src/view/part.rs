//! What a view is made of. Labels and facts are ours; everything that anybody else had a say in is
//! foreign text with its author.

use super::fields::Field;
use super::foreign::ForeignText;
use super::form::FormField;
use crate::caption::CaptionKind;
use crate::hold::Choice;
use crate::phrase::RunDetail;
use crate::warning::WarningKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewPart {
    /// A word or a number of our own: no character of it was chosen by anybody else.
    Fact {
        label: Label,
        value: String,
    },
    /// Foreign text.
    Quote {
        label: Label,
        by: Author,
        text: ForeignText,
        /// What a title or a summary of ours says, for surfaces in another language.
        kind: Option<CaptionKind>,
    },
    /// How a call runs. Some of its lines are phrases of ours.
    Runs {
        by: Author,
        detail: RunDetail,
    },
    /// Foreign values with foreign names: arguments, context.
    Fields {
        label: Label,
        by: Author,
        fields: Vec<Field>,
    },
    Options {
        by: Author,
        multiple: bool,
        allow_other: bool,
        options: Vec<Picked>,
    },
    /// A form to fill in. `more` says that the schema has rules beyond what is shown.
    Form {
        by: Author,
        fields: Vec<FormField>,
        more: bool,
    },
    Diff {
        label: Label,
        by: Author,
        lines: Vec<DiffLine>,
    },
    /// Something that the approver should not overlook. It may quote foreign words.
    Warning {
        by: Author,
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
    Person,
    /// The person who configured the server.
    Operator,
}

impl Author {
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
    Asks,
    Title,
    /// What an edit changed.
    Edit,
    Preview,
    Rows,
    Tool,
    Prompt,
    Arguments,
    Form,
    Diff,
    Context,
    Effects,
    WorkingDirectory,
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
    pub id: ForeignText,
    pub label: ForeignText,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub sign: Sign,
    pub text: ForeignText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Same,
}

impl Sign {
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
