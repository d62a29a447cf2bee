//! Parts as JSON, for the API and under the digest.
//!
//! A line of foreign text is a list of spans: a string is shown as it is; `{"spaces": 2000}` and
//! `{"code": "U+202E", "count": 1}` are drawn as marks.

use serde_json::Value;

use super::fields::{Field, FieldValue};
use super::foreign::ForeignText;
use super::form::FormField;
use super::json_tree::ViewJson;
use super::part::{Label, ViewPart};
use crate::caption::CaptionKind;
use crate::phrase::Phrase;
use crate::visible::Span;
use crate::warning::WarningKind;

/// An object of our own names.
macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {
        ViewJson::Object(vec![$(($name, ViewJson::from($value))),*])
    };
}

pub(super) fn parts(parts: &[ViewPart]) -> ViewJson<'_> {
    parts.iter().map(part).collect()
}

fn part(part: &ViewPart) -> ViewJson<'_> {
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
                part.insert("code", kind.code());
                part.insert("values", caption_values(kind));
            }
            part
        }
        ViewPart::Runs { by, detail } => {
            let mut part = object! {
                "type": "quote", "label": Label::Runs.name(), "by": by.name(),
                "text": foreign_owned(ForeignText::new(detail)),
            };
            let phrases = detail.phrases();
            if !phrases.is_empty() {
                part.insert("phrases", phrases.iter().map(run_phrase).collect::<ViewJson>());
            }
            part
        }
        ViewPart::Fields { label, by, fields } => object! {
            "type": "fields", "label": label.name(), "by": by.name(),
            "fields": fields.iter().map(field).collect::<ViewJson>(),
        },
        ViewPart::Options { by, multiple, allow_other, options } => object! {
            "type": "options", "by": by.name(), "multiple": multiple, "allow_other": allow_other,
            "options": options.iter().map(|option| object! {
                "id": foreign(&option.id),
                "label": foreign(&option.label),
                "description": option.description.as_ref().map(foreign),
            }).collect::<ViewJson>(),
        },
        ViewPart::Form { by, fields, more } => object! {
            "type": "form", "by": by.name(), "more": more,
            "fields": fields.iter().map(form_field).collect::<ViewJson>(),
        },
        ViewPart::Diff { label, by, lines } => object! {
            "type": "diff", "label": label.name(), "by": by.name(),
            "lines": lines.iter().map(|line| object! {
                "sign": line.sign.name(), "text": foreign(&line.text),
            }).collect::<ViewJson>(),
        },
        ViewPart::Warning { by, text, kind } => {
            let mut part = object! {"type": "warning", "by": by.name(), "text": foreign(text)};
            // Only where there is one: views without a kind keep the digests that they had before there were kinds.
            if let Some(kind) = kind {
                part.insert("code", kind.code());
                part.insert("values", values(kind));
            }
            part
        }
    }
}

/// What stands in the sentence of a warning: numbers, yes or no, words of ours, and foreign text.
fn values(kind: &WarningKind) -> ViewJson<'_> {
    let text = marked;
    let texts = |texts: &[String]| texts.iter().map(|one| text(one)).collect::<ViewJson>();
    match kind {
        WarningKind::NoWhere { table } => object! {"table": text(table)},
        WarningKind::MoreRows { rows } => object! {"rows": rows},
        WarningKind::Wrapper { program, .. } => object! {"program": text(program)},
        WarningKind::NotBound { word } => object! {"word": text(word)},
        WarningKind::NoPreview { why } => {
            let mut values = object! {"why": text(why)};
            let phrases = why.phrases();
            if !phrases.is_empty() {
                let spelled = |phrase: &Phrase| {
                    let texts = phrase.values.iter().map(|value| text(value)).collect::<ViewJson>();
                    object! {"code": phrase.code.name(), "values": texts}
                };
                values.insert("phrases", phrases.iter().map(spelled).collect::<ViewJson>());
            }
            values
        }
        WarningKind::SecretGiven(given) => object! {
            "tool": text(&given.tool), "secret": text(&given.secret), "place": text(&given.place),
            "by": text(&given.by), "field": text(&given.field), "at": given.at.to_string(),
        },
        WarningKind::DeniedBefore { by, minutes_ago, reason, .. } => object! {
            "by": text(by), "minutes_ago": minutes_ago, "reason": reason.as_deref().map(text),
        },
        WarningKind::StricterPolicy(asked) => object! {
            "roles": texts(&asked.roles), "people": texts(&asked.people), "quorum": asked.quorum,
            "exclude_requester": asked.exclude_requester,
            "refuse_made_logins": asked.refuse_made_logins,
            "rule": asked.rule.as_deref().map(text), "line": asked.line, "in_doubt": asked.in_doubt,
        },
        WarningKind::LookAlike { word, scripts } => {
            let scripts =
                scripts.iter().map(|script| ViewJson::from(script.name())).collect::<ViewJson>();
            object! {"word": text(word), "scripts": scripts}
        }
        WarningKind::EstimatedRows { .. }
        | WarningKind::NewDefinition
        | WarningKind::ChangedDefinition
        | WarningKind::AskedAgain { .. }
        | WarningKind::OutcomeUnknown
        | WarningKind::EarlierAttempt => object! {},
    }
}

/// A line of ours about how a call runs.
fn run_phrase((line, phrase): &(usize, Phrase)) -> ViewJson<'_> {
    let values = phrase.values.iter().map(|value| foreign_owned(ForeignText::line(value)));
    object! {"line": line, "code": phrase.code.name(), "values": values.collect::<ViewJson>()}
}

/// What stands in a title or a summary of ours: numbers, words of ours, and foreign text.
fn caption_values(kind: &CaptionKind) -> ViewJson<'_> {
    let text = marked;
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
        CaptionKind::CarryOut { tool } => object! {"tool": text(tool)},
        CaptionKind::SeveralQuestions { questions, headers } => {
            object! {"questions": questions, "headers": text(headers)}
        }
        CaptionKind::ServerAsks { server, message } => {
            object! {"server": text(server), "message": text(message)}
        }
        CaptionKind::Deploy { project, target } => {
            object! {"project": text(project), "target": text(target)}
        }
        CaptionKind::WhatHappened { to } | CaptionKind::Cut { of: to, .. } => {
            let mut values = object! {"to": text(to)};
            if let CaptionKind::Cut { left_out, .. } = kind {
                values.insert("left_out", left_out);
            }
            if let Some(kind) = to.kind() {
                values.insert("code", kind.code());
                values.insert("values", caption_values(kind));
            }
            values
        }
        CaptionKind::GoOn(used_up) | CaptionKind::Used(used_up) => object! {
            "budget": used_up.of.name(), "used": used_up.used, "limit": used_up.limit,
        },
        CaptionKind::Rows { rows, more, estimated } => {
            object! {"rows": rows, "more": more, "estimated": estimated}
        }
        CaptionKind::Sends { request } => object! {"request": text(request)},
        CaptionKind::NewDefinition | CaptionKind::ChangedDefinition => object! {},
    }
}

fn field(field: &Field) -> ViewJson<'_> {
    let (kind, text) = match &field.value {
        FieldValue::Group => ("group", None),
        FieldValue::Text(text) => ("text", Some(foreign(text))),
        FieldValue::Scalar(text) => ("scalar", Some(foreign(text))),
    };
    object! {
        "depth": field.depth, "name": field.name.as_ref().map(foreign), "kind": kind, "text": text,
    }
}

fn form_field(field: &FormField) -> ViewJson<'_> {
    object! {
        "name": foreign(&field.name),
        "title": field.title.as_ref().map(foreign),
        "description": field.description.as_ref().map(foreign),
        "input": field.input.name(),
        "choices": field.choices.iter().map(foreign).collect::<ViewJson>(),
        "default": field.default.as_ref().map(foreign),
        "required": field.required,
        "secret": field.secret,
    }
}

/// A foreign text as the HTTP API sends it.
pub fn foreign_json(text: &ForeignText) -> Value {
    foreign(text).into()
}

fn foreign(text: &ForeignText) -> ViewJson<'_> {
    let lines = text.lines().iter().map(|line| line.iter().map(span).collect());
    object! {"bytes": text.bytes(), "lines": lines.collect::<ViewJson>()}
}

/// The same of a text that is made for this alone.
fn foreign_owned(text: ForeignText) -> ViewJson<'static> {
    let bytes = text.bytes();
    let line = |line: Vec<Span>| line.into_iter().map(span_owned).collect();
    object! {"bytes": bytes, "lines": text.into_lines().into_iter().map(line).collect::<ViewJson>()}
}

/// A text on one line that was made visible before.
fn marked(text: &str) -> ViewJson<'static> {
    foreign_owned(ForeignText::marked(text))
}

fn span(span: &Span) -> ViewJson<'_> {
    match span {
        Span::Text(text) => text.as_str().into(),
        Span::Spaces(count) => spaces(*count),
        Span::Code(c, count) => code(*c, *count),
    }
}

fn span_owned(span: Span) -> ViewJson<'static> {
    match span {
        Span::Text(text) => text.into(),
        Span::Spaces(count) => spaces(count),
        Span::Code(c, count) => code(c, count),
    }
}

fn spaces(count: usize) -> ViewJson<'static> {
    object! {"spaces": count}
}

fn code(c: char, count: usize) -> ViewJson<'static> {
    object! {"code": format!("U+{:04X}", c as u32), "count": count}
}
