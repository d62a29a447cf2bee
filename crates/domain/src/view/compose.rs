//! From a stored hold to the parts that people are shown: what and how much first, then the exact
//! call, then where and how it runs.

use serde_json::Value;

use super::edit::{diff_lines, edits};
use super::fields::fields_of;
use super::foreign::ForeignText;
use super::form::form;
use super::part::{Author, DiffLine, Label, Picked, Sign, ViewPart};
use crate::call::Call;
use crate::hold::{Hold, Question};
use crate::person::Actor;
use crate::schema::redacted;
use crate::tool::Place;
use crate::visible::{Finding, look_alikes};
use crate::warning::{Warning, WarningKind};

pub(super) fn parts(hold: &Hold) -> Vec<ViewPart> {
    let mut parts = Vec::with_capacity(16);
    fact(&mut parts, Label::Asks, hold.question.kind().name());
    // Made safe to show when the hold was made; doing it twice would show marks of marks.
    let title = ForeignText::marked(&hold.title.replace('\n', " "));
    let kind = hold.title.kind().cloned();
    parts.push(ViewPart::Quote { label: Label::Title, by: asker(hold), text: title, kind });
    warnings(&mut parts, hold);
    let diff = hold.preview.diff.as_deref();
    let edits = diff.and_then(|diff| edits(hold, diff));
    if let Some((lines, _)) = edits {
        let (label, by) = (Label::Edit, Author::Person);
        parts.push(ViewPart::Diff { label, by, lines: diff_lines(lines) });
    }
    if let Some(summary) = &hold.preview.summary {
        let (text, kind) = (ForeignText::new(summary), summary.kind().cloned());
        parts.push(ViewPart::Quote { label: Label::Preview, by: Author::Tool, text, kind });
    }
    if let Some(rows) = hold.preview.rows {
        fact(&mut parts, Label::Rows, &rows.to_string());
    }
    if let Some(call) = hold.call() {
        asked_call(&mut parts, hold, call, edits.is_some());
    }
    question(&mut parts, hold);
    if let Some(diff) = edits.map_or(diff, |(_, by_the_tool)| by_the_tool) {
        let lines = diff.split('\n').map(diff_line).collect();
        // Of a program's call we know what the program says.
        let by = match asker(hold) {
            Author::Program => Author::Program,
            _ => Author::Tool,
        };
        parts.push(ViewPart::Diff { label: Label::Diff, by, lines });
    }
    if !hold.context.is_null() && hold.context != Value::Object(serde_json::Map::new()) {
        let fields = fields_of(&hold.context);
        parts.push(ViewPart::Fields { label: Label::Context, by: asker(hold), fields });
    }
    if let Some(call) = hold.call() {
        surroundings(&mut parts, call);
    }
    parts
}

fn fact(parts: &mut Vec<ViewPart>, label: Label, value: &str) {
    parts.push(ViewPart::Fact { label, value: value.to_owned() });
}

fn quote(parts: &mut Vec<ViewPart>, label: Label, by: Author, text: &str) {
    parts.push(ViewPart::Quote { label, by, text: ForeignText::new(text), kind: None });
}

/// Who worded the question.
fn asker(hold: &Hold) -> Author {
    match (hold.session(), hold.call(), &hold.opener) {
        (None, _, Actor::Program { .. }) => Author::Program,
        (None, _, Actor::Person(_)) => Author::Person,
        // A tool asks in the middle of its call.
        (None, _, Actor::Runtime) => Author::Tool,
        (Some(_), Some(call), _) if call.place == Place::Person => Author::Agent,
        (Some(_), Some(_), _) => Author::Tool,
        (Some(_), None, _) => Author::Holdpoint,
    }
}

fn proposer(hold: &Hold) -> Author {
    match (hold.session(), &hold.opener) {
        (Some(_), _) => Author::Agent,
        (None, Actor::Person(_)) => Author::Person,
        (None, _) => Author::Program,
    }
}

fn asked_call(parts: &mut Vec<ViewPart>, hold: &Hold, call: &Call, edited: bool) {
    let named_by = if hold.session().is_some() { Author::Operator } else { proposer(hold) };
    quote(parts, Label::Tool, named_by, &call.tool);
    let shown = redacted(call.arguments.value(), &call.secrets);
    match call.place {
        // The call is the question, which follows in full; only its own words are told here.
        Place::Person => {
            if let Some(prompt) = shown.get("prompt").and_then(Value::as_str) {
                quote(parts, Label::Prompt, proposer(hold), prompt);
            }
        }
        Place::Server | Place::Client => {
            let by = if edited { Author::Person } else { proposer(hold) };
            let label = Label::Arguments;
            parts.push(ViewPart::Fields { label, by, fields: fields_of(&shown) });
        }
    }
}

fn question(parts: &mut Vec<ViewPart>, hold: &Hold) {
    let by = asker(hold);
    match &hold.question {
        Question::Choose { options, multiple, allow_other } => {
            let options = options.iter().map(|option| Picked {
                id: ForeignText::line(&option.id),
                label: ForeignText::line(&option.label),
                description: option.description.as_deref().map(ForeignText::line),
            });
            let (multiple, allow_other) = (*multiple, *allow_other);
            parts.push(ViewPart::Options { by, multiple, allow_other, options: options.collect() });
        }
        Question::Fill { schema: Some(schema) } => parts.push(match form(schema) {
            Some((fields, more)) => ViewPart::Form { by, fields, more },
            None => ViewPart::Fields { label: Label::Form, by, fields: fields_of(schema) },
        }),
        _ => {}
    }
}

/// Where and how it runs.
fn surroundings(parts: &mut Vec<ViewPart>, call: &Call) {
    fact(parts, Label::Effects, call.effects.name());
    if let Some(directory) = &call.context.working_directory {
        quote(parts, Label::WorkingDirectory, Author::Tool, directory);
    }
    if !call.context.detail.is_empty() {
        parts.push(ViewPart::Runs { by: Author::Tool, detail: call.context.detail.clone() });
    }
}

fn diff_line(line: &str) -> DiffLine {
    let (sign, text) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
        (Some(added), _) => (Sign::Added, added),
        (_, Some(removed)) => (Sign::Removed, removed),
        _ => (Sign::Same, line.strip_prefix(' ').unwrap_or(line)),
    };
    DiffLine { sign, text: ForeignText::line(text) }
}

fn warnings(parts: &mut Vec<ViewPart>, hold: &Hold) {
    for warning in &hold.preview.warnings {
        warn(parts, Author::Tool, warning);
    }
    let Some(call) = hold.call() else { return };
    for kind in look_alikes_in(call) {
        let warning = Warning::new(kind);
        let warning = match hold.preview.codes_look_alikes {
            true => warning,
            false => warning.text().into(),
        };
        warn(parts, Author::Holdpoint, &warning);
    }
}

fn warn(parts: &mut Vec<ViewPart>, by: Author, warning: &Warning) {
    // What it quotes was made visible already.
    let text = ForeignText::marked(warning.text());
    parts.push(ViewPart::Warning { by, text, kind: warning.kind().cloned() });
}

pub(crate) fn has_look_alikes(call: &Call) -> bool {
    !look_alikes_in(call).is_empty()
}

/// Looks at texts as they will be used, not as they were written: an escape hides nothing.
fn look_alikes_in(call: &Call) -> Vec<WarningKind> {
    let mut found = Vec::new();
    collect_look_alikes(&mut found, &redacted(call.arguments.value(), &call.secrets));
    found
}

fn collect_look_alikes(found: &mut Vec<WarningKind>, content: &Value) {
    match content {
        Value::String(inner) => found.extend(look_alikes(inner).into_iter().map(Finding::warning)),
        Value::Array(items) => items.iter().for_each(|item| collect_look_alikes(found, item)),
        Value::Object(map) => {
            for (key, inner) in map {
                found.extend(look_alikes(key).into_iter().map(Finding::warning));
                collect_look_alikes(found, inner);
            }
        }
        _ => {}
    }
}
