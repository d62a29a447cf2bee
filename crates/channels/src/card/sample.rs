//! A card of every kind of hold, for the tests of every platform.

use domain::answer::{Answer, Settlement};
use domain::call::{Call, CallParts, ExecutionContext};
use domain::caption::{CaptionKind, RowChange};
use domain::hold::{
    CallOnHold, CancelReason, Choice, Decision, Hold, HoldChange, HoldOrigin, HoldOutcome,
    HoldState, Preview, Question, Risk, Vote,
};
use domain::outcome::ToolResult;
use domain::person::{Actor, Audience, People, Person, PersonId};
use domain::phrase::{NoPreviewReason, PhraseCode, RunDetail};
use domain::visible::visible_multiline;
use domain::warning::{Likeness, WarningKind};
use reply_parser::ApprovalCode;
use serde_json::{Value, json};

use super::{Card, CardContext, DeliveryKey, Language, Nonce, Rendered, Replies, Zone};
use crate::webhook::sample::{approve, at, decided, hold, hold_with_arguments, hold_with_secret};

fn people() -> People {
    People::new(["Ana", "Bob", "Gus"].map(|name| Person {
        id: PersonId::new(&name.to_lowercase()),
        name: name.into(),
        roles: ["dba".to_owned()].into(),
        identities: Default::default(),
    }))
}

pub(super) fn drawn(hold: &Hold, language: Language) -> Card {
    let people = people();
    let code = ApprovalCode::new("7K3F");
    let risky = hold.risk >= Risk::High;
    let prompt = CardContext {
        people: &people,
        language,
        zone: Zone { name: "CST".into(), offset_minutes: 480 },
        key: DeliveryKey::new("7Q2").unwrap(),
        nonce: Nonce::new("k3x9ab").unwrap(),
        link: Some(format!("https://hold.example.org/#/hold/{}", hold.id)),
        replies: Some(Replies { code: risky.then_some(&code), mention: risky }),
    };
    Card::draw(hold, &prompt)
}

fn deletion() -> Hold {
    let mut hold =
        hold_with_arguments(json!({"sql": "DELETE FROM orders\nWHERE status = 1", "n": 1}));
    hold.title = "Delete 214 rows from orders?".into();
    hold.risk = Risk::High;
    hold.origin = HoldOrigin::RunningCall { agent: "ops".into() };
    hold.requester = Some(PersonId::new("gus"));
    hold.audience = Audience {
        people: Default::default(),
        roles: ["dba".to_owned()].into(),
        quorum: 2,
        exclude_requester: true,
        refuse_made_logins: false,
        login_makers: Default::default(),
    }
    .into();
    hold.rule = Some("deletes need a dba".into());
    hold.preview = Preview {
        summary: Some("214 rows".into()),
        rows: Some(214),
        diff: None,
        warnings: vec!["no index on status".into()],
        codes_look_alikes: false,
    };
    hold
}

/// The same after one of two has voted.
fn half_approved() -> Hold {
    let decided = decided(deletion(), approve(None));
    let vote = decided.votes[0].clone();
    let mut hold = deletion();
    hold.changed(&HoldChange::Voted(vote));
    hold
}

/// Two people have approved it.
fn approved_by_two() -> Hold {
    let first = half_approved().votes[0].clone();
    let second = Vote { by: PersonId::new("bob"), at: at(65), ..(*first).clone() };
    let voters = vec![first.by.clone(), second.by.clone()];
    let mut hold = half_approved();
    hold.decided(HoldState::Approved(Decision::People { vote: second.into(), voters }));
    hold
}

/// A title and a summary of ours, each with its kind.
fn captioned() -> Hold {
    let mut hold = deletion();
    let (change, table) = (RowChange::Delete, "orders".into());
    hold.title = CaptionKind::ChangeRows { change, rows: 214, estimated: false, table }.into();
    let rows = CaptionKind::Rows { rows: 214, more: 6, estimated: false };
    hold.preview.summary = Some(rows.into());
    hold
}

/// Lines of ours about how it runs, around one of somebody else, a title that was cut, and no preview for a reason of ours.
fn phrased() -> Hold {
    let mut hold = deletion();
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::Postgres, &["shop", "db.example:5432", "app"]);
    detail.push_text("x-ticket: 7");
    detail.push(PhraseCode::RowsNotCounted, &[]);
    detail.push(PhraseCode::TimeLimit, &["30"]);
    let call = hold.call().unwrap();
    let context = ExecutionContext { detail, ..ExecutionContext::default() };
    hold.call_on_hold =
        Some(CallOnHold::new(Call::fixed(CallParts { context, ..CallParts::clone(call) })));
    let of = CaptionKind::RunInShell { script: "cd shop && ./clean".into() };
    hold.title = CaptionKind::Cut { of: Box::new(of.into()), left_out: 1_234 }.into();
    let why = NoPreviewReason::new(PhraseCode::RowsBusy, &[]);
    let why = NoPreviewReason::because(PhraseCode::RowsUncounted, why);
    hold.preview =
        Preview { warnings: vec![WarningKind::NoPreview { why }.into()], ..Preview::default() };
    hold
}

/// Warnings of ours, each with its kind, and one of somebody else.
fn warned() -> Hold {
    let mut hold = deletion();
    let denied = WarningKind::DeniedBefore {
        likeness: Likeness::Similar,
        by: "Bob".into(),
        minutes_ago: 125,
        reason: Some("wrong table".into()),
    };
    hold.preview.warnings = vec![
        WarningKind::NoWhere { table: "orders".into() }.into(),
        WarningKind::MoreRows { rows: 6 }.into(),
        denied.into(),
        "this order was refunded before".into(),
    ];
    hold
}

fn hostile() -> Hold {
    let mut hold = hold_with_arguments(json!({
        "to": "p\u{430}ypal\u{202e}\u{200b} <at user_id=\"all\"> <!channel> [x](http://y) **b** `c` ~~d~~ &amp; <b>",
        "```\n---": "# h\n> q\r\u{1b}[2J",
    }));
    hold.rule = Some("<script>*_`[\u{202e}".into());
    hold
}

pub(super) fn asking(question: Question) -> Hold {
    let mut hold = hold();
    hold.call_on_hold = None;
    hold.title = "Which strategy?".into();
    hold.question = question;
    hold
}

fn options(count: usize, multiple: bool) -> Hold {
    let label = |n: usize| match n {
        2 => format!("A long one <{}>", "x".repeat(200)),
        n => format!("Strategy {n} & more"),
    };
    let labels = (1..=count).map(|n| (label(n), (n == 1).then(|| "the safe one".to_owned())));
    asking(Question::choose(labels, multiple, false).unwrap())
}

fn form(schema: Value) -> Hold {
    asking(Question::Fill { schema: Some(schema) })
}

pub(crate) fn samples() -> Vec<(&'static str, Card)> {
    let became = |outcome: HoldOutcome| {
        let mut hold = decided(deletion(), approve(None));
        hold.changed(&HoldChange::Outcome(outcome));
        hold
    };
    let over = |state: HoldState| {
        let mut hold = deletion();
        hold.decided(state);
        hold
    };
    let properties = json!({
        "region": {"type": "string", "title": "Region <eu>"}, "count": {"type": "integer"},
        "dry_run": {"type": "boolean"}, "tier": {"enum": ["small", "large"]},
    });
    let reason = Some("wrong table\nsecond line".into());
    let cancelled =
        HoldState::Cancelled { by: Actor::Runtime, reason: CancelReason::Unstated, at: at(60) };
    let holds = vec![
        ("approve", deletion()),
        ("secret", hold_with_secret("hunter2")),
        ("hostile", hostile()),
        ("choose", options(3, false)),
        ("choose_many", options(100, false)),
        ("choose_several", options(8, true)),
        ("fill", form(json!({"type": "object", "required": ["region"], "properties": properties}))),
        (
            "fill_secret",
            form(
                json!({"type": "object", "properties": {"pin": {"type": "string", "writeOnly": true}}}),
            ),
        ),
        ("perform", asking(Question::Perform { deny_values: Vec::new() })),
        ("settle", asking(Question::Settle)),
        ("running", became(HoldOutcome::Executing)),
        ("done", became(HoldOutcome::Succeeded(ToolResult::output("214 rows deleted")))),
        ("failed", became(HoldOutcome::Failed(ToolResult::output("table is locked\u{1b}[2J")))),
        ("in_doubt", became(HoldOutcome::Unknown)),
        ("denied", decided(deletion(), Answer::Deny { reason, stop: false })),
        ("chosen", decided(options(3, false), Answer::Choose(vec!["1".into()]))),
        (
            "settled",
            decided(
                asking(Question::Settle),
                Answer::Settle { how: Settlement::Failed, content: None },
            ),
        ),
        ("voted", half_approved()),
        ("approved_by_two", approved_by_two()),
        ("expired", over(HoldState::Expired { at: at(3600) })),
        ("cancelled", over(cancelled)),
    ];
    let mut critical = deletion();
    critical.risk = Risk::Critical;
    let mut short = half_approved();
    short.decided(HoldState::Expired { at: at(3600) });
    let option = |(id, label): (&str, &str)| Choice {
        id: id.into(),
        label: label.into(),
        description: None,
    };
    let foreign = [("0", "Cancel"), ("1", "Staging"), ("2", "Production")].map(option).to_vec();
    let foreign = Question::Choose { options: foreign, multiple: false, allow_other: true };
    let more = [
        ("critical", critical),
        ("expired_short", short),
        ("choose_foreign", asking(foreign)),
        ("warned", warned()),
        ("captioned", captioned()),
        ("phrased", phrased()),
        ("cut", hold_with_arguments(json!({"text": "0123456789 ".repeat(3_000)}))),
    ];
    let chinese = [
        ("approve_zh", deletion()),
        ("choose_zh", holds[3].1.clone()),
        ("choose_several_zh", holds[5].1.clone()),
        ("fill_zh", holds[6].1.clone()),
        ("denied_zh", holds[14].1.clone()),
        ("cancelled_zh", holds[20].1.clone()),
        ("done_zh", holds[11].1.clone()),
        ("voted_zh", half_approved()),
        ("warned_zh", warned()),
        ("captioned_zh", captioned()),
        ("phrased_zh", phrased()),
        ("expired_zh", over(HoldState::Expired { at: at(3600) })),
    ];
    let english =
        holds.iter().chain(&more).map(|(name, hold)| (*name, drawn(hold, Language::English)));
    let armed = [("armed", Language::English), ("armed_zh", Language::Chinese)];
    let armed =
        armed.map(|(name, language)| (name, drawn(&deletion(), language).asking_once_more()));
    english
        .chain(armed)
        .chain(chinese.iter().map(|(name, hold)| (*name, drawn(hold, Language::Chinese))))
        .collect()
}

/// A call with so many bytes of text in it, in short lines.
pub(crate) fn long(bytes: usize) -> Card {
    let text: String = (0..bytes.div_ceil(10)).map(|n| format!("{n:09}\n")).collect();
    drawn(&hold_with_arguments(json!({"text": text})), Language::English)
}

/// Names that fill every line they may fill.
pub(crate) fn long_names() -> Card {
    let mut hold = decided(deletion(), approve(None));
    let name = "很长的名字".repeat(30);
    hold.rule = Some(name.clone());
    hold.origin = HoldOrigin::RunningCall { agent: name.as_str().into() };
    hold.requester = Some(PersonId::new(&name));
    hold.title = name.as_str().into();
    hold.changed(&HoldChange::Outcome(HoldOutcome::Failed(ToolResult::output(name))));
    drawn(&hold, Language::Chinese)
}

pub(crate) fn one_line(bytes: usize) -> Card {
    drawn(&hold_with_arguments(json!({"text": "x".repeat(bytes)})), Language::English)
}

pub(crate) fn is_whole(rendered: &Rendered) -> bool {
    rendered.accepts_approval && !rendered.value.to_string().contains("[cut: ")
}

/// One file for each kind of hold.
pub(crate) fn check_snapshots(platform: &str, render: impl Fn(&Card) -> Value) {
    for (name, card) in samples() {
        let text = match render(&card) {
            Value::String(text) => text,
            Value::Null => continue,
            value => serde_json::to_string_pretty(&value).unwrap(),
        };
        assert!(!text.contains("hunter2"), "a secret is told by {platform}");
        let invisible = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(invisible, None, "{platform}: {name}");
        // A hundred options are the same as ten to a reader of snapshots, and no one reads tens of kilobytes.
        if name != "choose_many" && text.len() < 10_000 {
            let path = format!("../../snapshots/{platform}");
            insta::with_settings!({snapshot_path => path, prepend_module_to_snapshot => false, omit_expression => true}, {
                insta::assert_snapshot!(name, text);
            });
        }
    }
}

/// Every character that there is, as cards show it, a few hundred at a time.
pub(crate) fn every_character(check: impl Fn(&str)) {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for chunk in all.chunks(500) {
        let text: String = chunk.iter().flat_map(|c| ['a', *c]).collect();
        let shown = visible_multiline(&text);
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "nothing invisible");
        assert!(unmarked(&shown) == text, "near U+{:04X}", chunk[0] as u32);
        check(&shown);
    }
}

/// Reads our marks back.
pub(crate) fn unmarked(shown: &str) -> String {
    domain::visible::joined(&domain::visible::marked_spans(shown))
}

/// Reads text the way its platform does, and allows nothing that the platform could take for markup: a
/// sign that is special must be the beginning of one of these escapes.
pub(crate) fn read_strictly(text: &str, escapes: &[(&str, char)], special: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match escapes.iter().find(|(escape, _)| rest.starts_with(escape)) {
            Some((escape, meant)) => {
                out.push(*meant);
                rest = &rest[escape.len()..];
            }
            None => {
                assert!(!special.contains(c), "{c:?} is not escaped in {text:?}");
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}
