//! A fresh preview of an edited call.

use domain::policy::{AskSpec, ConditionSpec, MatchSpec, Op, PolicySpec, RuleSpec, Then};
use reqwest::Method;
use serde_json::{Value, json};

use crate::fixtures::policy;
use crate::world::{Plan, World, planned, text, world};

async fn preview(world: &World, who: &str, hold: &Value, arguments: Value) -> (u16, Value) {
    let path = format!("/v1/holds/{}/preview", text(hold, "id"));
    world.post(who, &path, json!({ "arguments": arguments })).await
}

/// As everywhere, but `n` of `wipe` matters: 666 is never done, 7 is a matter for two, 8 for Ana alone.
fn picky() -> PolicySpec {
    let rule = |name: &str, n: i64, then, ask| RuleSpec {
        name: name.into(),
        matcher: MatchSpec {
            tool: Some("wipe".into()),
            args: vec![ConditionSpec { pointer: "/n".into(), op: Op::Equals(json!(n)) }],
            ..MatchSpec::default()
        },
        then,
        ask,
        ..RuleSpec::default()
    };
    let two = AskSpec { roles: vec!["dba".into()], quorum: 2, ..AskSpec::default() };
    let ana = AskSpec { people: vec!["ana".into()], ..AskSpec::default() };
    let mut spec = policy();
    spec.rules.insert(0, rule("never this", 666, Then::Deny, None));
    spec.rules.insert(0, rule("two for this", 7, Then::Ask, Some(two)));
    spec.rules.insert(0, rule("only ana", 8, Then::Ask, Some(ana)));
    spec
}

async fn picky_world() -> World {
    planned(Plan { policy: Some(picky()), ..Plan::default() }).await
}

#[tokio::test]
async fn what_is_previewed_is_what_an_approval_with_the_edit_makes() {
    let world = picky_world().await;
    let (_, hold) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let before = world.state().await;
    let (status, shown) = preview(&world, "dan", &hold, json!({"n": 2})).await;
    assert_eq!(status, 200, "{shown}");
    assert_eq!(shown["call"]["arguments"], json!({"n": 2}));
    assert_eq!((&shown["verdict"], &shown["may_approve"]), (&json!("ask"), &json!(true)));
    assert_eq!(shown["rule"], "about wipe");
    assert_ne!(shown["digest"], hold["digest"]);
    assert!(text(&shown["view"], "text").contains('2'), "{shown}");
    assert_eq!(world.state().await, before, "nothing is stored");
    assert_eq!(world.wiped(), 0, "nothing runs");

    let edit = json!({"verdict": "approve", "arguments": {"n": 2}});
    let (status, approved) = world.answer("dan", &hold, edit).await;
    assert_eq!((status, &approved["state"]), (200, &json!("approved")), "{approved}");
    assert_eq!(approved["digest"], shown["digest"]);
    assert_eq!(approved["view"]["digest"], shown["view"]["digest"], "{approved}\n{shown}");
}

#[tokio::test]
async fn the_rule_of_the_edited_call_counts() {
    let world = picky_world().await;
    let (_, hold) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let (status, denied) = preview(&world, "dan", &hold, json!({"n": 666})).await;
    assert_eq!((status, &denied["field"]), (422, &json!("arguments")), "{denied}");
    assert!(text(&denied, "detail").contains("never this"), "{denied}");
    let (_, two) = preview(&world, "dan", &hold, json!({"n": 7})).await;
    assert_eq!((&two["audience"]["quorum"], &two["may_approve"]), (&json!(2), &json!(true)));
    let (_, ana) = preview(&world, "dan", &hold, json!({"n": 8})).await;
    assert_eq!((&ana["rule"], &ana["may_approve"]), (&json!("only ana"), &json!(false)));
    for odd in [json!([1]), json!(null), json!("x")] {
        let (status, refused) = preview(&world, "dan", &hold, odd).await;
        assert_eq!((status, &refused["field"]), (422, &json!("arguments")), "{refused}");
    }
}

#[tokio::test]
async fn i30_only_those_who_may_answer_see_one() {
    let world = world().await;
    let (_, hold) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    for (who, status) in [("", 401), ("eve", 404), ("bot", 404), ("ana", 403), ("dan", 200)] {
        let (found, told) = preview(&world, who, &hold, json!({"n": 2})).await;
        assert_eq!(found, status, "{who}: {told}");
    }
    let (status, _) = world.answer("bob", &hold, json!({"verdict": "deny"})).await;
    assert_eq!(status, 200);
    let (status, late) = preview(&world, "dan", &hold, json!({"n": 2})).await;
    assert_eq!((status, &late["code"]), (409, &json!("hold_already_decided")), "{late}");
    let asked = json!({"kind": "choose", "title": "Which?", "options": ["a"]});
    let question = world.open_hold("gate", asked).await;
    let (status, other) = preview(&world, "bob", &question, json!({})).await;
    assert_eq!(status, 422, "{other}");
}

#[tokio::test]
async fn i41_previews_are_rationed() {
    let world = world().await;
    let (_, hold) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let path = format!("/v1/holds/{}/preview", text(&hold, "id"));
    let mut refused = None;
    for n in 0..40 {
        let body = json!({"arguments": {"n": n}});
        let asked = world.request("dan", Method::POST, &path).json(&body).send();
        let reply = asked.await.expect("a reply");
        if reply.status() == 429 {
            refused = Some(reply);
            break;
        }
        assert_eq!(reply.status(), 200);
    }
    let refused = refused.expect("not for ever");
    assert!(refused.headers().contains_key("retry-after"));
    let (status, _) = preview(&world, "bob", &hold, json!({"n": 2})).await;
    assert_eq!(status, 200, "others are not slowed down");
}
