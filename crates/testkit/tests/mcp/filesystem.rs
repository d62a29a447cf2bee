//! The reference filesystem server: a legacy one, over pipes.

use serde_json::json;

use crate::mcp::world::{call, last_words, npm, offered, prepare, program};

fn filesystem() -> String {
    let more = "effects_of = { read_text_file = \"read_only\" }";
    program(&["node", &npm("server-filesystem"), "@SITE@/room"], more)
}

#[tokio::test]
async fn a_file_is_written_only_after_an_approval() {
    let rules = "[[policy.rules]]\nname = \"reading is free\"\nmatch = { effects = [\"read_only\"] }\nthen = \"allow\"\n";
    let mut served = prepare(&filesystem(), rules, &["write_file", "read_text_file"]);
    served.up().await;
    let ana = served.admin();
    let tools = offered(&ana).await;
    assert!(tools.contains(&"mcp__write_file".to_owned()), "{tools:?}");

    let file = served.path("room/letter.txt");
    let arguments = json!({"path": file, "content": "Dear Ana,\n"});
    let session = call(&ana, "write_file", &arguments).await;
    let held = ana.held(&session, 1).await;
    let title = held[0]["title"].as_str().unwrap();
    assert!(title.starts_with("Run mcp__write_file: ") && title.contains("letter.txt"), "{title}");
    assert!(!file.exists(), "nothing is written before somebody approves");
    ana.approve(&held[0]).await;
    let said = last_words(&ana, &session).await;
    assert!(said.starts_with("Done: ") && said.contains("letter.txt"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Dear Ana,\n");

    let session = call(&ana, "write_file", &json!({"path": file, "content": "x"})).await;
    let held = ana.held(&session, 1).await;
    ana.answer(&held[0], json!({"verdict": "deny", "reason": "keep it"})).await.must(200);
    assert!(last_words(&ana, &session).await.contains("keep it"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Dear Ana,\n");

    // The operator said that this one only reads; the policy lets it pass.
    let session = call(&ana, "read_text_file", &json!({"path": file})).await;
    assert!(last_words(&ana, &session).await.contains("Dear Ana,"));

    // What the server itself will not do comes back as its own error.
    let session = call(&ana, "read_text_file", &json!({"path": "/etc/hostname"})).await;
    let said = last_words(&ana, &session).await;
    assert!(said.starts_with("Failed: ") && said.contains("denied"), "{said}");
    served.stop().await;
}
