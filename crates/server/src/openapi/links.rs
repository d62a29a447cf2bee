//! Where one can go on from a reply: what was made or found can be asked about. Programs and testers
//! walk along these.

use serde_json::{Map, Value, json};

/// Operations about one thing, which take its id.
const SESSION: &[&str] =
    &["get_sessions_one", "post_sessions_one_messages", "get_sessions_one_events"];
const RUN: &[&str] = &["get_runs_one", "post_runs_one_cancel", "post_runs_one_retry"];
const HOLD: &[&str] = &[
    "get_holds_one",
    "get_holds_one_asked_before",
    "get_holds_one_tool",
    "post_holds_one_preview",
    "post_holds_one_answer",
    "post_holds_one_cancel",
    "post_holds_one_claim",
    "post_holds_one_comments",
    "post_holds_one_reveal",
    "delete_holds_one_claim",
    "post_holds_one_snooze",
    "delete_holds_one_snooze",
    "get_holds_one_wait",
    "post_holds_one_outcome",
];
const GRANT: &[&str] = &["get_grants_one_matches", "delete_grants_one"];
const TOKEN: &[&str] = &["delete_tokens_one"];
const FILE: &[&str] = &["get_files_one", "get_files_one_about", "delete_files_one"];

type Way = (&'static [&'static str], &'static str);

/// Which operations a reply of this shape leads to, and where in it their id is. Only what is always
/// there: a link that leads nowhere teaches a client nothing.
fn ways(shape: &str) -> &'static [Way] {
    match shape {
        "Session" => &[(SESSION, "/id")],
        "Said" => &[(RUN, "/run")],
        "Run" => &[(RUN, "/id"), (SESSION, "/session")],
        "Hold" => &[(HOLD, "/id")],
        "Token" => &[(TOKEN, "/id")],
        "File" => &[(FILE, "/id")],
        "ListOfSummary" => &[(SESSION, "/items/0/id")],
        "ListOfHold" => &[(HOLD, "/items/0/id")],
        "ListOfGrant" => &[(GRANT, "/items/0/id")],
        _ => &[],
    }
}

/// The links of a reply, by the shape of its body.
pub(super) fn links_of(schema: &Value) -> Option<Map<String, Value>> {
    let shape = schema["$ref"].as_str()?.rsplit('/').next()?;
    let mut links = Map::new();
    for (operations, pointer) in ways(shape) {
        for operation in *operations {
            let id = format!("$response.body#{pointer}");
            let link = json!({"operationId": operation, "parameters": {"id": id}});
            links.insert((*operation).into(), link);
        }
    }
    (!links.is_empty()).then_some(links)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::openapi::document;

    #[test]
    fn every_operation_about_one_thing_can_be_reached_by_a_link() {
        let document = document();
        let (mut with_id, mut reached) = (BTreeSet::new(), BTreeSet::new());
        let paths = document["paths"].as_object().expect("paths");
        for (path, methods) in paths {
            for operation in methods.as_object().expect("methods").values() {
                let name = operation["operationId"].as_str().expect("a name").to_owned();
                if path.contains("{id}") {
                    with_id.insert(name);
                }
                for reply in operation["responses"].as_object().expect("replies").values() {
                    for link in reply["links"].as_object().into_iter().flat_map(Map::values) {
                        reached.insert(link["operationId"].as_str().expect("a name").to_owned());
                    }
                }
            }
        }
        assert_eq!(with_id, reached);
    }
}
