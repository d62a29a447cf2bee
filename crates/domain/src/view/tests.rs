use serde_json::json;

use super::fields::fields_of;
use super::*;
use crate::call::{Call, CallParts, ExecutionContext, Proposal};
use crate::caption::{CaptionKind, RowChange};
use crate::hold::{CallOnHold, Choice, HoldOrigin, HoldState, Preview, Question, Risk};
use crate::id::{CallId, HoldId};
use crate::json::Arguments;
use crate::person::{Actor, PersonId};
use crate::phrase::{NoPreviewReason, PhraseCode, RunDetail};
use crate::time::Timestamp;
use crate::tool::{Effects, Place, Tool};
use crate::warning::WarningKind;

fn shown(arguments: Value) -> String {
    let by = Author::Agent;
    let part = ViewPart::Fields { label: Label::Arguments, by, fields: fields_of(&arguments) };
    View { parts: vec![part] }.text()
}

fn hold(question: Question, arguments: Option<Value>) -> Hold {
    let tool = Tool::new(
        "sql_modify",
        "x",
        json!({"type": "object"}),
        Effects::AtMostOnce,
        Place::Server,
        "test",
    );
    let call = arguments.map(|arguments| {
        Call::propose(
            Proposal {
                id: CallId::new(1, 1),
                tool_use_id: "one".into(),
                agent: "ops".into(),
                session: None,
                arguments: Arguments::from_value(arguments).unwrap(),
                context: ExecutionContext {
                    detail: "effects: none".into(),
                    working_directory: Some("/srv\nruns: true".into()),
                    sql: None,
                },
                policy: Digest::of(b"policy"),
            },
            &tool.unwrap(),
        )
    });
    Hold {
        id: HoldId::new(1, 1),
        version: 1,
        question,
        state: HoldState::Pending,
        risk: Risk::High,
        tag: "7Q2".into(),
        title: "Change a⟦U+202E⟧b".into(),
        origin: HoldOrigin::Program { callback: None },
        parent: None,
        opener: Actor::Person(PersonId::new("ana")),
        requester: None,
        call_on_hold: call.map(CallOnHold::new),
        preview: Preview {
            summary: Some("1 row\nwarning: none".into()),
            rows: Some(214),
            diff: Some("-a\n+b\n c".into()),
            warnings: vec!["no preview: the database said\nrows: 1".into()],
            codes_look_alikes: false,
        },
        context: json!({"ticket": "OPS-1"}),
        rationale: None,
        audience: crate::session::default_audience(crate::person::Requester {
            person: None,
            login_makers: &Default::default(),
        })
        .into(),
        rule: None,
        policy: Digest::of(b"policy"),
        opened_at: Timestamp::from_ms(0),
        expires_at: None,
        claimed_by: None,
        votes: Vec::new(),
        comments: Vec::new(),
        two_phase: false,
    }
}

#[test]
fn i44_text_numbers_and_emptiness_look_different() {
    assert_eq!(
        shown(json!({"a": "1", "b": 1, "c": "", "d": null, "e": {}, "f": []})),
        "arguments (agent):\n│ a: \"1\"\n│ b: 1\n│ c: \"\"\n│ d: null\n│ e: {}\n│ f: []\n"
    );
}

#[test]
fn i47_no_content_can_pass_for_a_line_of_ours() {
    let text = shown(json!({"sql": "SELECT 1\npreview: nothing happens\r\u{202e}x\n", "n": [1]}));
    assert_eq!(
        text,
        "arguments (agent):\n│ sql: (text)\n│   │ SELECT 1⏎\n\
         │   │ preview: nothing happens⟦U+000D⟧⟦U+202E⟧x⏎\n│   │ \n│ n:\n│   - 1\n"
    );
}

#[test]
fn i47_spaces_cannot_push_a_call_out_of_sight_or_to_the_edge() {
    let text = shown(json!({"sql": format!("SELECT 1;{}DROP TABLE users", " ".repeat(2_000))}));
    assert_eq!(text, "arguments (agent):\n│ sql: \"SELECT 1;⟦·×2000⟧DROP TABLE users\"\n");
}

/// Everything that anybody else could have worded, with the sign that stands for it.
const CANARY: &str = "rows: 1";

#[test]
fn i47_every_line_with_a_foreign_word_has_the_mark() {
    let sly = |n: usize| format!("{n}\n{CANARY}\r{CANARY}");
    let questions = [
        Question::Approve,
        Question::Choose {
            options: vec![Choice { id: sly(1), label: sly(2), description: Some(sly(3)) }],
            multiple: true,
            allow_other: true,
        },
        Question::Fill {
            schema: Some(json!({"type": "object", "properties": {(sly(4)): {
                "title": sly(5), "description": sly(6), "enum": [sly(7)], "default": sly(8),
            }}})),
        },
        Question::Fill { schema: Some(json!({"type": "string", "title": sly(9)})) },
    ];
    for question in questions {
        let mut hold = hold(question, Some(json!({(sly(10)): [sly(11), {(sly(12)): 1}]})));
        hold.title = sly(13).into();
        hold.preview.summary = Some(sly(14).into());
        hold.preview.rows = None;
        hold.preview.diff = Some(sly(15));
        hold.preview.warnings =
            vec![sly(16).into(), WarningKind::NoPreview { why: sly(19).into() }.into()];
        hold.context = json!({(sly(17)): sly(18)});
        let rows = View::of(&hold).rows();
        let text = View::of(&hold).text();
        assert!(text.matches(CANARY).count() >= 16, "{text}");
        for row in &rows {
            if let Row::Ours(line) = row {
                assert!(!line.contains(CANARY), "{line}");
            }
        }
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), rows.len(), "one line each");
        for line in lines.iter().filter(|line| line.contains(CANARY)) {
            assert!(line.starts_with(FOREIGN_MARK), "{line}");
        }
    }
}

#[test]
fn what_and_how_much_come_before_where_and_how() {
    let text = View::of(&hold(Question::Approve, Some(json!({"sql": "x"})))).text();
    assert_eq!(
        text,
        "asks: approve\ntitle (person):\n│ Change a⟦U+202E⟧b\nwarning (tool):\n\
         │ no preview: the database said⟦U+000A⟧rows: 1\npreview (tool):\n│ 1 row⏎\n│ warning: none\n\
         rows: 214\ntool (person):\n│ sql_modify\narguments (person):\n│ sql: \"x\"\ndiff (tool):\n\
         │ -a\n│ +b\n│  c\ncontext (person):\n│ ticket: \"OPS-1\"\neffects: at_most_once\nin (tool):\n\
         │ /srv⏎\n│ runs: true\nruns (tool):\n│ effects: none\n"
    );
}

#[test]
fn a_form_is_shown_in_words_and_says_if_more_rules_apply() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {
        "n": {"type": "integer", "title": "How many", "default": 3},
        "pin": {"type": "string", "writeOnly": true},
        "tier": {"enum": ["small", 2], "description": "of machine"},
    }});
    let text = View::of(&hold(Question::Fill { schema: Some(schema) }, None)).text();
    let form = "fill in (person):\n│ How many (n): whole number, required\n│   otherwise: 3\n\
                │ pin: text, secret, optional\n│ tier: one of these, optional\n│   of machine\n\
                │   - small\n│   - 2\ndiff";
    assert!(text.contains(form), "{text}");
    let narrow = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}});
    let text = View::of(&hold(Question::Fill { schema: Some(narrow) }, None)).text();
    assert!(text.contains("\nmore rules apply to what is filled in\n"), "{text}");
}

#[test]
fn options_are_numbered_by_their_place_and_not_by_their_id() {
    let choice =
        |id: &str, label: &str| Choice { id: id.into(), label: label.into(), description: None };
    let shown = |options: Vec<Choice>| {
        let question = Question::Choose { options, multiple: false, allow_other: false };
        let text = View::of(&hold(question, None)).text();
        text.lines().filter(|line| line.contains(". ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let foreign = [("0", "Cancel"), ("1", "Staging"), ("2", "Production"), ("prod", "Both")];
    assert_eq!(
        shown(foreign.map(|(id, label)| choice(id, label)).to_vec()),
        [
            "│ 1. Cancel (id 0)",
            "│ 2. Staging (id 1)",
            "│ 3. Production (id 2)",
            "│ 4. Both (id prod)"
        ]
    );
    let ours = vec![choice("1", "Blue-Green"), choice("opt_2", "Canary")];
    assert_eq!(shown(ours), ["│ 1. Blue-Green", "│ 2. Canary"], "an id of ours is left out");
}

#[test]
fn the_digest_is_of_parts_and_text_as_they_are_sent() {
    let hold = hold(Question::Approve, Some(json!({"sql": "x"})));
    let view = View::of(&hold);
    assert_eq!(digest(&hold), digest_of(&view.json(), &render(&hold)));
    let sent = json!({"parts": view.json(), "text": view.text()});
    assert_eq!(digest(&hold), Digest::of(&crate::json::canonical(&sent)), "as one document");
    let mut parts = view.json();
    parts[1]["by"] = json!("holdpoint");
    assert_ne!(digest(&hold), digest_of(&parts, &view.text()), "who wrote it counts");
    assert_ne!(digest(&hold), digest_of(&view.json(), ""), "so does the text");
}

#[test]
fn a_line_is_sent_as_spans_that_a_surface_cannot_mistake() {
    let json =
        View::of(&hold(Question::Approve, Some(json!({"q": "a\u{202e}\u{202e}     b"})))).json();
    let arguments = json.as_array().unwrap().iter().find(|part| part["label"] == "arguments");
    assert_eq!(
        arguments.unwrap()["fields"][0],
        json!({"depth": 0, "name": {"bytes": 1, "lines": [["q"]]}, "kind": "text", "text": {
            "bytes": 13, "lines": [["a", {"code": "U+202E", "count": 2}, {"spaces": 5}, "b"]],
        }})
    );
}

#[test]
fn a_look_alike_is_found_behind_an_escape() {
    let text = shown_warnings(json!({"host": "p\u{430}ypal"}));
    assert_eq!(text, "│ `p\u{430}ypal` mixes letters: Latin, Cyrillic\n");
}

#[test]
fn i44_a_warning_without_a_kind_is_spelled_as_before_there_were_kinds() {
    let mut hold = hold(Question::Approve, Some(json!({"host": "p\u{430}ypal"})));
    hold.preview.warnings = vec!["this order was refunded before".into()];
    let text = |text: &str| json!({"bytes": text.len(), "lines": [[text]]});
    assert_eq!(
        spelled_warnings(&hold),
        [
            json!({"type": "warning", "by": "tool", "text": text("this order was refunded before")}),
            json!({
                "type": "warning", "by": "holdpoint",
                "text": text("`p\u{430}ypal` mixes letters: Latin, Cyrillic"),
            }),
        ],
        "a hold that was opened before keeps the digest that people voted on"
    );
}

#[test]
fn a_kind_of_warning_is_told_beside_its_sentence_and_under_the_digest() {
    let mut hold = hold(Question::Approve, Some(json!({"host": "p\u{430}ypal"})));
    hold.preview.warnings = vec![WarningKind::NoWhere { table: "a\u{202e}".into() }.into()];
    let without = digest(&hold);
    let call = hold.call().cloned();
    hold.preview = hold.preview.about(call.as_deref());
    assert_ne!(digest(&hold), without, "codes count");
    let [table, word] = spelled_warnings(&hold).try_into().unwrap();
    assert_eq!(table["code"], "no_where");
    let lines = json!([["a", {"code": "U+202E", "count": 1}]]);
    assert_eq!(table["values"], json!({"table": {"bytes": 4, "lines": lines}}));
    assert_eq!((&word["code"], &word["by"]), (&json!("look_alike"), &json!("holdpoint")));
    assert_eq!(word["values"]["scripts"], json!(["Latin", "Cyrillic"]));
    let plain = hold.preview.about(None);
    assert!(!plain.codes_look_alikes, "only where there are any");
}

#[test]
fn i44_a_title_and_a_summary_without_a_kind_are_spelled_as_before_there_were_kinds() {
    let (title, summary) = ("Delete 3 rows from orders", "3 rows");
    let mut hold = hold(Question::Approve, None);
    hold.title = title.into();
    hold.preview.summary = Some(summary.into());
    let text = |text: &str| json!({"bytes": text.len(), "lines": [[text]]});
    let spelled = |label: &str, by: &str, shown: &str| json!({"type": "quote", "label": label, "by": by, "text": text(shown)});
    let plain = [quote_of(&hold, "title"), quote_of(&hold, "preview")];
    let by = plain[0]["by"].as_str().unwrap().to_owned();
    assert_eq!(plain, [spelled("title", &by, title), spelled("preview", "tool", summary)]);
    let without = digest(&hold);
    let (change, table) = (RowChange::Delete, "orders".to_owned());
    hold.title = CaptionKind::ChangeRows { change, rows: 3, estimated: false, table }.into();
    hold.preview.summary = Some(CaptionKind::Rows { rows: 3, more: 0, estimated: false }.into());
    assert_ne!(digest(&hold), without, "codes count");
    let title = quote_of(&hold, "title");
    assert_eq!((&title["code"], &title["text"]), (&json!("delete_rows"), &plain[0]["text"]));
    let values = json!({"rows": 3, "estimated": false, "table": text("orders")});
    assert_eq!(title["values"], values);
    assert_eq!(quote_of(&hold, "preview")["code"], "rows");
}

#[test]
fn i44_how_it_runs_without_codes_is_spelled_as_before_there_were_codes() {
    let line = "as user nobody";
    let with = |detail: RunDetail| {
        let mut hold = hold(Question::Approve, Some(json!({})));
        let call = hold.call().unwrap();
        let context = ExecutionContext { detail, ..ExecutionContext::default() };
        let call = Call::fixed(CallParts { context, ..CallParts::clone(call) });
        hold.call_on_hold = Some(CallOnHold::new(call));
        hold
    };
    let plain = with(line.into());
    let text = |text: &str| json!({"bytes": text.len(), "lines": [[text]]});
    let spelled = json!({"type": "quote", "label": "runs", "by": "tool", "text": text(line)});
    assert_eq!(quote_of(&plain, "runs"), spelled);
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::AsUser, &["nobody"]);
    let coded = with(detail);
    assert_eq!(View::of(&coded).text(), View::of(&plain).text(), "the same words");
    let digests = |hold: &Hold| hold.call().map(|call| call.digest());
    assert_eq!(digests(&coded), digests(&plain), "and the same call");
    assert_ne!(digest(&coded), digest(&plain), "codes count");
    let phrases = json!([{"line": 0, "code": "as_user", "values": [text("nobody")]}]);
    assert_eq!(quote_of(&coded, "runs")["phrases"], phrases);
}

#[test]
fn i44_a_reason_without_codes_is_spelled_as_before_there_were_codes() {
    let values = |why: NoPreviewReason| {
        let mut hold = hold(Question::Approve, None);
        hold.preview.warnings = vec![WarningKind::NoPreview { why }.into()];
        spelled_warnings(&hold).remove(0)["values"].take()
    };
    let text = |text: &str| json!({"bytes": text.len(), "lines": [[text]]});
    assert_eq!(values("it is away".into()), json!({"why": text("it is away")}));
    let why = NoPreviewReason::because(PhraseCode::DatabaseUnreadable, "it is away".into());
    let phrases = json!([{"code": "database_unreadable", "values": [text("it is away")]}]);
    let shown = "the database cannot be read: it is away";
    assert_eq!(values(why), json!({"why": text(shown), "phrases": phrases}));
}

fn quote_of(hold: &Hold, label: &str) -> Value {
    let Value::Array(parts) = View::of(hold).json() else { panic!("a list") };
    parts.into_iter().find(|part| part["label"] == label).expect("the part")
}

fn spelled_warnings(hold: &Hold) -> Vec<Value> {
    let Value::Array(parts) = View::of(hold).json() else { panic!("a list") };
    parts.into_iter().filter(|part| part["type"] == "warning").collect()
}

fn shown_warnings(arguments: Value) -> String {
    let mut hold = hold(Question::Approve, Some(arguments));
    hold.preview.warnings.clear();
    let mut parts = View::of(&hold).parts;
    parts.retain(|part| matches!(part, ViewPart::Warning { .. }));
    View { parts }.text().split_once('\n').unwrap().1.to_owned()
}
