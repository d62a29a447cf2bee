//! What a title or a summary says. Its text stands where it always stood.

use std::borrow::Cow;

use domain::budget::{Resource, UsedUp};
use domain::caption::{Caption, CaptionKind, RowChange};
use serde::{Deserialize, Serialize};

use super::{Broken, FIRST, damaged, is_false};

/// The record version that first tells what a title or a summary says.
const TELLS_KINDS_OF_CAPTIONS: u32 = 6;

pub(super) fn version_of_caption(caption: &Caption) -> u32 {
    if caption.kind().is_some() { TELLS_KINDS_OF_CAPTIONS } else { FIRST }
}

pub(super) fn read_caption(
    text: Cow<'_, str>,
    kind: Option<StoredCaptionKind<'_>>,
) -> Result<Caption, Broken> {
    Ok(Caption::stored(text.into_owned(), kind.map(StoredCaptionKind::kind).transpose()?))
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredCaptionKind<'a> {
    ChangeRows {
        change: StoredRowChange,
        rows: u64,
        #[serde(default, skip_serializing_if = "is_false")]
        estimated: bool,
        #[serde(borrow)]
        table: Cow<'a, str>,
    },
    ChangeTables {
        #[serde(borrow)]
        database: Cow<'a, str>,
        #[serde(borrow)]
        sql: Cow<'a, str>,
    },
    QueryDatabase {
        #[serde(borrow)]
        database: Cow<'a, str>,
        #[serde(borrow)]
        sql: Cow<'a, str>,
    },
    RunCommand {
        #[serde(borrow)]
        command: Cow<'a, str>,
    },
    RunInShell {
        #[serde(borrow)]
        script: Cow<'a, str>,
    },
    RunTool {
        #[serde(borrow)]
        tool: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Cow<'a, str>>,
    },
    CarryOut {
        #[serde(borrow)]
        tool: Cow<'a, str>,
    },
    SeveralQuestions {
        questions: u64,
        #[serde(borrow)]
        headers: Cow<'a, str>,
    },
    WhatHappened {
        #[serde(borrow)]
        to: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        kind: Option<Box<StoredCaptionKind<'a>>>,
    },
    GoOn {
        #[serde(borrow)]
        budget: Cow<'a, str>,
        used: u64,
        limit: u64,
    },
    Rows {
        rows: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        more: u64,
        #[serde(default, skip_serializing_if = "is_false")]
        estimated: bool,
    },
    Sends {
        #[serde(borrow)]
        request: Cow<'a, str>,
    },
    Used {
        #[serde(borrow)]
        budget: Cow<'a, str>,
        used: u64,
        limit: u64,
    },
    NewDefinition,
    ChangedDefinition,
    ServerAsks {
        #[serde(borrow)]
        server: Cow<'a, str>,
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
    Deploy {
        #[serde(borrow)]
        project: Cow<'a, str>,
        #[serde(borrow)]
        target: Cow<'a, str>,
    },
    Cut {
        #[serde(borrow)]
        of: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        kind: Option<Box<StoredCaptionKind<'a>>>,
        left_out: u64,
    },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredRowChange {
    Insert,
    Update,
    Delete,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<RowChange> for StoredRowChange {
    fn from(change: RowChange) -> StoredRowChange {
        match change {
            RowChange::Insert => StoredRowChange::Insert,
            RowChange::Update => StoredRowChange::Update,
            RowChange::Delete => StoredRowChange::Delete,
        }
    }
}

impl From<StoredRowChange> for RowChange {
    fn from(stored: StoredRowChange) -> RowChange {
        match stored {
            StoredRowChange::Insert => RowChange::Insert,
            StoredRowChange::Update => RowChange::Update,
            StoredRowChange::Delete => RowChange::Delete,
        }
    }
}

impl<'a> From<&'a CaptionKind> for StoredCaptionKind<'a> {
    fn from(kind: &'a CaptionKind) -> StoredCaptionKind<'a> {
        match kind {
            CaptionKind::ChangeRows { change, rows, estimated, table } => {
                StoredCaptionKind::ChangeRows {
                    change: (*change).into(),
                    rows: *rows,
                    estimated: *estimated,
                    table: table.into(),
                }
            }
            CaptionKind::ChangeTables { database, sql } => {
                StoredCaptionKind::ChangeTables { database: database.into(), sql: sql.into() }
            }
            CaptionKind::QueryDatabase { database, sql } => {
                StoredCaptionKind::QueryDatabase { database: database.into(), sql: sql.into() }
            }
            CaptionKind::RunCommand { command } => {
                StoredCaptionKind::RunCommand { command: command.into() }
            }
            CaptionKind::RunInShell { script } => {
                StoredCaptionKind::RunInShell { script: script.into() }
            }
            CaptionKind::RunTool { tool, arguments } => StoredCaptionKind::RunTool {
                tool: tool.into(),
                arguments: arguments.as_deref().map(Cow::from),
            },
            CaptionKind::CarryOut { tool } => StoredCaptionKind::CarryOut { tool: tool.into() },
            CaptionKind::SeveralQuestions { questions, headers } => {
                StoredCaptionKind::SeveralQuestions {
                    questions: *questions,
                    headers: headers.into(),
                }
            }
            CaptionKind::WhatHappened { to } => StoredCaptionKind::WhatHappened {
                to: to.text().into(),
                kind: to.kind().map(|kind| Box::new(kind.into())),
            },
            CaptionKind::GoOn(UsedUp { of, used, limit }) => {
                StoredCaptionKind::GoOn { budget: of.name().into(), used: *used, limit: *limit }
            }
            CaptionKind::Rows { rows, more, estimated } => {
                StoredCaptionKind::Rows { rows: *rows, more: *more, estimated: *estimated }
            }
            CaptionKind::Sends { request } => StoredCaptionKind::Sends { request: request.into() },
            CaptionKind::Used(UsedUp { of, used, limit }) => {
                StoredCaptionKind::Used { budget: of.name().into(), used: *used, limit: *limit }
            }
            CaptionKind::NewDefinition => StoredCaptionKind::NewDefinition,
            CaptionKind::ChangedDefinition => StoredCaptionKind::ChangedDefinition,
            CaptionKind::ServerAsks { server, message } => {
                StoredCaptionKind::ServerAsks { server: server.into(), message: message.into() }
            }
            CaptionKind::Deploy { project, target } => {
                StoredCaptionKind::Deploy { project: project.into(), target: target.into() }
            }
            CaptionKind::Cut { of, left_out } => StoredCaptionKind::Cut {
                of: of.text().into(),
                kind: of.kind().map(|kind| Box::new(kind.into())),
                left_out: *left_out,
            },
        }
    }
}

impl StoredCaptionKind<'_> {
    fn kind(self) -> Result<CaptionKind, Broken> {
        Ok(match self {
            StoredCaptionKind::ChangeRows { change, rows, estimated, table } => {
                let (change, table) = (change.into(), table.into_owned());
                CaptionKind::ChangeRows { change, rows, estimated, table }
            }
            StoredCaptionKind::ChangeTables { database, sql } => {
                CaptionKind::ChangeTables { database: database.into_owned(), sql: sql.into_owned() }
            }
            StoredCaptionKind::QueryDatabase { database, sql } => CaptionKind::QueryDatabase {
                database: database.into_owned(),
                sql: sql.into_owned(),
            },
            StoredCaptionKind::RunCommand { command } => {
                CaptionKind::RunCommand { command: command.into_owned() }
            }
            StoredCaptionKind::RunInShell { script } => {
                CaptionKind::RunInShell { script: script.into_owned() }
            }
            StoredCaptionKind::RunTool { tool, arguments } => CaptionKind::RunTool {
                tool: tool.into_owned(),
                arguments: arguments.map(Cow::into_owned),
            },
            StoredCaptionKind::CarryOut { tool } => {
                CaptionKind::CarryOut { tool: tool.into_owned() }
            }
            StoredCaptionKind::SeveralQuestions { questions, headers } => {
                CaptionKind::SeveralQuestions { questions, headers: headers.into_owned() }
            }
            StoredCaptionKind::WhatHappened { to, kind } => CaptionKind::WhatHappened {
                to: Box::new(read_caption(to, kind.map(|kind| *kind))?),
            },
            StoredCaptionKind::GoOn { budget, used, limit } => {
                CaptionKind::GoOn(UsedUp { of: resource(&budget)?, used, limit })
            }
            StoredCaptionKind::Rows { rows, more, estimated } => {
                CaptionKind::Rows { rows, more, estimated }
            }
            StoredCaptionKind::Sends { request } => {
                CaptionKind::Sends { request: request.into_owned() }
            }
            StoredCaptionKind::Used { budget, used, limit } => {
                CaptionKind::Used(UsedUp { of: resource(&budget)?, used, limit })
            }
            StoredCaptionKind::NewDefinition => CaptionKind::NewDefinition,
            StoredCaptionKind::ChangedDefinition => CaptionKind::ChangedDefinition,
            StoredCaptionKind::ServerAsks { server, message } => CaptionKind::ServerAsks {
                server: server.into_owned(),
                message: message.into_owned(),
            },
            StoredCaptionKind::Deploy { project, target } => {
                CaptionKind::Deploy { project: project.into_owned(), target: target.into_owned() }
            }
            StoredCaptionKind::Cut { of, kind, left_out } => CaptionKind::Cut {
                of: Box::new(read_caption(of, kind.map(|kind| *kind))?),
                left_out,
            },
        })
    }
}

fn resource(name: &str) -> Result<Resource, Broken> {
    match Resource::parse(name) {
        Some(of) => Ok(of),
        None => damaged("a caption names an unknown budget"),
    }
}
