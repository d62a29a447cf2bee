//! Parts as lines of text. A line is all ours, or it is marked as foreign: a foreign word never
//! shares a line with the left edge.

use serde_json::Value;

use super::fields::{Field, FieldValue};
use super::foreign::ForeignText;
use super::form::FormField;
use super::part::{Author, Label, ViewPart};

/// Stands before every line with a foreign word in it.
pub const FOREIGN_MARK: &str = "│ ";

/// Ends a line of foreign text that goes on below. A foreign sign of this shape is a code.
pub const LINE_END: char = '⏎';

/// One line of a view as text, before it is wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// Begins at the left edge. Nothing in it was chosen by anybody else.
    Ours(String),
    /// Safe to show behind a mark, and on every line that it is wrapped into.
    Foreign(String),
}

pub(super) fn rows_text(rows: &[Row]) -> String {
    let mut text = String::with_capacity(512);
    for row in rows {
        match row {
            Row::Ours(line) => text.push_str(line),
            Row::Foreign(line) => {
                text.push_str(FOREIGN_MARK);
                text.push_str(line);
            }
        }
        text.push('\n');
    }
    text
}

pub(super) fn rows(parts: &[ViewPart]) -> Vec<Row> {
    let mut rows = Vec::new();
    parts.iter().for_each(|part| write_part(&mut rows, part));
    rows
}

fn write_part(rows: &mut Vec<Row>, part: &ViewPart) {
    match part {
        ViewPart::Fact { label, value } => {
            rows.push(Row::Ours(format!("{}: {value}", label.words())))
        }
        ViewPart::Quote { label, by, text, .. } => {
            heading(rows, label.words(), *by);
            quote(rows, "", text);
        }
        ViewPart::Runs { by, detail } => {
            heading(rows, Label::Runs.words(), *by);
            quote(rows, "", &ForeignText::new(detail));
        }
        ViewPart::Fields { label, by, fields } => {
            heading(rows, label.words(), *by);
            fields.iter().for_each(|one| field(rows, one));
        }
        ViewPart::Options { by, multiple, allow_other, options } => {
            heading(rows, if *multiple { "choose any of" } else { "choose one of" }, *by);
            for (option, number) in options.iter().zip(1..) {
                let mut row = format!("{number}. {}", line_of(&option.label));
                if let Some(id) = option.foreign_id(number) {
                    row.push_str(&format!(" (id {})", line_of(id)));
                }
                rows.push(Row::Foreign(row));
                if let Some(description) = &option.description {
                    // mutant: an-option-described-as-ours
                    rows.push(Row::Foreign(format!("   {}", line_of(description))));
                }
            }
            if *allow_other {
                rows.push(Row::Ours("or something else, in your own words".into()));
            }
        }
        ViewPart::Form { by, fields, more } => {
            heading(rows, "fill in", *by);
            fields.iter().for_each(|one| form_field(rows, one));
            if *more {
                rows.push(Row::Ours("more rules apply to what is filled in".into()));
            }
        }
        ViewPart::Diff { label, by, lines } => {
            heading(rows, label.words(), *by);
            for line in lines {
                quote(rows, line.sign.mark(), &line.text);
            }
        }
        ViewPart::Warning { by, text, .. } => {
            heading(rows, "warning", *by);
            quote(rows, "", text);
        }
    }
}

fn heading(rows: &mut Vec<Row>, words: &str, by: Author) {
    rows.push(Row::Ours(match by {
        Author::Holdpoint | Author::Operator => format!("{words}:"),
        by => format!("{words} ({}):", by.name()),
    }));
}

fn quote(rows: &mut Vec<Row>, before: &str, text: &ForeignText) {
    for (index, line) in text.lines().iter().enumerate() {
        let mut row = format!("{before}{}", ForeignText::spelled(line));
        // mutant: line-ends-are-not-seen
        if index + 1 < text.lines().len() {
            row.push(LINE_END);
        }
        // mutant: only-the-first-line-is-marked
        rows.push(Row::Foreign(row));
    }
}

fn line_of(text: &ForeignText) -> String {
    let lines: Vec<String> = text.lines().iter().map(|line| ForeignText::spelled(line)).collect();
    lines.join(&LINE_END.to_string())
}

/// The lines of one field alone.
pub(super) fn field_rows(one: &Field) -> Vec<Row> {
    let mut rows = Vec::new();
    field(&mut rows, one);
    rows
}

fn field(rows: &mut Vec<Row>, field: &Field) {
    let indent = "  ".repeat(field.depth);
    let name = match &field.name {
        Some(name) => format!("{indent}{}:", line_of(name)),
        None => format!("{indent}-"),
    };
    match &field.value {
        FieldValue::Group => rows.push(Row::Foreign(name)),
        FieldValue::Scalar(value) => rows.push(Row::Foreign(format!("{name} {}", line_of(value)))),
        FieldValue::Text(text) if text.lines().len() > 1 => {
            rows.push(Row::Foreign(format!("{name} (text)")));
            quote(rows, &format!("{indent}  {FOREIGN_MARK}"), text);
        }
        // Quoted, so that "1" and 1, "true" and true, "" and nothing look different.
        FieldValue::Text(text) => {
            let quoted = Value::from(text.raw()).to_string();
            rows.push(Row::Foreign(format!("{name} {}", line_of(&ForeignText::line(&quoted)))));
        }
    }
}

fn form_field(rows: &mut Vec<Row>, field: &FormField) {
    let name = line_of(&field.name);
    let label = match &field.title {
        Some(title) => format!("{} ({name})", line_of(title)),
        None => name,
    };
    let mut kind = field.words().to_owned();
    if field.secret {
        kind.push_str(", secret");
    }
    kind.push_str(if field.required { ", required" } else { ", optional" });
    rows.push(Row::Foreign(format!("{label}: {kind}")));
    if let Some(description) = &field.description {
        rows.push(Row::Foreign(format!("  {}", line_of(description))));
    }
    for choice in &field.choices {
        rows.push(Row::Foreign(format!("  - {}", line_of(choice))));
    }
    if let Some(default) = &field.default {
        rows.push(Row::Foreign(format!("  otherwise: {}", line_of(default))));
    }
}
