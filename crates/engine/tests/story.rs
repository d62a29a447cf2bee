//! What the log tells at `info`. By itself, as a log belongs to a whole process.

#[path = "runtime/world.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod world;

use std::io::Write;
use std::sync::{Arc, Mutex};

use domain::id::HoldId;
use domain::session::Session;
use serde_json::{Value, json};

use world::{Puppet, World, approve, deny, person};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The fields of the lines with this message.
    fn lines(&self, message: &str) -> Vec<Value> {
        let lines = self.text();
        let fields = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].clone());
        fields.filter(|fields| fields["message"] == message).collect()
    }
}

const CANARY: &str = "canary-7f3a";

fn hold_of(session: &Session) -> HoldId {
    session.open_holds().next().unwrap().id
}

#[tokio::test]
async fn the_log_tells_the_story_without_arguments_or_words() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let world = World::memory().await;
    let root = person(&world.engine, "root").await;
    let session = world.session().await;
    let will = |model: &Puppet| model.will(CANARY, &[("wipe", json!({"secret": CANARY}))]);
    will(&world.model);
    world.say(session, CANARY).await;
    let paused = world.paused(session).await;
    let (hold, id) = (paused.open_holds().next().unwrap().clone(), hold_of(&paused).to_string());
    world.answer(&world.bob, &hold, approve()).await.unwrap();
    world.over(session).await;
    will(&world.model);
    world.say(session, "again").await;
    let denied = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &denied, deny()).await.unwrap();
    world.over(session).await;
    world.engine.freeze(&root, "an incident").await.unwrap();
    world.engine.thaw(&root).await.unwrap();

    let opened = log.lines("hold opened");
    assert_eq!(opened.len(), 2, "{}", log.text());
    assert_eq!((&opened[0]["hold"], &opened[0]["tool"]), (&json!(id), &json!("wipe")));
    assert_eq!((&opened[0]["requester"], &opened[0]["agent"]), (&json!("ana"), &json!("ops")));
    assert_eq!(opened[0]["session"], session.to_string());
    let decided = log.lines("hold decided");
    assert_eq!((&decided[0]["outcome"], &decided[0]["by"]), (&json!("approved"), &json!("bob")));
    assert_eq!((&decided[0]["hold"], &decided[0]["via"]), (&json!(id), &json!("api")));
    assert_eq!((&decided[1]["outcome"], &decided[1]["by"]), (&json!("denied"), &json!("ana")));
    let started = log.lines("call started");
    assert_eq!(started.len(), 1);
    assert_eq!(started[0]["tool"], "wipe");
    let settled = log.lines("call settled");
    assert_eq!(settled[0]["call"], started[0]["call"]);
    assert_eq!(settled[1]["outcome"], "denied");
    assert_eq!(log.lines("token made").len(), 4);
    assert_eq!(log.lines("frozen")[0]["by"], "root");
    assert_eq!(log.lines("thawed").len(), 1);
    assert!(!log.text().contains(CANARY), "{}", log.text());
}
