//! `cargo xtask torture`: as many crashes as somebody wants to wait for.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod bound;
mod cuts;
mod kills;
mod points;
mod seeds;
mod wish;

use std::process::ExitCode;

use wish::Wish;

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wish = match Wish::parse(&words) {
        Ok(Some(wish)) => wish,
        Ok(None) => {
            println!("{}", wish::HELP);
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("torture: {why}");
            return ExitCode::from(2);
        }
    };
    // All that was asked for, even if the first of it finds something.
    // Stories bring runtimes of their own, which must not run inside of ours.
    let seeds = wish.seeds == 0
        || std::thread::scope(|scope| scope.spawn(|| seeds::run(&wish)).join()).unwrap_or(false);
    let cuts = wish.cuts == 0 || cuts::run(&wish).await;
    let kills = wish.kills == 0 || kills::run(&wish).await;
    let points = match &wish.points {
        Some(only) => points::run(&wish, only).await,
        None => true,
    };
    if seeds && cuts && kills && points { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
