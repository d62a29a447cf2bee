//! Parts as JSON, for the API and under the digest.
//!
//! A line of foreign text is a list of spans: a string is shown as it is; `{"spaces": 2000}` and
//! `{"code": "U+202E", "count": 1}` are drawn as marks.

use serde_json::{Map, Value, json};

use super::fields::{Field, FieldValue};
use super::foreign::ForeignText;
use super::form::FormField;
use super::part::{Label, ViewPart};
use crate::caption::CaptionKind;
use crate::phrase::Phrase;
use crate::visible::Span;
use crate::warning::WarningKind;

/// An object into which its values are moved. `json!` copies each of them, at every level of nesting; the digest of
/// a view is computed with every vote.
macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {{
        let mut object = Map::new();
        $(object.insert($name.to_owned(), Value::from($value));)*
        Value::Object(object)
    }};
}

pub(super) fn parts(parts: &[ViewPart]) -> Value {
    parts.iter().map(part).collect()
}

fn part(part: &ViewPart) -> Value {
    match part {
        ViewPart::Fact { label, value } => {
            object! {"type": "fact", "label": label.name(), "value": value.as_str()}
        }
        ViewPart::Quote { label, by, text, kind } => {
            let mut part = object! {
                "type": "quote", "label": label.name(), "by": by.name(), "text": foreign(text),
            };
            // Only where there is one, as with warnings.
            if let Some(kind) = kind {
                part["code"] = kind.code().into();
                part["values"] = caption_values(kind);
            }
            part
        }
        ViewPart::Runs { by, detail } => {
            let mut part = object! {
                "type": "quote", "label": Label::Runs.name(), "by": by.name(),
                "text": foreign(&ForeignText::new(detail)),
            };
            let phrases = detail.phrases();
            if !phrases.is_empty() {
                part["phrases"] = phrases.iter().map(run_phrase).collect();
            }
            part
        }
        ViewPart::Fields { label, by, fields } => object! {
            "type": "fields", "label": label.name(), "by": by.name(),
            "fields": fields.iter().map(field).collect::<Value>(),
        },
        ViewPart::Options { by, multiple, allow_other, options } => json!({
            "type": "options", "by": by.name(), "multiple": multiple, "allow_other": allow_other,
            "options": options.iter().map(|option| json!({
                "id": foreign(&option.id),
                "label": foreign(&option.label),
                "description": option.description.as_ref().map(foreign),
            })).collect::<Value>(),
        }),
        ViewPart::Form { by, fields, more } => json!({
            "type": "form", "by": by.name(), "more": more,
            "fields": fields.iter().map(form_field).collect::<Value>(),
        }),
        ViewPart::Diff { label, by, lines } => object! {
            "type": "diff", "label": label.name(), "by": by.name(),
            "lines": lines.iter().map(|line| object! {
                "sign": line.sign.name(), "text": foreign(&line.text),
            }).collect::<Value>(),
        },
        ViewPart::Warning { by, text, kind } => {
            let mut part = object! {"type": "warning", "by": by.name(), "text": foreign(text)};
            // Only where there is one: views without a kind keep the digests that they had before there were kinds.
            if let Some(kind) = kind {
                part["code"] = json!(kind.code());
                part["values"] = values(kind);
            }
            part
        }
    }
}

/// What stands in the sentence of a warning: numbers, yes or no, words of ours, and foreign text.
fn values(kind: &WarningKind) -> Value {
    let text = |text: &str| foreign(&ForeignText::marked(text));
    let texts = |texts: &[String]| texts.iter().map(|one| text(one)).collect::<Value>();
    match kind {
        WarningKind::NoWhere { table } => json!({"table": text(table)}),
        WarningKind::MoreRows { rows } => json!({"rows": rows}),
        WarningKind::Wrapper { program, .. } => json!({"program": text(program)}),
        WarningKind::NotBound { word } => json!({"word": text(word)}),
        WarningKind::NoPreview { why } => {
            let mut values = json!({"why": text(why)});
            let phrases = why.phrases();
            if !phrases.is_empty() {
                let spelled = |phrase: &Phrase| {
                    let texts = phrase.values.iter().map(|value| text(value)).collect::<Value>();
                    json!({"code": phrase.code.name(), "values": texts})
                };
                values["phrases"] = phrases.iter().map(spelled).collect();
            }
            values
        }
        WarningKind::SecretGiven(given) => json!({
            "tool": text(&given.tool), "secret": text(&given.secret), "place": text(&given.place),
            "by": text(&given.by), "field": text(&given.field), "at": given.at.to_string(),
        }),
        WarningKind::DeniedBefore { by, minutes_ago, reason, .. } => json!({
            "by": text(by), "minutes_ago": minutes_ago, "reason": reason.as_deref().map(text),
        }),
        WarningKind::StricterPolicy(asked) => json!({
            "roles": texts(&asked.roles), "people": texts(&asked.people), "quorum": asked.quorum,
            "exclude_requester": asked.exclude_requester,
            "refuse_made_logins": asked.refuse_made_logins,
            "rule": asked.rule.as_deref().map(text), "line": asked.line, "in_doubt": asked.in_doubt,
        }),
        WarningKind::LookAlike { word, scripts } => {
            let scripts = scripts.iter().map(|script| json!(script.name())).collect::<Value>();
            json!({"word": text(word), "scripts": scripts})
        }
        WarningKind::EstimatedRows { .. }
        | WarningKind::NewDefinition
        | WarningKind::ChangedDefinition
        | WarningKind::AskedAgain { .. }
        | WarningKind::OutcomeUnknown
        | WarningKind::EarlierAttempt => json!({}),
    }
}

/// A line of ours about how a call runs.
fn run_phrase((line, phrase): &(usize, Phrase)) -> Value {
    let values = phrase.values.iter().map(|value| foreign(&ForeignText::line(value)));
    json!({"line": line, "code": phrase.code.name(), "values": values.collect::<Value>()})
}

/// What stands in a title or a summary of ours: numbers, words of ours, and foreign text.
fn caption_values(kind: &CaptionKind) -> Value {
    let text = |text: &str| foreign(&ForeignText::marked(text));
    match kind {
        CaptionKind::ChangeRows { rows, estimated, table, .. } => {
            object! {"rows": *rows, "estimated": *estimated, "table": text(table)}
        }
        CaptionKind::ChangeTables { database, sql }
        | CaptionKind::QueryDatabase { database, sql } => {
            object! {"database": text(database), "sql": text(sql)}
        }
        CaptionKind::RunCommand { command } => object! {"command": text(command)},
        CaptionKind::RunInShell { script } => object! {"script": text(script)},
        CaptionKind::RunTool { tool, arguments } => {
            object! {"tool": text(tool), "arguments": arguments.as_deref().map(text)}
        }
        CaptionKind::CarryOut { tool } => json!({"tool": text(tool)}),
        CaptionKind::SeveralQuestions { questions, headers } => {
            json!({"questions": questions, "headers": text(headers)})
        }
        CaptionKind::ServerAsks { server, message } => {
            json!({"server": text(server), "message": text(message)})
        }
        CaptionKind::Deploy { project, target } => {
            json!({"project": text(project), "target": text(target)})
        }
        CaptionKind::WhatHappened { to } | CaptionKind::Cut { of: to, .. } => {
            let mut values = json!({"to": text(to)});
            if let CaptionKind::Cut { left_out, .. } = kind {
                values["left_out"] = json!(left_out);
            }
            if let Some(kind) = to.kind() {
                values["code"] = json!(kind.code());
                values["values"] = caption_values(kind);
            }
            values
        }
        CaptionKind::GoOn(used_up) | CaptionKind::Used(used_up) => json!({
            "budget": used_up.of.name(), "used": used_up.used, "limit": used_up.limit,
        }),
        CaptionKind::Rows { rows, more, estimated } => {
            json!({"rows": rows, "more": more, "estimated": estimated})
        }
        CaptionKind::Sends { request } => json!({"request": text(request)}),
        CaptionKind::NewDefinition | CaptionKind::ChangedDefinition => json!({}),
    }
}

fn field(field: &Field) -> Value {
    let (kind, text) = match &field.value {
        FieldValue::Group => ("group", None),
        FieldValue::Text(text) => ("text", Some(foreign(text))),
        FieldValue::Scalar(text) => ("scalar", Some(foreign(text))),
    };
    object! {
        "depth": field.depth, "name": field.name.as_ref().map(foreign), "kind": kind, "text": text,
    }
}

fn form_field(field: &FormField) -> Value {
    json!({
        "name": foreign(&field.name),
        "title": field.title.as_ref().map(foreign),
        "description": field.description.as_ref().map(foreign),
        "input": field.input.name(),
        "choices": field.choices.iter().map(foreign).collect::<Value>(),
        "default": field.default.as_ref().map(foreign),
        "required": field.required,
        "secret": field.secret,
    })
}

/// A foreign text as the HTTP API sends it.
pub fn foreign_json(text: &ForeignText) -> Value {
    foreign(text)
}

fn foreign(text: &ForeignText) -> Value {
    object! {
        "bytes": text.bytes(),
        "lines": text.lines().iter().map(|line| line.iter().map(span).collect::<Value>())
            .collect::<Value>(),
    }
}

fn span(span: &Span) -> Value {
    match span {
        Span::Text(text) => Value::from(text.as_str()),
        Span::Spaces(count) => object! {"spaces": *count},
        Span::Code(c, count) => {
            object! {"code": format!("U+{:04X}", *c as u32), "count": *count}
        }
    }
}
