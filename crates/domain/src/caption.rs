//! The title of a hold, and the summary of its preview: a line of text, and what it says as a type.
//!
//! As with warnings, the English line is made from the kind once and then kept, under the digest of the view. Surfaces in
//! other languages word the kind. Words of a model, a program or a tool that we do not know are only their text.

use std::fmt;
use std::ops::Deref;

use crate::budget::UsedUp;
use crate::scrub::Scrubber;

/// ```
/// use holdpoint_domain::caption::{Caption, CaptionKind};
///
/// let title = Caption::new(CaptionKind::RunCommand { command: "git push".into() });
/// assert_eq!(title, "Run: git push");
/// assert_eq!(Caption::from("Which strategy?").kind(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    text: String,
    /// Boxed: every hold has captions, and most kinds are as long as the line.
    kind: Option<Box<CaptionKind>>,
}

/// What a caption says. Texts in it are safe to show or made so when they are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptionKind {
    /// By one SQL statement.
    ChangeRows {
        /// What happens to the rows.
        change: RowChange,
        /// How many rows the statement itself changes.
        rows: u64,
        /// The number was not measured by a trial.
        estimated: bool,
        /// The table's name, as the statement spells it.
        table: String,
    },
    /// A statement that defines something.
    ChangeTables {
        /// The configured name of the database.
        database: String,
        /// The statement, perhaps cut.
        sql: String,
    },
    /// One statement that only reads.
    QueryDatabase {
        /// The configured name of the database.
        database: String,
        /// The statement, perhaps cut.
        sql: String,
    },
    /// A program and its arguments.
    RunCommand {
        /// The program with its arguments, quoted so that they can be told apart.
        command: String,
    },
    /// A script for a shell.
    RunInShell {
        /// The text of the script, perhaps cut.
        script: String,
    },
    /// A call whose tool has no title for it.
    RunTool {
        /// The tool's name.
        tool: String,
        /// The arguments as JSON, perhaps cut. `None` if there are none to show.
        arguments: Option<String>,
    },
    /// A call that a client carries out.
    CarryOut {
        /// The tool's name.
        tool: String,
    },
    /// A form of several questions.
    SeveralQuestions {
        /// How many there are.
        questions: u64,
        /// The questions' headers in one line.
        headers: String,
    },
    /// The outcome of a call that has this title is unknown.
    WhatHappened {
        /// The title of the call in doubt.
        to: Box<Caption>,
    },
    /// A run has used up a budget.
    GoOn(UsedUp),
    /// How many rows change. `more`: through triggers and foreign keys.
    Rows {
        /// Changed by the statement itself.
        rows: u64,
        /// Changed by triggers and foreign keys.
        more: u64,
        /// The numbers were not measured by a trial.
        estimated: bool,
    },
    /// An HTTP request.
    Sends {
        /// Method and address.
        request: String,
    },
    /// What a run has used, and what going on gives it.
    Used(UsedUp),
    /// An MCP server offers a tool that it did not offer when it was first seen.
    NewDefinition,
    /// An MCP server describes a tool in another way than before.
    ChangedDefinition,
    /// An MCP server has a question to people.
    ServerAsks {
        /// The configured name of the server.
        server: String,
        /// The server's own words.
        message: String,
    },
    /// A deployment.
    Deploy {
        /// What is deployed.
        project: String,
        /// Where it is deployed to.
        target: String,
    },
    /// A line that was too long, without its end.
    Cut {
        /// The whole line, of which the rest is shown.
        of: Box<Caption>,
        /// How many characters are left out.
        left_out: u64,
    },
}

/// What an SQL statement does to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// Rows are added.
    Insert,
    /// Rows are changed.
    Update,
    /// Rows are removed.
    Delete,
}

impl Caption {
    /// The line that says this, in English.
    pub fn new(kind: CaptionKind) -> Caption {
        Caption { text: kind.to_string(), kind: Some(Box::new(kind)) }
    }

    /// A line that may be cut at its end. The last value of the kind is cut in the same place, so that both say the same;
    /// where that cannot be, there is no kind.
    pub fn cut(text: String, mut kind: CaptionKind) -> Caption {
        if kind.to_string() != text
            && let Some(last) = kind.last_value()
        {
            last.clear();
            let before = kind.to_string();
            if let (Some(rest), Some(last)) = (text.strip_prefix(&before), kind.last_value()) {
                rest.clone_into(last);
            }
        }
        let kind = Some(Box::new(kind)).filter(|kind| kind.to_string() == text);
        Caption { text, kind }
    }

    /// As it was shown and stored: the line is not made anew.
    pub fn stored(text: String, kind: Option<CaptionKind>) -> Caption {
        Caption { text, kind: kind.map(Box::new) }
    }

    /// The line in English.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `None` for words of somebody else, and for what was stored without a kind.
    pub fn kind(&self) -> Option<&CaptionKind> {
        self.kind.as_deref()
    }

    /// Without the secrets that `scrubber` knows, in the line and in every value.
    #[must_use]
    pub fn scrubbed(self, scrubber: &Scrubber) -> Caption {
        let text = scrubber.scrub(&self.text);
        let scrubbed =
            self.kind.map(|kind| Box::new(kind.map_values(&|value| scrubber.scrub(value))));
        // A secret may also stand where only the line shows it: as a number, or over the end of a value.
        let kind = scrubbed.filter(|kind| kind.to_string() == text);
        Caption { text, kind }
    }
}

/// Most readers want the line.
impl Deref for Caption {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Caption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Words of somebody else: they have no kind.
impl From<String> for Caption {
    fn from(text: String) -> Caption {
        Caption { text, kind: None }
    }
}

impl From<&str> for Caption {
    fn from(text: &str) -> Caption {
        Caption::from(text.to_owned())
    }
}

impl From<CaptionKind> for Caption {
    fn from(kind: CaptionKind) -> Caption {
        Caption::new(kind)
    }
}

/// By its line.
impl PartialEq<&str> for Caption {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl PartialEq<String> for Caption {
    fn eq(&self, text: &String) -> bool {
        self.text == *text
    }
}

impl CaptionKind {
    /// Every code that there is, so that surfaces can be tested and described.
    pub const CODES: [&str; 20] = [
        "insert_rows",
        "update_rows",
        "delete_rows",
        "change_tables",
        "query_database",
        "run_command",
        "run_in_shell",
        "run_tool",
        "carry_out",
        "several_questions",
        "what_happened",
        "go_on",
        "rows",
        "sends",
        "used",
        "new_definition",
        "changed_definition",
        "server_asks",
        "deploy",
        "cut",
    ];

    /// In the API. Each code stands for one line, with the values of the kind in it.
    pub fn code(&self) -> &'static str {
        match self {
            CaptionKind::ChangeRows { change, .. } => match change {
                RowChange::Insert => "insert_rows",
                RowChange::Update => "update_rows",
                RowChange::Delete => "delete_rows",
            },
            CaptionKind::ChangeTables { .. } => "change_tables",
            CaptionKind::QueryDatabase { .. } => "query_database",
            CaptionKind::RunCommand { .. } => "run_command",
            CaptionKind::RunInShell { .. } => "run_in_shell",
            CaptionKind::RunTool { .. } => "run_tool",
            CaptionKind::CarryOut { .. } => "carry_out",
            CaptionKind::SeveralQuestions { .. } => "several_questions",
            CaptionKind::WhatHappened { .. } => "what_happened",
            CaptionKind::GoOn(_) => "go_on",
            CaptionKind::Rows { .. } => "rows",
            CaptionKind::Sends { .. } => "sends",
            CaptionKind::Used(_) => "used",
            CaptionKind::NewDefinition => "new_definition",
            CaptionKind::ChangedDefinition => "changed_definition",
            CaptionKind::ServerAsks { .. } => "server_asks",
            CaptionKind::Deploy { .. } => "deploy",
            CaptionKind::Cut { .. } => "cut",
        }
    }

    /// With every text that is not a word of ours changed by `change`.
    #[must_use]
    pub fn map_values(mut self, change: &dyn Fn(&str) -> String) -> CaptionKind {
        match &mut self {
            CaptionKind::ChangeTables { database, sql }
            | CaptionKind::QueryDatabase { database, sql } => {
                (*database, *sql) = (change(database), change(sql));
            }
            CaptionKind::RunTool { tool, arguments } => {
                (*tool, *arguments) = (change(tool), arguments.as_deref().map(change));
            }
            CaptionKind::ServerAsks { server, message } => {
                (*server, *message) = (change(server), change(message));
            }
            CaptionKind::Deploy { project, target } => {
                (*project, *target) = (change(project), change(target));
            }
            CaptionKind::WhatHappened { to } | CaptionKind::Cut { of: to, .. } => {
                let text = change(&to.text);
                let kind = to.kind.take().map(|kind| Box::new(kind.map_values(change)));
                **to = Caption { kind: kind.filter(|kind| kind.to_string() == text), text };
            }
            CaptionKind::ChangeRows { table: value, .. }
            | CaptionKind::RunCommand { command: value }
            | CaptionKind::RunInShell { script: value }
            | CaptionKind::CarryOut { tool: value }
            | CaptionKind::SeveralQuestions { headers: value, .. }
            | CaptionKind::Sends { request: value } => *value = change(value),
            CaptionKind::GoOn(_)
            | CaptionKind::Rows { .. }
            | CaptionKind::Used(_)
            | CaptionKind::NewDefinition
            | CaptionKind::ChangedDefinition => {}
        }
        self
    }

    /// The foreign text with which the line ends.
    fn last_value(&mut self) -> Option<&mut String> {
        match self {
            CaptionKind::ChangeRows { table: value, .. }
            | CaptionKind::ChangeTables { sql: value, .. }
            | CaptionKind::QueryDatabase { sql: value, .. }
            | CaptionKind::RunCommand { command: value }
            | CaptionKind::RunInShell { script: value }
            | CaptionKind::CarryOut { tool: value }
            | CaptionKind::SeveralQuestions { headers: value, .. }
            | CaptionKind::Sends { request: value }
            | CaptionKind::ServerAsks { message: value, .. }
            | CaptionKind::Deploy { target: value, .. } => Some(value),
            CaptionKind::RunTool { tool, arguments } => Some(arguments.as_mut().unwrap_or(tool)),
            CaptionKind::WhatHappened { .. }
            | CaptionKind::Cut { .. }
            | CaptionKind::GoOn(_)
            | CaptionKind::Rows { .. }
            | CaptionKind::Used(_)
            | CaptionKind::NewDefinition
            | CaptionKind::ChangedDefinition => None,
        }
    }
}

/// The line in English.
impl fmt::Display for CaptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptionKind::ChangeRows { change, rows, estimated, table } => {
                let rows = rows_in_english(*rows, *estimated);
                match change {
                    RowChange::Insert => write!(f, "Insert {rows} into {table}"),
                    RowChange::Update => write!(f, "Update {rows} in {table}"),
                    RowChange::Delete => write!(f, "Delete {rows} from {table}"),
                }
            }
            CaptionKind::ChangeTables { database, sql } => {
                write!(f, "Change the tables of {database}: {sql}")
            }
            CaptionKind::QueryDatabase { database, sql } => write!(f, "Query {database}: {sql}"),
            CaptionKind::RunCommand { command } => write!(f, "Run: {command}"),
            CaptionKind::RunInShell { script } => write!(f, "Run in a shell: {script}"),
            CaptionKind::RunTool { tool, arguments: None } => write!(f, "Run {tool}"),
            CaptionKind::RunTool { tool, arguments: Some(arguments) } => {
                write!(f, "Run {tool}: {arguments}")
            }
            CaptionKind::CarryOut { tool } => write!(f, "Carry out {tool}"),
            CaptionKind::SeveralQuestions { questions, headers } => {
                write!(f, "{questions} questions: {headers}")
            }
            CaptionKind::WhatHappened { to } => write!(f, "What happened? {to}"),
            CaptionKind::GoOn(used_up) => {
                write!(f, "Let the run go on? It has used up its {}", used_up.limit())
            }
            CaptionKind::Rows { rows, more, estimated } => {
                f.write_str(&rows_in_english(*rows, *estimated))?;
                match more {
                    0 => Ok(()),
                    more => write!(f, ", and {more} more through triggers and foreign keys"),
                }
            }
            CaptionKind::Sends { request } => write!(f, "sends {request}"),
            CaptionKind::Used(used_up) => {
                let (used, limit) = (used_up.used(), used_up.limit());
                write!(f, "used: {used}; going on gives it {limit} again")
            }
            CaptionKind::NewDefinition => {
                f.write_str("this tool was not there when its server was first seen")
            }
            CaptionKind::ChangedDefinition => {
                f.write_str("the server has changed what it says about this tool")
            }
            CaptionKind::ServerAsks { server, message } => write!(f, "{server} asks: {message}"),
            CaptionKind::Deploy { project, target } => write!(f, "Deploy {project} to {target}"),
            CaptionKind::Cut { of, left_out } => write!(f, "{of}… ({left_out} more characters)"),
        }
    }
}

fn rows_in_english(rows: u64, estimated: bool) -> String {
    let about = if estimated { "about " } else { "" };
    match rows {
        1 => format!("{about}1 row"),
        rows => format!("{about}{rows} rows"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(command: &str) -> CaptionKind {
        CaptionKind::RunCommand { command: command.into() }
    }

    #[test]
    fn a_cut_line_and_its_kind_say_the_same() {
        let cut = Caption::cut("Run: rm -rf bu…".into(), run("rm -rf build"));
        assert_eq!(cut.kind(), Some(&run("rm -rf bu…")));
        let whole = Caption::cut("Run: ls".into(), run("ls"));
        assert_eq!(whole, Caption::new(run("ls")));
        let query =
            CaptionKind::QueryDatabase { database: "a long name".into(), sql: "SELECT 1".into() };
        let before_the_last = Caption::cut("Query a lo…".into(), query);
        assert_eq!((before_the_last.text(), before_the_last.kind()), ("Query a lo…", None));
        let other = Caption::cut("Look: ls".into(), run("ls"));
        assert_eq!(other.kind(), None, "a kind never says something else than the line");
    }

    #[test]
    fn i45_secrets_are_scrubbed_from_the_line_and_from_every_value() {
        let secret = "hunter2-hunter2";
        let scrubber = Scrubber::new(&[json!(secret)]);
        let value = || format!("x {secret} y");
        let inner = Caption::new(run(&value()));
        for kind in [
            run(&value()),
            CaptionKind::ChangeRows {
                change: RowChange::Delete,
                rows: 3,
                estimated: true,
                table: value(),
            },
            CaptionKind::ChangeTables { database: value(), sql: value() },
            CaptionKind::RunTool { tool: value(), arguments: Some(value()) },
            CaptionKind::WhatHappened { to: Box::new(inner) },
            CaptionKind::Sends { request: value() },
            CaptionKind::ServerAsks { server: value(), message: value() },
            CaptionKind::Deploy { project: value(), target: value() },
            CaptionKind::Cut { of: Box::new(run(&value()).into()), left_out: 7 },
        ] {
            let scrubbed = Caption::new(kind).scrubbed(&scrubber);
            assert!(!format!("{scrubbed:?}").contains(secret), "{scrubbed:?}");
            assert!(scrubbed.kind().is_some(), "still worded: {scrubbed:?}");
        }
        let over_the_end = Caption::new(run("ls")).scrubbed(&Scrubber::new(&[json!("Run: ls")]));
        assert_eq!(over_the_end.kind(), None, "{over_the_end:?}");
    }
}
