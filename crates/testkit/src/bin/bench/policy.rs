//! How long the policy takes to rule on a call, with 100 rules.

use std::hint::black_box;
use std::time::{Duration, Instant};

use domain::policy::{ConditionSpec, Facts, MatchSpec, Op, Policy, PolicySpec, RuleSpec, Then};
use domain::tool::Effects;
use serde_json::{Value, json};

use crate::goal::Goal;
use crate::report::{Report, Row, percentile};

const RULES: usize = 100;
/// A verdict is shorter than a look at the clock, so several share one: on as many different calls,
/// because the same text again and again is easier than life.
const AT_A_TIME: usize = 32;

const GOAL: (f64, f64) = (10.0, 2.0);

pub(crate) fn run(quick: bool, report: &Report) -> Result<(), Box<dyn std::error::Error>> {
    let samples = if quick { 2_000 } else { 50_000 };
    let mixed = Policy::compile(PolicySpec { rules: mixed(), ..PolicySpec::default() })?;
    let mut every = Vec::new();
    for (place, make) in PLACES {
        let calls: Vec<Call> = (0..AT_A_TIME).map(make).collect();
        let decided = (place != "no rule").then_some(place);
        if let Some(strayed) = calls.iter().find(|call| mixed.rule(&call.facts()).rule() != decided)
        {
            let verdict = mixed.rule(&strayed.facts()).explain();
            return Err(format!("{place} was to decide: {verdict}").into());
        }
        let times = time(&mixed, &calls, samples);
        let what = format!("policy, {RULES} rules, {place} decides");
        report.row(Row::new("policy", format!("{what}, p50"), micros(&times, 50), "µs"));
        every.extend(times);
    }
    let what = format!("policy, {RULES} rules, all four kinds of calls");
    let goal = Goal::at_most(GOAL.0).aim(GOAL.1);
    report.row(Row::new("policy", format!("{what}, p50"), micros(&every, 50), "µs").goal(goal));
    report.row(Row::new("policy", format!("{what}, p99"), micros(&every, 99), "µs"));

    // No index helps here: every rule has to look at the arguments.
    let alike = Policy::compile(PolicySpec { rules: alike(), ..PolicySpec::default() })?;
    let calls: Vec<Call> = (0..AT_A_TIME)
        .map(|n| Call::sql(format!("DELETE FROM audit_{n} WHERE created_at < '20{n:02}-01-01'")))
        .collect();
    let times = time(&alike, &calls, samples);
    let what = format!("policy, {RULES} regexes on one argument, none decides");
    report.row(Row::new("policy", format!("{what}, p50"), micros(&times, 50), "µs").goal(goal));
    report.row(Row::new("policy", format!("{what}, p99"), micros(&times, 99), "µs"));
    Ok(())
}

fn micros(times: &[Duration], percent: usize) -> f64 {
    percentile(times, percent) * 1e3
}

fn time(policy: &Policy, calls: &[Call], samples: usize) -> Vec<Duration> {
    let facts: Vec<Facts<'_>> = calls.iter().map(Call::facts).collect();
    let verdicts = || {
        let start = Instant::now();
        for facts in &facts {
            black_box(policy.rule(black_box(facts)));
        }
        start.elapsed() / facts.len() as u32
    };
    // The first ones fill caches, and let regexes build what they build lazily.
    (0..samples / 10).for_each(|_| {
        let _ = verdicts();
    });
    (0..samples).map(|_| verdicts()).collect()
}

struct Call {
    tool: &'static str,
    agent: &'static str,
    effects: Effects,
    arguments: Value,
}

impl Call {
    fn sql(sql: String) -> Call {
        let arguments = json!({"database": "shop", "sql": sql, "timeout_s": 30});
        Call { tool: "sql_modify", agent: "ops", effects: Effects::Transactional, arguments }
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            tool: self.tool,
            agent: self.agent,
            effects: self.effects,
            arguments: &self.arguments,
            sql: None,
        }
    }
}

/// Which rule decides, and calls on which it does.
type Place = (&'static str, fn(usize) -> Call);

const PLACES: [Place; 4] = [
    ("the first rule", |n| Call {
        tool: "shell_cmd",
        agent: "ops",
        effects: Effects::AtMostOnce,
        arguments: json!({"argv": ["rm", "-rf", format!("build-{n}")], "cwd": format!("/etc/site-{n}")}),
    }),
    ("the middle rule", |n| {
        Call::sql(format!("DELETE FROM orders WHERE state = 'abandoned' AND age_days > {}", 90 + n))
    }),
    ("the last rule", |n| {
        Call::sql(format!("UPDATE ledger_{} SET amount = 0 WHERE account = 'emea-{n}'", 2000 + n))
    }),
    ("no rule", |n| {
        Call::sql(format!("UPDATE carts SET note = 'checked by nightly job {n}' WHERE id = 88{n}"))
    }),
];

fn rule(name: String, tool: &str, then: Then, args: &[(&str, Op)]) -> RuleSpec {
    let args = args
        .iter()
        .map(|(pointer, op)| ConditionSpec { pointer: (*pointer).to_owned(), op: op.clone() });
    let matcher =
        MatchSpec { tool: Some(tool.to_owned()), args: args.collect(), ..MatchSpec::default() };
    RuleSpec { name, matcher, then, ..RuleSpec::default() }
}

fn regex(pattern: String) -> Op {
    Op::Regex(pattern)
}

/// What a company of some size may have after a year: rules about single tools, about families of
/// tools, about text, paths, amounts and lists in the arguments, in no particular order.
fn mixed() -> Vec<RuleSpec> {
    let glob = |pattern: &str| Op::Glob(pattern.to_owned());
    let mut rules =
        vec![rule("the first rule".into(), "shell_cmd", Then::Deny, &[("/cwd", glob("/etc/**"))])];
    while rules.len() < RULES - 1 {
        let number = rules.len();
        let name = format!("rule {number}");
        rules.push(match number % 10 {
            _ if number == RULES / 2 => rule(
                "the middle rule".into(),
                "sql_modify",
                Then::Ask,
                &[("/sql", regex(r"(?i)^\s*delete\s+from\s+orders\b".into()))],
            ),
            0 | 5 => rule(
                name,
                "sql_*",
                Then::Ask,
                &[("/sql", regex(format!(r"(?i)\b(drop|truncate|alter)\s+table\s+t{number}\b")))],
            ),
            1 => rule(name, &format!("mcp_vendor{number}_*"), Then::Ask, &[]),
            2 => rule(
                name,
                "shell_cmd",
                Then::Deny,
                &[("/argv", Op::Contains(format!("--force-{number}").into()))],
            ),
            3 => rule(
                name,
                &format!("deploy_{number}"),
                Then::Ask,
                &[("/project", Op::In(vec!["shop".into(), "billing".into()]))],
            ),
            4 => rule(
                name,
                "*_modify",
                Then::Deny,
                &[("/database", Op::Equals(format!("prod-{number}").into()))],
            ),
            6 => rule(
                name,
                "{http,grpc}_*",
                Then::Allow,
                &[("/url", glob(&format!("https://api{number}.example.com/**")))],
            ),
            7 => rule(
                name,
                "pay*",
                Then::Ask,
                &[("/amount", Op::MoreThan((number as u64 * 100).into()))],
            ),
            8 => rule(
                name,
                "*",
                Then::Deny,
                &[("/path", glob(&format!("/srv/customers/{number}/**")))],
            ),
            _ => {
                let mut rule = rule(name, "*", Then::Allow, &[]);
                rule.matcher.effects = vec![Effects::ReadOnly];
                rule.matcher.agent = Some(format!("reader-{number}*"));
                rule
            }
        });
    }
    rules.push(rule(
        "the last rule".into(),
        "sql_modify",
        Then::Deny,
        &[("/sql", regex(r"(?i)\bledger_\d{4}\b".into())), ("/timeout_s", Op::AtMost(60.into()))],
    ));
    rules
}

/// All about one tool and one argument.
fn alike() -> Vec<RuleSpec> {
    let verbs = ["insert", "update", "delete", "drop", "truncate"];
    (0..RULES)
        .map(|number| {
            let verb = verbs[number % verbs.len()];
            let pattern = format!(r"(?i)^\s*{verb}\b.*\btable_{number}\b");
            rule(format!("rule {number}"), "sql_modify", Then::Ask, &[("/sql", regex(pattern))])
        })
        .collect()
}
