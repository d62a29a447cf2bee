//! What admins look at: figures, people, tools, the policy, grants, the log; and snoozes, which are anybody's own.

use domain::policy::{MatchSpec, RuleSpec, Then};
use engine::Undelivered;
use serde_json::{Value, json};

use crate::fixtures::policy;
use crate::world::{Plan, list, planned, text, world};

#[tokio::test]
async fn i30_only_admins_see_how_it_is_set_up() {
    let world = world().await;
    for path in ["/v1/figures", "/v1/people", "/v1/tools", "/v1/policy/replay", "/v1/audit"] {
        assert_eq!(world.get("ana", path).await.0, 200, "{path}");
        assert_eq!(world.get("bob", path).await.0, 403, "{path}");
        assert_eq!(world.get("gate", path).await.0, 403, "{path}");
        assert_eq!(world.get("", path).await.0, 401, "{path}");
    }
    let call = json!({"tool": "wipe", "arguments": {}});
    assert_eq!(world.post("bob", "/v1/policy/explain", call).await.0, 403);
    assert_eq!(world.post("bob", "/v1/audit/verify", json!({})).await.0, 403);
}

#[tokio::test]
async fn people_and_tools_are_listed_as_they_are_configured() {
    let world = world().await;
    let (_, people) = world.get("ana", "/v1/people").await;
    let bob = list(&people, "items").iter().find(|one| one["id"] == "bob").expect("bob");
    assert_eq!((&bob["name"], &bob["roles"]), (&json!("BOB"), &json!(["dba"])));
    assert_eq!((&bob["tokens"], &bob["identities"]), (&json!(1), &json!([])));
    let (_, tools) = world.get("ana", "/v1/tools").await;
    let tool = |name: &str| list(&tools, "items").iter().find(|one| one["name"] == name).cloned();
    let deploy = tool("deploy").expect("deploy");
    assert_eq!((&deploy["two_phase"], &deploy["agents"]), (&json!(true), &json!(["ops"])));
    assert_eq!(tool("look").expect("look")["effects"], "read_only");
    assert_eq!(tool("locate").expect("locate")["place"], "client");
}

#[tokio::test]
async fn i30_who_may_see_a_hold_may_see_what_its_tool_takes() {
    let world = world().await;
    let (_, hold) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let path = format!("/v1/holds/{}/tool", text(&hold, "id"));
    let (status, told) = world.get("dan", &path).await;
    assert_eq!(status, 200, "{told}");
    let (_, tools) = world.get("ana", "/v1/tools").await;
    let wipe = list(&tools, "items").iter().find(|one| one["name"] == "wipe").expect("wipe");
    for field in ["name", "description", "schema", "effects", "place"] {
        assert_eq!(told["tool"][field], wipe[field], "{field}");
    }
    // Nothing of other agents that have it.
    assert_eq!(told["tool"]["agents"], json!([hold["agent"]]));
    assert_eq!(world.get("eve", &path).await.0, 404);

    // A program carries its own calls out, also those that are named like a tool of ours.
    let call =
        json!({"kind": "approve", "title": "T", "call": {"tool": "wipe", "arguments": {"n": 1}}});
    let outside = world.open_hold("gate", call).await;
    let path = format!("/v1/holds/{}/tool", text(&outside, "id"));
    assert_eq!(world.get("gate", &path).await, (200, json!({"tool": null})));
}

#[tokio::test]
async fn figures_count_what_people_did() {
    let world = world().await;
    for (who, answer) in
        [("bob", json!({"verdict": "approve"})), ("dan", json!({"verdict": "deny"}))]
    {
        let (_, hold) = world.held("bob", "call wipe {}").await;
        assert_eq!(world.answer(who, &hold, answer).await.0, 200);
    }
    world.held("bob", "call wipe {}").await;
    let (_, figures) = world.get("ana", "/v1/figures?days=30").await;
    let days = list(&figures, "by_day");
    assert_eq!((days.len(), &figures["complete"]), (30, &json!(true)));
    let today = days.last().expect("today");
    for (name, count) in [("asked", 3), ("approved", 1), ("denied", 1), ("open", 1)] {
        assert_eq!(
            (&today[name], &figures["total"][name]),
            (&json!(count), &json!(count)),
            "{name}"
        );
    }
    assert_eq!(figures["approved_within_1s"], 1, "a test reads fast");
    assert!(figures["waiting_ms"]["p95"].as_u64() >= figures["waiting_ms"]["p50"].as_u64());
    let load: Vec<(&str, u64)> = list(&figures, "people")
        .iter()
        .map(|one| (one["person"].as_str().unwrap(), one["decided"].as_u64().unwrap()))
        .collect();
    assert_eq!(load, [("bob", 1), ("dan", 1)]);
    assert_eq!(list(&figures, "tools")[0]["tool"], "wipe");
    for days in ["0", "31", "x"] {
        assert_eq!(world.get("ana", &format!("/v1/figures?days={days}")).await.0, 400, "{days}");
    }
}

#[tokio::test]
async fn the_policy_explains_itself_without_a_call() {
    let world = world().await;
    let before = world.state().await;
    let explain = async |body: Value| {
        let (status, told) = world.post("ana", "/v1/policy/explain", body).await;
        assert_eq!(status, 200, "{told}");
        told
    };
    let asked = explain(json!({"tool": "wipe", "arguments": {"n": 1}, "agent": "ops"})).await;
    assert_eq!((&asked["decision"], &asked["rule"]), (&json!("ask"), &json!("about wipe")));
    assert_eq!(asked["ask"]["roles"], json!(["dba"]));
    let why = list(&asked, "why");
    let last = why.last().and_then(Value::as_str).expect("a line");
    assert!(last.starts_with("ask role `dba` by rule `about wipe`"), "{asked}");
    let free = explain(json!({"tool": "look", "arguments": {}})).await;
    assert_eq!((&free["decision"], &free["ask"]), (&json!("allow"), &Value::Null));
    let unknown = explain(json!({"tool": "unheard", "arguments": {}})).await;
    assert_eq!((&unknown["known_tool"], &unknown["decision"]), (&json!(false), &json!("ask")));
    let odd = explain(json!({"tool": "connect", "arguments": {"host": 1}})).await;
    assert!(text(&odd, "refused_by_tool").contains("schema"), "{odd}");
    assert_eq!((world.state().await, world.wiped()), (before, 0));
    for body in [json!({"tool": "", "arguments": {}}), json!({"tool": "x", "arguments": [1]})] {
        assert_eq!(world.post("ana", "/v1/policy/explain", body).await.0, 422);
    }
}

/// The journal is replayed under a policy in which `look` is asked about and `wipe` is denied.
#[tokio::test]
async fn what_would_have_happened_is_told_by_the_policy_of_now() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    world.until_over("bob", &session).await;
    let free = world.session("bob").await;
    world.say("bob", &free, "call look {}").await;
    world.until_over("bob", &free).await;
    let outside =
        json!({"kind": "approve", "title": "T", "call": {"tool": "never", "arguments": {}}});
    world.open_hold("gate", outside).await;
    let (_, same) = world.get("ana", "/v1/policy/replay?days=30").await;
    assert_eq!((&same["calls"], &same["same"]), (&json!(3), &json!(3)), "{same}");
    assert_eq!((&same["changes"], &same["complete"]), (&json!([]), &json!(true)));

    let mut spec = policy();
    let rule = |tool: &str, then| RuleSpec {
        name: format!("now {tool}"),
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then,
        ..RuleSpec::default()
    };
    for (tool, then) in [("look", Then::Ask), ("wipe", Then::Deny), ("never", Then::Allow)] {
        spec.rules.insert(0, rule(tool, then));
    }
    let store = world.store.clone();
    let later = planned(Plan { policy: Some(spec), store: Some(store), ..Plan::default() }).await;
    let (_, replay) = later.get("ana", "/v1/policy/replay?days=30").await;
    assert_eq!((&replay["calls"], &replay["same"]), (&json!(3), &json!(0)), "{replay}");
    let mut changes: Vec<String> = list(&replay, "changes")
        .iter()
        .map(|one| {
            let word = |name| one[name].as_str().unwrap_or_default();
            format!("{} {} {} {}", word("tool"), word("from"), word("to"), word("rule"))
        })
        .collect();
    changes.sort();
    let expected =
        ["look allow ask now look", "never deny allow now never", "wipe ask deny now wipe"];
    assert_eq!(changes, expected);
}

#[tokio::test]
async fn a_grant_says_what_it_would_have_covered() {
    let world = world().await;
    for n in [1, 2, 2] {
        let (_, hold) = world.held("bob", &format!("call wipe {{\"n\": {n}}}")).await;
        world.answer("dan", &hold, json!({"verdict": "deny"})).await;
    }
    let (_, hold) = world.held("bob", r#"call wipe {"n": 2}"#).await;
    let args = json!([{"pointer": "/n", "equals": 2}]);
    let yes = json!({"verdict": "approve", "scope": "session", "grant": {"args": args}});
    let (status, told) = world.answer("dan", &hold, yes).await;
    assert_eq!(status, 200, "{told}");
    let (_, grants) = world.get("dan", "/v1/grants").await;
    let path = format!("/v1/grants/{}/matches", text(&list(&grants, "items")[0], "id"));
    let (status, found) = world.get("dan", &path).await;
    assert_eq!(status, 200, "{found}");
    assert_eq!((&found["looked_at"], &found["count"]), (&json!(4), &json!(3)), "{found}");
    assert_eq!(list(&found, "matches")[0]["hold"], hold["id"], "the newest is first");
    assert_eq!(world.get("eve", &path).await.0, 404);
}

#[tokio::test]
async fn the_log_is_searched_either_way_and_checked() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    world.answer("dan", &hold, json!({"verdict": "deny", "reason": "Not Today"})).await;
    let seqs = async |query: &str| {
        let (status, page) = world.get("ana", &format!("/v1/audit?{query}")).await;
        assert_eq!(status, 200, "{page}");
        let numbers = list(&page, "items").iter().map(|one| one["seq"].as_u64().unwrap());
        (numbers.collect::<Vec<_>>(), page["next"].clone())
    };
    let (all, end) = seqs("limit=200").await;
    assert_eq!((all.clone(), end), ((1..=all.len() as u64).collect(), Value::Null));
    let (mut newest, _) = seqs("limit=200&sort=newest").await;
    newest.reverse();
    assert_eq!(newest, all);
    let (said, _) = seqs("q=not%20today").await;
    assert_eq!(said.len(), 1);
    assert_eq!(seqs("event=hold_decided&sort=newest").await.0, said);
    assert_eq!(seqs("event=hold_decided&q=tomorrow").await.0, Vec::<u64>::new());
    // Page by page, in both orders.
    for sort in ["oldest", "newest"] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let (page, next) = seqs(&format!("limit=3&sort={sort}{cursor}")).await;
            found.extend(page);
            let Some(next) = next.as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        if sort == "newest" {
            found.reverse();
        }
        assert_eq!(found, all, "{sort}");
    }
    assert_eq!(world.get("ana", "/v1/audit?sort=newest&after=3").await.0, 400);

    let (status, checked) = world.post("ana", "/v1/audit/verify", json!({})).await;
    assert_eq!(status, 200, "{checked}");
    assert_eq!((&checked["ok"], &checked["why"]), (&json!(true), &Value::Null), "{checked}");
    assert_eq!(checked["entries"], all.len());
}

#[tokio::test]
async fn a_snooze_is_a_persons_own() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let path = format!("/v1/holds/{}/snooze", text(&hold, "id"));
    let before = world.state().await;
    let until = |ms: u64| world.engine.now().plus_ms(ms).to_string();
    let hour = until(3_600_000);
    let (status, snoozed) = world.post("dan", &path, json!({"until": hour})).await;
    assert_eq!((status, &snoozed["until"]), (200, &json!(hour)), "{snoozed}");
    let listed = async |who: &str| list(&world.get(who, "/v1/snoozes").await.1, "items").clone();
    assert_eq!(listed("dan").await, [snoozed]);
    assert_eq!(listed("bob").await, Vec::<Value>::new());
    assert_eq!(world.state().await, before, "the hold knows nothing of it");
    assert_eq!(world.get("dan", "/v1/holds/counts").await.1["mine"], 1, "it waits all the same");
    for (who, body, expected) in [
        ("eve", json!({"until": hour}), 404),
        ("gate", json!({"until": hour}), 404),
        ("dan", json!({"until": "soon"}), 422),
        ("dan", json!({"until": until(8 * 24 * 3_600_000)}), 422),
        ("dan", json!({"until": "2001-01-01T00:00:00Z"}), 422),
    ] {
        assert_eq!(world.post(who, &path, body).await.0, expected, "{who}");
    }
    assert_eq!(world.get("gate", "/v1/snoozes").await.0, 403);
    assert_eq!(world.delete("dan", &path).await.0, 204);
    assert_eq!(world.delete("dan", &path).await.0, 204, "once more changes nothing");
    assert_eq!(listed("dan").await, Vec::<Value>::new());
    world.answer("bob", &hold, json!({"verdict": "deny"})).await;
    assert_eq!(world.post("dan", &path, json!({"until": hour})).await.0, 409);
}

#[tokio::test]
async fn channels_tell_their_last_errors_and_can_be_tried() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let id = text(&hold, "id").parse().expect("an id");
    let now = world.engine.now();
    for (channel, why, ago) in [("desk", "old", 2_000), ("desk", "new", 1_000), ("other", "x", 0)] {
        let told = Undelivered {
            channel: channel.into(),
            to: "bob".into(),
            why: why.into(),
            at: now.minus_ms(ago),
        };
        world.engine.note_undelivered(id, why, &told).await.expect("noted");
    }
    let (_, channels) = world.get("ana", "/v1/channels").await;
    let desk = &list(&channels, "items")[0];
    assert_eq!((&desk["name"], &desk["platform"]), (&json!("desk"), &json!("paper")));
    let errors: Vec<&str> =
        list(desk, "last_errors").iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(errors, ["new", "old"]);
    let (status, sent) = world.post("ana", "/v1/channels/test", json!({"channel": "desk"})).await;
    assert_eq!((status, sent), (200, json!({"sent": true, "to": "ana"})));
    let (status, none) = world.post("ana", "/v1/channels/test", json!({"channel": "x"})).await;
    assert_eq!((status, &none["field"]), (422, &json!("channel")), "{none}");
}
