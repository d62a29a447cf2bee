//! Every fail point, one after another.

use serde_json::{Value, json};
use testkit::crash::failing::{FailPoints, PointReport};

use crate::wish::Wish;

/// False if anything is wrong.
pub(crate) async fn run(wish: &Wish, only: &str) -> bool {
    let points = FailPoints { seed: wish.seed, only: only.to_owned(), ..FailPoints::default() };
    let report = points.run().await;
    // Whoever mistypes a name should not think that all is well.
    let nothing = report.wrong.is_empty() && report.rows.is_empty();
    if wish.json {
        println!("{}", whole(&report));
    } else {
        println!("{report}");
    }
    if nothing {
        eprintln!("torture: no fail point begins with `{only}`");
    }
    report.wrong.is_empty() && !nothing
}

fn whole(report: &PointReport) -> Value {
    let row = |(name, row): (&String, &testkit::crash::failing::Row)| {
        json!({"point": name, "scenario": row.scenario, "trials": row.trials, "kills": row.kills,
            "errors": row.errors, "in_doubt": row.in_doubt})
    };
    json!({"seed": report.seed, "points": report.rows.iter().map(row).collect::<Vec<_>>(),
        "kills": report.kills(), "wrong": report.wrong})
}
