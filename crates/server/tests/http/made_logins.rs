//! Who made a login or a token is on the record and on the vote, and a rule can refuse such votes.

use domain::event::{Event, GlobalEvent};
use domain::person::{Actor, Person, PersonId};
use domain::policy::{AskSpec, PolicySpec, Then};
use reqwest::Method;
use serde_json::{Value, json};

use crate::fixtures::{people, policy};
use crate::world::{Plan, World, list, planned, read, text, world};

/// A browser with somebody's cookie.
struct Browser(String, String);

impl Browser {
    async fn post(&self, world: &World, path: &str, body: Value) -> (u16, Value) {
        let request = world.client.post(world.url(path)).header("cookie", &self.0);
        let request = request.header("x-holdpoint-csrf", &self.1).json(&body);
        read(request.send().await.expect("a reply")).await
    }

    async fn approve(&self, world: &World, hold: &Value) -> (u16, Value) {
        let body = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
        self.post(world, &format!("/v1/holds/{}/answer", text(hold, "id")), body).await
    }

    /// What an admin's page does for "make a login link".
    async fn link(&self, world: &World, person: &str) -> Browser {
        let (status, login) = self.post(world, "/v1/logins", json!({"person": person})).await;
        assert_eq!(status, 201, "{login}");
        opened(world, &login).await
    }

    async fn token(&self, world: &World, person: &str) -> String {
        let new = json!({"person": person, "scopes": ["answer"]});
        let (status, token) = self.post(world, "/v1/tokens", new).await;
        assert_eq!(status, 201, "{token}");
        text(&token, "token")
    }
}

async fn opened(world: &World, login: &Value) -> Browser {
    let url = text(login, "url");
    let code = url.split_once("code=").expect("a code").1;
    let (cookie, csrf) = world.log_in_with(code).await;
    Browser(cookie, csrf)
}

/// As the operator's first start does.
async fn own(world: &World, person: &str) -> Browser {
    let (cookie, csrf) = world.log_in(person).await;
    Browser(cookie, csrf)
}

/// `wipe` needs this, and refuses logins that another person made.
fn refusing(ask: AskSpec) -> PolicySpec {
    let mut policy = policy();
    for rule in policy.rules.iter_mut().filter(|rule| rule.name == "about wipe") {
        assert_eq!(rule.then, Then::Ask);
        rule.ask = Some(AskSpec { refuse_made_logins: true, ..ask.clone() });
    }
    policy
}

fn two_dbas() -> AskSpec {
    AskSpec { roles: vec!["dba".into()], quorum: 2, ..AskSpec::default() }
}

async fn recorded(world: &World) -> Vec<(Actor, Event)> {
    let entries = world.store.load(domain::id::StreamId::Global).await.expect("the log");
    let told = |entry: ports::store::Entry| {
        let (actor, events) = (entry.actor.clone(), entry.events.to_vec());
        events.into_iter().map(move |event| (actor.clone(), event))
    };
    entries.into_iter().flat_map(told).collect()
}

#[tokio::test]
async fn i53_who_made_a_link_is_on_the_record_and_on_the_vote() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call both {}").await;
    let ana = own(&world, "ana").await;
    for person in ["bob", "dan"] {
        let (status, told) = ana.link(&world, person).await.approve(&world, &hold).await;
        assert_eq!(status, 200, "{told}");
    }
    let shown = world.get("ana", &format!("/v1/holds/{}", text(&hold, "id"))).await.1;
    for answer in list(&shown, "answers") {
        assert_eq!(answer["auth"], json!({"method": "link", "made_by": "ana"}), "{answer}");
    }
    assert_eq!(shown["decision"]["auth"]["made_by"], "ana");
    world.until_over("bob", &session).await;

    let events = recorded(&world).await;
    for person in ["bob", "dan"].map(PersonId::new) {
        let made = events.iter().any(|(actor, event)| {
            matches!(event, Event::Global(GlobalEvent::LoginLinkMade { person: to, origin, .. })
                if *to == person && origin.made_by.by.as_str() == "ana" && actor.as_str() == "ana")
        });
        let came = events.iter().any(|(_, event)| {
            matches!(event, Event::Global(GlobalEvent::LoggedIn { person: who, link: Some(origin), .. })
                if *who == person && origin.made_by.by.as_str() == "ana")
        });
        assert!(made && came, "{person}: {events:#?}");
    }
    // The first start's link is on the record too, as the runtime's.
    let first = events.iter().any(|(actor, event)| {
        matches!(event, Event::Global(GlobalEvent::LoginLinkMade { person, .. }) if person.as_str() == "ana")
            && *actor == Actor::Runtime
    });
    assert!(first, "{events:#?}");
    // A token's vote names the token and who made it.
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let (status, told) = world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    assert_eq!(status, 200, "{told}");
    let auth = &told["decision"]["auth"];
    assert_eq!((&auth["method"], &auth["made_by"]), (&json!("token"), &json!("ana")), "{auth}");
    assert!(text(auth, "token").starts_with("tok_"), "{auth}");
}

#[tokio::test]
async fn i53_a_rule_refuses_votes_of_logins_that_another_person_made() {
    let plan = Plan { policy: Some(refusing(two_dbas())), ..Plan::default() };
    let world = planned(plan).await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let ana = own(&world, "ana").await;
    for person in ["bob", "dan"] {
        let (status, problem) = ana.link(&world, person).await.approve(&world, &hold).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
        assert!(text(&problem, "detail").contains("made by ana"), "{problem}");
        // The token that Ana made for them is no way around it.
        let (status, problem) = world.answer(person, &hold, json!({"verdict": "approve"})).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    }
    let path = format!("/v1/holds/{}", text(&hold, "id"));
    let shown = world.get("ana", &path).await.1;
    assert_eq!((&shown["state"], &shown["answers"]), (&json!("pending"), &json!([])));
    assert_eq!(shown["audience"]["refuse_made_logins"], true);
    for person in ["bob", "dan"] {
        let (status, told) = own(&world, person).await.approve(&world, &hold).await;
        assert_eq!(status, 200, "{told}");
    }
    world.until_over("bob", &session).await;
    assert_eq!(world.wiped(), 1);
}

#[tokio::test]
async fn i53_an_admin_cannot_wash_a_login_through_another_admin() {
    let mut everybody: Vec<Person> = people().iter().cloned().collect();
    for person in &mut everybody {
        if person.id.as_str() == "dan" {
            person.roles.insert("admin".into());
        }
    }
    let admins = AskSpec { roles: vec!["admin".into()], quorum: 2, ..AskSpec::default() };
    let world = planned(Plan {
        policy: Some(refusing(admins)),
        people: Some(domain::person::People::new(everybody)),
        ..Plan::default()
    })
    .await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let ana = own(&world, "ana").await;
    let dan = ana.link(&world, "dan").await;
    // As Dan, Ana makes a link for Dan, and a token, and with that token another link.
    let again = dan.link(&world, "dan").await;
    let (status, problem) = again.approve(&world, &hold).await;
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    assert!(text(&problem, "detail").contains("made by ana"), "{problem}");
    let token = again.token(&world, "dan").await;
    let path = format!("/v1/holds/{}/answer", text(&hold, "id"));
    let body = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
    let request = world.client.request(Method::POST, world.url(&path)).bearer_auth(&token);
    let (status, problem) = read(request.json(&body).send().await.expect("a reply")).await;
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    // A link that she makes for herself in Dan's name is not her own either, but hers is.
    assert_eq!(dan.link(&world, "ana").await.approve(&world, &hold).await.0, 403);
    assert_eq!(ana.link(&world, "ana").await.approve(&world, &hold).await.0, 200);
    assert_eq!(own(&world, "dan").await.approve(&world, &hold).await.0, 200);
}

/// `wipe` needs an admin or a dba who did not ask for it.
fn not_the_requester() -> PolicySpec {
    let mut policy = policy();
    for rule in policy.rules.iter_mut().filter(|rule| rule.name == "about wipe") {
        rule.ask = Some(AskSpec {
            roles: vec!["admin".into(), "dba".into()],
            exclude_requester: true,
            ..AskSpec::default()
        });
    }
    policy
}

/// Ana, Bob and Dan are admins.
fn three_admins() -> domain::person::People {
    let admin = |mut person: Person| {
        if ["bob", "dan"].contains(&person.id.as_str()) {
            person.roles.insert("admin".into());
        }
        person
    };
    domain::person::People::new(people().iter().cloned().map(admin))
}

impl Browser {
    /// The hold of a call that was asked for in this browser.
    async fn held(&self, world: &World) -> Value {
        let (status, session) = self.post(world, "/v1/sessions", json!({"agent": "ops"})).await;
        assert_eq!(status, 201, "{session}");
        let said = format!("/v1/sessions/{}/messages", text(&session, "id"));
        let (status, told) = self.post(world, &said, json!({"text": "call wipe {}"})).await;
        assert_eq!(status, 202, "{told}");
        let is_held = |session: &Value| !list(session, "pending").is_empty();
        let shown = world.until("ana", &text(&session, "id"), is_held).await;
        list(&shown, "pending")[0].clone()
    }
}

#[tokio::test]
async fn i32_a_request_by_a_login_that_another_person_made_is_also_theirs() {
    let plan =
        Plan { policy: Some(not_the_requester()), people: Some(three_admins()), ..Plan::default() };
    let world = planned(plan).await;
    let ana = own(&world, "ana").await;
    // Ana makes Bob's link, asks as Bob, and approves as herself.
    let bob = ana.link(&world, "bob").await;
    let hold = bob.held(&world).await;
    assert_eq!(hold["requester"], "bob");
    assert_eq!(hold["audience"]["login_makers"], json!(["ana"]), "{hold}");
    let (status, problem) = ana.approve(&world, &hold).await;
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    assert!(text(&problem, "detail").contains("you made the login"), "{problem}");
    let waiting = world.get("ana", "/v1/holds?state=pending&mine=true").await.1;
    assert!(list(&waiting, "items").is_empty(), "she is not asked: {waiting}");
    assert_eq!(bob.approve(&world, &hold).await.0, 403);
    assert_eq!(own(&world, "dan").await.approve(&world, &hold).await.0, 200);

    // With a program's token that she makes as Bob it is the same.
    let new = json!({"program": "ci", "scopes": ["ask"]});
    let (status, token) = bob.post(&world, "/v1/tokens", new).await;
    assert_eq!(status, 201, "{token}");
    let asked =
        json!({"title": "Wipe", "kind": "approve", "call": {"tool": "wipe", "arguments": {}}});
    let request = world.client.post(world.url("/v1/holds")).bearer_auth(text(&token, "token"));
    let (status, hold) = read(request.json(&asked).send().await.expect("a reply")).await;
    assert_eq!((status, &hold["requester"]), (201, &json!("bob")), "{hold}");
    assert_eq!(ana.approve(&world, &hold).await.0, 403);
    assert_eq!(own(&world, "dan").await.approve(&world, &hold).await.0, 200);

    // What Bob asks by his own login she may approve.
    let hold = own(&world, "bob").await.held(&world).await;
    assert_eq!(hold["audience"]["login_makers"], Value::Null, "{hold}");
    assert_eq!(ana.approve(&world, &hold).await.0, 200);
}
