//! The Chinese card of every built-in tool, read for English words of ours. What is on it comes from the tools themselves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::budget::{Resource, UsedUp};
use domain::call::{Call, Proposal};
use domain::caption::CaptionKind;
use domain::digest::Digest;
use domain::hold::{CallOnHold, Choice, Hold, Preview, Question};
use domain::id::CallId;
use domain::json::Arguments;
use domain::tool::Effects;
use domain::warning::{Warning, WarningKind};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::{Value, json};
use tools::client::ClientTool;
use tools::command::{CommandConfig, CommandTool};
use tools::demo::DeployTool;
use tools::http::{BodyTemplate, HttpConfig, HttpTool};
use tools::human::{HumanTool, HumanToolKind};
use tools::process::{Runner, Spool};
use tools::questionnaire::QuestionnaireTool;
use tools::shell_cmd::{ShellCmd, ShellConfig};
use tools::sql::postgres::{PgModify, PgModifyConfig, PgQuery, PgQueryConfig, PgTarget};
use tools::sql::{ModifyConfig, QueryConfig, SqlDatabases, SqlModify, SqlQuery};

use super::Language;
use super::asks::{Button, CardQuestion};
use super::draw::Card;
use super::sample::{asking, drawn};
use crate::webhook::sample::hold;

/// Names that are the same in every language.
const NAMES: [&str; 8] =
    ["shell", "PostgreSQL", "Shipper", "Cloud", "idempotency-key", "Holdpoint", "Ana", "x"];

/// A card, and the texts on it that are not ours.
struct Drawn {
    of: &'static str,
    text: String,
    foreign: Vec<String>,
}

/// As the engine makes a hold of what a host says.
async fn held(host: &dyn ToolHost, arguments: Value) -> Hold {
    let parsed = Arguments::from_value(arguments).unwrap();
    let prepared = match host.prepare(&parsed).await {
        Ok(prepared) => prepared,
        Err(PrepareError::Blind { why, sql }) => {
            let mut blind = Prepared::default();
            blind.context.sql = sql;
            blind.preview.warnings = vec![Warning::new(WarningKind::NoPreview { why })];
            blind
        }
        Err(unsound) => panic!("{unsound}"),
    };
    let tool = host.tool();
    let proposal = Proposal {
        id: CallId::new(1, 7),
        tool_use_id: "1".into(),
        agent: "运维".into(),
        session: None,
        arguments: parsed,
        context: prepared.context,
        policy: Digest::of(b""),
    };
    let mut hold = hold();
    let named = CaptionKind::RunTool { tool: tool.name.to_string(), arguments: None };
    hold.title = prepared.title.unwrap_or_else(|| named.into());
    hold.question = prepared.question.unwrap_or(Question::Approve);
    hold.preview = prepared.preview;
    hold.context = prepared.shown;
    hold.two_phase = tool.confirm == domain::tool::Confirm::TwoPhase;
    hold.call_on_hold = Some(CallOnHold::new(Call::propose(proposal, tool)));
    hold
}

/// Names and texts in a JSON value.
fn words_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(text.split('\n').map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| words_of(item, found)),
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            found.push(name.clone());
            words_of(value, found);
        }),
        scalar => found.push(scalar.to_string()),
    }
}

fn card_of(of: &'static str, hold: &Hold, foreign: &[&str]) -> Drawn {
    let card = drawn(hold, Language::Chinese);
    let mut all: Vec<String> = foreign.iter().map(|text| (*text).to_owned()).collect();
    if let Some(call) = hold.call() {
        all.push(call.tool.to_string());
        words_of(call.arguments.value(), &mut all);
    }
    // The names of what is shown beside a question are those of the API.
    words_of(&hold.context, &mut all);
    Drawn { of, text: text_of(&card), foreign: all }
}

fn text_of(card: &Card) -> String {
    let mut lines = vec![card.headline.clone(), card.title.clone(), card.subtitle()];
    lines.push(card.body.text());
    lines.extend(card.facts());
    lines.extend(card.hint.iter().chain(&card.deny_hint).cloned());
    let buttons: Vec<&Button> = match &card.asks {
        CardQuestion::Nothing => Vec::new(),
        CardQuestion::Decide { allow, deny, explain } => {
            allow.iter().chain([deny, explain]).collect()
        }
        CardQuestion::Confirm { back, allow, deny } => vec![back, allow, deny],
        CardQuestion::Choose { options, deny } => options.iter().chain([deny]).collect(),
        CardQuestion::ChooseSeveral { options, submit, deny } => {
            options.iter().chain([submit, deny]).collect()
        }
        CardQuestion::Fill { submit, deny, .. } => vec![submit, deny],
    };
    lines.extend(buttons.into_iter().map(|button| button.label.clone()));
    lines.join("\n")
}

/// Only where it is not a part of a longer word.
fn without(text: &str, own: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    let mut left = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(own) {
        let (before, after) = (&rest[..at], &rest[at + own.len()..]);
        let is_part = (before.ends_with(is_letter) && own.starts_with(is_letter))
            || (after.starts_with(is_letter) && own.ends_with(is_letter));
        left.push_str(before);
        left.push_str(if is_part { own } else { " " });
        rest = after;
    }
    left + rest
}

impl Drawn {
    /// Words of Latin letters that nobody else wrote. Paths, addresses, numbers and digests, marks, names of variables and
    /// keywords (in capital letters) are no words.
    fn english(&self) -> Vec<String> {
        let mut foreign: Vec<&String> = self.foreign.iter().collect();
        foreign.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let mut text = self.text.clone();
        for own in foreign.into_iter().filter(|text| !text.is_empty()) {
            text = without(&text, own);
        }
        let is_between = |c: char| c.is_whitespace() || (!c.is_ascii() && !c.is_alphabetic());
        let pieces = text.split(is_between).flat_map(|piece| {
            let is_name = piece.contains(['/', '\\', '@']) || piece.contains("sha256");
            let words = if is_name { "" } else { piece };
            words.split(|c: char| !(c.is_ascii_alphanumeric() || "-_*⟦⟧".contains(c)))
        });
        let is_word = |word: &&str| {
            word.chars().any(|c| c.is_ascii_lowercase())
                && !word.contains('_')
                && !word.chars().any(|c| c.is_ascii_digit())
                && !NAMES.contains(word)
        };
        pieces.filter(is_word).map(str::to_owned).collect()
    }
}

fn runner(dir: &Path) -> Runner {
    Runner::open(Spool::open(dir.join("spool")).unwrap(), None)
}

fn script(path: &Path) {
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

async fn commands(dir: &Path, cards: &mut Vec<Drawn>) {
    let name = "部署.sh";
    script(&dir.join(name));
    let argv = vec![format!("./{name}"), "甲".into()];
    let mut config = CommandConfig::new("命令", "", json!({"type": "object"}), argv);
    config.cwd = dir.into();
    let command = CommandTool::new(config, runner(dir)).unwrap();
    cards.push(card_of("command", &held(&command, json!({})).await, &[]));
    let mut config = ShellConfig::new(dir);
    config.allow_shell = true;
    let shell = ShellCmd::new(config, runner(dir)).unwrap();
    let named = json!({"argv": ["env", "ls", "甲"]});
    cards.push(card_of("shell_cmd", &held(&shell, named).await, &["env", "ls"]));
    let long = json!({"command": format!("ls {}", "甲".repeat(3_000))});
    cards.push(card_of("a long script", &held(&shell, long).await, &["ls", "sh"]));
    fs::remove_file(dir.join(name)).unwrap();
    cards.push(card_of("a missing program", &held(&command, json!({})).await, &[]));
}

async fn databases(dir: &Path, cards: &mut Vec<Drawn>) {
    let file = dir.join("商店.db");
    let made = rusqlite::Connection::open(&file).unwrap();
    made.execute_batch("CREATE TABLE 订单 (号 INTEGER); INSERT INTO 订单 VALUES (1), (2)").unwrap();
    let databases = || SqlDatabases::single("sql", &file).unwrap();
    let query = SqlQuery::new(QueryConfig::new(databases())).unwrap();
    let read = json!({"sql": "SELECT 号 FROM 订单"});
    cards.push(card_of("sql_query", &held(&query, read.clone()).await, &["main"]));
    let mut config = ModifyConfig::new(databases());
    config.allow_ddl = true;
    let modify = SqlModify::new(config).unwrap();
    for sql in ["DELETE FROM 订单", "DROP TABLE 订单"] {
        let hold = held(&modify, json!({"sql": sql})).await;
        cards.push(card_of("sql_modify", &hold, &["main"]));
    }
    fs::write(&file, "甲".repeat(1_000)).unwrap();
    let foreign = ["main", "file is not a database"];
    let delete = json!({"sql": "DELETE FROM 订单"});
    let blind = held(&modify, delete.clone()).await;
    cards.push(card_of("sql_modify on a broken file", &blind, &foreign));
    cards.push(card_of("sql_query on a broken file", &held(&query, read.clone()).await, &foreign));
    // Nobody listens there.
    let target = || PgTarget::parse("postgres://app@127.0.0.1:1/shop").unwrap();
    let foreign = ["error connecting to server", "Connection refused", "os error", "app", "shop"];
    let modify = PgModify::new(PgModifyConfig::new(target())).unwrap();
    cards.push(card_of("PostgreSQL, modify", &held(&modify, delete).await, &foreign));
    let query = PgQuery::new(PgQueryConfig::new(target())).unwrap();
    cards.push(card_of("PostgreSQL, query", &held(&query, read).await, &foreign));
}

async fn requests_and_questions(dir: &Path, cards: &mut Vec<Drawn>) {
    let schema = json!({"type": "object", "properties": {"note": {"type": "string"}}});
    let mut config = HttpConfig::new("通知", "", schema.clone(), "https://api.example/notes");
    config.method = "POST".into();
    config.effects = Effects::Idempotent;
    config.body = BodyTemplate::Json(json!({"note": "{note}"}));
    let http = HttpTool::new(config).unwrap();
    let note = json!({"note": "甲乙"});
    cards.push(card_of("http", &held(&http, note).await, &["content-type"]));
    let client = ClientTool::new("确认", "", schema, Effects::AtMostOnce, Vec::new()).unwrap();
    cards.push(card_of("client", &held(&client, json!({"note": "甲"})).await, &[]));
    let human = HumanTool::new("询问", HumanToolKind::Anything).unwrap();
    let choice =
        json!({"prompt": "甲".repeat(3_000), "options": ["甲", "乙"], "allow_other": true});
    cards.push(card_of("a long question", &held(&human, choice).await, &[]));
    let form = json!({"type": "object", "required": ["甲"], "properties": {
        "甲": {"type": "integer", "default": 3}, "乙": {"type": "boolean"},
        "丙": {"enum": ["丁"]}, "戊": {"type": "string", "writeOnly": true, "maxLength": 3},
    }});
    let form = json!({"prompt": "甲", "schema": form});
    cards.push(card_of("a form", &held(&human, form).await, &[]));
    let questionnaire = QuestionnaireTool::new("征询").unwrap();
    let asked = |name: &str| json!({"header": name, "question": "甲", "options": ["乙", "丙"]});
    let questions = json!({"questions": [asked("丁"), asked("戊")]});
    cards.push(card_of("a questionnaire", &held(&questionnaire, questions).await, &[]));
    let deploy = DeployTool::new(dir).unwrap();
    let project = json!({"projectName": "shop-1"});
    cards.push(card_of("two-phase", &held(&deploy, project).await, &[]));
}

/// What no tool says: the questions of the runtime, and of an MCP server.
fn questions_of_ours(cards: &mut Vec<Drawn>) {
    let mut settle = asking(Question::Settle);
    let run = CaptionKind::RunCommand { command: "甲".into() };
    settle.title = CaptionKind::WhatHappened { to: Box::new(run.into()) }.into();
    settle.preview.warnings = vec![WarningKind::OutcomeUnknown.into()];
    cards.push(card_of("settle", &settle, &[]));
    let used_up = UsedUp { of: Resource::Tokens, used: 101, limit: 100 };
    let mut budget = asking(Question::Approve);
    budget.title = CaptionKind::GoOn(used_up).into();
    budget.preview =
        Preview { summary: Some(CaptionKind::Used(used_up).into()), ..Preview::default() };
    budget.context = json!({"budget": "tokens", "used": 101, "limit": 100});
    cards.push(card_of("budget", &budget, &[]));
    let options = vec![Choice::link_opened()];
    let mut asks = asking(Question::Choose { options, multiple: false, allow_other: false });
    asks.title = CaptionKind::ServerAsks { server: "工单".into(), message: "甲".into() }.into();
    asks.context = json!({"server": "工单", "link": "https://x.example/"});
    cards.push(card_of("a question of an MCP server", &asks, &[]));
}

#[tokio::test]
async fn the_chinese_card_of_every_built_in_tool_has_no_english_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    let mut cards = Vec::new();
    commands(dir.path(), &mut cards).await;
    databases(dir.path(), &mut cards).await;
    requests_and_questions(dir.path(), &mut cards).await;
    questions_of_ours(&mut cards);
    let english: Vec<String> = cards
        .iter()
        .filter(|card| !card.english().is_empty())
        .map(|card| format!("{}: {:?}\n{}", card.of, card.english(), card.text))
        .collect();
    assert!(english.is_empty(), "{}", english.join("\n\n"));
}

#[test]
fn english_of_ours_would_be_found() {
    let card = |text: &str| Drawn { of: "", text: text.into(), foreign: vec!["ls甲".into()] };
    for (text, found) in [
        ("运行方式：\n│ rows not counted", vec!["rows", "not", "counted"]),
        ("│ 以 nobody as user", vec!["nobody", "as", "user"]),
        ("│ 甲…(3 more characters)", vec!["more", "characters"]),
        ("无法预览：it is away; try again", vec!["it", "is", "away", "try", "again"]),
        ("│ body: ls甲", vec!["body"]),
        ("程序：/usr/bin/env ls甲 HOME LC_* sha256:ab01 7Q2 ⟦U+202E⟧", vec![]),
    ] {
        assert_eq!(card(text).english(), found, "{text}");
    }
}
