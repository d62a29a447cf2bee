//! Search, sections, counts, and what was asked before.

use serde_json::{Value, json};

use crate::world::{World, list, text, world};

async fn ids(world: &World, who: &str, query: &str) -> Vec<String> {
    let (status, page) = world.get(who, &format!("/v1/holds?{query}")).await;
    assert_eq!(status, 200, "{query}: {page}");
    list(&page, "items").iter().map(|hold| text(hold, "id")).collect()
}

fn question(title: &str, expires_in_s: u64, risk: &str) -> Value {
    json!({
        "kind": "choose", "title": title, "options": ["a"], "risk": risk, "expires_in_s": expires_in_s,
        "audience": {"people": ["bob"]},
    })
}

#[tokio::test]
async fn the_inbox_is_searched_and_sorted() {
    let world = world().await;
    let (_, wipe) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let late = world.open_hold("gate", question("Late", 5_000, "low")).await;
    let soon = world.open_hold("gate", question("Soon", 60, "low")).await;
    let [wipe_id, late_id, soon_id] = [&wipe, &late, &soon].map(|hold| text(hold, "id"));
    let tag = text(&late, "tag").to_lowercase();
    for (query, expected) in [
        (format!("q={tag}"), vec![&late_id]),
        ("q=OPS".into(), vec![&wipe_id]),
        ("q=bob".into(), vec![&soon_id, &late_id, &wipe_id]),
        ("tool=wipe".into(), vec![&wipe_id]),
        ("tool=wip".into(), vec![]),
        ("requester=bob&kind=choose".into(), vec![&soon_id, &late_id]),
        ("sort=oldest".into(), vec![&wipe_id, &late_id, &soon_id]),
        ("sort=urgency".into(), vec![&soon_id, &late_id, &wipe_id]),
        (format!("sort=urgency&cursor={soon_id}"), vec![&late_id, &wipe_id]),
        (format!("sort=oldest&cursor={wipe_id}&limit=1"), vec![&late_id]),
        ("state=decided".into(), vec![]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(ids(&world, "bob", &query).await, expected, "{query}");
    }
    for query in
        ["sort=risk", "section=all", "sort=urgency&state=denied", "section=mine&state=decided"]
    {
        assert_eq!(world.get("bob", &format!("/v1/holds?{query}")).await.0, 400, "{query}");
    }
    let path = format!("/v1/holds?sort=urgency&cursor={wipe_id}");
    assert_eq!(world.get("eve", &path).await.0, 404, "the end of somebody else's page");

    world.answer("dan", &wipe, json!({"verdict": "deny", "reason": "no"})).await;
    assert_eq!(ids(&world, "bob", "state=decided").await, std::slice::from_ref(&wipe_id));
    assert_eq!(ids(&world, "bob", "decided_by=dan").await, [wipe_id]);
    assert_eq!(ids(&world, "bob", "decided_by=bob").await, Vec::<String>::new());
    assert_eq!(ids(&world, "eve", "state=decided").await, Vec::<String>::new());
}

#[tokio::test]
async fn sections_are_a_partition_and_counts_are_theirs() {
    let world = world().await;
    world.held("bob", r#"call both {"n": 1}"#).await;
    world.open_hold("gate", question("Soon", 60, "critical")).await;
    world.open_hold("gate", question("Grave", 90_000, "critical")).await;
    world.open_hold("gate", question("Calm", 90_000, "low")).await;
    let (_, denied) = world.held("bob", "call wipe {}").await;
    world.answer("dan", &denied, json!({"verdict": "deny"})).await;
    for (who, sections, decided) in [
        ("bob", [1, 1, 2, 0], 1),
        ("dan", [0, 0, 1, 0], 1),
        ("ana", [0, 0, 0, 4], 1),
        ("gate", [0, 0, 0, 3], 0),
        ("eve", [0, 0, 0, 0], 0),
    ] {
        let (status, counts) = world.get(who, "/v1/holds/counts").await;
        assert_eq!(status, 200, "{counts}");
        let names = ["expiring_soon", "critical", "mine", "others"];
        let told = names.map(|name| counts["sections"][name].as_u64().expect("a number"));
        assert_eq!(told, sections, "{who}: {counts}");
        let mut all = Vec::new();
        for (name, count) in names.iter().zip(sections) {
            let found = ids(&world, who, &format!("section={name}")).await;
            assert_eq!(found.len() as u64, count, "{who}: {name}");
            all.extend(found);
        }
        let mut open = ids(&world, who, "state=pending").await;
        all.sort();
        open.sort();
        assert_eq!(all, open, "{who}");
        assert_eq!(counts["open"], open.len());
        assert_eq!(counts["mine"], ids(&world, who, "mine=true").await.len());
        assert_eq!((&counts["decided_today"], &counts["exact"]), (&json!(decided), &json!(true)));
    }
    let (_, counts) = world.get("bob", "/v1/holds/counts?since=2999-01-01T00:00:00Z").await;
    assert_eq!(counts["decided_today"], 0);
    assert_eq!(world.get("bob", "/v1/holds/counts?since=today").await.0, 400);
    assert_eq!(world.get("", "/v1/holds/counts").await.0, 401);
}

#[tokio::test]
async fn one_who_voted_finds_a_hold_among_the_others() {
    let world = world().await;
    let (_, both) = world.held("bob", r#"call both {"n": 1}"#).await;
    let (status, _) = world.answer("bob", &both, json!({"verdict": "approve"})).await;
    assert_eq!(status, 200);
    assert_eq!(ids(&world, "bob", "section=others").await, [text(&both, "id")]);
    assert_eq!(ids(&world, "dan", "section=mine").await, [text(&both, "id")]);
    assert_eq!(world.get("bob", "/v1/holds/counts").await.1["mine"], 0);
}

#[tokio::test]
async fn the_same_call_again_has_the_same_group() {
    let world = world().await;
    let (_, one) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let (_, same) = world.held("bob", r#"call wipe { "n":1 }"#).await;
    let (_, other) = world.held("bob", r#"call wipe {"n": 2}"#).await;
    assert_eq!(one["group"], same["group"]);
    assert_ne!(one["digest"], same["digest"]);
    assert_ne!(one["group"], other["group"]);
    let asked = world.open_hold("gate", question("Which?", 60, "low")).await;
    assert_eq!(asked["group"], Value::Null);
}

#[tokio::test]
async fn i30_what_was_asked_before_counts_only_what_the_caller_sees() {
    let world = world().await;
    for (n, answer) in [
        (1, json!({"verdict": "approve"})),
        (1, json!({"verdict": "deny", "reason": "  not during the freeze  "})),
        (2, json!({"verdict": "deny", "reason": "never two"})),
    ] {
        let (_, hold) = world.held("bob", &format!("call wipe {{\"n\": {n}}}")).await;
        assert_eq!(world.answer("dan", &hold, answer).await.0, 200);
    }
    let (_, hold) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let path = format!("/v1/holds/{}/asked_before", text(&hold, "id"));
    let (status, before) = world.get("dan", &path).await;
    assert_eq!(status, 200, "{before}");
    let alike = json!({
        "asked": 3, "approved": 1, "denied": 2, "answered": 0, "expired": 0, "cancelled": 0, "open": 0,
    });
    let same = json!({
        "asked": 2, "approved": 1, "denied": 1, "answered": 0, "expired": 0, "cancelled": 0, "open": 0,
    });
    assert_eq!(before["alike"], json!({"days_7": alike, "days_30": alike}));
    assert_eq!(before["same"], json!({"days_7": same, "days_30": same}));
    let denial = &before["last_denial"];
    assert_eq!(
        (&denial["reason"], &denial["same"]),
        (&json!("not during the freeze"), &json!(true))
    );
    assert_eq!((&denial["by"], &denial["by_name"]), (&json!("dan"), &json!("DAN")));
    assert_eq!(before["complete"], true);
    assert_eq!(world.get("eve", &path).await.0, 404);

    // A call of the same tool by a program is not alike: others ask for it.
    let call =
        json!({"kind": "approve", "title": "T", "call": {"tool": "wipe", "arguments": {"n": 1}}});
    let outside = world.open_hold("gate", call.clone()).await;
    let path = format!("/v1/holds/{}/asked_before", text(&outside, "id"));
    assert_eq!(world.get("bob", &path).await.1["alike"]["days_30"]["asked"], 0);
    let again = world.open_hold("gate", call).await;
    // Nor is one that was asked later: siblings of one moment alone count for each other.
    let at_once = u64::from(again["opened_at"] == outside["opened_at"]);
    assert_eq!(world.get("bob", &path).await.1["alike"]["days_30"]["asked"], at_once);
    let path = format!("/v1/holds/{}/asked_before", text(&again, "id"));
    assert_eq!(world.get("gate", &path).await.1["same"]["days_7"]["open"], 1);
    let asked = world.open_hold("gate", question("Which?", 60, "low")).await;
    let path = format!("/v1/holds/{}/asked_before", text(&asked, "id"));
    let (_, nothing) = world.get("gate", &path).await;
    assert_eq!(
        (&nothing["alike"]["days_30"]["asked"], &nothing["last_denial"]),
        (&json!(0), &Value::Null)
    );
}

#[tokio::test]
async fn i30_what_others_asked_the_same_agent_before_is_not_told() {
    let world = world().await;
    let (_, theirs) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let why = json!({"verdict": "deny", "reason": "not during the freeze"});
    assert_eq!(world.answer("dan", &theirs, why).await.0, 200);
    let (_, hers) = world.held("eve", r#"call wipe {"n": 1}"#).await;
    let (_, again) = world.held("eve", r#"call wipe {"n": 1}"#).await;
    let path = format!("/v1/holds/{}/asked_before", text(&again, "id"));
    let asked = async |who: &str| {
        let (status, before) = world.get(who, &path).await;
        assert_eq!(status, 200, "{before}");
        let counts = ["alike", "same"].map(|which| before[which]["days_30"]["asked"].clone());
        (counts, before["last_denial"]["hold"].clone())
    };
    // Dan may answer all of them. Eve sees what she asked for herself, and no word about the others.
    assert_eq!(asked("dan").await, ([json!(2), json!(2)], theirs["id"].clone()));
    assert_eq!(asked("eve").await, ([json!(1), json!(1)], Value::Null));
    assert_eq!(hers["group"], theirs["group"]);
}
