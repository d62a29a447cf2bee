//! Arguments of the tool `http`, which a model makes up. Each fills its own place in the operator's address,
//! as it is, and none leads anywhere else.

use reqwest::Url;
use serde_json::Value;
use tools::http::fuzz_api::address;

use super::told_plainly;

const TEMPLATE: &str = "https://{host}/users/{id}/notes?tag={tag}&all";
const HOSTS: [&str; 2] = ["a.example", "b.example"];

pub(super) fn run(bytes: &[u8]) {
    let Ok(arguments) = serde_json::from_slice::<Value>(bytes) else { return };
    let url = match address(TEMPLATE, &HOSTS.map(str::to_owned), &arguments) {
        Ok(url) => url,
        Err(told) => return told_plainly(&told, bytes.len()),
    };
    let host = url.host_str().expect("a host");
    assert!(HOSTS.contains(&host) && arguments["host"] == host, "{host} was not on the list");
    let rest = url.as_str().strip_prefix(&format!("https://{host}/users/")).expect("its path");
    let (id, rest) = rest.split_once('/').expect("and the rest of it");
    let query = rest.strip_prefix("notes?").expect("and its query");
    assert_eq!(url.fragment(), None);
    is_said(id, &arguments["id"]);
    match query.strip_suffix("&all") {
        None => assert!(query == "all" && arguments["tag"].is_null(), "{query}"),
        Some(pair) => is_said(pair.strip_prefix("tag=").expect("one pair"), &arguments["tag"]),
    }
}

/// What stands there, to another reader, is what was given.
fn is_said(stands: &str, given: &Value) {
    let given = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
    assert!(!stands.contains(['&', '=', '/', '?', '+']), "{stands:?} is more than one value");
    let read = Url::parse(&format!("https://h/?x={stands}")).expect("an address");
    let read = read.query_pairs().next().expect("a pair").1;
    assert_eq!(read, given.as_str());
}
