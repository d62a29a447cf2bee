//! Cases, put to the rules: what came out, and what was expected.

use domain::policy::{Facts, Verdict};
use domain::sql_facts::SqlFacts;
use domain::visible::visible;
use serde_json::{Value, json};

use super::{effects_of, facts_of_sql, ruling_json, tell_mistakes};
use crate::cli::args::PolicyTestArgs;
use crate::cli::exit::Exit;
use crate::cli::json;
use crate::cli::output::{Paint, Screen, Terminal};
use crate::config::{
    Config, ConfigError, ConfigErrors, PolicyCase, PolicySource, VerdictDifference,
};

/// So many cases are gone through between two lines of progress.
const PROGRESS_STEP: usize = 500;

pub fn test(terminal: &Terminal, args: &PolicyTestArgs) -> anyhow::Result<Exit> {
    let results = match put_cases(terminal, args) {
        Ok(results) => results,
        Err(errors) => return tell_mistakes(terminal, errors, args.json),
    };
    let out = terminal.out();
    let failed: Vec<&CaseResult> = results.iter().filter(|result| !result.passed()).collect();
    let all = results.len();
    if args.json {
        let report = json!({
            "sound": true,
            "passed": all - failed.len(),
            "failed": failed.len(),
            "cases": results.iter().map(CaseResult::json).collect::<Vec<_>>(),
        });
        out.print(&json::pretty(&report))?;
    } else {
        for result in &failed {
            out.print(&result.report(&out, &args.policy))?;
        }
        let cases = if all == 1 { "case" } else { "cases" };
        out.line(&match failed.len() {
            0 => format!("{} {all} {cases} as expected", out.paint(Paint::Green, "Passed:")),
            failed => {
                let mark = out.paint(Paint::Red, "Failed:");
                format!("{mark} {failed} of {all} {cases} not as expected")
            }
        })?;
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Failed })
}

fn put_cases(terminal: &Terminal, args: &PolicyTestArgs) -> Result<Vec<CaseResult>, ConfigErrors> {
    let config = args.policy.config()?;
    let mut cases = Vec::new();
    match args.cases.as_slice() {
        [] => cases.extend(args.policy.own_cases().cases(&config)?),
        named => {
            for source in named {
                cases.extend(source.cases(&config)?);
            }
        }
    }
    let all = cases.len();
    let (mut results, mut mistakes) = (Vec::with_capacity(all), Vec::new());
    for (number, case) in cases.into_iter().enumerate() {
        if number > 0 && number % PROGRESS_STEP == 0 {
            terminal.progress(&format!("{number} of {all} cases"));
        }
        match CaseResult::of(&config, case) {
            Ok(result) => results.push(result),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if all > PROGRESS_STEP {
        terminal.progress("");
    }
    if mistakes.is_empty() { Ok(results) } else { Err(ConfigErrors(mistakes)) }
}

/// What the rules said to one case.
struct CaseResult {
    case: PolicyCase,
    verdict: Verdict,
    differences: Vec<VerdictDifference>,
    facts: String,
    /// Why, rule by rule; only for a case that came out otherwise.
    why: Vec<String>,
}

impl CaseResult {
    fn of(config: &Config, case: PolicyCase) -> Result<CaseResult, ConfigError> {
        let sql = match facts_of_sql(config, &case.tool, &case.arguments).transpose() {
            Ok(facts) => facts.map(|facts| SqlFacts { rows: case.rows.or(facts.rows), ..facts }),
            Err(why) => {
                let message = format!(
                    "the tool `{}` refuses this statement before any rule is asked: {}",
                    visible(&case.tool),
                    visible(&why)
                );
                return Err(ConfigError { file: case.file, line: Some(case.line), message });
            }
        };
        let facts = Facts {
            tool: &case.tool,
            agent: &case.agent,
            effects: effects_of(config, &case.tool).unwrap_or_default(),
            arguments: &case.arguments,
            sql: sql.as_ref(),
        };
        let verdict = config.policy.rule(&facts);
        let differences = case.differences(&verdict);
        let why = if differences.is_empty() { Vec::new() } else { config.policy.explain(&facts) };
        let facts = facts.describe();
        Ok(CaseResult { verdict, differences, facts, why, case })
    }

    fn passed(&self) -> bool {
        self.differences.is_empty()
    }

    fn json(&self) -> Value {
        let mut told = ruling_json(&self.verdict, &self.why);
        told["name"] = json!(self.case.name);
        told["file"] = json!(self.case.file);
        told["line"] = json!(self.case.line);
        told["tool"] = json!(self.case.tool);
        told["facts"] = json!(self.facts);
        told["passed"] = json!(self.passed());
        let differences = self
            .differences
            .iter()
            .map(|one| json!({"key": one.key, "expected": one.expected, "found": one.found}));
        told["differences"] = differences.collect();
        told
    }

    fn report(&self, out: &Screen, policy: &PolicySource) -> String {
        let case = &self.case;
        let place = format!("{}:{}", visible(&case.file), case.line);
        let mut lines =
            vec![format!("{} {place}: {}", out.paint(Paint::Red, "✗"), visible(&case.name))];
        for VerdictDifference { key, expected, found } in &self.differences {
            let (expected, found) = (visible(expected), visible(found));
            lines.push(format!("    {key}: expected `{expected}`, found `{found}`"));
        }
        lines.push(format!("    {}", self.facts));
        lines.push(format!("    → {}", visible(&self.verdict.explain())));
        lines.push(format!("    why: {}", visible(&self.explain_command(policy))));
        lines.join("\n") + "\n"
    }

    /// The command that goes through the rules for this call, to be pasted into a shell.
    fn explain_command(&self, policy: &PolicySource) -> String {
        let case = &self.case;
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let mut command = format!(
            "holdpoint policy explain --config {} --tool {} --args {}",
            quoted(&policy.to_string()),
            quoted(&case.tool),
            quoted(&case.arguments.to_string())
        );
        if !case.agent.is_empty() {
            command.push_str(&format!(" --agent {}", quoted(&case.agent)));
        }
        if let Some(rows) = case.rows {
            command.push_str(&format!(" --rows {rows}"));
        }
        command
    }
}
