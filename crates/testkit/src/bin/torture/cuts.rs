//! Power cuts under the real program.

use serde_json::json;
use testkit::disk;

use crate::wish::Wish;

/// False if anything is wrong.
pub(crate) async fn run(wish: &Wish) -> bool {
    let report = disk::torture(wish.cuts, wish.seed).await;
    if wish.json {
        println!("{}", json!({"cuts": wish.cuts, "wrong": report.wrong()}));
    } else {
        println!("{report}");
    }
    report.wrong().is_empty()
}
