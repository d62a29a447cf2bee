//! The parts of a view as blocks of a card, in the card's language. What the card says elsewhere (what
//! kind of question, a title that fits) is left out here.

use domain::view::{
    Author, FOREIGN_MARK, Field, FieldValue, ForeignText, FormField, LINE_END, Label, Sign, View,
    ViewPart,
};
use domain::visible::spell_span;

use super::body::CardBlock;
use super::captioned::quoted;
use super::phrased::detail_lines;
use super::words::{CardWords, Language};

pub(super) fn blocks(view: &View, words: CardWords, title_is_whole: bool) -> Vec<CardBlock> {
    let mut blocks = Blocks { blocks: Vec::new(), words };
    for part in &view.parts {
        match part {
            ViewPart::Fact { label: Label::Asks, .. } => {}
            ViewPart::Quote { label: Label::Title, .. } if title_is_whole => {}
            part => blocks.part(part),
        }
    }
    blocks.blocks
}

/// A line as plain text, safe behind a mark.
pub(super) fn spelled(text: &ForeignText) -> Vec<String> {
    let lines = text.lines().iter().map(|line| {
        let mut out = String::new();
        line.iter().for_each(|span| spell_span(&mut out, span));
        out
    });
    let mut lines: Vec<String> = lines.collect();
    let last = lines.len().saturating_sub(1);
    lines[..last].iter_mut().for_each(|line| line.push(LINE_END));
    lines
}

fn one_line(text: &ForeignText) -> String {
    spelled(text).concat()
}

struct Blocks {
    blocks: Vec<CardBlock>,
    words: CardWords,
}

impl Blocks {
    fn ours(&mut self, line: String) {
        self.blocks.push(CardBlock::Ours(line));
    }

    fn heading(&mut self, name: &str, by: Author) {
        let words = self.words;
        self.ours(match words.author(by) {
            Some(author) => words.labelled_by(name, author),
            None => words.labelled(name, ""),
        });
    }

    fn foreign(&mut self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.blocks.push(CardBlock::Foreign(lines));
        }
    }

    fn part(&mut self, part: &ViewPart) {
        let words = self.words;
        match part {
            ViewPart::Fact { label, value } => {
                let value = words.fact_value(*label, value);
                self.ours(words.labelled(words.label(*label), &value));
            }
            ViewPart::Quote { label, by, text, kind } => {
                self.heading(words.label(*label), *by);
                self.foreign(quoted(text, kind.as_ref(), words));
            }
            ViewPart::Runs { by, detail } => {
                self.heading(words.label(Label::Runs), *by);
                self.foreign(detail_lines(detail, words));
            }
            ViewPart::Fields { label, by, fields } => {
                self.heading(words.label(*label), *by);
                self.foreign(fields.iter().flat_map(field).collect());
            }
            ViewPart::Options { by, multiple, allow_other, options } => {
                self.heading(words.choose_of(*multiple), *by);
                // Numbered as buttons and replies count them.
                let lines = options.iter().zip(1..).flat_map(|(option, number)| {
                    let id = option.foreign_id(number);
                    let id = id.map(|id| words.option_id(&one_line(id))).unwrap_or_default();
                    let label = match option.is_link_opened() {
                        true => words.link_opened().to_owned(),
                        false => one_line(&option.label),
                    };
                    let label = format!("{number}. {label}{id}");
                    let more = option.description.as_ref();
                    let more = more.map(|text| format!("   {}", one_line(text)));
                    [Some(label), more].into_iter().flatten()
                });
                self.foreign(lines.collect());
                if *allow_other {
                    self.ours(words.or_other().to_owned());
                }
            }
            ViewPart::Form { by, fields, more } => {
                self.heading(words.label(Label::Form), *by);
                self.foreign(fields.iter().flat_map(|one| form_field(one, words)).collect());
                if *more {
                    self.ours(words.more_rules().to_owned());
                }
            }
            ViewPart::Diff { label, by, lines } => {
                self.heading(words.label(*label), *by);
                let lines = lines.iter().flat_map(|line| {
                    let sign = match line.sign {
                        Sign::Added => "+",
                        Sign::Removed => "-",
                        Sign::Same => " ",
                    };
                    let drawn = spelled(&line.text).into_iter();
                    drawn.map(move |text| match label {
                        Label::Edit => format!("{sign}{}", edited(text, words)),
                        _ => format!("{sign}{text}"),
                    })
                });
                self.foreign(lines.collect());
            }
            ViewPart::Warning { by, text, kind } => {
                self.heading(&format!("⚠ {}", words.warning()), *by);
                let worded = kind.as_ref().and_then(|kind| words.warned(kind));
                // It may quote others, in whatever language it is.
                self.foreign(match worded {
                    Some(sentence) => spelled(&ForeignText::marked(&sentence)),
                    None => spelled(text),
                });
            }
        }
    }
}

/// A line of an edit, with the words in it that are ours. Fields end in a colon, a quoted text or a scalar, and lines of a text begin
/// with a mark; so none of those looks like them.
fn edited(line: String, words: CardWords) -> String {
    let english = CardWords(Language::English);
    if line == english.more_changed() {
        return words.more_changed().to_owned();
    }
    let is_of_a_text = line.trim_start().starts_with(FOREIGN_MARK.trim_end());
    match line.strip_suffix(english.a_text()) {
        Some(name) if !is_of_a_text && name.ends_with([':', '-', ' ']) => {
            format!("{name}{}", words.a_text())
        }
        _ => line,
    }
}

fn field(field: &Field) -> Vec<String> {
    let indent = "  ".repeat(field.depth);
    let name = match &field.name {
        Some(name) => format!("{indent}{}:", one_line(name)),
        None => format!("{indent}-"),
    };
    match &field.value {
        FieldValue::Group => vec![name],
        FieldValue::Scalar(value) => vec![format!("{name} {}", one_line(value))],
        FieldValue::Text(text) if text.lines().len() > 1 => {
            // A line of a text is no field.
            let mark = |line: String| format!("{indent}  {FOREIGN_MARK}{line}");
            let lines = spelled(text).into_iter().map(mark);
            [name].into_iter().chain(lines).collect()
        }
        // Quoted, so that "1" and 1, "true" and true, "" and nothing look different.
        FieldValue::Text(text) => {
            let quoted = serde_json::Value::from(text.raw()).to_string();
            vec![format!("{name} {}", one_line(&ForeignText::line(&quoted)))]
        }
    }
}

fn form_field(field: &FormField, words: CardWords) -> Vec<String> {
    let name = match &field.title {
        Some(title) => format!("{} ({})", one_line(title), one_line(&field.name)),
        None => one_line(&field.name),
    };
    let mut lines = vec![format!("{name}: {}", words.form_input(field))];
    lines.extend(field.description.iter().map(|text| format!("  {}", one_line(text))));
    lines.extend(field.choices.iter().map(|choice| format!("  - {}", one_line(choice))));
    let default = field.default.iter();
    lines.extend(default.map(|text| format!("  {}: {}", words.otherwise(), one_line(text))));
    lines
}

#[cfg(test)]
mod tests {
    use domain::hold::{Choice, Question};

    use super::super::asks::CardQuestion;
    use super::super::sample::{asking, drawn};
    use crate::card::Language;

    #[test]
    fn i13_the_printed_number_of_an_option_is_that_of_its_button() {
        let option = |(id, label): (&str, &str)| Choice {
            id: id.into(),
            label: label.into(),
            description: None,
        };
        let options = [("0", "Cancel"), ("1", "Staging"), ("2", "Production")].map(option);
        let question =
            Question::Choose { options: options.to_vec(), multiple: false, allow_other: false };
        let card = drawn(&asking(question), Language::English);
        let text = card.body.text();
        let CardQuestion::Choose { options, .. } = &card.asks else { panic!("{:?}", card.asks) };
        for (button, id) in options.iter().zip(["0", "1", "2"]) {
            assert!(text.contains(&format!("{} (id {id})", button.label)), "{text}");
        }
    }

    #[test]
    fn words_of_ours_in_an_edit_are_chinese_and_those_of_others_stay() {
        let line =
            |text: &str| super::edited(text.to_owned(), crate::card::CardWords(Language::Chinese));
        assert_eq!(
            line("… (more was changed than is shown here)"),
            "…（更改较多，此处未全部显示）"
        );
        assert_eq!(line("sql: (text)"), "sql: （文本）");
        assert_eq!(line("  - (text)"), "  - （文本）");
        for foreign in ["  │ sql: (text)", "a: \"x: (text)\"", "(text):", "x (text): 1"] {
            assert_eq!(line(foreign), foreign);
        }
        let english =
            super::edited("sql: (text)".into(), crate::card::CardWords(Language::English));
        assert_eq!(english, "sql: (text)");
    }

    #[test]
    fn that_a_link_was_opened_is_said_in_chinese_and_an_option_of_others_is_not() {
        let question = |options| Question::Choose { options, multiple: false, allow_other: false };
        let ours = drawn(&asking(question(vec![Choice::link_opened()])), Language::Chinese);
        let text = ours.body.text();
        assert!(text.contains("1. 我已打开链接\n") && !text.contains("link"), "{text}");
        let CardQuestion::Choose { options, .. } = &ours.asks else { panic!("{:?}", ours.asks) };
        assert_eq!(options[0].label, "1. 我已打开链接");
        let theirs = Choice { id: "1".into(), ..Choice::link_opened() };
        let theirs = drawn(&asking(question(vec![theirs])), Language::Chinese);
        assert!(theirs.body.text().contains("I have opened the link"), "{}", theirs.body.text());
    }
}
