//! The reference git server, which speaks the modern era over pipes.

use std::process::Command;

use serde_json::json;

use crate::mcp::world::{call, last_words, prepare, program, python};

#[tokio::test]
async fn a_commit_is_made_only_after_an_approval() {
    let more = "effects_of = { git_status = \"read_only\", git_log = \"read_only\" }";
    let server = program(&[&python(), "-m", "mcp_server_git", "--repository", "@SITE@/room"], more);
    let rules = "[[policy.rules]]\nname = \"reading is free\"\nmatch = { effects = [\"read_only\"] }\nthen = \"allow\"\n";
    let mut served = prepare(&server, rules, &["git_status", "git_commit", "git_log", "git_add"]);
    let room = served.path("room");
    let git = |words: &[&str]| {
        let ran = Command::new("git").arg("-C").arg(&room).args(words).output().expect("git");
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    git(&["init", "--quiet"]);
    git(&["config", "user.name", "Ana"]);
    git(&["config", "user.email", "ana@example.com"]);
    std::fs::write(room.join("a.txt"), "a").expect("a file");
    git(&["add", "a.txt"]);
    served.up().await;
    let ana = served.admin();

    let session = call(&ana, "git_status", &json!({"repo_path": room})).await;
    let said = last_words(&ana, &session).await;
    assert!(said.contains("a.txt"), "{said}");

    let commit = json!({"repo_path": room, "message": "First words"});
    let session = call(&ana, "git_commit", &commit).await;
    let held = ana.held(&session, 1).await;
    let view = held[0]["view"]["text"].as_str().expect("a text");
    assert!(view.contains("MCP server mcp (mcp-git 2026.10.19)"), "{view}");
    assert!(git(&["rev-list", "--all"]).is_empty(), "nothing is committed yet");
    ana.approve(&held[0]).await;
    let said = last_words(&ana, &session).await;
    assert!(said.starts_with("Done: "), "{said}");
    assert_eq!(git(&["log", "--format=%s"]).trim(), "First words");
    served.stop().await;
    let log = std::fs::read_to_string(served.log()).expect("a log");
    assert!(log.contains("Modern"), "it is spoken with as a modern server");
}
