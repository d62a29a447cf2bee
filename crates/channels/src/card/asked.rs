//! The parts of a view as blocks of a card, in the card's language. What the card says elsewhere (what
//! kind of question, a title that fits) is left out here.

use domain::view::{
    Author, FOREIGN_MARK, Field, FieldValue, ForeignText, FormField, LINE_END, Label, Part, Sign,
    View,
};
use domain::visible::spell_span;

use super::body::Block;
use super::captioned::quoted;
use super::words::Words;

pub(super) fn blocks(view: &View, words: Words, title_is_whole: bool) -> Vec<Block> {
    let mut blocks = Blocks { blocks: Vec::new(), words };
    for part in &view.parts {
        match part {
            Part::Fact { label: Label::Asks, .. } => {}
            Part::Quote { label: Label::Title, .. } if title_is_whole => {}
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
    blocks: Vec<Block>,
    words: Words,
}

impl Blocks {
    fn ours(&mut self, line: String) {
        self.blocks.push(Block::Ours(line));
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
            self.blocks.push(Block::Foreign(lines));
        }
    }

    fn part(&mut self, part: &Part) {
        let words = self.words;
        match part {
            Part::Fact { label, value } => {
                let value = words.fact_value(*label, value);
                self.ours(words.labelled(words.label(*label), &value));
            }
            Part::Quote { label, by, text, kind } => {
                self.heading(words.label(*label), *by);
                self.foreign(quoted(text, kind.as_ref(), words));
            }
            Part::Fields { label, by, fields } => {
                self.heading(words.label(*label), *by);
                self.foreign(fields.iter().flat_map(field).collect());
            }
            Part::Options { by, multiple, allow_other, options } => {
                self.heading(words.choose_of(*multiple), *by);
                // Numbered as buttons and replies count them.
                let lines = options.iter().zip(1..).flat_map(|(option, number)| {
                    let id = option.foreign_id(number);
                    let id = id.map(|id| format!(" (id {})", one_line(id))).unwrap_or_default();
                    let label = format!("{number}. {}{id}", one_line(&option.label));
                    let more = option.description.as_ref();
                    let more = more.map(|text| format!("   {}", one_line(text)));
                    [Some(label), more].into_iter().flatten()
                });
                self.foreign(lines.collect());
                if *allow_other {
                    self.ours(words.or_other().to_owned());
                }
            }
            Part::Form { by, fields, more } => {
                self.heading(words.label(Label::Form), *by);
                self.foreign(fields.iter().flat_map(|one| form_field(one, words)).collect());
                if *more {
                    self.ours(words.more_rules().to_owned());
                }
            }
            Part::Diff { label, by, lines } => {
                self.heading(words.label(*label), *by);
                let lines = lines.iter().flat_map(|line| {
                    let sign = match line.sign {
                        Sign::Added => "+",
                        Sign::Removed => "-",
                        Sign::Same => " ",
                    };
                    spelled(&line.text).into_iter().map(move |text| format!("{sign}{text}"))
                });
                self.foreign(lines.collect());
            }
            Part::Warning { by, text, kind } => {
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

fn form_field(field: &FormField, words: Words) -> Vec<String> {
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

    use super::super::asks::Asks;
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
        let Asks::Choose { options, .. } = &card.asks else { panic!("{:?}", card.asks) };
        for (button, id) in options.iter().zip(["0", "1", "2"]) {
            assert!(text.contains(&format!("{} (id {id})", button.label)), "{text}");
        }
    }
}
