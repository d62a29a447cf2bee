use serde_json::{Value, json};

use super::*;
use crate::call::{CallParts, ExecutionContext, Proposal};
use crate::digest::Digest;
use crate::hold::{CallOnHold, Choice, HoldOrigin, HoldState, Preview, Risk};
use crate::id::{CallId, HoldId, RunId, SessionId};
use crate::json::Arguments;
use crate::person::{Actor, PersonId};
use crate::phrase::RunDetail;
use crate::sql_facts::SqlTables;
use crate::time::Timestamp;
use crate::tool::{Place, Tool};

/// A hold of an agent's session about a call of this tool.
fn asked(tool: &str, effects: Effects, arguments: Value, context: ExecutionContext) -> Hold {
    let tool =
        Tool::new(tool, "x", json!({"type": "object"}), effects, Place::Server, "test").unwrap();
    let call = Call::propose(
        Proposal {
            id: CallId::new(1, 1),
            tool_use_id: "one".into(),
            agent: "ops".into(),
            session: Some(SessionId::new(1, 1)),
            arguments: Arguments::from_value(arguments).unwrap(),
            context,
            policy: Digest::of(b"policy"),
        },
        &tool,
    );
    Hold {
        id: HoldId::new(1, 1),
        version: 1,
        question: Question::Approve,
        state: HoldState::Pending,
        risk: Risk::High,
        tag: "7Q2".into(),
        title: "Delete 9999 rows from everything".into(),
        origin: HoldOrigin::Session {
            session: SessionId::new(1, 1),
            run: RunId::new(1, 1),
            agent: "ops".into(),
        },
        parent: None,
        opener: Actor::Runtime,
        requester: None,
        call_on_hold: Some(CallOnHold::new(call)),
        preview: Preview::default(),
        context: Value::Null,
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

/// The same, by a program.
fn by_program(hold: Hold) -> Hold {
    let call = hold.call().map(|call| CallParts { place: Place::Client, ..call.parts() });
    Hold {
        call_on_hold: call.map(|parts| CallOnHold::new(Call::fixed(parts))),
        origin: HoldOrigin::Program { callback: None },
        opener: Actor::Person(PersonId::new("ana")),
        ..hold
    }
}

fn sql(kind: SqlKind, tables: &[&str], rows: Option<u64>) -> ExecutionContext {
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::Postgres, &["shop", "db.prod.example.org", "agent"]);
    let names = tables.iter().map(|&name| name.to_owned()).collect();
    let tables = SqlTables { names, complete: true };
    let sql = Some(SqlFacts { kind, tables, has_where: Some(true), rows });
    ExecutionContext { detail, working_directory: None, sql }
}

/// `verb amount | role target, … | stage effect undo`.
fn describe_headline(hold: &Hold) -> String {
    let headline = Headline::of(hold);
    let targets = headline.targets.iter().map(|target| {
        let name = target.name.as_ref().map(|name| name.raw() + "=").unwrap_or_default();
        format!("{} {name}{}", target.role.name(), target.text.raw())
    });
    let stage = headline.stage.map_or("-", DeployStage::name);
    format!(
        "{}{} {:?} | {} | {stage} {} {}",
        if headline.in_question { "?" } else { "" },
        headline.verb.name(),
        headline.amount,
        targets.collect::<Vec<_>>().join(", "),
        headline.effect.name(),
        headline.undo.name(),
    )
}

fn change(change: RowChange, rows: u64, estimated: bool) -> Caption {
    Caption::new(CaptionKind::ChangeRows { change, rows, estimated, table: "orders".into() })
}

#[test]
fn rows_are_those_that_were_measured_with_table_database_and_stage() {
    let arguments = json!({"sql": "DELETE FROM orders WHERE status = 1"});
    let mut hold = asked(
        "sql_modify",
        Effects::Transactional,
        arguments,
        sql(SqlKind::Delete, &["orders"], Some(220)),
    );
    hold.title = change(RowChange::Delete, 214, false);
    assert_eq!(
        describe_headline(&hold),
        "delete_rows Some(Rows { rows: 214, more: 6, estimated: false }) | table orders, database shop, host db.prod.example.org | \
         production measured cannot_be_undone"
    );
    hold.title = change(RowChange::Delete, 200, true);
    assert_eq!(Headline::of(&hold).effect, KnownEffect::Estimated);
    // Whether it happened is asked of the same call.
    hold.title = Caption::new(CaptionKind::WhatHappened {
        to: Box::new(change(RowChange::Delete, 214, false)),
    });
    hold.question = Question::Settle;
    assert!(
        describe_headline(&hold).starts_with("?delete_rows Some(Rows { rows: 214"),
        "{}",
        describe_headline(&hold)
    );
}

#[test]
fn an_insert_that_overwrites_is_called_so() {
    let context = sql(SqlKind::Upsert, &["orders"], Some(3));
    let mut hold = asked("sql_modify", Effects::Transactional, json!({"sql": "x"}), context);
    hold.title = change(RowChange::Insert, 3, false);
    let headline = Headline::of(&hold);
    assert_eq!(
        (headline.verb, headline.undo),
        (HeadlineVerb::UpsertRows, UndoHint::CannotBeUndone)
    );
}

#[test]
fn tables_are_dropped_made_or_changed() {
    for (statement, verb) in [
        ("drop  table orders", HeadlineVerb::DropTable),
        ("CREATE TABLE a (b)", HeadlineVerb::CreateTable),
        ("ALTER\nTABLE orders ADD c", HeadlineVerb::AlterTable),
        ("/* CREATE TABLE */ DROP TABLE orders", HeadlineVerb::ChangeTables),
        ("CREATE INDEX a ON orders (b)", HeadlineVerb::ChangeTables),
    ] {
        let context = sql(SqlKind::Ddl, &["orders"], None);
        let mut hold =
            asked("sql_modify", Effects::Transactional, json!({"sql": statement}), context);
        hold.title = Caption::new(CaptionKind::ChangeTables {
            database: "shop".into(),
            sql: statement.into(),
        });
        assert_eq!(Headline::of(&hold).verb, verb, "{statement}");
    }
}

#[test]
fn no_word_of_a_title_that_others_wrote_is_in_it() {
    let hold = by_program(asked(
        "cleanup",
        Effects::AtMostOnce,
        json!({"amount": 1, "note": "x".repeat(100)}),
        ExecutionContext::default(),
    ));
    assert_eq!(
        describe_headline(&hold),
        "call_tool None | tool cleanup, argument amount=1 | - unknown not_known"
    );
    // Nor is a number that a program gave as a preview.
    let preview = Preview { rows: Some(1), summary: Some("1 row".into()), ..Preview::default() };
    assert_eq!(describe_headline(&Hold { preview, ..hold.clone() }), describe_headline(&hold));
    let permit = Hold { call_on_hold: None, ..hold };
    assert_eq!(describe_headline(&permit), "permit None |  | - unknown not_known");
}

#[test]
fn commands_are_counted_and_read() {
    let arguments = json!({"command": "rm -rf build && git push --force"});
    let directory = Some("/srv/shop".to_owned());
    let context = ExecutionContext { working_directory: directory, ..ExecutionContext::default() };
    let mut hold = asked("shell_cmd", Effects::AtMostOnce, arguments, context);
    hold.title = Caption::new(CaptionKind::RunInShell { script: "rm".into() });
    assert_eq!(
        describe_headline(&hold),
        "run_script Some(Commands { count: 2 }) | directory /srv/shop | - parsed cannot_be_undone"
    );
    assert_eq!(Headline::of(&hold).shell, [ShellKind::Delete, ShellKind::Network, ShellKind::Push]);
    // As `holdpoint gate` and the hooks of coding agents ask.
    let gate = json!({"argv": ["ls", "-l"], "cwd": "/srv"});
    let gate =
        by_program(asked("gate.exec", Effects::AtMostOnce, gate, ExecutionContext::default()));
    assert_eq!(
        describe_headline(&gate),
        "run_command Some(Commands { count: 1 }) | program ls, directory /srv | - elsewhere not_known",
        "a program of theirs may take the same words for something else"
    );
    let hook = json!({"cwd": "/srv", "input": {"command": "echo $(x)"}});
    let hook = by_program(asked("Bash", Effects::AtMostOnce, hook, ExecutionContext::default()));
    assert_eq!(
        describe_headline(&hook),
        "run_script None | directory /srv | - elsewhere not_known"
    );
}

#[test]
fn decoys_beside_what_a_tool_takes_are_not_its_headline() {
    let ask = |tool, arguments| {
        by_program(asked(tool, Effects::AtMostOnce, arguments, ExecutionContext::default()))
    };
    let command = ask("delete_customer", json!({"id": 7, "input": {"command": "ls"}}));
    assert_eq!(Headline::of(&command).shell, []);
    assert!(describe_headline(&command).ends_with("not_known"), "{}", describe_headline(&command));
    let write = ask("write_file", json!({"path": "/etc/x", "files": ["README.md"]}));
    assert!(describe_headline(&write).contains("file /etc/x"), "{}", describe_headline(&write));
    assert!(!describe_headline(&write).contains("README"), "{}", describe_headline(&write));
    let two = ask("write_file", json!({"path": "a", "file_path": "b"}));
    assert!(describe_headline(&two).contains("file a, file b"), "{}", describe_headline(&two));
}

#[test]
fn a_command_of_the_settings_is_one_command() {
    let mut hold =
        asked("restart", Effects::AtMostOnce, json!({"unit": "web"}), ExecutionContext::default());
    hold.title = Caption::new(CaptionKind::RunCommand { command: "systemctl restart".into() });
    assert_eq!(
        describe_headline(&hold),
        "run_command Some(Commands { count: 1 }) | program systemctl restart | - parsed not_known"
    );
}

#[test]
fn a_request_has_a_method_a_host_and_a_path() {
    for (request, told) in [
        (
            "POST https://api.example.org/refunds?id=7",
            "send_request Some(Method { method: \"POST\" }) | host api.example.org, path /refunds?id=7 | - parsed not_known",
        ),
        (
            "GET https://staging.example.org",
            "send_request Some(Method { method: \"GET\" }) | host staging.example.org | staging parsed changes_nothing",
        ),
        ("BREW coffee://pot", "call_tool None | tool refund | - unknown not_known"),
    ] {
        let mut hold = asked("refund", Effects::Idempotent, json!({}), ExecutionContext::default());
        let summary = Caption::new(CaptionKind::Sends { request: request.into() });
        hold.preview.summary = Some(summary);
        assert_eq!(describe_headline(&hold), told);
    }
}

#[test]
fn edits_of_files_name_them_and_count_the_lines_of_their_diff() {
    let arguments = json!({"cwd": "/srv", "input": {"file_path": "a.toml"}, "files": ["/srv/a.toml"], "files_in": "project"});
    let mut hold =
        by_program(asked("Edit", Effects::AtMostOnce, arguments, ExecutionContext::default()));
    hold.preview.diff = Some(
        "--- a\n+++ b\n@@ -1,2 +1,3 @@\n-timeout = 30\n+timeout = 5\n+retry = true\n same".into(),
    );
    assert_eq!(
        describe_headline(&hold),
        "edit_files Some(Files { count: 1, lines: Some(ChangedLines { added: 2, removed: 1 }) }) | file /srv/a.toml | - elsewhere not_known"
    );
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::McpTool, &["files-dev", "files 0.2", "edit_file"]);
    let context = ExecutionContext { detail, ..ExecutionContext::default() };
    let arguments = json!({"path": "src/a.rs", "edits": [{"oldText": "a", "newText": "b"}]});
    let hold = asked("files_edit_file", Effects::AtMostOnce, arguments, context);
    assert_eq!(
        describe_headline(&hold),
        "edit_files Some(Files { count: 1, lines: None }) | file src/a.rs, server files-dev | development elsewhere not_known"
    );
}

#[test]
fn a_changed_line_that_looks_like_the_name_of_a_file_counts() {
    for (diff, added, removed) in [
        ("--- a\n+++ b\n@@ -1,2 +1 @@\n--- only the abandoned ones\n kept", 0, 1),
        ("--- a\n+++ b\n@@ -1 +1,2 @@\n+++ counter\n same", 1, 0),
        // Without a place they are no names of files.
        ("--- a\n+++ b\n+x", 2, 1),
        ("", 0, 0),
    ] {
        let counted = super::changed_lines(diff);
        assert_eq!((counted.added, counted.removed), (added, removed), "{diff}");
    }
}

#[test]
fn an_unknown_tool_shows_its_short_arguments_the_telling_ones_first() {
    let arguments = json!({
        "zone": "eu", "memo": "two\nlines", "currency": "EUR", "amount": 1840.5, "to": "Acme Parts", "a": true,
    });
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::McpTool, &["bank", "bank 1", "create_payment"]);
    let context = ExecutionContext { detail, ..ExecutionContext::default() };
    assert_eq!(
        describe_headline(&asked("bank_create_payment", Effects::ReadOnly, arguments, context)),
        "call_tool None | tool bank_create_payment, server bank, argument amount=1840.5, argument currency=EUR, \
         argument to=Acme Parts, argument zone=eu | - unknown not_known"
    );
}

#[test]
fn questions_count_their_options_and_fields_and_change_nothing() {
    let hold = asked("ask_person", Effects::ReadOnly, json!({}), ExecutionContext::default());
    let option = |id: &str| Choice { id: id.into(), label: id.into(), description: None };
    let options = vec![option("a"), option("b")];
    let choose =
        |multiple| Question::Choose { options: options.clone(), multiple, allow_other: false };
    let fill = |schema| Question::Fill { schema };
    let form = json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}});
    for (question, told) in [
        (choose(false), "choose_one Some(Options { count: 2 })"),
        (choose(true), "choose_many Some(Options { count: 2 })"),
        (fill(Some(form)), "fill_form Some(Fields { count: 3 })"),
        (fill(None), "answer_question None"),
    ] {
        let asked = describe_headline(&Hold { question, ..hold.clone() });
        assert_eq!(asked, format!("{told} |  | - parsed changes_nothing"));
    }
}

#[test]
fn a_file_is_named_and_the_catalogue_is_not() {
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::Database, &["main", "/srv/shop/shop-prod.db"]);
    let names = vec!["old_orders".to_owned(), "sqlite_master".to_owned()];
    let tables = SqlTables { names, complete: true };
    let sql = Some(SqlFacts { kind: SqlKind::Ddl, tables, has_where: None, rows: None });
    let context = ExecutionContext { detail, working_directory: None, sql };
    let arguments = json!({"sql": "DROP TABLE old_orders"});
    let mut hold = asked("sql_modify", Effects::Transactional, arguments, context);
    hold.title =
        Caption::new(CaptionKind::ChangeTables { database: "main".into(), sql: "DROP".into() });
    assert_eq!(
        describe_headline(&hold),
        "drop_table None | table old_orders, database shop-prod.db | production parsed cannot_be_undone"
    );
}

#[test]
fn what_a_person_carries_out_is_told_so() {
    let hold = asked("browser_location", Effects::ReadOnly, json!({}), ExecutionContext::default());
    let question = Question::Perform { deny_values: Vec::new() };
    assert_eq!(
        describe_headline(&Hold { question, ..hold }),
        "carry_out None | tool browser_location | - elsewhere not_known"
    );
}
