//! Death in the middle of a call: of the server, and of Holdpoint.

use std::path::Path;

use serde_json::json;
use testkit::served::Served;

use crate::mcp::world::{ALLOW, STUB, call, last_words, prepare, program, question};

async fn started() -> Served {
    let server = program(&["python3", "-B", STUB, "@SITE@/room"], "");
    let tools = ["note", "die", "hang", "fork", "ask"];
    let mut served = prepare(&server, ALLOW, &tools);
    served.up().await;
    served
}

fn notes(served: &Served) -> Vec<String> {
    let notes = std::fs::read_to_string(served.path("room/notes")).unwrap_or_default();
    notes.lines().map(str::to_owned).collect()
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

async fn soon(what: &str, is: impl Fn() -> bool) {
    for _ in 0..1500 {
        if is() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{what}");
}

#[tokio::test]
async fn i15_a_server_that_dies_in_a_call_is_asked_about_and_the_call_is_not_repeated() {
    let mut served = started().await;
    let ana = served.admin();
    let session = call(&ana, "die", &json!({})).await;
    let held = ana.held(&session, 1).await;
    assert_eq!(held[0]["kind"], "settle", "{:#}", held[0]);
    ana.answer(&held[0], json!({"settle": "succeeded", "content": "it did"})).await.must(200);
    let said = last_words(&ana, &session).await;
    assert!(said.contains("it did"), "{said}");
    // It is back, and nothing was done twice.
    let session = call(&ana, "note", &json!({})).await;
    assert_eq!(last_words(&ana, &session).await, "Done: noted");
    assert_eq!(notes(&served), ["die {}", "note {}"]);
    served.stop().await;
}

#[tokio::test]
async fn i16_i21_when_holdpoint_is_killed_its_servers_die_and_the_call_is_in_doubt() {
    let mut served = started().await;
    let ana = served.admin();
    let session = call(&ana, "fork", &json!({})).await;
    let said = last_words(&ana, &session).await;
    let child = said.strip_prefix("Done: ").expect("a process id").to_owned();
    assert!(is_alive(&child));
    let session = call(&ana, "hang", &json!({})).await;
    soon("the call is under way", || notes(&served).contains(&"hang {}".to_owned())).await;
    served.kill().await;
    soon("a grandchild in a session of its own is gone", || !is_alive(&child)).await;
    served.up().await;
    let ana = served.admin();
    let held = ana.held(&session, 1).await;
    assert_eq!(held[0]["kind"], "settle", "{:#}", held[0]);
    assert_eq!(notes(&served).iter().filter(|note| *note == "hang {}").count(), 1);
    served.stop().await;
}

#[tokio::test]
async fn a_question_whose_call_died_is_withdrawn() {
    let mut served = started().await;
    let ana = served.admin();
    let session = call(&ana, "ask", &json!({})).await;
    let asked = question(&ana).await;
    served.kill().await;
    served.up().await;
    let ana = served.admin();
    let held = ana.held(&session, 1).await;
    assert_eq!(held[0]["kind"], "settle");
    assert_eq!(ana.hold(&asked["id"]).await["state"], "cancelled");
    let late = ana.answer(&asked, json!({"choose": ["red"]})).await;
    assert_eq!(late.status, 409, "{}", late.text);
    served.stop().await;
}
