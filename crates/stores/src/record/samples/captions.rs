//! One caption of every kind that record version 6 knows.

use domain::budget::{Resource, UsedUp};
use domain::caption::{Caption, CaptionKind, RowChange};

pub(super) fn every_kind() -> Vec<CaptionKind> {
    let rows = |change, estimated| CaptionKind::ChangeRows {
        change,
        rows: 3,
        estimated,
        table: "orders".into(),
    };
    let command = || CaptionKind::RunCommand { command: "rm -rf \u{201c}build\u{201d}".into() };
    let used_up = UsedUp { of: Resource::Money, used: 2_600_000, limit: 2_500_000 };
    let (database, sql) = (|| "shop".to_owned(), || "DROP TABLE a".to_owned());
    vec![
        rows(RowChange::Insert, false),
        rows(RowChange::Update, true),
        rows(RowChange::Delete, false),
        CaptionKind::ChangeTables { database: database(), sql: sql() },
        CaptionKind::QueryDatabase { database: database(), sql: sql() },
        command(),
        CaptionKind::RunInShell { script: "cd a && ls".into() },
        CaptionKind::RunTool { tool: "deploy".into(), arguments: None },
        CaptionKind::RunTool { tool: "deploy".into(), arguments: Some("tag = 1".into()) },
        CaptionKind::CarryOut { tool: "confirm".into() },
        CaptionKind::SeveralQuestions { questions: 2, headers: "x, y".into() },
        CaptionKind::WhatHappened { to: Box::new("ship".into()) },
        CaptionKind::WhatHappened { to: Box::new(Caption::new(command())) },
        CaptionKind::GoOn(used_up),
        CaptionKind::Rows { rows: 214, more: 0, estimated: true },
        CaptionKind::Rows { rows: 214, more: 6, estimated: false },
        CaptionKind::Sends { request: "GET https://api.example/a".into() },
        CaptionKind::Used(used_up),
        CaptionKind::NewDefinition,
        CaptionKind::ChangedDefinition,
        CaptionKind::ServerAsks { server: "tickets".into(), message: "Which queue?".into() },
        CaptionKind::Deploy { project: "shop".into(), target: "Shipper Cloud".into() },
        CaptionKind::Cut { of: Box::new("POST https://api.exam".into()), left_out: 40 },
        CaptionKind::Cut { of: Box::new(Caption::new(command())), left_out: 7 },
    ]
}
