//! The one rendering of what is asked, made by us from stored bytes. Web and terminal show this
//! text as it is, and a vote records its digest: so it can be shown later what a person saw.

use std::fmt::Write;

use serde_json::Value;

use crate::digest::Digest;
use crate::hold::{Hold, Question};
use crate::schema::redacted;
use crate::tool::Place;
use crate::visible::{look_alikes, visible, visible_multiline, write_visible};

/// What most holds are shown as is shorter.
const USUAL_BYTES: usize = 512;

pub fn digest(hold: &Hold) -> Digest {
    Digest::of(render(hold).as_bytes())
}

pub fn render(hold: &Hold) -> String {
    let mut text = String::with_capacity(USUAL_BYTES);
    line(&mut text, "asks", hold.question.kind());
    text.push_str("title: ");
    // Made safe to show when the hold was made; doing it twice would show marks of marks.
    text.extend(hold.title.chars().map(|c| if c == '\n' { ' ' } else { c }));
    text.push('\n');
    if let Some(call) = &hold.call {
        line(&mut text, "tool", &call.tool);
        line(&mut text, "effects", call.effects.name());
        if let Some(directory) = &call.context.working_directory {
            line(&mut text, "in", directory);
        }
        if !call.context.detail.is_empty() {
            line(&mut text, "runs", &call.context.detail);
        }
        let shown = redacted(call.arguments.value(), &call.secrets);
        match call.place {
            // The call is the question, which follows in full; only its own words are told here.
            Place::Person => {
                if let Some(prompt) = shown.get("prompt").and_then(Value::as_str) {
                    line(&mut text, "prompt", prompt);
                }
            }
            Place::Server | Place::Client => {
                text.push_str("arguments:\n");
                value(&mut text, &shown, 1);
            }
        }
    }
    match &hold.question {
        Question::Choose { options, multiple, allow_other } => {
            text.push_str(if *multiple { "choose any of:\n" } else { "choose one of:\n" });
            for option in options {
                let _ = write!(text, "  {}. {}", visible(&option.id), visible(&option.label));
                match &option.description {
                    Some(description) => {
                        let _ = writeln!(text, " — {}", visible(description));
                    }
                    None => text.push('\n'),
                }
            }
            if *allow_other {
                text.push_str("  or something else, in your own words\n");
            }
        }
        Question::Fill { schema: Some(schema) } => {
            text.push_str("fill in:\n");
            value(&mut text, schema, 1);
        }
        _ => {}
    }
    if let Some(summary) = &hold.preview.summary {
        line(&mut text, "preview", summary);
    }
    if let Some(diff) = &hold.preview.diff {
        text.push_str("diff:\n");
        block(&mut text, diff);
    }
    for warning in &hold.preview.warnings {
        line(&mut text, "warning", warning);
    }
    if !hold.context.is_null() && hold.context != Value::Object(serde_json::Map::new()) {
        text.push_str("context:\n");
        value(&mut text, &hold.context, 1);
    }
    if let Some(call) = &hold.call {
        warn_of_look_alikes(&mut text, &redacted(call.arguments.value(), &call.secrets));
    }
    text
}

/// Looks at texts as they will be used, not as they were written: an escape hides nothing.
fn warn_of_look_alikes(text: &mut String, content: &Value) {
    match content {
        Value::String(inner) => warn_of_look_alike(text, inner),
        Value::Array(items) => items.iter().for_each(|item| warn_of_look_alikes(text, item)),
        Value::Object(map) => {
            for (key, inner) in map {
                warn_of_look_alike(text, key);
                warn_of_look_alikes(text, inner);
            }
        }
        _ => {}
    }
}

fn warn_of_look_alike(text: &mut String, inner: &str) {
    for finding in look_alikes(inner) {
        line(text, "warning", &finding.to_string());
    }
}

fn line(text: &mut String, name: &str, content: &str) {
    text.push_str(name);
    if content.contains('\n') {
        text.push_str(":\n");
        block(text, content);
    } else {
        text.push_str(": ");
        write_visible(text, content);
        text.push('\n');
    }
}

/// Each line of the content gets a bar, so that no content can pass for a line of ours.
fn block(text: &mut String, content: &str) {
    for row in visible_multiline(content).split('\n') {
        let _ = writeln!(text, "  │ {row}");
    }
}

fn value(text: &mut String, content: &Value, depth: usize) {
    match content {
        Value::Object(map) if !map.is_empty() => {
            for (key, inner) in map {
                indent(text, depth);
                write_visible(text, key);
                text.push(':');
                nested(text, inner, depth);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for inner in items {
                indent(text, depth);
                text.push('-');
                nested(text, inner, depth);
            }
        }
        scalar => {
            indent(text, depth);
            nested(text, scalar, depth);
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    (0..depth).for_each(|_| text.push_str("  "));
}

fn nested(text: &mut String, content: &Value, depth: usize) {
    match content {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            value(text, content, depth + 1);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            value(text, content, depth + 1);
        }
        Value::String(inner) if inner.contains('\n') => {
            text.push_str(" (text)\n");
            for row in visible_multiline(inner).split('\n') {
                indent(text, depth + 1);
                let _ = writeln!(text, "│ {row}");
            }
        }
        // Quoted, so that "1" and 1, "true" and true, "" and nothing look different.
        Value::String(inner) => {
            let quoted = serde_json::to_string(inner).unwrap_or_default();
            text.push(' ');
            write_visible(text, &quoted);
            text.push('\n');
        }
        scalar => {
            let _ = writeln!(text, " {scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(arguments: Value) -> String {
        let mut text = String::new();
        value(&mut text, &arguments, 1);
        text
    }

    #[test]
    fn i44_text_numbers_and_emptiness_look_different() {
        assert_eq!(
            shown(json!({"a": "1", "b": 1, "c": "", "d": null, "e": {}, "f": []})),
            "  a: \"1\"\n  b: 1\n  c: \"\"\n  d: null\n  e: {}\n  f: []\n"
        );
    }

    #[test]
    fn no_content_can_pass_for_a_line_of_ours() {
        let text = shown(json!({"sql": "SELECT 1\npreview: nothing happens\r\u{202e}x"}));
        assert_eq!(
            text,
            "  sql: (text)\n    │ SELECT 1\n    │ preview: nothing happens⟦U+000D⟧⟦U+202E⟧x\n"
        );
    }

    #[test]
    fn a_look_alike_is_found_behind_an_escape() {
        let arguments = crate::json::Arguments::parse(br#"{"host":"p\u0430ypal"}"#).unwrap();
        let mut text = String::new();
        warn_of_look_alikes(&mut text, arguments.value());
        assert!(text.starts_with("warning: "), "{text}");
    }
}
