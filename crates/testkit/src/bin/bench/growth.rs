//! Whether a database that has grown is slower: the same cycles, with 10,000 finished runs in it and
//! with 1,000,000.

use std::path::Path;
use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope};
use domain::event::{HoldEvent, SessionEvent};
use domain::hold::{Decision, HoldState, Vote};
use domain::id::{MessageId, TokenId};
use domain::message::{Message, Origin, Part, Role};
use domain::outcome::ToolResult;
use domain::person::{Actor, PersonId, Proof};
use ports::store::{Commit, Store as _};
use stores::SqliteStore;
use stores::conformance::stage::{Stage, at, audience, call, hold_id, node, person, session_id};
use tokio::task::JoinSet;

use crate::cycle;
use crate::goal::Goal;
use crate::options::Options;
use crate::report::{Report, Row, number};

const RUNS_A_SESSION: usize = 8;
/// Sessions written at once: more than the writer takes into one transaction.
const AT_ONCE: usize = 320;
/// The same rate means at least this part of it.
const SAME: f64 = 0.8;

pub(crate) async fn run(
    options: &Options,
    folder: &Path,
    report: &Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let (sizes, rounds) =
        if options.quick { ([1_000, 10_000], 1) } else { ([10_000, 1_000_000], 3) };
    let folders = sizes.map(|runs| folder.join(runs.to_string()));
    for (folder, runs) in folders.iter().zip(sizes) {
        fill(folder, runs).await?;
    }
    // What the filling left to be written must not be in the way of what is measured.
    nix::unistd::sync();
    for at_once in options.at_once() {
        // By turns, so that a machine that gets slower does so for both.
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (folder, rates) in folders.iter().zip(&mut rates) {
                rates.push(cycle::run(folder, at_once, options.time()).await?.rate());
            }
        }
        let [before, after] = rates.map(median);
        for (runs, rate) in sizes.into_iter().zip([before, after]) {
            let runs = number(runs as f64);
            let what = format!("growth, {at_once} at once, {runs} finished runs");
            report.row(Row::new("growth", what, rate, "cycles/s"));
        }
        let what = format!("growth, {at_once} at once, the second rate of the first");
        report.row(Row::new("growth", what, after / before, "×").goal(Goal::at_least(SAME)));
    }
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Finished runs, as the engine writes them: five commits each, through the store's own writer.
async fn fill(folder: &Path, runs: usize) -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteStore::open(folder, node(1))?;
    let mut sessions = JoinSet::new();
    for session in 0..runs / RUNS_A_SESSION {
        while sessions.len() >= AT_ONCE {
            sessions.join_next().await.transpose()?.transpose()?;
        }
        let store = store.clone();
        sessions.spawn(async move { finished(&store, session).await });
    }
    while let Some(ended) = sessions.join_next().await {
        ended??;
    }
    store.close().await;
    Ok(())
}

async fn finished(store: &SqliteStore, session: usize) -> Result<(), ports::store::CommitError> {
    let mut stage = Stage::new(session_id(session as u128 + 1), node(1));
    store.commit(stage.open(person("ana"))).await?;
    for run in 0..RUNS_A_SESSION {
        let number = (session * RUNS_A_SESSION + run) as u128;
        store.commit(stage.say(run as u128)).await?;
        store.commit(stage.ask(number, hold_id(number), audience(&["ana"], &["admin"]))).await?;
        store.commit(approve(&mut stage, number)).await?;
        store.commit(settle(&mut stage, number)).await?;
        store.commit(conclude(&mut stage, number)).await?;
    }
    Ok(())
}

fn run_of(stage: &Stage) -> domain::id::RunId {
    stage.session.run.as_ref().expect("a run that was started").id
}

fn approve(stage: &mut Stage, number: u128) -> Commit {
    let hold = hold_id(number);
    let asked = call(Some(stage.session.id), number, r#"{"sql": "DELETE FROM orders"}"#);
    let vote = Vote {
        answer: Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
        by: PersonId::new("ana"),
        at: at(1),
        via: "api".into(),
        proof: Proof::Token(TokenId::new(1, 1)),
        digest: asked.digest(),
        view: asked.digest(),
    };
    let decision = Decision::People { vote: vote.into(), voters: vec![PersonId::new("ana")] };
    let events = vec![
        SessionEvent::Hold(HoldEvent::Decided { hold, state: HoldState::Approved(decision) }),
        SessionEvent::CallStarted { call: asked.id, attempt: 1, node: node(1) },
        SessionEvent::RunResumed { run: run_of(stage) },
    ];
    stage.commit(events, person("ana"))
}

fn settle(stage: &mut Stage, number: u128) -> Commit {
    let call = call(None, number, "{}");
    let result = ToolResult::output("214 rows were deleted");
    let part = Part::ToolResult {
        call: call.id,
        tool_use_id: call.tool_use_id.clone(),
        tool: call.tool.clone(),
        result: result.clone(),
    };
    let events = vec![
        SessionEvent::CallSettled { call: call.id, result },
        SessionEvent::MessageAdded { message: message(3, number, Role::Tool, part) },
    ];
    stage.commit(events, Actor::Runtime)
}

fn conclude(stage: &mut Stage, number: u128) -> Commit {
    let part = Part::Text("The old orders are gone.".into());
    let events = vec![
        SessionEvent::MessageAdded { message: message(4, number, Role::Assistant, part) },
        SessionEvent::RunCompleted { run: run_of(stage) },
    ];
    stage.commit(events, Actor::Runtime)
}

fn message(kind: i64, number: u128, role: Role, part: Part) -> Arc<Message> {
    let id = MessageId::new(kind, number);
    Arc::new(Message {
        id,
        role,
        origin: Origin::Own,
        by: None,
        login_makers: Default::default(),
        parts: vec![part],
        at: at(1),
    })
}
