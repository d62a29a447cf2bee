//! The fuzz targets of `testkit::fuzz` under libFuzzer. `HOLDPOINT_FUZZ` names the one to run.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use testkit::fuzz::{TARGETS, Target, find};

static CHOSEN: OnceLock<Target> = OnceLock::new();

fn chosen() -> &'static Target {
    CHOSEN.get_or_init(|| {
        let name = std::env::var("HOLDPOINT_FUZZ").unwrap_or_default();
        find(&name).unwrap_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            panic!("HOLDPOINT_FUZZ must name one of: {}", names.join(", "))
        })
    })
}

fuzz_target!(|bytes: &[u8]| (chosen().run)(bytes));
