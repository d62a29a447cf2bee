//! Tool definitions that people have agreed to, as they are on disk. A file is whole or refused: what is lost
//! from it would be trusted anew.

use serde_json::{Value, json};
use tools::mcp::fuzz_api::pins;

use super::{Pieces, told_plainly};

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let cut = usize::from(pieces.byte());
    let file = pieces.rest();
    let read = match pins(file) {
        Ok(read) => read,
        Err(told) => return told_plainly(&told, file.len()),
    };
    assert_eq!(pins(&read.written).as_ref(), Ok(&read), "written and read again it is the same");
    let torn = &read.written[..(read.written.len() - 1) * cut / 256];
    assert!(pins(torn).is_err(), "a part of a file is taken for one");
    let value: Value = serde_json::from_slice(&read.written).expect("a file is JSON");
    assert_eq!(value["version"], 1, "of another version than we know");
    let names = value["tools"].as_object().expect("tools").keys();
    assert!(names.eq(read.tools.iter().map(|(name, _)| name)), "each by its name");
    for (name, digest) in &read.tools {
        let digest = digest.expect("what is pinned can be compared");
        assert_eq!(value["tools"][name]["definition"]["name"], **name);
        let mut other = value.clone();
        let pin = &mut other["tools"][name];
        pin["definition"]["description"] =
            json!(format!("{} more", pin["definition"]["description"]));
        is_another(name, digest, &other);
        let mut other = value.clone();
        let server = &mut other["tools"][name]["server"]["version"];
        *server = json!(format!("{server} more"));
        is_another(name, digest, &other);
    }
}

/// Whatever is said otherwise was not agreed to.
fn is_another(name: &str, digest: domain::digest::Digest, file: &Value) {
    let read = pins(file.to_string().as_bytes()).expect("still a file of pins");
    let (_, now) = read.tools.iter().find(|(it, _)| it == name).expect("still there");
    assert_ne!(*now, Some(digest), "another `{name}` passes for the one that was agreed to");
}
