//! The first line of a card: verb, amount and target of what is asked, in types, so that every surface words it itself.
//!
//! It is made whenever a hold is shown, from parts that are stored and digested: the kind of a title that a tool of ours
//! gave, the facts of a statement, the phrases of an execution context, and the arguments themselves. A title that anybody else wrote
//! says nothing here. Where none of these tells what a call does, the effect is unknown, and the headline says so.

mod arguments;
mod stage;
#[cfg(test)]
mod tests;

pub use stage::DeployStage;

use super::foreign::ForeignText;
use crate::budget::UsedUp;
use crate::call::Call;
use crate::caption::{Caption, CaptionKind, RowChange};
use crate::hold::{Hold, Question};
use crate::phrase::PhraseCode;
use crate::policy::shell_facts;
use crate::schema::redacted;
use crate::shell::ShellKind;
use crate::sql_facts::{SqlFacts, SqlKind};
use crate::tool::Effects;

/// What is asked, in the few parts that fit on one line.
///
/// ```
/// # use holdpoint_domain::view::{HeadlineAmount, HeadlineVerb};
/// assert_eq!(HeadlineVerb::DeleteRows.name(), "delete_rows");
/// assert_eq!(HeadlineAmount::Rows { rows: 214, more: 0, estimated: false }.unit(), "rows");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What is to be done.
    pub verb: HeadlineVerb,
    /// How much of it, where it can be counted.
    pub amount: Option<HeadlineAmount>,
    /// Where it acts, the nearest first.
    pub targets: Vec<HeadlineTarget>,
    /// Set where a target's own name states one.
    pub stage: Option<DeployStage>,
    /// How the server knows.
    pub effect: KnownEffect,
    /// What can be done if it turns out to be wrong.
    pub undo: UndoHint,
    /// What a command line does, read from its text.
    pub shell: Vec<ShellKind>,
    /// The question is whether this happened, not whether it may.
    pub in_question: bool,
}

macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$doc])* $variant,)*
        }

        impl $type {
            /// Every one that there is, so that surfaces can be tested and described.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// In the API.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
        }
    };
}

named! {
    /// The word that a headline begins with.
    HeadlineVerb {
        /// Rows are added, and none is touched that was there.
        InsertRows "insert_rows",
        /// Rows that are in the way are overwritten.
        UpsertRows "upsert_rows",
        /// Values of rows change.
        UpdateRows "update_rows",
        /// Rows go.
        DeleteRows "delete_rows",
        /// A table goes, with all its rows.
        DropTable "drop_table",
        /// A table is made.
        CreateTable "create_table",
        /// A table gets other columns or constraints.
        AlterTable "alter_table",
        /// Any other statement that defines something.
        ChangeTables "change_tables",
        /// One statement that only reads.
        QueryDatabase "query_database",
        /// A program with its arguments.
        RunCommand "run_command",
        /// A text for a shell.
        RunScript "run_script",
        /// An HTTP request.
        SendRequest "send_request",
        /// Files are written.
        EditFiles "edit_files",
        /// A project is put on a platform.
        Deploy "deploy",
        /// What the tool does is not known.
        CallTool "call_tool",
        /// A person or their browser does it.
        CarryOut "carry_out",
        /// A question with options, of which one is chosen.
        ChooseOne "choose_one",
        /// A question with options, of which several may be chosen.
        ChooseMany "choose_many",
        /// A form with named fields.
        FillForm "fill_form",
        /// A question that is answered in free text.
        AnswerQuestion "answer_question",
        /// A run that used up a budget.
        GoOn "go_on",
        /// A program asks for leave, and names no call.
        Permit "permit",
    }
}

named! {
    /// How the server knows what a call does.
    KnownEffect {
        /// It was tried, and undone.
        Measured "measured",
        /// Counted or guessed without a trial.
        Estimated "estimated",
        /// Read from the exact call.
        Parsed "parsed",
        /// Read from the exact call, which somebody else carries out.
        Elsewhere "elsewhere",
        /// Nothing that we trust says what it does.
        Unknown "unknown",
    }
}

named! {
    /// What can be done when it turns out to be wrong.
    UndoHint {
        /// There is nothing to undo.
        ChangesNothing "changes_nothing",
        /// No later call can bring it back.
        CannotBeUndone "cannot_be_undone",
        /// It depends on things that are not known here.
        NotKnown "not_known",
    }
}

/// How much is to be done, in the unit that fits the verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadlineAmount {
    /// `more`: through triggers and foreign keys.
    Rows {
        /// Changed by the statement itself.
        rows: u64,
        /// Changed by triggers and foreign keys.
        more: u64,
        /// The numbers were not measured by a trial.
        estimated: bool,
    },
    /// Of a script.
    Commands {
        /// How many there are.
        count: u64,
    },
    /// Lines are counted in the diff, if there is one.
    Files {
        /// How many there are.
        count: u64,
        /// `None` if there is no diff.
        lines: Option<ChangedLines>,
    },
    /// Of a question with options.
    Options {
        /// How many there are.
        count: u64,
    },
    /// Of a form.
    Fields {
        /// How many there are.
        count: u64,
    },
    /// What a run has used up.
    Budget(UsedUp),
    /// Of a request.
    Method {
        /// In upper case: `POST`.
        method: &'static str,
    },
}

/// How long a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedLines {
    /// Lines that begin with a plus.
    pub added: u64,
    /// Lines that begin with a minus.
    pub removed: u64,
}

impl HeadlineAmount {
    /// In the API.
    pub fn unit(&self) -> &'static str {
        match self {
            HeadlineAmount::Rows { .. } => "rows",
            HeadlineAmount::Commands { .. } => "commands",
            HeadlineAmount::Files { .. } => "files",
            HeadlineAmount::Options { .. } => "options",
            HeadlineAmount::Fields { .. } => "fields",
            HeadlineAmount::Budget(used_up) => used_up.of.name(),
            HeadlineAmount::Method { .. } => "method",
        }
    }
}

named! {
    /// What a target is.
    TargetRole {
        /// As the statement spells it.
        Table "table",
        /// By its configured name.
        Database "database",
        /// Of an address.
        Host "host",
        /// Of an address, behind the host.
        Path "path",
        /// In which a command runs.
        Directory "directory",
        /// That is written.
        File "file",
        /// As whom a command runs.
        User "user",
        /// That a command starts.
        Program "program",
        /// That is called, where nothing more is known.
        Tool "tool",
        /// An MCP server.
        Server "server",
        /// That is deployed.
        Project "project",
        /// On which it is deployed.
        Platform "platform",
        /// A short argument of a call whose effect is unknown, with its name.
        Argument "argument",
    }
}

/// One thing that a call acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadlineTarget {
    /// What the thing is to the call.
    pub role: TargetRole,
    /// Of an argument.
    pub name: Option<ForeignText>,
    /// Its name or address. It is foreign.
    pub text: ForeignText,
}

impl HeadlineTarget {
    fn new(role: TargetRole, text: &str) -> HeadlineTarget {
        HeadlineTarget { role, name: None, text: ForeignText::line(text) }
    }

    /// Made visible before.
    fn marked(role: TargetRole, text: &str) -> HeadlineTarget {
        HeadlineTarget { role, name: None, text: ForeignText::marked(text) }
    }
}

impl Headline {
    /// The headline of a hold as it is now, from what is stored with it.
    pub fn of(hold: &Hold) -> Headline {
        let mut headline = match (&hold.question, hold.call().map(|call| &**call)) {
            (Question::Choose { options, multiple, .. }, _) => {
                let count = options.len() as u64;
                let verb =
                    if *multiple { HeadlineVerb::ChooseMany } else { HeadlineVerb::ChooseOne };
                Headline::question(verb, Some(HeadlineAmount::Options { count }))
            }
            (Question::Fill { schema }, _) => {
                let properties = schema.as_ref().and_then(|schema| schema.get("properties"));
                match properties.and_then(|all| all.as_object()).map_or(0, |all| all.len() as u64) {
                    0 => Headline::question(HeadlineVerb::AnswerQuestion, None),
                    count => Headline::question(
                        HeadlineVerb::FillForm,
                        Some(HeadlineAmount::Fields { count }),
                    ),
                }
            }
            (_, Some(call)) => Headline::of_call(hold, call),
            (_, None) => match hold.title.kind() {
                Some(CaptionKind::GoOn(used_up)) => {
                    let amount = HeadlineAmount::Budget(*used_up);
                    Headline::question(HeadlineVerb::GoOn, Some(amount))
                }
                _ => Headline {
                    effect: KnownEffect::Unknown,
                    undo: UndoHint::NotKnown,
                    ..Headline::question(HeadlineVerb::Permit, None)
                },
            },
        };
        if let Some(CaptionKind::ServerAsks { server, .. }) = find_title_kind(&hold.title) {
            headline.targets.push(HeadlineTarget::marked(TargetRole::Server, server));
        }
        headline.in_question = hold.question == Question::Settle;
        headline.stage = DeployStage::among(&headline.targets);
        headline
    }

    /// Answering runs nothing by itself.
    fn question(verb: HeadlineVerb, amount: Option<HeadlineAmount>) -> Headline {
        Headline {
            verb,
            amount,
            targets: Vec::new(),
            stage: None,
            effect: KnownEffect::Parsed,
            undo: UndoHint::ChangesNothing,
            shell: Vec::new(),
            in_question: false,
        }
    }

    fn of_call(hold: &Hold, call: &Call) -> Headline {
        let mut headline = Headline::question(HeadlineVerb::CallTool, None);
        // A program carries its own call out; here a person or a browser does.
        if matches!(hold.question, Question::Perform { .. }) {
            headline.verb = HeadlineVerb::CarryOut;
            headline.effect = KnownEffect::Elsewhere;
            headline.targets.push(HeadlineTarget::new(TargetRole::Tool, &call.tool));
        } else if !headline.read_caption(hold, call)
            && !headline.read_command(hold, call)
            && !headline.read_edit(hold, call)
        {
            headline.effect = KnownEffect::Unknown;
            headline.targets.push(HeadlineTarget::new(TargetRole::Tool, &call.tool));
        }
        headline.read_phrases(call);
        if headline.effect == KnownEffect::Unknown {
            let shown = redacted(call.arguments.value(), &call.secrets);
            headline.targets.extend(arguments::short_arguments(&shown));
        }
        headline.undo = headline.judge_undo(call);
        headline
    }

    /// What a tool of ours says about its call. Only such a title has a kind.
    fn read_caption(&mut self, hold: &Hold, call: &Call) -> bool {
        let sends = hold.preview.summary.as_ref().and_then(|summary| match summary.kind() {
            Some(CaptionKind::Sends { request }) => Some(request),
            _ => None,
        });
        if let Some(request) = sends {
            return self.read_request(request);
        }
        match find_title_kind(&hold.title) {
            Some(CaptionKind::ChangeRows { change, rows, estimated, table }) => {
                let facts = call.context.sql.as_ref();
                let more =
                    facts.and_then(|facts| facts.rows).unwrap_or(*rows).saturating_sub(*rows);
                self.verb = match (change, facts.map(|facts| facts.kind)) {
                    (RowChange::Insert, Some(SqlKind::Upsert)) => HeadlineVerb::UpsertRows,
                    (RowChange::Insert, _) => HeadlineVerb::InsertRows,
                    (RowChange::Update, _) => HeadlineVerb::UpdateRows,
                    (RowChange::Delete, _) => HeadlineVerb::DeleteRows,
                };
                let estimated = *estimated;
                self.amount = Some(HeadlineAmount::Rows { rows: *rows, more, estimated });
                self.effect =
                    if estimated { KnownEffect::Estimated } else { KnownEffect::Measured };
                self.targets.push(HeadlineTarget::marked(TargetRole::Table, table));
            }
            Some(CaptionKind::ChangeTables { .. }) => {
                self.verb = arguments::defining_verb(call.arguments.value());
                self.name_tables(call.context.sql.as_ref());
            }
            Some(CaptionKind::QueryDatabase { .. }) => {
                self.verb = HeadlineVerb::QueryDatabase;
                self.name_tables(call.context.sql.as_ref());
            }
            Some(CaptionKind::Deploy { project, target }) => {
                self.verb = HeadlineVerb::Deploy;
                self.targets.push(HeadlineTarget::marked(TargetRole::Project, project));
                self.targets.push(HeadlineTarget::marked(TargetRole::Platform, target));
            }
            Some(CaptionKind::RunCommand { command }) => {
                // A command tool has its words in its settings, and a shell tool in its arguments.
                if !self.read_command(hold, call) {
                    self.verb = HeadlineVerb::RunCommand;
                    self.amount = Some(HeadlineAmount::Commands { count: 1 });
                    self.targets.push(HeadlineTarget::marked(TargetRole::Program, command));
                }
            }
            Some(CaptionKind::RunInShell { .. }) => return self.read_command(hold, call),
            _ => return false,
        }
        true
    }

    fn name_tables(&mut self, facts: Option<&SqlFacts>) {
        let names = facts.map(|facts| facts.tables.names.as_slice()).unwrap_or_default();
        // A change of the structure is also one of the database's own catalogue, which says nothing.
        let own = |name: &&String| !name.starts_with("sqlite_") && !name.starts_with("pg_catalog.");
        let shown = names.iter().filter(own).take(arguments::SHORT_ARGUMENTS_MAX);
        self.targets.extend(shown.map(|name| HeadlineTarget::new(TargetRole::Table, name)));
    }

    /// `POST https://api.example.org/refunds`.
    fn read_request(&mut self, line: &str) -> bool {
        let Some((method, address)) = line.split_once(' ') else { return false };
        let Some(method) = arguments::known_method(method) else { return false };
        let Some((_, rest)) = address.split_once("://") else { return false };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        self.verb = HeadlineVerb::SendRequest;
        self.amount = Some(HeadlineAmount::Method { method });
        self.targets.push(HeadlineTarget::marked(TargetRole::Host, host));
        if !path.is_empty() {
            self.targets.push(HeadlineTarget::marked(TargetRole::Path, path));
        }
        true
    }

    /// A command line in the arguments, as rules read it.
    fn read_command(&mut self, hold: &Hold, call: &Call) -> bool {
        let Some(facts) = shell_facts(call.arguments.value()) else { return false };
        let Some((script, count)) = arguments::command_count(call.arguments.value()) else {
            return false;
        };
        self.verb = if script { HeadlineVerb::RunScript } else { HeadlineVerb::RunCommand };
        self.amount = count.map(|count| HeadlineAmount::Commands { count });
        self.shell = facts.kinds().to_vec();
        self.effect = where_it_runs(hold, call);
        if let Some(program) = arguments::program_of(call.arguments.value()) {
            self.targets.push(HeadlineTarget::new(TargetRole::Program, program));
        }
        if let Some(folder) = arguments::folder_of(call.arguments.value()) {
            self.targets.push(HeadlineTarget::new(TargetRole::Directory, folder));
        }
        true
    }

    /// A change of files, by the names that agents and MCP servers have for it.
    fn read_edit(&mut self, hold: &Hold, call: &Call) -> bool {
        let Some(files) = arguments::edited_files(&call.tool, call.arguments.value()) else {
            return false;
        };
        let diff = hold.preview.diff.as_deref();
        // The diff of an edited call, or of a tool's definition, is of something else.
        let own = diff.filter(|_| hold.session().is_none() && call.revision == 1);
        self.verb = HeadlineVerb::EditFiles;
        self.effect = KnownEffect::Elsewhere;
        let count = files.len() as u64;
        self.amount = Some(HeadlineAmount::Files { count, lines: own.map(changed_lines) });
        let shown = files.iter().take(arguments::SHORT_ARGUMENTS_MAX);
        self.targets.extend(shown.map(|file| HeadlineTarget::new(TargetRole::File, file)));
        true
    }

    /// What stands in the execution context: where, as whom, by which server.
    fn read_phrases(&mut self, call: &Call) {
        let mut add = |role, text: &str| {
            let target = HeadlineTarget::new(role, text);
            if !self.targets.contains(&target) {
                self.targets.push(target);
            }
        };
        if let Some(folder) = &call.context.working_directory {
            add(TargetRole::Directory, folder);
        }
        for (_, phrase) in call.context.detail.phrases() {
            let value = |at: usize| phrase.values.get(at).map_or("", |value| value.as_ref());
            let first = value(0);
            match phrase.code {
                // `main` says nothing; the name of the file does.
                PhraseCode::Database | PhraseCode::DatabaseReadOnly => {
                    add(TargetRole::Database, value(1).rsplit('/').next().unwrap_or(first));
                }
                PhraseCode::Postgres | PhraseCode::PostgresReadOnly => {
                    add(TargetRole::Database, first);
                    add(TargetRole::Host, value(1));
                }
                PhraseCode::McpTool => add(TargetRole::Server, first),
                PhraseCode::AsUser => add(TargetRole::User, first),
                _ => {}
            }
        }
    }

    fn judge_undo(&self, call: &Call) -> UndoHint {
        let destroys =
            self.shell.iter().any(|kind| matches!(kind, ShellKind::Delete | ShellKind::Push));
        match (self.verb, &self.amount) {
            (
                HeadlineVerb::UpsertRows
                | HeadlineVerb::UpdateRows
                | HeadlineVerb::DeleteRows
                | HeadlineVerb::DropTable,
                _,
            )
            | (_, Some(HeadlineAmount::Method { method: "DELETE" })) => UndoHint::CannotBeUndone,
            (HeadlineVerb::QueryDatabase, _)
            | (_, Some(HeadlineAmount::Method { method: "GET" | "HEAD" })) => {
                UndoHint::ChangesNothing
            }
            _ if destroys => UndoHint::CannotBeUndone,
            // Only where a shell of ours runs it: another tool may take the same word for something else.
            _ if self.shell.iter().all(|kind| *kind == ShellKind::Read)
                && !self.shell.is_empty()
                && self.effect == KnownEffect::Parsed =>
            {
                UndoHint::ChangesNothing
            }
            // Of a call that runs here the settings say so; of another its server only claims it.
            _ if call.effects == Effects::ReadOnly
                && !matches!(self.effect, KnownEffect::Unknown | KnownEffect::Elsewhere) =>
            {
                UndoHint::ChangesNothing
            }
            _ => UndoHint::NotKnown,
        }
    }
}

/// The kind of a title, also of one that was cut, or that asks what came of a call.
fn find_title_kind(title: &Caption) -> Option<&CaptionKind> {
    match title.kind()? {
        CaptionKind::Cut { of: inner, .. } | CaptionKind::WhatHappened { to: inner } => {
            find_title_kind(inner)
        }
        kind => Some(kind),
    }
}

fn where_it_runs(hold: &Hold, call: &Call) -> KnownEffect {
    let mut phrases = call.context.detail.phrases().iter();
    let by_mcp_server = phrases.any(|(_, phrase)| phrase.code == PhraseCode::McpTool);
    match hold.session() {
        Some(_) if !by_mcp_server => KnownEffect::Parsed,
        _ => KnownEffect::Elsewhere,
    }
}

/// The names of the files at the top do not count, as on the page. Further down a line that looks like one does: it may
/// be a line of the file that begins with `--`.
fn changed_lines(diff: &str) -> ChangedLines {
    let lines: Vec<&str> = diff.lines().collect();
    let changed = match &lines[..] {
        [old, new, place, ..]
            if old.starts_with("--- ") && new.starts_with("+++ ") && place.starts_with("@@ -") =>
        {
            &lines[2..]
        }
        all => all,
    };
    let count = |sign| changed.iter().filter(|line| line.starts_with(sign)).count() as u64;
    ChangedLines { added: count('+'), removed: count('-') }
}
