//! The reference server that has a tool for everything: a legacy one, over pipes and over HTTP.

use serde_json::json;
use testkit::served::Caller;

use crate::mcp::world::{
    ALLOW, Service, call, last_words, npm, offered, prepare, program, question, service,
};

const TOOLS: [&str; 6] = [
    "echo",
    "trigger-elicitation-request",
    "get-tiny-image",
    "get-structured-content",
    "trigger-long-running-operation",
    "get-env",
];

async fn asks(ana: &Caller) {
    let session = call(ana, "trigger-elicitation-request", &json!({})).await;
    let asked = question(ana).await;
    assert_eq!(asked["kind"], "fill", "{asked:#}");
    assert_eq!(asked["title"], "mcp asks: Please provide inputs for the following fields:");
    assert_eq!(asked["agent"], "worker");
    // What does not fit the form is not taken.
    let wrong = json!({"fill": {"name": 7}});
    assert_eq!(ana.answer(&asked, wrong).await.status, 422);
    let right = json!({"fill": {"name": "Ana", "email": "ana@example.com", "check": true}});
    ana.answer(&asked, right).await.must(200);
    let said = last_words(ana, &session).await;
    assert!(said.contains("Ana") && said.contains("ana@example.com"), "{said}");

    // A no is told as one.
    let session = call(ana, "trigger-elicitation-request", &json!({})).await;
    let asked = question(ana).await;
    ana.answer(&asked, json!({"verdict": "deny", "reason": "private"})).await.must(200);
    let said = last_words(ana, &session).await;
    assert!(said.to_lowercase().contains("declin"), "{said}");

    // Whoever asked is gone: the question is withdrawn.
    let session = call(ana, "trigger-elicitation-request", &json!({})).await;
    let asked = question(ana).await;
    let run = ana.read(&session).await["run"]["id"].as_str().expect("a run").to_owned();
    ana.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.must(200);
    let withdrawn = |hold: &serde_json::Value| hold["state"] == "cancelled";
    let mut hold = ana.hold(&asked["id"]).await;
    for _ in 0..500 {
        if withdrawn(&hold) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        hold = ana.hold(&asked["id"]).await;
    }
    assert!(withdrawn(&hold), "{hold:#}");
}

async fn shows(ana: &Caller) {
    let session = call(ana, "echo", &json!({"message": "héllo"})).await;
    assert_eq!(last_words(ana, &session).await, "Done: Echo: héllo");
    let session = call(ana, "get-tiny-image", &json!({})).await;
    let said = last_words(ana, &session).await;
    assert!(said.contains("[image image/png, ") && said.contains("sha256:"), "{said}");
    let session = call(ana, "get-structured-content", &json!({"location": "Chicago"})).await;
    let said = last_words(ana, &session).await;
    assert!(said.contains("temperature") && !said.contains("does not fit"), "{said}");
    // Arguments that do not fit the pinned schema never reach the server.
    let session = call(ana, "echo", &json!({"message": 7})).await;
    let said = last_words(ana, &session).await;
    assert!(said.contains("do not fit the tool's schema"), "{said}");
}

#[tokio::test]
async fn over_pipes_its_questions_become_holds() {
    let server = program(&["node", &npm("server-everything"), "stdio"], "");
    let mut served = prepare(&server, ALLOW, &TOOLS);
    served.up().await;
    let ana = served.admin();
    until_offered(&ana, "mcp__trigger-elicitation-request").await;
    shows(&ana).await;
    asks(&ana).await;
    // The server's own environment is a clean one.
    let session = call(&ana, "get-env", &json!({})).await;
    let said = last_words(&ana, &session).await;
    assert!(said.contains("PATH") && !said.contains("HOLDPOINT"), "{said}");
    served.stop().await;
}

#[tokio::test]
async fn over_http_its_questions_become_holds() {
    let everything = Service::start(|port| {
        let mut command = std::process::Command::new("node");
        command.args([&npm("server-everything"), "streamableHttp"]).env("PORT", port.to_string());
        command
    })
    .await;
    let server = service(&everything.url("/mcp"), "");
    let mut served = prepare(&server, ALLOW, &TOOLS);
    served.up().await;
    let ana = served.admin();
    until_offered(&ana, "mcp__trigger-elicitation-request").await;
    shows(&ana).await;
    asks(&ana).await;
    served.stop().await;
}

#[tokio::test]
async fn i16_killed_in_the_middle_of_a_call_it_leaves_the_call_in_doubt_and_comes_back() {
    let server = program(&["node", &npm("server-everything"), "stdio", "@SITE@/room"], "");
    let mut served = prepare(&server, ALLOW, &TOOLS);
    served.up().await;
    let ana = served.admin();
    let long = json!({"duration": 600, "steps": 2});
    let session = call(&ana, "trigger-long-running-operation", &long).await;
    let calls = |read: &serde_json::Value| read.to_string().contains("trigger-long-running");
    ana.until(&session, "the call", calls).await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let room = served.path("room").display().to_string();
    let node = processes(&room).into_iter().next().expect("the server's own process");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(node), nix::sys::signal::Signal::SIGKILL)
        .expect("it is there");
    let held = ana.held(&session, 1).await;
    assert_eq!(held[0]["kind"], "settle", "{:#}", held[0]);
    let session = call(&ana, "echo", &json!({"message": "again"})).await;
    assert_eq!(last_words(&ana, &session).await, "Done: Echo: again");
    served.stop().await;
    assert!(processes(&room).is_empty(), "nothing is left of it");
}

/// Processes of `node` that were started with this word.
fn processes(word: &str) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").expect("/proc").filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let is_node = words.first().is_some_and(|first| first.ends_with(b"node"));
        (is_node && words.contains(&word.as_bytes())).then_some(pid)
    });
    pids.collect()
}

/// It offers some of its tools only after the handshake, and says so.
async fn until_offered(ana: &Caller, tool: &str) {
    for _ in 0..500 {
        if offered(ana).await.iter().any(|name| name == tool) {
            return;
        }
        // A call makes it look again, also where nobody is told of changes.
        let session = call(ana, "echo", &json!({"message": "x"})).await;
        last_words(ana, &session).await;
    }
    panic!("{tool} is not offered: {:?}", offered(ana).await);
}
