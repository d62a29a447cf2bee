//! An answer as the server reads it. The one promise that matters most: nothing is taken for an
//! approval that does not plainly say so.

use domain::answer::{Answer, ApprovalScope};
use serde_json::Value;

use super::bodies::is_a_problem;

pub(super) fn run(bytes: &[u8]) {
    let answering = match server::fuzz_api::answer(bytes) {
        Ok(answering) => answering,
        Err(document) => return is_a_problem(&document, bytes.len()),
    };
    let body: Value = serde_json::from_slice(bytes).expect("what is taken is JSON");
    assert!(body.is_object());
    let said = &body["answer"];
    assert_eq!(answering.digest.is_some(), body["digest"].is_string(), "no digest is made up");
    if let (Some(digest), Some(text)) = (answering.digest, body["digest"].as_str())
        && text.parse() == Ok(digest)
    {
        assert_eq!(digest.to_string(), text);
    }
    match &answering.answer {
        Answer::Approve { scope, arguments, .. } => {
            assert_eq!(said["verdict"], "approve", "an approval says so");
            assert_eq!(
                *scope != ApprovalScope::Once,
                said["scope"] == "session",
                "as far as it says"
            );
            match arguments {
                Some(arguments) => assert_eq!(*arguments.value(), said["arguments"]),
                None => assert!(said.get("arguments").is_none()),
            }
        }
        Answer::Deny { stop, .. } => {
            assert_eq!(said["verdict"], "deny");
            assert_eq!(*stop, said["stop"] == true);
        }
        Answer::Respond { content } => assert_eq!(said["content"], content.as_str()),
        Answer::Choose(chosen) => {
            assert_eq!(Some(chosen.len()), said["choose"].as_array().map(Vec::len));
        }
        Answer::Fill(form) => assert_eq!(*form, said["fill"]),
        Answer::Perform { content, .. } => {
            assert_eq!(said["perform"]["content"], content.as_str());
        }
        Answer::Settle { how, .. } => assert_eq!(said["settle"], how.name()),
    }
    let ways = ["verdict", "choose", "fill", "perform", "settle"];
    let count = ways.iter().filter(|way| said.get(**way).is_some()).count();
    assert_eq!(count, 1, "an answer says one thing");
}
