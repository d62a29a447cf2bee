//! Following: nothing lost, nothing twice, wherever the connection breaks.

use std::time::Duration;

use holdpoint_server::HttpLimits;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Plan, World, list, planned, text, world};

#[derive(Clone, Debug, PartialEq)]
struct Event {
    id: Option<u64>,
    name: String,
    data: Value,
}

/// The events of a text, as far as they are complete.
fn events(text: &str) -> Vec<Event> {
    let complete = text.rfind("\n\n").map_or("", |end| &text[..end]);
    let blocks =
        complete.split("\n\n").filter(|block| block.lines().any(|line| line.starts_with("data:")));
    blocks
        .map(|block| {
            let field =
                |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            Event {
                id: field("id:").map(|id| id.parse().expect("a number")),
                name: field("event:").expect("a name").to_owned(),
                data: serde_json::from_str(field("data:").expect("data")).expect("json"),
            }
        })
        .collect()
}

struct Stream {
    reply: reqwest::Response,
    text: String,
}

impl Stream {
    async fn open(world: &World, who: &str, path: &str, after: Option<u64>) -> Stream {
        let mut request = world.request(who, Method::GET, path);
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let reply = request.send().await.expect("a reply");
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.headers()["content-type"], "text/event-stream");
        Stream { reply, text: String::new() }
    }

    async fn more(&mut self) -> bool {
        let chunk = tokio::time::timeout(Duration::from_secs(10), self.reply.chunk()).await;
        match chunk.expect("in time").expect("sound") {
            Some(chunk) => {
                self.text.push_str(std::str::from_utf8(&chunk).expect("text"));
                true
            }
            None => false,
        }
    }

    async fn until(&mut self, wanted: impl Fn(&[Event]) -> bool) -> Vec<Event> {
        loop {
            let events = events(&self.text);
            if wanted(&events) {
                return events;
            }
            assert!(self.more().await, "it ended: {}", self.text);
        }
    }
}

fn stored(events: &[Event]) -> Vec<Event> {
    events.iter().filter(|event| event.id.is_some()).cloned().collect()
}

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

/// A session with a whole circle in it.
async fn story(world: &World) -> (String, u64) {
    let (session, hold) = world.held("bob", "call wipe {}").await;
    world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    let over = world.until_over("bob", &session).await;
    (session, over["version"].as_u64().expect("a version"))
}

#[tokio::test]
async fn the_data_of_an_event_is_what_its_schema_says() {
    let world = world().await;
    let (session, last) = story(&world).await;
    let (_, document) = world.get("bob", "/openapi.json").await;
    let schema = &document["components"]["schemas"]["EventData"];
    let described = domain::schema::Validator::new(schema).expect("a schema");
    let path = format!("/v1/sessions/{session}/events");
    let mut whole = Stream::open(&world, "bob", &path, Some(0)).await;
    let all = whole.until(|events| events.last().is_some_and(|event| event.id == Some(last))).await;
    for event in all {
        assert!(described.check(&event.data).is_ok(), "{event:?}");
        let members: Vec<&String> = event.data.as_object().expect("an object").keys().collect();
        assert_eq!(members[..3], ["session", "at", "by"], "{event:?}");
    }
}

#[tokio::test]
async fn i36_a_stream_cut_anywhere_is_resumed_without_gap_or_repeat() {
    let world = world().await;
    let (session, last) = story(&world).await;
    let path = format!("/v1/sessions/{session}/events");
    let mut whole = Stream::open(&world, "bob", &path, Some(0)).await;
    let all = whole.until(|events| events.last().is_some_and(|event| event.id == Some(last))).await;
    let ids: Vec<u64> = all.iter().filter_map(|event| event.id).collect();
    assert_eq!(ids, (1..=last).collect::<Vec<_>>());
    assert_eq!(
        names(&all),
        [
            "session.opened",
            "run.started",
            "message.completed",
            "message.completed",
            "call.proposed",
            "hold.opened",
            "run.paused",
            "hold.decided",
            "call.started",
            "run.resumed",
            "call.settled",
            "message.completed",
            "message.completed",
            "run.completed",
        ]
        .as_slice(),
        "{all:#?}"
    );
    // Cut after every so many bytes: each time the client knows only what was complete by then.
    let text = whole.text.clone();
    for cut in (0..text.len()).step_by(41) {
        let Some(start) = text.get(..cut) else { continue };
        let seen = events(start);
        let after = seen.iter().filter_map(|event| event.id).next_back().unwrap_or(0);
        if after == last {
            break;
        }
        let mut rest = Stream::open(&world, "bob", &path, Some(after)).await;
        let rest =
            rest.until(|events| events.last().is_some_and(|event| event.id == Some(last))).await;
        let joined: Vec<Event> = seen.into_iter().chain(rest).collect();
        assert_eq!(joined, all, "cut at byte {cut}");
    }
}

/// Longer than what goes out at once, and one event of it longer by itself.
#[tokio::test]
async fn i36_a_long_log_comes_whole_and_in_order() {
    let world = world().await;
    let session = world.session("bob").await;
    let texts: Vec<String> = [40, 100, 30, 30, 30]
        .map(|kilobytes| format!("say {}", "long ".repeat(kilobytes * 205)))
        .into();
    for text in &texts {
        world.say("bob", &session, text).await;
        world.until("bob", &session, |session| session["run"]["status"] == "completed").await;
    }
    let last = world.until("bob", &session, |_| true).await["version"].as_u64().expect("a version");
    let path = format!("/v1/sessions/{session}/events");
    let mut stream = Stream::open(&world, "bob", &path, Some(0)).await;
    let all =
        stream.until(|events| events.last().is_some_and(|event| event.id == Some(last))).await;
    let ids: Vec<u64> = all.iter().filter_map(|event| event.id).collect();
    assert_eq!(ids, (1..=last).collect::<Vec<_>>());
    let said = all.iter().filter(|event| event.data["message"]["role"] == "user");
    let said: Vec<_> = said
        .map(|event| event.data["message"]["parts"][0]["text"].as_str().expect("a text"))
        .collect();
    assert_eq!(said, texts);
}

#[tokio::test]
async fn i36_a_follower_that_keeps_losing_its_connection_misses_nothing() {
    let world = world().await;
    let session = world.session("bob").await;
    let path = format!("/v1/sessions/{session}/events");
    let telling = async {
        for number in 0..15 {
            world.say("bob", &session, &format!("call look {{\"n\": {number}}}")).await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let idle = |session: &Value| {
            session["run"]["status"] == "completed" && list(session, "queued").is_empty()
        };
        world.until("bob", &session, idle).await["version"].as_u64().expect("a version")
    };
    let following = async {
        let (mut seen, mut after) = (Vec::<Event>::new(), 0);
        // Each connection lives for a few chunks only.
        for _ in 0..10_000 {
            let mut stream = Stream::open(&world, "bob", &path, Some(after)).await;
            for _ in 0..3 {
                let more = tokio::time::timeout(Duration::from_millis(30), stream.more()).await;
                if more.is_err() {
                    break;
                }
            }
            seen.extend(stored(&events(&stream.text)));
            after = seen.last().and_then(|event| event.id).unwrap_or(0);
            let done = seen.iter().filter(|event| event.name == "run.completed").count();
            if done == 15 {
                break;
            }
        }
        seen
    };
    let (last, seen) = tokio::join!(telling, following);
    let ids: Vec<u64> = seen.iter().filter_map(|event| event.id).collect();
    assert_eq!(ids, (1..=last).collect::<Vec<_>>());
}

#[tokio::test]
async fn events_say_what_happened() {
    let world = world().await;
    let (session, last) = story(&world).await;
    let mut stream =
        Stream::open(&world, "dan", &format!("/v1/sessions/{session}/events?after=0"), None).await;
    let all =
        stream.until(|events| events.last().is_some_and(|event| event.id == Some(last))).await;
    let find = |name: &str| {
        all.iter().find(|event| event.name == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let hold = &find("hold.opened").data["hold"];
    assert_eq!(hold["state"], "pending");
    assert_eq!(hold["call"]["tool"], "wipe");
    let decided = &find("hold.decided").data;
    assert_eq!((&decided["hold"], &decided["state"]), (&hold["id"], &json!("approved")));
    assert_eq!((&decided["decision"]["by"], &decided["by"]), (&json!("dan"), &json!("dan")));
    let settled = &find("call.settled").data;
    assert_eq!((&settled["call"], &settled["hold"]), (&hold["call"]["id"], &hold["id"]));
    assert_eq!(settled["result"], json!({"output": "wiped 1", "isError": false, "kind": "output"}));
    for event in &all {
        assert_eq!(event.data["session"], session.as_str(), "{event:?}");
        assert!(event.data["at"].is_string(), "{event:?}");
    }
}

#[tokio::test]
async fn text_on_its_way_has_no_id_and_is_followed_by_the_whole() {
    let world = world().await;
    let session = world.session("bob").await;
    let mut stream =
        Stream::open(&world, "bob", &format!("/v1/sessions/{session}/events"), None).await;
    stream.more().await;
    world.say("bob", &session, "hello there").await;
    let all = stream.until(|events| events.iter().any(|event| event.name == "run.completed")).await;
    let deltas: Vec<&Event> = all.iter().filter(|event| event.name == "message.delta").collect();
    assert!(deltas.iter().all(|event| event.id.is_none()));
    let text: String = deltas.iter().filter_map(|event| event.data["text"].as_str()).collect();
    assert_eq!(text, "hello there");
    let done = all.iter().rfind(|event| event.name == "message.completed").expect("the whole");
    assert_eq!(done.data["message"]["id"], deltas[0].data["message"]);
    assert_eq!(done.data["message"]["parts"], json!([{"type": "text", "text": "hello there"}]));
    let ids: Vec<u64> = all.iter().filter_map(|event| event.id).collect();
    assert_eq!(ids, (2..2 + ids.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn i36_a_position_that_never_was_is_answered_with_a_snapshot() {
    let world = world().await;
    let (session, last) = story(&world).await;
    let path = format!("/v1/sessions/{session}/events");
    let mut stream = Stream::open(&world, "bob", &path, Some(1_000_000)).await;
    let reset = stream.until(|events| !events.is_empty()).await[0].clone();
    assert_eq!((reset.name.as_str(), reset.id), ("reset", Some(last)));
    assert_eq!(reset.data["session"]["id"], session.as_str());
    assert_eq!(reset.data["session"]["run"]["status"], "completed");
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let mut stream = Stream::open(&world, "bob", "/v1/events", Some(1_000_000)).await;
    let reset = stream.until(|events| !events.is_empty()).await[0].clone();
    assert_eq!((reset.name.as_str(), &reset.data["holds"][0]["id"]), ("reset", &hold["id"]));
    let bad = world.request("bob", Method::GET, &path).header("last-event-id", "x").send().await;
    assert_eq!(bad.expect("a reply").status(), 400);
}

#[tokio::test]
async fn i30_everybody_hears_only_what_they_may_see() {
    let world = world().await;
    let start = world.store.last().await.expect("a position").0;
    let (session, _) = story(&world).await;
    let mut heard = Vec::new();
    for who in ["bob", "dan", "ana", "eve", "bot"] {
        let mut stream = Stream::open(&world, who, "/v1/events", Some(start)).await;
        let own = world.session(who).await;
        let opened =
            |events: &[Event]| events.iter().any(|event| event.data["session"] == own.as_str());
        let events = stream.until(opened).await;
        let ids: Vec<u64> = events.iter().filter_map(|event| event.id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "ids only rise: {ids:?}");
        heard.push(events.iter().filter(|event| event.data["session"] == session.as_str()).count());
    }
    assert!(heard[0] > 10 && heard[0] == heard[1] && heard[1] == heard[2], "{heard:?}");
    assert_eq!(heard[3..], [0, 0]);
}

#[tokio::test]
async fn a_message_can_be_answered_with_the_events_of_its_run() {
    let world = world().await;
    let session = world.session("bob").await;
    let path = format!("/v1/sessions/{session}/messages");
    let speak = |say: &str| {
        let request =
            world.request("bob", Method::POST, &path).header("accept", "text/event-stream");
        request.json(&json!({"text": say})).send()
    };
    let reply = speak("call wipe {}").await.expect("a reply");
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    let paused = events(&reply.text().await.expect("it ends"));
    assert_eq!(names(&stored(&paused)).first(), Some(&"run.started"));
    assert_eq!(names(&paused).last(), Some(&"run.paused"));
    let hold =
        paused.iter().find(|event| event.name == "hold.opened").expect("a hold").data["hold"]
            .clone();
    world.answer("dan", &hold, json!({"verdict": "deny", "reason": "no"})).await;
    world.until_over("bob", &session).await;
    let said = events(&speak("hello").await.expect("a reply").text().await.expect("it ends"));
    assert_eq!(names(&said).last(), Some(&"run.completed"));
    assert!(names(&said).contains(&"message.delta"));
    let runs: Vec<&Value> = said.iter().filter_map(|event| event.data.get("run")).collect();
    assert!(runs.iter().all(|run| **run == *runs[0]), "one run only: {runs:?}");
    let failed = events(&speak("fail").await.expect("a reply").text().await.expect("it ends"));
    assert_eq!(names(&failed).last(), Some(&"run.failed"));
}

#[tokio::test]
async fn a_run_that_pauses_within_the_moment_is_told_whole() {
    let limits = HttpLimits { moment: Duration::from_secs(30), ..HttpLimits::default() };
    let world = planned(Plan { limits, ..Plan::default() }).await;
    let session = world.session("bob").await;
    let path = format!("/v1/sessions/{session}/messages");
    let request = world.request("bob", Method::POST, &path).header("accept", "text/event-stream");
    let reply = request.json(&json!({"text": "call wipe {}"})).send().await.expect("a reply");
    assert!(reply.headers().contains_key("content-length"), "in one piece");
    let told = events(&reply.text().await.expect("it ends"));
    assert_eq!(names(&stored(&told)).first(), Some(&"run.started"));
    assert_eq!(names(&told).last(), Some(&"run.paused"));
}

#[tokio::test]
async fn a_run_that_takes_long_is_told_while_it_goes_on() {
    let world = world().await;
    let session = world.session("bob").await;
    let path = format!("/v1/sessions/{session}/messages");
    let request = world.request("bob", Method::POST, &path).header("accept", "text/event-stream");
    let asked = request.json(&json!({"text": "think for ever"})).send();
    let reply = tokio::time::timeout(Duration::from_secs(10), asked).await.expect("no waiting");
    let mut stream = Stream { reply: reply.expect("a reply"), text: String::new() };
    let begun = stream.until(|events| names(events).contains(&"run.started")).await;
    assert!(stream.text.starts_with(": following\n\n"));
    let run = text(&begun[0].data, "run");
    let (status, _) = world.post("bob", &format!("/v1/runs/{run}/cancel"), json!({})).await;
    assert_eq!(status, 200);
    let over = stream.until(|events| names(events).last() == Some(&"run.cancelled")).await;
    assert_eq!(names(&stored(&over)).first(), Some(&"run.started"));
    assert!(!stream.more().await, "that is the end");
}

#[tokio::test]
async fn a_silent_stream_breathes_and_ends_with_its_token() {
    let limits = HttpLimits { heartbeat: Duration::from_millis(50), ..HttpLimits::default() };
    let world = planned(Plan { limits, ..Plan::default() }).await;
    let (_, minted) =
        world.post("ana", "/v1/tokens", json!({"person": "bob", "scopes": ["run"]})).await;
    let request = world.client.get(world.url("/v1/events")).bearer_auth(text(&minted, "token"));
    let mut stream = Stream { reply: request.send().await.expect("a reply"), text: String::new() };
    while stream.text.matches(": still here\n\n").count() < 3 {
        assert!(stream.more().await);
    }
    assert_eq!(events(&stream.text), [], "nothing but comments");
    world.delete("ana", &format!("/v1/tokens/{}", text(&minted, "id"))).await;
    while stream.more().await {}
    let again = world.client.get(world.url("/v1/events")).bearer_auth(text(&minted, "token"));
    assert_eq!(again.send().await.expect("a reply").status(), 401);
}

#[tokio::test]
async fn i45_secrets_are_not_told() {
    let world = world().await;
    let (session, hold) =
        world.held("bob", r#"call connect {"host": "db", "password": "hunter2"}"#).await;
    let edited = json!({"verdict": "approve", "arguments": {"host": "db2", "password": "hunter2"}});
    assert_eq!(world.answer("bob", &hold, edited).await.0, 200);
    let over = world.until_over("bob", &session).await;
    let last = over["version"].as_u64();
    for path in [format!("/v1/sessions/{session}/events"), "/v1/events".into()] {
        let mut stream = Stream::open(&world, "bob", &path, Some(0)).await;
        let all =
            stream.until(|events| events.iter().any(|event| event.name == "run.completed")).await;
        for event in all.iter().filter(|event| event.data["message"]["role"] != "user") {
            assert!(!event.data.to_string().contains("hunter2"), "{event:?}");
        }
        assert!(all.iter().filter_map(|event| event.id).max() >= last);
    }
}
