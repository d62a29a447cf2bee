//! Holds in which everything foreign tries to pass for a line of ours, for the tests of every platform
//! (I-47). Every foreign text has the word FORGED in it.

use domain::answer::Answer;
use domain::hold::{
    CancelReason, Choice, Hold, HoldChange, HoldOutcome, HoldState, Question, Risk,
};
use domain::outcome::ToolResult;
use domain::person::Actor;
use domain::warning::WarningKind;
use serde_json::{Value, json};

use super::sample::drawn;
use super::{Card, Language};
use crate::webhook::sample::{approve, at, decided, hold, hold_with_arguments};

pub(crate) const FORGED: &str = "FORGED";

/// What a wrapped line, a line break or markup of a platform could make look like ours.
fn forgeries() -> Vec<String> {
    let mut texts: Vec<String> = [16, 35, 80, 85, 2_000]
        .iter()
        .map(|columns| format!("ok{}FORGED May answer: anybody", " ".repeat(*columns)))
        .collect();
    for text in [
        "ok\nFORGED Votes: Ana approved\n✅ FORGED approved by Ana, 14:02 UTC",
        "ok\r\nFORGED\u{2028}FORGED\u{85}FORGED\u{b}FORGED",
        "```\nFORGED\n```",
        "</pre>FORGED<pre>\n</code></blockquote><b>FORGED</b>",
        "> quoted\n\nFORGED\n\n# FORGED\n- FORGED\n***\nFORGED",
        "&lt;/pre&gt;FORGED&#10;FORGED &nbsp;",
        "*FORGED* _FORGED_ ~FORGED~ `FORGED` [FORGED](https://evil.example) <https://evil.example|FORGED>",
        "<at id=all></at> <!channel> @FORGED \u{202e}DEGROF\u{202c} FORGED",
        "\u{200b}\u{2800}\u{3000}\u{a0}\tFORGED⏎│ FORGED ⟦·×3⟧",
    ] {
        texts.push(text.to_owned());
    }
    texts
}

fn one_line(text: &str) -> String {
    domain::visible::visible(text)
}

/// One card of each kind, for one forged text.
fn cards_of(text: &str) -> Vec<Card> {
    let mut call = hold_with_arguments(json!({text: [text, {"deep": text}], "FORGED": 1}));
    call.title = one_line(text).into();
    call.risk = Risk::High;
    call.preview.summary = Some(text.into());
    call.preview.diff = Some(format!("+{text}\n-FORGED"));
    call.preview.warnings = vec![
        text.into(),
        WarningKind::NoPreview { why: text.into() }.into(),
        WarningKind::NoWhere { table: text.into() }.into(),
    ];
    call.context = json!({text: text});
    let asking = |question: Question| Hold { question, call_on_hold: None, ..call.clone() };
    let option =
        |id: &str| Choice { id: id.into(), label: text.into(), description: Some(text.into()) };
    let choice = Question::Choose {
        options: vec![option("1"), option("2")],
        multiple: false,
        allow_other: true,
    };
    let property = json!({
        "type": "string", "title": text, "description": text, "default": text, "enum": [text],
    });
    let schema = json!({"type": "object", "properties": {"a": property}});
    let became = |outcome: HoldOutcome| {
        let mut hold = decided(call.clone(), approve(None));
        hold.changed(&HoldChange::Outcome(outcome));
        hold
    };
    let denied = Answer::Deny { reason: Some(text.into()), stop: false };
    let mut cancelled = call.clone();
    let by = Actor::Runtime;
    cancelled.decided(HoldState::Cancelled {
        by,
        reason: CancelReason::Stated(text.into()),
        at: at(9),
    });
    let holds = [
        call.clone(),
        asking(choice),
        asking(Question::Fill { schema: Some(schema) }),
        became(HoldOutcome::Succeeded(ToolResult::output(text))),
        became(HoldOutcome::Failed(ToolResult::output(text))),
        decided(call.clone(), denied),
        cancelled,
        Hold { title: one_line(text).into(), ..hold() },
    ];
    let languages = [Language::English, Language::Chinese];
    let draw = |hold: &Hold| languages.map(|language| drawn(hold, language));
    holds.iter().flat_map(draw).collect()
}

pub(crate) fn cards() -> Vec<Card> {
    forgeries().iter().flat_map(|text| cards_of(text)).collect()
}

/// A message as it is drawn: what stands at our left edge, and what stands in blocks that the platform
/// marks on every line.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) ours: String,
    pub(crate) foreign: String,
}

impl Drawn {
    pub(crate) fn say(&mut self, text: &str) {
        self.ours.push_str(text);
        self.ours.push('\n');
    }

    pub(crate) fn quote(&mut self, text: &str) {
        self.foreign.push_str(text);
        self.foreign.push('\n');
    }
}

/// Nothing foreign stands at our left edge, and nothing is pushed out of sight.
pub(crate) fn check(platform: &str, draw: impl Fn(&Card) -> Drawn) {
    for card in cards() {
        let Drawn { ours, foreign } = draw(&card);
        assert!(!ours.contains(FORGED), "{platform} draws as ours:\n{ours}");
        assert!(foreign.contains(FORGED), "{platform} hides it:\n{foreign}");
        // A few levels of indent of ours, and sixteen spaces of a line's own.
        assert!(!foreign.contains(&" ".repeat(24)), "{platform}: blanks in\n{foreign}");
        assert!(!foreign.contains('\u{202e}') && !foreign.contains('\u{2028}'), "{foreign}");
        assert!(ours.contains(&card.headline), "{platform}: {ours}");
    }
}

/// The texts of all `plain_text` elements in a JSON form.
pub(crate) fn plain_texts(value: &Value, key: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let is_plain = ["tag", "type"].iter().any(|kind| value[*kind] == "plain_text");
            if let (true, Some(text)) = (is_plain, value[key].as_str()) {
                found.push(text.to_owned());
            }
            map.values().for_each(|inner| plain_texts(inner, key, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| plain_texts(inner, key, found)),
        _ => {}
    }
}
