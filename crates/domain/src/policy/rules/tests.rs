use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::policy::{ConditionSpec, MatchSpec, Op};

fn when(pointer: &str, name: &str, operand: Value) -> ConditionSpec {
    ConditionSpec { pointer: pointer.into(), op: Op::parse(name, operand).unwrap() }
}

fn rule(name: &str, then: Then, tool: &str, args: Vec<ConditionSpec>) -> RuleSpec {
    let matcher = MatchSpec { tool: Some(tool.into()), args, ..MatchSpec::default() };
    RuleSpec { name: name.into(), then, matcher, ..RuleSpec::default() }
}

fn policy(default: Then, rules: Vec<RuleSpec>) -> Policy {
    Policy::compile(PolicySpec { default, rules, ..PolicySpec::default() }).unwrap()
}

/// `deny r1` for a rule, `ask` for the default; `?` marks doubt.
fn check(policy: &Policy, tool: &str, arguments: Value, picture: &str) {
    let effects = Effects::AtMostOnce;
    let facts = Facts { tool, agent: "ops", effects, arguments: &arguments, sql: None };
    let verdict = policy.rule(&facts);
    let decision = match verdict.decision {
        PolicyDecision::Allow => "allow",
        PolicyDecision::Deny => "deny",
        PolicyDecision::Ask(_) => "ask",
    };
    let rule = verdict.rule.map(|rule| format!(" {rule}")).unwrap_or_default();
    let doubt = if verdict.in_doubt { "?" } else { "" };
    assert_eq!(format!("{decision}{rule}{doubt}"), picture, "{tool} {arguments}");
}

#[test]
fn the_first_match_wins_across_exact_and_wide_rules() {
    let policy = policy(
        Then::Ask,
        vec![
            rule("r1", Then::Deny, "sql_*", vec![when("/sql", "regex", json!("(?i)drop"))]),
            rule("r2", Then::Allow, "sql_query", vec![]),
            rule("r3", Then::Deny, "sql_*", vec![]),
            rule("r4", Then::Allow, "sql_modify", vec![]),
            rule("r5", Then::Allow, "*", vec![when("/safe", "equals", json!(true))]),
        ],
    );
    check(&policy, "sql_query", json!({"sql": "SELECT 1"}), "allow r2");
    check(&policy, "sql_query", json!({"sql": "DROP TABLE x"}), "deny r1");
    check(&policy, "sql_modify", json!({"sql": "DELETE"}), "deny r3");
    check(&policy, "shell_cmd", json!({"safe": true}), "allow r5");
    check(&policy, "shell_cmd", json!({"safe": "true"}), "ask");
    check(&policy, "shell_cmd", json!({}), "ask");
    check(&policy, "unknown", json!({}), "ask");
}

#[test]
fn agent_and_effects_narrow_a_rule() {
    let mut only = rule("r1", Then::Allow, "*", vec![]);
    only.matcher.agent = Some("ops-*".into());
    only.matcher.effects = vec![Effects::ReadOnly, Effects::Idempotent];
    let policy = policy(Then::Deny, vec![only]);
    let arguments = json!({});
    let decide = |agent, effects| {
        policy.rule(&Facts { tool: "t", agent, effects, arguments: &arguments, sql: None }).decision
    };
    assert_eq!(decide("ops-1", Effects::Idempotent), PolicyDecision::Allow);
    assert_eq!(decide("ops-1", Effects::AtMostOnce), PolicyDecision::Deny);
    assert_eq!(decide("ops", Effects::ReadOnly), PolicyDecision::Deny);
    assert_eq!(decide("", Effects::ReadOnly), PolicyDecision::Deny);
}

#[test]
fn in_doubt_the_stricter_way() {
    let small = || vec![when("/amount", "at_most", json!(100))];
    let allow = policy(Then::Ask, vec![rule("r1", Then::Allow, "pay", small())]);
    check(&allow, "pay", json!({"amount": 100}), "allow r1");
    check(&allow, "pay", json!({"amount": "100"}), "ask");
    check(&allow, "pay", json!({}), "ask");

    let elsewhere = || vec![when("/env", "not_in", json!(["dev", "staging"]))];
    let deny = policy(Then::Allow, vec![rule("r1", Then::Deny, "deploy", elsewhere())]);
    check(&deny, "deploy", json!({"env": "dev"}), "allow");
    check(&deny, "deploy", json!({"env": "prod"}), "deny r1");
    check(&deny, "deploy", json!({"env": ["prod"]}), "deny r1?");
    check(&deny, "deploy", json!({}), "deny r1?");

    // An ask in doubt holds against a later allow, and gives way to a later deny.
    let rest = |then| {
        policy(
            Then::Allow,
            vec![
                rule("r1", Then::Ask, "deploy", elsewhere()),
                rule("r2", then, "*", vec![]),
                rule("r3", Then::Deny, "*", vec![]),
            ],
        )
    };
    check(&rest(Then::Allow), "deploy", json!({}), "ask r1?");
    check(&rest(Then::Allow), "deploy", json!({"env": "dev"}), "allow r2");
    check(&rest(Then::Deny), "deploy", json!({}), "deny r2");
    let by_default = policy(Then::Deny, vec![rule("r1", Then::Ask, "deploy", elsewhere())]);
    check(&by_default, "deploy", json!({}), "deny");
}

#[test]
fn a_path_cannot_walk_out_of_an_allow_rule() {
    let policy = policy(
        Then::Ask,
        vec![
            rule("r1", Then::Deny, "read", vec![when("/path", "glob", json!("/etc/**"))]),
            rule("r2", Then::Allow, "read", vec![when("/path", "glob", json!("/srv/**"))]),
        ],
    );
    check(&policy, "read", json!({"path": "/srv/a/b"}), "allow r2");
    check(&policy, "read", json!({"path": "/etc/passwd"}), "deny r1");
    check(&policy, "read", json!({"path": "/srv/../etc/passwd"}), "deny r1?");
    check(&policy, "read", json!({"path": "/home"}), "ask");
}

#[test]
fn rules_say_whom_to_ask_and_for_how_long() {
    let mut asks = rule("r1", Then::Ask, "t", vec![]);
    asks.risk = Some(Risk::High);
    asks.ask = Some(AskSpec {
        roles: vec!["dba".into()],
        quorum: 2,
        exclude_requester: true,
        expires_ms: Some(5),
        ..AskSpec::default()
    });
    let policy = policy(Then::Ask, vec![asks]);
    let arguments = json!({});
    let effects = Effects::AtMostOnce;
    let facts = Facts { tool: "t", agent: "ops", effects, arguments: &arguments, sql: None };
    let verdict = policy.rule(&facts);
    let PolicyDecision::Ask(ask) = &verdict.decision else { panic!("it asks") };
    assert_eq!(
        (ask.quorum, ask.exclude_requester, ask.expires_ms, ask.expires_by_rule),
        (2, true, 5, true)
    );
    assert_eq!(verdict.risk, Risk::High);
    let verdict = policy.rule(&Facts { tool: "other", ..facts });
    let PolicyDecision::Ask(ask) = &verdict.decision else { panic!("it asks") };
    assert_eq!((ask.expires_ms, ask.expires_by_rule), (24 * 60 * 60 * 1000, false));
    assert!(ask.names_nobody() && verdict.rule.is_none() && verdict.risk == Risk::Medium);
}

#[test]
fn mistakes_name_rule_and_line() {
    let refused = |change: fn(&mut RuleSpec)| {
        let mut bad = rule("deletes", Then::Ask, "t", vec![]);
        bad.line = 12;
        change(&mut bad);
        let spec = PolicySpec { rules: vec![bad], ..PolicySpec::default() };
        Policy::compile(spec).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|rule| rule.matcher.args = vec![when("x", "exists", json!(true))]),
        "line 12: rule `deletes`: the condition exists on `x` is not at a JSON pointer, which looks \
         like `/path` or `/items/0`"
    );
    assert_eq!(
        refused(|rule| rule.matcher.tool = Some("[a".into())),
        "line 12: rule `deletes`: the tool pattern unclosed character class; missing ']'"
    );
    assert!(refused(|rule| rule.matcher.agent = Some(String::new())).contains("is empty"));
    assert!(
        refused(|rule| rule.ask = Some(AskSpec { quorum: 0, ..AskSpec::default() }))
            .contains("a quorum of 0")
    );
    assert!(
        refused(|rule| {
            rule.then = Then::Allow;
            rule.ask = Some(AskSpec::default());
        })
        .contains("it says whom to ask, but its `then` is `allow`")
    );
    assert!(
        refused(|rule| {
            rule.ask = Some(AskSpec { expires_ms: Some(0), ..AskSpec::default() });
        })
        .contains("expires at once")
    );
    assert!(refused(|rule| rule.name = " ".into()).contains("it has no name"));
    let twice = vec![rule("a", Then::Ask, "t", vec![]), rule("a", Then::Ask, "u", vec![])];
    let refusal =
        Policy::compile(PolicySpec { rules: twice, ..PolicySpec::default() }).unwrap_err();
    assert!(refusal.why.contains("same name"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ab/.*\\\\\0é]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[ab0]{0,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_rules() -> impl Strategy<Value = Vec<RuleSpec>> {
    let condition =
        ("(/[ab0~]{0,2}){0,3}", proptest::sample::select(Op::NAMES.to_vec()), any_value())
            .prop_filter_map("a condition that can be read", |(pointer, name, operand)| {
                Some(ConditionSpec { pointer, op: Op::parse(name, operand).ok()? })
            });
    let rule = (
        proptest::option::of("[ab*?]{1,3}"),
        proptest::collection::vec(condition, 0..3),
        proptest::sample::select(vec![Then::Allow, Then::Deny, Then::Ask]),
    );
    proptest::collection::vec(rule, 0..8).prop_map(|rules| {
        let named = rules.into_iter().enumerate().map(|(index, (tool, args, then))| RuleSpec {
            name: format!("r{index}"),
            then,
            matcher: MatchSpec { tool, args, ..MatchSpec::default() },
            ..RuleSpec::default()
        });
        named.collect()
    })
}

/// What the index must come to: every rule in order, both ways where it cannot be told, and nothing
/// remembered of where another rule looked.
fn by_hand(policy: &Policy, rules: &[Rule], facts: &Facts<'_>) -> Verdict {
    let Some((rule, rest)) = rules.split_first() else { return policy.default.clone() };
    match rule.truth(facts, &mut Looked::new(facts.arguments, 0)) {
        Truth::No => by_hand(policy, rest, facts),
        Truth::Yes => rule.verdict.clone(),
        Truth::Doubt => {
            let otherwise = by_hand(policy, rest, facts);
            if rule.spec.then == Then::Allow {
                return otherwise;
            }
            Verdict { in_doubt: true, ..rule.verdict.clone() }.stricter(otherwise)
        }
    }
}

proptest! {
    #[test]
    fn i06_no_rule_and_no_value_can_make_the_policy_panic_or_stray(
        rules in any_rules(), arguments in any_value(), tool in "[ab]{0,3}",
    ) {
        let spec = PolicySpec { rules, ..PolicySpec::default() };
        let Ok(policy) = Policy::compile(spec) else { return Ok(()) };
        let facts = Facts {
            tool: &tool, agent: "ops", effects: Effects::AtMostOnce, arguments: &arguments, sql: None,
        };
        let verdict = policy.rule(&facts);
        prop_assert_eq!(&verdict.decision, &by_hand(&policy, &policy.rules, &facts).decision);
        // Only a rule that is certain can allow, since the default asks.
        if verdict.decision == PolicyDecision::Allow {
            prop_assert!(verdict.rule.is_some() && !verdict.in_doubt);
        }
        prop_assert!(policy.explain(&facts).len() == policy.rules.len() + 1);
    }
}
