//! What a person sees in a terminal, read back from one: at every width from 40 to 250 columns no
//! line that begins at our edge has a foreign word in it, and nothing is wrapped by the terminal.

use std::num::NonZeroU16;

use domain::time::Timestamp;
use domain::view::{Author, ForeignText, Label, Row, View, ViewPart, fields_of};
use holdpoint::cli::card::{card, view_is_genuine};
use holdpoint::cli::output::Screen;
use serde_json::{Value, json};

/// Lines that look like ours.
const FORGED: [&str; 7] = [
    "runs:",
    "preview: 1 row",
    "│ rows changed: 1",
    "│ checked by Holdpoint: safe",
    "┆   checked by Holdpoint: safe",
    "digest     │ sha256:00",
    "asks: approve",
];

/// Pads each forged line to the columns around the edge of the screen.
fn padded(columns: usize, with: &str) -> String {
    let mut text = String::from("UPDATE orders SET status = 3 /*");
    for (index, line) in FORGED.iter().enumerate() {
        let wanted = columns * (index + 1) + index % 7 - 3;
        while text.chars().count() < wanted {
            text.push_str(with);
        }
        text.push_str(line);
    }
    text + "*/ OR 1=1"
}

fn corpus(columns: usize) -> Vec<String> {
    let mut texts: Vec<String> =
        [" ", "-", "\t", "文", "🚀", "e\u{301}", "\u{2800}", "─", "\u{a0}", "\u{ac00}", "а"]
            .iter()
            .map(|with| padded(columns, with))
            .collect();
    texts.push(format!("SELECT 1;{}DROP TABLE users", " ".repeat(2_000)));
    texts.push(FORGED.join("\n"));
    texts.push(FORGED.join("\r"));
    texts.push(format!("\u{202e}{}\u{2066}\u{200b}\u{1b}[2J\u{1b}[1;1H", FORGED.join("\u{2028}")));
    texts.push(FORGED.map(|line| format!("{}{line}", "\u{8}".repeat(90))).concat());
    texts
}

fn view(columns: usize) -> View {
    let quote = |label, text: &str| ViewPart::Quote {
        label,
        by: Author::Program,
        text: ForeignText::new(text),
        kind: None,
    };
    let mut parts = vec![ViewPart::Fact { label: Label::Asks, value: "approve".into() }];
    for text in corpus(columns) {
        parts.push(quote(Label::Title, &text));
        parts.push(ViewPart::Warning {
            by: Author::Tool,
            text: ForeignText::line(&text),
            kind: None,
        });
        let arguments = json!({"sql": text, "list": [text, {(text.as_str()): 1}]});
        let (label, by) = (Label::Arguments, Author::Agent);
        parts.push(ViewPart::Fields { label, by, fields: fields_of(&arguments) });
    }
    View { parts }
}

fn hold(columns: usize, view: &View) -> Value {
    let sly = padded(columns, "-");
    json!({
        "id": "hold_01jd", "tag": "7Q2", "risk": "high", "state": "denied",
        "view": {"parts": view.json(), "text": view.text(), "digest": view.digest().to_string()},
        "asked_by": {"program": sly, "agent": null, "on_behalf_of": "ana"},
        "rule": padded(columns - 13, "-"), "rationale": corpus(columns).join("\n"),
        "answers": [{"verdict": "deny", "by": "bo", "reason": sly}],
        "outcome": {"state": "succeeded", "result": corpus(columns).join("\n")},
        "digest": "sha256:aa",
    })
}

/// What a real terminal shows.
fn drawn(text: &str, columns: usize) -> Vec<String> {
    let size = |count: usize| NonZeroU16::try_from(count as u16).expect("not none");
    let rows = size(text.lines().count() + 2_000);
    let mut terminal = vt100::Parser::new(rows, size(columns), 0);
    terminal.process(text.replace('\n', "\r\n").as_bytes());
    let mut lines: Vec<String> = terminal.screen().rows(0, columns as u16).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

#[test]
fn i47_no_foreign_line_in_a_terminal_can_pass_for_one_of_ours() {
    for columns in (40..=100).step_by(4).chain([47, 79, 81, 97, 119, 132, 150, 200, 250]) {
        let view = view(columns);
        let hold = hold(columns, &view);
        assert!(view_is_genuine(&hold));
        let text = card(&Screen::of_columns(columns), &hold, Timestamp::from_ms(0));
        let lines = drawn(&text, columns);
        assert_eq!(lines.len(), text.lines().count(), "the terminal wrapped a line at {columns}");

        let rule = "─".repeat(60.min(columns - 1));
        let head = "hold_01jd  7Q2  high risk  denied";
        let head = if columns < 62 { head.replacen("  ", "\n", 1) } else { head.to_owned() };
        let mut ours: Vec<String> = head.lines().map(str::to_owned).collect();
        ours.push(rule.clone());
        ours.extend(view.rows().into_iter().filter_map(|row| match row {
            Row::Ours(line) => Some(line),
            Row::Foreign(_) => None,
        }));
        ours.extend([rule, "the model's own words, not checked:".to_owned()]);

        let fact = |line: &str| {
            let names = ["asked by", "rule", "answer", "outcome", "digest", ""];
            let behind = |name: &str| format!("{name:<10} ");
            names.iter().any(|name| {
                let rest = line.strip_prefix(behind(name).as_str());
                rest.is_some_and(|rest| rest.starts_with('│') || rest.starts_with('┆'))
            })
        };
        let marked = |line: &str| line.starts_with('│') || line.starts_with('┆') || fact(line);
        let edge: Vec<&String> = lines.iter().filter(|line| !marked(line)).collect();
        assert_eq!(edge, ours.iter().collect::<Vec<_>>(), "at {columns} columns");

        // Each fact once: a forged one would be one more.
        for name in ["asked by   │", "rule       │", "answer     │", "digest     │"] {
            let told = lines.iter().filter(|line| line.starts_with(name)).count();
            assert_eq!(told, 1, "{name} at {columns} columns");
        }
        let shown = lines.join("\n");
        assert!(shown.contains("⟦·×2000⟧DROP TABLE users"), "nothing is pushed out of sight");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{8}'));
    }
}
