//! Random kills and stops, world after world.

use serde_json::json;
use testkit::crash::{Crash, Killed, Phases, Report};
use testkit::rng::Rng;

use crate::bound::bound;
use crate::wish::Wish;

/// A world that lives longer only makes its checks slower.
const KILLS_PER_WORLD: u64 = 200;
/// Kills between two signs of life.
const TELL_EVERY: u64 = 25;

/// What all worlds came to.
#[derive(Default)]
struct Sum {
    worlds: u64,
    kills: u64,
    stops: u64,
    refused: u64,
    answers: u64,
    executions: u64,
    in_doubt: u64,
    wrong: u64,
    unproved: u64,
    phases: Phases,
}

/// False if anything is wrong.
pub(crate) async fn run(wish: &Wish) -> bool {
    let mut rng = Rng::new(wish.seed);
    let mut sum = Sum::default();
    // The first world has the seed itself, so that what it printed can be had again alone.
    let mut seed = wish.seed;
    while sum.kills < wish.kills {
        let kills = KILLS_PER_WORLD.min(wish.kills - sum.kills);
        let tell: Option<fn(&Killed)> = if wish.json { None } else { Some(sign_of_life) };
        let report = Crash { kills, seed, tell }.run().await;
        let unproved = report.unproved();
        if wish.json {
            println!("{}", world(&report, &unproved));
        } else {
            println!("{report}");
            unproved.iter().for_each(|what| println!("{what}"));
        }
        let fatal = report.killed.kills < kills;
        sum.unproved += unproved.len() as u64;
        sum.take(report);
        if fatal {
            break;
        }
        seed = rng.bits();
    }
    if wish.json {
        println!("{}", sum.json());
    } else {
        sum.print();
    }
    sum.wrong + sum.unproved == 0
}

fn sign_of_life(killed: &Killed) {
    if killed.kills.is_multiple_of(TELL_EVERY) {
        println!("{} kills, {} stops", killed.kills, killed.stops);
    }
}

fn world(report: &Report, unproved: &[String]) -> serde_json::Value {
    json!({"seed": report.seed, "kills": report.killed.kills, "stops": report.killed.stops,
        "refused": report.killed.refused, "sessions": report.counts.sessions,
        "messages": report.counts.messages, "answers": report.counts.answers,
        "claims": report.counts.claims, "executions": report.executions, "changes": report.changes, "callbacks": report.callbacks,
        "in_doubt": report.in_doubt, "commits": report.commits, "phases": report.killed.phases,
        "wrong": report.wrong, "unproved": unproved})
}

impl Sum {
    fn take(&mut self, report: Report) {
        self.worlds += 1;
        self.kills += report.killed.kills;
        self.stops += report.killed.stops;
        self.refused += report.killed.refused;
        self.answers += report.counts.answers;
        self.executions += report.executions;
        self.in_doubt += report.in_doubt;
        self.wrong += report.wrong.len() as u64;
        for (phase, hits) in report.killed.phases {
            *self.phases.entry(phase).or_default() += hits;
        }
    }

    fn json(&self) -> serde_json::Value {
        json!({"worlds": self.worlds, "kills": self.kills, "stops": self.stops,
            "refused": self.refused, "answers": self.answers, "executions": self.executions,
            "in_doubt": self.in_doubt, "phases": self.phases, "wrong": self.wrong, "unproved": self.unproved,
            "bound_per_kill": bound(self.kills, self.wrong + self.unproved)})
    }

    fn print(&self) {
        println!(
            "{} kills and {} stops in {} worlds; {} answers, {} once-only executions, {} calls in doubt",
            self.kills, self.stops, self.worlds, self.answers, self.executions, self.in_doubt
        );
        println!("hit by a kill:");
        for (phase, hits) in &self.phases {
            println!("  {hits:7}  {phase}");
        }
        match bound(self.kills, self.wrong + self.unproved) {
            Some(bound) => println!(
                "0 of {} kills lost or doubled anything: with 95 % confidence fewer than {bound:.2e} per kill",
                self.kills
            ),
            None => println!("wrong: {}, unproved: {}; see above", self.wrong, self.unproved),
        }
    }
}
