//! Random lives of sessions: calls, answers of all kinds and in any order, messages in between,
//! cancelled runs, failures of the model. Before every request our validator has looked at it, and
//! the fake looks again as the vendor does.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::fake_model::{Api, Call, Script, Then, Turn};
use testkit::rng::Rng;
use testkit::served::{Caller, unsound};
use tokio::task::JoinSet;

use crate::models::{Stage, note, on_each_api};

on_each_api!(i22_every_call_has_one_result_after_any_interleaving);

/// A thousand over the three APIs.
const LIVES: u64 = 334;
const AT_ONCE: usize = 16;

fn script() -> Script {
    let calls = |count: usize| {
        Turn::calls((0..count).map(|at| {
            let tool = if at % 2 == 0 { "look" } else { "witness" };
            // What ends in an exclamation mark is asked about even if it only looks.
            Call::new(tool, note(&format!("{at}{}", if at % 3 == 0 { "!" } else { "" })))
        }))
    };
    let mut turns: Vec<Turn> = (1..=4).map(|n| calls(n).says(&format!("{n} calls"))).collect();
    turns.push(calls(3).says("break").then(180, Then::Cut).times(40));
    turns.push(calls(2).says("break"));
    // Whoever had three results wants one more.
    turns.push(calls(1).after(3));
    turns.push(Turn::text("done"));
    Script::new(turns)
}

async fn i22_every_call_has_one_result_after_any_interleaving(api: Api) {
    let seed = Rng::fresh_seed();
    let stage = Stage::set(api, Vec::new()).await;
    stage.fake.play(script());
    let (ana, bob) = (Arc::new(stage.ana.clone()), Arc::new(stage.served.person("bob").await));
    let mut running = JoinSet::new();
    for number in 0..LIVES {
        if running.len() >= AT_ONCE {
            ended(running.join_next().await, seed);
        }
        let (ana, bob) = (ana.clone(), bob.clone());
        running.spawn(async move { life(&ana, &bob, Rng::new(seed ^ number)).await });
    }
    while let Some(life) = running.join_next().await {
        ended(Some(life), seed);
    }
    assert_eq!(stage.fake.refused(), Vec::<String>::new(), "seed {seed}");
    assert!(stage.fake.asked().len() as u64 > 2 * LIVES, "{}", stage.fake.asked().len());
}

fn ended(life: Option<Result<(), tokio::task::JoinError>>, seed: u64) {
    if let Some(Err(error)) = life {
        panic!("seed {seed}: {error}");
    }
}

async fn life(ana: &Caller, bob: &Caller, mut rng: Rng) {
    let session = ana.session("worker").await;
    let path = format!("/v1/sessions/{session}/messages");
    for step in 0..4 + rng.below(6) {
        let say = ["1 calls", "2 calls", "3 calls", "4 calls", "break", "hello"];
        let read = ana.read(&session).await;
        assert_eq!(unsound(&read), Vec::<String>::new());
        let pending = read["pending"].as_array().cloned().unwrap_or_default();
        let run = read["run"]["id"].as_str().unwrap_or_default();
        match rng.below(10) {
            // Any answer to any open question, by anybody. That somebody was faster is no fault.
            0..=5 if !pending.is_empty() => {
                let hold = &pending[rng.below(pending.len() as u64) as usize];
                let who = if rng.below(2) == 0 { ana } else { bob };
                let answer = match rng.below(4) {
                    0 => json!({"verdict": "approve"}),
                    1 => json!({"verdict": "approve", "arguments": {"note": "edited!"}}),
                    2 => json!({"verdict": "respond", "content": "I did it myself."}),
                    _ => json!({"verdict": "deny", "reason": "no"}),
                };
                let status = who.answer(hold, answer).await.status;
                assert!([200, 404, 409].contains(&status), "{status}");
            }
            6 if !run.is_empty() => {
                let status = ana.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.status;
                assert!([200, 409].contains(&status), "{status}");
            }
            7 if !run.is_empty() => {
                let status = ana.post(&format!("/v1/runs/{run}/retry"), &json!({})).await.status;
                assert!([200, 409].contains(&status), "{status}");
            }
            _ => {
                let while_pending = ["queue", "supersede"][rng.below(2) as usize];
                let text = format!("{step}: {}", say[rng.below(6) as usize]);
                let body = json!({"text": text, "while_pending": while_pending});
                ana.post(&path, &body).await.must(202);
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(rng.below(30))).await;
    }
    finish(ana, &session).await;
}

/// Answers whatever is open until the session rests, and then it must be whole.
async fn finish(ana: &Caller, session: &str) {
    let until = tokio::time::Instant::now() + 2 * testkit::served::PATIENCE;
    loop {
        let read: Value = ana.read(session).await;
        assert_eq!(unsound(&read), Vec::<String>::new());
        for hold in read["pending"].as_array().into_iter().flatten() {
            let _ = ana.answer(hold, json!({"verdict": "deny"})).await;
        }
        let run = &read["run"];
        match run["status"].as_str() {
            Some("failed") => {
                let id = run["id"].as_str().expect("an id");
                let _ = ana.post(&format!("/v1/runs/{id}/retry"), &json!({})).await;
            }
            Some("completed" | "cancelled") | None
                if read["queued"].as_array().is_none_or(Vec::is_empty) =>
            {
                return;
            }
            _ => {}
        }
        assert!(tokio::time::Instant::now() < until, "it never rests: {read:#}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
