//! Power cuts under the real program.

use serde_json::{Value, json};
use testkit::disk;

use crate::bound::bound;
use crate::wish::Wish;

/// False if anything is wrong.
pub(crate) async fn run(wish: &Wish) -> bool {
    let report = disk::torture(wish.cuts, wish.seed).await;
    let bound = bound(report.cuts(), report.wrong().len() as u64);
    if wish.json {
        println!("{}", whole(&report, bound));
    } else {
        print!("{report}");
        match bound {
            Some(bound) => println!(
                "0 of {} power cuts lost or doubled anything: with 95 % confidence fewer than {bound:.2e} per cut",
                report.cuts()
            ),
            None => println!("wrong: {}; see above", report.wrong().len()),
        }
    }
    report.wrong().is_empty()
}

fn whole(report: &disk::Report, bound: Option<f64>) -> Value {
    let disk::Report { crash, everything, some, lost, idle, failing } = report;
    json!({"seed": crash.seed, "cuts": report.cuts(), "took_everything": everything, "took_some": some,
        "found_all_safe": idle, "after_failed_syncs": failing,
        "lost": {"writes": lost.writes, "files": lost.files, "torn": lost.torn, "names": lost.names},
        "answers": crash.counts.answers, "executions": crash.executions, "in_doubt": crash.in_doubt,
        "wrong": crash.wrong, "bound_per_cut": bound})
}
