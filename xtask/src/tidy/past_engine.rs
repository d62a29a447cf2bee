//! Doors ask the engine and never the store: what is written past a commit is in no journal, and what is
//! read past the engine is read by everybody. `Engine::store` is for the wiring and for tests. What a door may do
//! with a store is in `engine/records/door_records.rs` and `engine/records/chat_records.rs`.
//!
//! The data that stores speak of (`Note`, `Entry`) is free; the trait and the way to one are not.

use super::{Files, Finding};

/// Crates whose product code is held to it.
const DOORS: [&str; 6] = [
    "crates/server/src/",
    "crates/chat/src/",
    "crates/channels/src/",
    "crates/mcp_gate/src/",
    "crates/agent_hooks/src/",
    // The rest of `holdpoint` wires stores.
    "crates/holdpoint/src/mcp_door/",
];

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_door = |path: &str| DOORS.iter().any(|door| path.starts_with(door));
    for (path, text) in files.iter().filter(|(path, _)| is_door(path) && path.ends_with(".rs")) {
        for (line, number) in text.lines().zip(1..) {
            if reaches_the_store(line) {
                let remedy = "reaches past the engine to the store: make it a method of `Engine` or `ChatRecords`";
                findings.push(Finding::at_line(path, number, remedy));
            }
        }
    }
    findings
}

fn reaches_the_store(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("//") {
        return false;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = line.split(|c: char| !is_word(c));
    line.contains(".store()") || words.any(|word| word == "Store")
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    #[test]
    fn a_door_that_reaches_the_store_is_found() {
        for line in [
            "    app.engine.store().note(&shelf, key).await?",
            "use ports::store::Store;",
            "use ports::store::{PutNote, Store};",
            "    store: Arc<dyn Store>,",
        ] {
            for door in DOORS {
                let path = format!("{door}x.rs");
                let found = format!("{path}:1: reaches past the engine");
                assert!(told(&check(&tree(&[(&path, line)]))).starts_with(&found), "{line}");
            }
            let free = [
                "crates/server/tests/x.rs",
                "crates/holdpoint/src/wiring.rs",
                "crates/engine/src/x.rs",
            ];
            for path in free {
                assert_eq!(check(&tree(&[(path, line)])), [], "{path}");
            }
        }
    }

    #[test]
    fn what_stores_speak_of_is_free() {
        for line in [
            "use ports::store::{Note, PutNote};",
            "    asked.store(true, Ordering::Relaxed);",
            "    answers::store(here, caller, &given).await?;",
            "/// Like [`ports::store::Store`].",
        ] {
            assert_eq!(check(&tree(&[("crates/server/src/x.rs", line)])), [], "{line}");
        }
    }
}
