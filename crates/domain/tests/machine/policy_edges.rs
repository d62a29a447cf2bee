//! The policy at its edges: every condition of a rule counts, each looks at its own place, ties and bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdpoint_domain::hold::Risk;
use holdpoint_domain::policy::{
    AskSpec, ConditionSpec, Conditions, Decider, Directory, Facts, MatchSpec, Op, Opinion, Policy,
    PolicyDecision, PolicySpec, RuleSpec, SqlCondition, Then, Verdict,
};
use holdpoint_domain::session::{Command, Recovered};
use holdpoint_domain::tool::Effects;
use serde_json::{Value, json};

use crate::world::{World, ask, person, policy, rule};

const TEN_YEARS_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1000;

fn at(pointer: &str, op: Op) -> ConditionSpec {
    ConditionSpec { pointer: pointer.into(), op }
}

fn conditions(specs: Vec<ConditionSpec>) -> Result<Conditions, String> {
    Conditions::compile(specs)
}

#[track_caller]
fn holds(specs: Vec<ConditionSpec>, arguments: &Value) -> bool {
    conditions(specs).expect("sound conditions").hold_for(arguments)
}

fn with_args(name: &str, then: Then, args: Vec<ConditionSpec>) -> RuleSpec {
    let matcher = MatchSpec { args, ..MatchSpec::default() };
    RuleSpec { name: name.into(), then, matcher, ..RuleSpec::default() }
}

fn ruled(policy: &Policy, arguments: &Value) -> Verdict {
    let effects = Effects::AtMostOnce;
    policy.rule(&Facts { tool: "pay", agent: "ops", effects, arguments, sql: None })
}

#[test]
fn every_condition_of_a_rule_counts_in_whatever_order() {
    let small = || at("/amount", Op::AtMost(100.into()));
    let known = || at("/to", Op::In(vec![json!("ana"), json!("bob")]));
    let here = || at("/currency", Op::Equals(json!("EUR")));
    let sound = json!({"amount": 5, "to": "ana", "currency": "EUR"});
    for specs in
        [[small(), known(), here()], [known(), here(), small()], [here(), small(), known()]]
    {
        let specs = specs.to_vec();
        assert!(holds(specs.clone(), &sound));
        for wrong in [
            json!({"amount": 500, "to": "ana", "currency": "EUR"}),
            json!({"amount": 5, "to": "eve", "currency": "EUR"}),
            json!({"amount": 5, "to": "ana", "currency": "USD"}),
        ] {
            assert!(!holds(specs.clone(), &wrong), "{wrong}");
        }
    }
}

/// Stores and surfaces read a grant's conditions from here: fewer of them would be a wider grant.
#[test]
fn i08_conditions_can_be_read_as_they_were_written() {
    let specs = vec![at("/amount", Op::AtMost(100.into())), at("/to", Op::Equals(json!("ana")))];
    assert_eq!(conditions(specs.clone()).unwrap().specs(), specs);
}

#[test]
fn rules_that_look_at_different_places_each_look_at_their_own() {
    let policy = policy(vec![
        with_args("not to eve", Then::Deny, vec![at("/to", Op::Equals(json!("eve")))]),
        with_args(
            "small and known",
            Then::Allow,
            vec![at("/amount", Op::AtMost(100.into())), at("/to", Op::Equals(json!("ana")))],
        ),
    ]);
    let explain = |arguments| ruled(&policy, &arguments).explain();
    assert!(explain(json!({"amount": 1, "to": "eve"})).starts_with("denied"));
    assert!(explain(json!({"amount": 1, "to": "ana"})).starts_with("allowed"));
    assert!(explain(json!({"amount": 101, "to": "ana"})).starts_with("ask"));
    assert!(explain(json!({"to": "ana"})).starts_with("ask"));
}

#[test]
fn nothing_is_told_for_certain_where_a_value_is_null() {
    let null = || at("/a", Op::Equals(Value::Null));
    let list = || at("/a", Op::Equals(json!([null_value(), 1])));
    assert!(holds(vec![list()], &json!({"a": [null_value(), 1]})), "a null within is a value");
    assert!(!holds(vec![list()], &json!({"a": [2, 1]})));
    assert!(!holds(vec![null()], &json!({"a": 1})));
    // Below a null there is nothing: that is certain, and no doubt.
    assert!(holds(vec![at("/a/b", Op::Exists(false))], &json!({"a": null_value()})));
    assert!(!holds(vec![at("/a/b", Op::Exists(false))], &json!({"a": "text"})));
}

fn null_value() -> Value {
    Value::Null
}

#[test]
fn a_percent_sign_in_a_path_is_a_way_around_only_where_it_hides_one() {
    let below = || at("/path", Op::Glob("/tmp/*".into()));
    for plain in ["/tmp/a%20b", "/tmp/x2e", "/tmp/100%", "/tmp/52f"] {
        assert!(holds(vec![below()], &json!({ "path": plain })), "{plain}");
    }
    for around in ["/tmp/%2e%2E", "/tmp/a%2Fb", "/tmp/a%5cb", "/tmp/../etc", "/tmp//b"] {
        assert!(!holds(vec![below()], &json!({ "path": around })), "{around}");
    }
}

#[test]
fn rules_conditions_values_and_patterns_are_bounded_and_the_bound_itself_is_allowed() {
    let exists = |n: usize| at(&format!("/f{n}"), Op::Exists(true));
    let so_many = |count: usize| conditions((0..count).map(exists).collect()).is_ok();
    assert!(so_many(64) && !so_many(65) && !so_many(66));
    let one_of = |count: usize| {
        let values = || (0..count).map(Value::from).collect::<Vec<_>>();
        let both = [Op::In(values()), Op::NotIn(values())]
            .map(|op| conditions(vec![at("/a", op)]).is_ok());
        assert_eq!(both[0], both[1], "{count}");
        both[0]
    };
    assert!(one_of(1) && one_of(10_000) && !one_of(10_001) && !one_of(10_002) && !one_of(0));
    let pattern = |bytes: usize| {
        let texts = [Op::Glob("x".repeat(bytes)), Op::Regex("x".repeat(bytes))];
        let both = texts.map(|op| conditions(vec![at("/a", op)]).is_ok());
        assert_eq!(both[0], both[1], "{bytes}");
        both[0]
    };
    assert!(pattern(4_096) && !pattern(4_097));
    let rules = |count: usize| {
        let rules = (0..count).map(|n| with_args(&format!("rule {n}"), Then::Deny, Vec::new()));
        Policy::compile(PolicySpec { rules: rules.collect(), ..PolicySpec::default() }).is_ok()
    };
    assert!(rules(10_000) && !rules(10_001) && !rules(10_002));
}

#[test]
fn i27_a_question_expires_after_at_most_ten_years_and_not_at_once() {
    let compiles = |expires_ms| {
        let ask = Some(AskSpec { expires_ms: Some(expires_ms), ..AskSpec::default() });
        let rules = vec![rule("asks", "pay", Then::Ask, ask)];
        let by_rule = Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).is_ok();
        let spec = PolicySpec { default_expires_ms: expires_ms, ..PolicySpec::default() };
        assert_eq!(by_rule, Policy::compile(spec).is_ok(), "{expires_ms}");
        by_rule
    };
    assert!(compiles(1) && compiles(TEN_YEARS_MS));
    for wrong in [0, TEN_YEARS_MS + 1, TEN_YEARS_MS + 2, u64::MAX] {
        assert!(!compiles(wrong), "{wrong}");
    }
}

#[test]
fn a_condition_over_tables_names_at_least_one_and_not_too_many() {
    let compiles = |condition: SqlCondition| {
        let matcher = MatchSpec { sql: vec![condition], ..MatchSpec::default() };
        let rule = RuleSpec { name: "r".into(), then: Then::Deny, matcher, ..RuleSpec::default() };
        Policy::compile(PolicySpec { rules: vec![rule], ..PolicySpec::default() }).map(drop)
    };
    let tables = |count: usize| (0..count).map(|n| format!("t{n}")).collect::<Vec<_>>();
    for count in [1, 1_000] {
        compiles(SqlCondition::TablesAnyOf(tables(count))).unwrap();
        compiles(SqlCondition::TablesOnly(tables(count))).unwrap();
    }
    for count in [0, 1_001] {
        let why = compiles(SqlCondition::TablesAnyOf(tables(count))).unwrap_err().why;
        assert!(why.contains("`sql.tables` any_of"), "{why}");
        compiles(SqlCondition::TablesOnly(tables(count))).unwrap_err();
    }
}

#[test]
fn words_of_the_configuration_mean_what_they_say() {
    for then in [Then::Allow, Then::Ask, Then::Deny] {
        assert_eq!(Then::parse(then.name()), Some(then));
    }
    assert_eq!(Then::parse("maybe"), None);
    for (risk, name) in Risk::ALL.into_iter().zip(["low", "medium", "high", "critical"]) {
        assert_eq!((risk.name(), Risk::parse(name)), (name, Some(risk)));
    }
    assert_eq!(Risk::parse("none"), None);
    let asked = World::new().say("x").think("", &[("wipe", json!({}))]).hold(0);
    assert_eq!(asked.state.state_name().to_string(), "pending");
    assert_eq!(asked.question.kind().to_string(), "approve");
    let found = [Recovered::Again, Recovered::Unknown { evidence: String::new() }];
    assert_eq!(found.map(|found| found.name()), ["may run again", "unknown"]);
}

#[test]
fn i07_of_two_equally_strict_verdicts_the_first_is_asked() {
    let of = |name: &str| {
        let rules = vec![rule(name, "pay", Then::Ask, ask(&["dba"], 1))];
        ruled(&policy(rules), &json!({}))
    };
    let both = of("first").stricter(of("second"));
    assert_eq!(both.rule(), Some("first"));
}

#[test]
fn a_risk_that_either_of_two_verdicts_states_is_stated() {
    let of = |risk| {
        let stated = RuleSpec { risk, ..rule("r", "pay", Then::Ask, ask(&["dba"], 1)) };
        ruled(&policy(vec![stated]), &json!({}))
    };
    let (stated, silent) = (of(Some(Risk::High)), of(None));
    assert!(stated.risk_stated && !silent.risk_stated);
    assert!(stated.clone().stricter(silent.clone()).risk_stated);
    assert!(silent.clone().stricter(stated).risk_stated);
    assert!(!silent.clone().stricter(silent).risk_stated);
}

#[test]
fn code_that_says_how_risky_a_call_is_says_so() {
    let of = |rules_risk: Option<Risk>, own: Risk| {
        let stated = RuleSpec { risk: rules_risk, ..rule("r", "pay", Then::Allow, None) };
        let policy = policy(vec![stated]).with_decider(Decider::new("own", move |_| {
            Ok(Opinion::Ask { whom: AskSpec::default(), risk: own })
        }));
        ruled(&policy, &json!({})).risk_stated
    };
    assert!(of(None, Risk::High), "the code says so");
    assert!(of(Some(Risk::Low), Risk::Medium), "the rule says so");
    assert!(!of(None, Risk::Medium), "nobody says more than the default");
}

/// The version of the policy is the same, and its code has changed its mind since the approval.
#[test]
fn i07_code_that_asks_for_more_before_the_start_is_heard() {
    let stricter = Arc::new(AtomicBool::new(false));
    let heard = stricter.clone();
    let mut world = World::new();
    assert!(!world.policy.may_change_its_mind(), "rules alone say the same tomorrow");
    world.policy = policy(vec![rule("wiping needs a dba", "wipe", Then::Ask, ask(&["dba"], 1))])
        .with_decider(Decider::new("office hours", move |_| {
            let quorum = if heard.load(Ordering::SeqCst) { 2 } else { 1 };
            let whom = AskSpec { roles: vec!["dba".into()], quorum, ..AskSpec::default() };
            Ok(Opinion::ask(whom))
        }));
    assert!(world.policy.may_change_its_mind());
    world.say("x").think("", &[("wipe", json!({}))]);
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    stricter.store(true, Ordering::SeqCst);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty(), "one approval is not enough by now");
    assert_eq!((world.hold(1).state.name(), world.hold(1).audience.quorum), ("pending", 2));
}

#[test]
fn how_many_people_a_question_could_reach_is_counted_by_whom_it_names() {
    let people = World::new().people;
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let reach = |roles: &[&str], ids: &[&str]| people.reach(&named(roles), &named(ids));
    assert_eq!(reach(&["dba"], &[]), 2);
    assert_eq!(reach(&[], &["eve"]), 1);
    assert_eq!(reach(&["dba"], &["ana", "eve"]), 3, "ana is one person");
    assert_eq!(reach(&[], &[]), 2, "one admin, and whoever asks");
    let admins = holdpoint_domain::person::People::new([person("root", &["admin"])]);
    assert_eq!(admins.reach(&[], &[]), 1, "there is nobody else who could ask");
    assert!(matches!(ruled(&World::new().policy, &json!({})).decision, PolicyDecision::Ask(_)));
}
