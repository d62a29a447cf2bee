//! A login link that somebody asks for goes to their own chat account, and the reply says nothing.

use std::sync::{Arc, Mutex};

use domain::event::{Event, GlobalEvent};
use domain::id::StreamId;
use domain::person::PersonId;
use futures_util::future::BoxFuture;
use holdpoint_server::LinkSender;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::world::{Plan, World, planned, read, world as world_without_chats};

type Sent = (String, String, String);

/// Bob and Dan have a chat account, Eve has none.
struct Chat(Mutex<UnboundedSender<Sent>>);

impl LinkSender for Chat {
    fn channel_of(&self, person: &PersonId) -> Option<String> {
        matches!(person.as_str(), "bob" | "dan").then(|| "slack".to_owned())
    }

    fn send<'a>(
        &'a self,
        person: &'a PersonId,
        channel: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<(), String>> {
        let sent = (person.to_string(), channel.to_owned(), url.to_owned());
        let _ = self.0.lock().expect("sound").send(sent);
        Box::pin(async { Ok(()) })
    }
}

async fn with_chat() -> (World, UnboundedReceiver<Sent>) {
    let (sender, sent) = unbounded_channel();
    let links: Arc<dyn LinkSender> = Arc::new(Chat(Mutex::new(sender)));
    (planned(Plan { links: Some(links), trusts_loopback: true, ..Plan::default() }).await, sent)
}

/// From an address of its own each time, as a proxy would say it.
async fn wanted(world: &World, from: &str, body: Value) -> (u16, Value) {
    let request = world.client.post(world.url("/login/link")).header("x-forwarded-for", from);
    read(request.json(&body).send().await.expect("a reply")).await
}

#[tokio::test]
async fn i53_a_link_goes_to_the_persons_own_account_and_says_so_on_the_record() {
    let (world, mut sent) = with_chat().await;
    let body = json!({"person": "bob", "next": "/holds/hold_01jd"});
    let (status, told) = wanted(&world, "192.0.2.1", body).await;
    assert_eq!(status, 202, "{told}");
    let (person, channel, url) = sent.recv().await.expect("a link");
    assert_eq!((person.as_str(), channel.as_str()), ("bob", "slack"));
    assert!(url.ends_with("&next=/holds/hold_01jd"), "{url}");
    let code = url.split_once("code=").expect("a code").1.split('&').next().expect("a code");
    let (cookie, csrf) = world.log_in_with(code).await;
    let (_, hold) = world.held("dan", "call wipe {}").await;
    let path = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
    let answer = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
    let request = world.client.post(world.url(&path)).header("cookie", &cookie);
    let request = request.header("x-holdpoint-csrf", &csrf).json(&answer);
    let (status, told) = read(request.send().await.expect("a reply")).await;
    assert_eq!(status, 200, "{told}");
    let auth = json!({"method": "link", "made_by": "bob", "channel": "slack"});
    assert_eq!(told["decision"]["auth"], auth);
    let entries = world.store.load(StreamId::Global).await.expect("the log");
    let recorded = entries.iter().flat_map(|entry| entry.events.iter()).any(|event| {
        matches!(event, Event::Global(GlobalEvent::LoginLinkMade { person, origin, .. })
            if person.as_str() == "bob" && origin.channel.as_deref() == Some("slack"))
    });
    assert!(recorded);
}

#[tokio::test]
async fn a_stranger_learns_nothing_and_floods_nobody() {
    let (world, mut sent) = with_chat().await;
    let mut replies = Vec::new();
    // Nobody of this name, somebody without an account, twice the same person.
    for (address, person) in ["nobody", "eve", "bob", "bob", "dan"].into_iter().enumerate() {
        let from = format!("192.0.2.{address}");
        replies.push(wanted(&world, &from, json!({"person": person})).await);
    }
    assert!(replies.iter().all(|reply| *reply == replies[0] && reply.0 == 202), "{replies:?}");
    let told = [sent.recv().await.expect("a link").0, sent.recv().await.expect("a link").0];
    let mut told = told.to_vec();
    told.sort();
    assert_eq!(told, ["bob", "dan"]);
    // One address does not ask without end.
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(wanted(&world, "192.0.2.99", json!({"person": "bob"})).await.0);
    }
    assert_eq!(statuses[..5], [202; 5]);
    assert_eq!(statuses[5..], [429; 3]);
    world.stop();
    world.stopped().await;
    assert!(sent.try_recv().is_err(), "Bob was sent one link, however often it was asked for");
}

#[tokio::test]
async fn a_link_that_leads_elsewhere_or_comes_from_elsewhere_is_refused() {
    let (world, mut sent) = with_chat().await;
    let body = json!({"person": "bob", "next": "//evil.example"});
    assert_eq!(wanted(&world, "192.0.2.1", body).await.0, 422);
    let request =
        world.client.post(world.url("/login/link")).header("origin", "https://evil.example");
    let reply = request.json(&json!({"person": "bob"})).send().await.expect("a reply");
    assert_eq!(reply.status(), 403);
    assert!(sent.try_recv().is_err());
    // Without a channel there is nothing to ask for.
    let without = world_without_chats().await;
    assert_eq!(wanted(&without, "192.0.2.1", json!({"person": "bob"})).await.0, 404);
}
