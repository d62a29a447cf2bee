//! `[[cases]]`: calls, and what the rules are expected to say to them. Nothing is decided here.

use agent_hooks::{FilesIn, stated_arguments};
use domain::hold::Risk;
use domain::policy::{Ask, PolicyDecision, Then, Verdict};
use domain::visible::visible;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::error::nearest;
use super::json::json;
use super::mistakes::Mistakes;
use super::policy::THEN;
use super::source::{ConfigSource, Result};
use super::{Config, ConfigErrors, ToolKind};

/// Where a coding agent works if the case does not say it.
const CWD_DEFAULT: &str = "/repository";
/// How a case names the verdict for calls that no rule matches.
const NO_RULE: &str = "default";

/// One call, and the verdict that it is expected to get.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyCase {
    pub name: String,
    pub file: String,
    pub line: usize,
    pub tool: String,
    /// Empty if an outside program makes the call.
    pub agent: String,
    pub arguments: Value,
    /// How many rows an SQL statement is supposed to change.
    pub rows: Option<u64>,
    expected: ExpectedVerdict,
}

#[derive(Clone, Debug, PartialEq)]
struct ExpectedVerdict {
    decision: Then,
    rule: Option<String>,
    risk: Option<Risk>,
    ask: ExpectedAsk,
}

/// What is left out may be anything.
#[derive(Clone, Debug, Default, PartialEq)]
struct ExpectedAsk {
    roles: Option<Vec<String>>,
    people: Option<Vec<String>>,
    quorum: Option<u32>,
    exclude_requester: Option<bool>,
    refuse_made_logins: Option<bool>,
    expires_ms: Option<u64>,
}

/// One way in which a verdict is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictDifference {
    /// The key of the case.
    pub key: &'static str,
    pub expected: String,
    pub found: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CasesFile {
    /// Tools of outside programs that no rule names.
    #[serde(default)]
    outside_tools: Vec<String>,
    #[serde(default)]
    cases: Vec<Spanned<CaseTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTable {
    name: Spanned<String>,
    tool: Spanned<String>,
    agent: Option<Spanned<String>>,
    arguments: Option<Spanned<toml::Table>>,
    /// What a coding agent said, in place of `arguments`; with where it runs and which files it names.
    input: Option<Spanned<toml::Table>>,
    cwd: Option<Spanned<String>>,
    files: Option<Spanned<Vec<String>>>,
    files_in: Option<Spanned<String>>,
    rows: Option<Spanned<u64>>,
    decision: Spanned<String>,
    rule: Option<String>,
    risk: Option<Spanned<String>>,
    ask: Option<Spanned<ExpectedAskTable>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedAskTable {
    roles: Option<Vec<String>>,
    people: Option<Vec<String>>,
    quorum: Option<u32>,
    exclude_requester: Option<bool>,
    refuse_made_logins: Option<bool>,
    expires: Option<Spanned<String>>,
}

impl PolicyCase {
    /// All cases of a file, or all of its mistakes.
    pub(super) fn read_all(
        text: &str,
        name: &str,
        config: &Config,
    ) -> std::result::Result<Vec<PolicyCase>, ConfigErrors> {
        let source = ConfigSource::new(text, name);
        let mut mistakes = Mistakes::default();
        let Some(file) = mistakes.read::<CasesFile>(&source) else {
            return Err(mistakes.into_errors());
        };
        if file.cases.is_empty() && mistakes.is_empty() {
            mistakes.push(source.error_at(1, "there is no case in this file; add `[[cases]]`"));
        }
        let mut cases = Vec::with_capacity(file.cases.len());
        for table in file.cases {
            let case = source.case(table, name, &file.outside_tools, config);
            cases.extend(mistakes.note(case));
        }
        if mistakes.is_empty() { Ok(cases) } else { Err(mistakes.into_errors()) }
    }

    /// What of the verdict is not as expected. Empty is good.
    pub fn differences(&self, verdict: &Verdict) -> Vec<VerdictDifference> {
        let mut found = Vec::new();
        let decision = decision_name(&verdict.decision);
        tell(&mut found, "decision", Some(self.expected.decision.name()), decision);
        tell(&mut found, "rule", self.expected.rule.as_deref(), verdict.rule().unwrap_or(NO_RULE));
        tell(&mut found, "risk", self.expected.risk.map(Risk::name), verdict.risk.name());
        if let PolicyDecision::Ask(ask) = &verdict.decision {
            self.expected.ask.tell_differences(ask, &mut found);
        }
        found
    }
}

impl ExpectedAsk {
    fn tell_differences(&self, ask: &Ask, found: &mut Vec<VerdictDifference>) {
        let names = |names: &[String]| {
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            names.sort_unstable();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let roles = self.roles.as_deref().map(names);
        tell(found, "ask.roles", roles.as_deref(), &names(&ask.roles));
        let people = self.people.as_deref().map(names);
        tell(found, "ask.people", people.as_deref(), &names(&ask.people));
        let mut tell_value = |key, expected: Option<String>, is: String| {
            tell(found, key, expected.as_deref(), &is);
        };
        tell_value("ask.quorum", self.quorum.map(|one| one.to_string()), ask.quorum.to_string());
        tell_value(
            "ask.exclude_requester",
            self.exclude_requester.map(|one| one.to_string()),
            ask.exclude_requester.to_string(),
        );
        tell_value(
            "ask.refuse_made_logins",
            self.refuse_made_logins.map(|one| one.to_string()),
            ask.refuse_made_logins.to_string(),
        );
        let seconds = |ms: u64| format!("{}s", ms / 1000);
        tell_value("ask.expires", self.expires_ms.map(seconds), seconds(ask.expires_ms));
    }
}

fn tell(found: &mut Vec<VerdictDifference>, key: &'static str, expected: Option<&str>, is: &str) {
    let Some(expected) = expected.filter(|expected| *expected != is) else { return };
    found.push(VerdictDifference { key, expected: expected.to_owned(), found: is.to_owned() });
}

fn decision_name(decision: &PolicyDecision) -> &'static str {
    match decision {
        PolicyDecision::Allow => Then::Allow.name(),
        PolicyDecision::Deny => Then::Deny.name(),
        PolicyDecision::Ask(_) => Then::Ask.name(),
    }
}

impl ConfigSource<'_> {
    fn case(
        &self,
        table: Spanned<CaseTable>,
        file: &str,
        outside_tools: &[String],
        config: &Config,
    ) -> Result<PolicyCase> {
        let (line, mut table) = (self.line(table.span()), table.into_inner());
        self.check_tool(&table.tool, outside_tools, config)?;
        if let Some(agent) = &table.agent
            && !config.agents.iter().any(|known| *known.id == **agent.get_ref())
        {
            let message = format!("there is no agent `{}`", visible(agent.get_ref()));
            return Err(self.error(agent.span(), message));
        }
        let is_sql = |tool: &super::ToolConfig| {
            *tool.name == **table.tool.get_ref() && matches!(tool.kind, ToolKind::Sql(_))
        };
        if let Some(rows) = &table.rows
            && !config.tools.iter().any(is_sql)
        {
            return Err(self.error(rows.span(), "`rows` is for calls of SQL tools"));
        }
        let arguments = self.case_arguments(&mut table)?;
        Ok(PolicyCase {
            name: table.name.get_ref().clone(),
            file: file.to_owned(),
            line,
            agent: table.agent.as_ref().map(|agent| agent.get_ref().clone()).unwrap_or_default(),
            arguments,
            rows: table.rows.as_ref().map(|rows| *rows.get_ref()),
            expected: self.expected(&mut table)?,
            tool: table.tool.into_inner(),
        })
    }

    /// A misspelt tool would be one that no rule is about, and its case would prove nothing.
    fn check_tool(
        &self,
        tool: &Spanned<String>,
        outside_tools: &[String],
        config: &Config,
    ) -> Result<()> {
        let name = tool.get_ref().as_str();
        let is_of_a_server = |server: &super::ToolConfig| {
            let inner = name.strip_prefix(&*server.name).and_then(|rest| rest.strip_prefix("__"));
            matches!(server.kind, ToolKind::Mcp(_)) && inner.is_some()
        };
        let is_configured = |tool: &super::ToolConfig| *tool.name == *name || is_of_a_server(tool);
        if config.tools.iter().any(is_configured)
            || outside_tools.iter().any(|known| known == name)
            || config.policy.names_tool(name)
        {
            return Ok(());
        }
        let known = config.tools.iter().map(|tool| &*tool.name);
        let known: Vec<&str> = known.chain(outside_tools.iter().map(String::as_str)).collect();
        let remedy = match nearest(name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "if a program outside calls it, add it to `outside_tools` at the top of this file"
                    .to_owned()
            }
        };
        let message = format!(
            "no tool is named `{}`, and no rule is about one of this name; {remedy}",
            visible(name)
        );
        Err(self.error(tool.span(), message))
    }

    /// As the rules see them.
    fn case_arguments(&self, table: &mut CaseTable) -> Result<Value> {
        let input = match (table.arguments.take(), table.input.take()) {
            (Some(_), Some(input)) => {
                let message = "`input` is what a coding agent said, and `arguments` a whole call; write one of them";
                return Err(self.error(input.span(), message));
            }
            (_, Some(input)) => json(toml::Value::Table(input.into_inner())),
            (arguments, None) => {
                let spans =
                    [&table.cwd, &table.files_in].map(|key| key.as_ref().map(Spanned::span));
                let spans = spans.into_iter().chain([table.files.as_ref().map(Spanned::span)]);
                if let Some(span) = spans.flatten().next() {
                    let message = "this stands beside the `input` of a coding agent; here it belongs into `arguments`";
                    return Err(self.error(span, message));
                }
                let arguments = arguments.map(Spanned::into_inner).unwrap_or_default();
                return Ok(json(toml::Value::Table(arguments)));
            }
        };
        let place = |given: &Spanned<String>| {
            self.word("files_in", given, &FilesIn::ALL.map(|place| (place.name(), place)))
        };
        let files = match (&table.files, &table.files_in) {
            (None, None) => None,
            (Some(files), Some(given)) => Some((files.get_ref().as_slice(), place(given)?)),
            (Some(files), None) => {
                let message = "`files` needs `files_in`: where the files are";
                return Err(self.error(files.span(), message));
            }
            (None, Some(given)) => {
                let message = "`files_in` needs `files`: the paths of the files, links followed";
                return Err(self.error(given.span(), message));
            }
        };
        let cwd = table.cwd.as_ref().map_or(CWD_DEFAULT, |cwd| cwd.get_ref());
        Ok(stated_arguments(cwd, &input, files))
    }

    fn expected(&self, table: &mut CaseTable) -> Result<ExpectedVerdict> {
        let decision = self.word("decision", &table.decision, &THEN)?;
        let risks = Risk::ALL.map(|risk| (risk.name(), risk));
        let risk = table.risk.as_ref().map(|given| self.word("risk", given, &risks)).transpose()?;
        let ask = match table.ask.take() {
            Some(ask) if decision != Then::Ask => {
                let message = "it says who is asked, but its `decision` is not `ask`";
                return Err(self.error(ask.span(), message));
            }
            Some(ask) => {
                let ask = ask.into_inner();
                ExpectedAsk {
                    roles: ask.roles,
                    people: ask.people,
                    quorum: ask.quorum,
                    exclude_requester: ask.exclude_requester,
                    refuse_made_logins: ask.refuse_made_logins,
                    expires_ms: ask.expires.map(|given| self.expires(&given)).transpose()?,
                }
            }
            None => ExpectedAsk::default(),
        };
        Ok(ExpectedVerdict { decision, rule: table.rule.take(), risk, ask })
    }
}
