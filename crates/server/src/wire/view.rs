//! What is asked, as every surface draws it. The parts are made in the domain; the types here only
//! describe them, for the API's description.

use domain::caption::CaptionKind;
use domain::digest::Digest;
use domain::warning::WarningKind;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::text::Text;

/// What is asked, made here from the stored bytes, with foreign text apart from ours.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct View {
    /// What to draw, in this order. Foreign text is drawn with a mark on every drawn line.
    #[schemars(with = "Vec<ViewPart>")]
    parts: Value,
    /// The same as plain text: a line with a foreign word in it begins with a bar.
    text: String,
    /// SHA-256 of the canonical JSON of `{"parts": …, "text": …}`; a vote records it.
    digest: Text<Digest>,
}

impl View {
    pub(super) fn of(hold: &domain::hold::Hold) -> View {
        let view = domain::view::View::of(hold);
        let (parts, text) = (view.json(), view.text());
        let digest = domain::view::digest_of(&parts, &text);
        View { parts, text, digest: Text(digest) }
    }
}

#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what the domain writes")]
#[schemars(rename = "Part")]
enum ViewPart {
    /// A word or a number of our own.
    Fact {
        label: Label,
        value: String,
    },
    Quote {
        label: Label,
        by: Author,
        text: ForeignText,
        /// What a title or a summary of the server's own says, for clients that word it in another language. A client that
        /// does not know a code shows the text, which is in English.
        #[schemars(extend("examples" = CaptionKind::CODES))]
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What stands in the text, by name. There if `code` is.
        #[serde(skip_serializing_if = "Option::is_none")]
        values: Option<std::collections::BTreeMap<String, Value>>,
        /// Of the label `runs`: which lines of the text are phrases of the server's own, for the same clients.
        #[serde(skip_serializing_if = "Option::is_none")]
        phrases: Option<Vec<RunPhrase>>,
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
        options: Vec<PickedOption>,
    },
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
    /// Something not to overlook. The text is the sentence in English.
    Warning {
        by: Author,
        text: ForeignText,
        /// What the sentence says, for clients that word it in another language. Not there if the words are those of a
        /// tool that the server does not know, or if the hold was opened before there were codes. A client that does not
        /// know a code shows the text.
        #[schemars(extend("examples" = WarningKind::CODES))]
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What stands in the sentence, by name: numbers, yes or no, words, foreign texts and lists of these. There if
        /// `code` is.
        #[serde(skip_serializing_if = "Option::is_none")]
        values: Option<std::collections::BTreeMap<String, Value>>,
    },
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what the domain writes")]
enum Label {
    Asks,
    Title,
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

/// A line of the server's own about how a call runs.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct RunPhrase {
    /// Which line of the text, from 0.
    line: u64,
    #[schemars(extend("examples" = ["program", "time_limit", "rows_not_counted"]))]
    code: String,
    /// What stands in the line, in its order.
    values: Vec<ForeignText>,
}

/// Who wrote a text, as far as the server knows.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what the domain writes")]
enum Author {
    Holdpoint,
    Agent,
    Program,
    Tool,
    Person,
    Operator,
}

/// Text that somebody else wrote. Each line is a list of spans.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
pub(super) struct ForeignText {
    /// Of the exact text.
    bytes: u64,
    lines: Vec<Vec<Span>>,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what the domain writes")]
enum Span {
    /// Shown as it is.
    Text(String),
    /// A long run of spaces, or spaces that end a line.
    Spaces { spaces: u64 },
    /// A character without an honest picture, so many times.
    Code { code: String, count: u64 },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct Field {
    /// How many objects and lists it is inside of.
    depth: u64,
    name: Option<ForeignText>,
    #[schemars(extend("enum" = ["group", "text", "scalar"]))]
    kind: String,
    text: Option<ForeignText>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct PickedOption {
    id: ForeignText,
    label: ForeignText,
    description: Option<ForeignText>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct FormField {
    name: ForeignText,
    title: Option<ForeignText>,
    description: Option<ForeignText>,
    #[schemars(extend("enum" = ["text", "number", "whole_number", "yes_no", "list", "group", "any"]))]
    input: String,
    choices: Vec<ForeignText>,
    default: Option<ForeignText>,
    required: bool,
    secret: bool,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct DiffLine {
    #[schemars(extend("enum" = ["added", "removed", "same"]))]
    sign: String,
    text: ForeignText,
}

#[cfg(test)]
mod tests {
    use domain::caption::CaptionKind;
    use domain::phrase::{PhraseCode, SERVER_CLAIMS};
    use domain::warning::WarningKind;

    #[test]
    fn the_page_knows_every_code_of_a_title_or_summary_in_chinese() {
        let page = include_str!("../../../../web/src/text/zh_captions.ts");
        for code in CaptionKind::CODES {
            assert!(page.contains(&format!("case \"{code}\":")), "{code}");
        }
    }

    #[test]
    fn the_page_knows_every_phrase_in_chinese_with_all_its_values() {
        let page = include_str!("../../../../web/src/text/zh_phrases.ts");
        for code in PhraseCode::ALL {
            let line = page.lines().find(|line| line.contains(&format!("  {}: \"", code.name())));
            let line = line.unwrap_or_else(|| panic!("{}", code.name()));
            let values = |text: &str| text.matches("{}").count();
            assert_eq!(values(line), values(code.english()), "{line}");
        }
        for claim in SERVER_CLAIMS {
            assert!(page.contains(&format!("  \"{claim}\": \"")), "{claim}");
        }
    }

    #[test]
    fn the_page_knows_every_code_of_a_warning_in_chinese() {
        let page = include_str!("../../../../web/src/text/zh_warnings.ts");
        for code in WarningKind::CODES {
            assert!(page.contains(&format!("case \"{code}\":")), "{code}");
        }
        assert_eq!(page.matches("\n    case \"").count(), WarningKind::CODES.len());
    }
}
