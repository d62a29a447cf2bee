//! `POST /hooks/claude`: Claude Code's hooks over HTTP, judged as `holdpoint hook claude` judges them.
//!
//! Claude Code lets a call run when a hook's reply is no success. So whatever goes wrong here, a wrong token and a
//! panic among it, is a denial in its own words with status 200. Only a reply that never arrives is beyond us: for
//! that, the settings say `"onFailure": "block"`.
//!
//! The agent's files are not looked at, also if it says that it is on this machine: it may be in a container, and the
//! server's user may read what the agent's may not. What that leaves unknown stands on the card, and asks.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use agent_hooks::{
    AgentHost, HTTP_WAIT_S_MAX, HoldReply, HookProposal, HookQuestion, HookReply, Judgement,
    PEOPLE_WAIT_S, UnseenFiles, judge, question_expiry_s,
};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::any;
use domain::hold::Hold;
use domain::id::HoldId;
use engine::{Caller, Keep, Until};
use futures_util::FutureExt as _;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{bytes, parse, query, read_body};
use crate::auth::authenticate;
use crate::idempotency::{json, request_digest};
use crate::problem::{Problem, Refused, Reply};
use crate::threshold::caller_place;
use crate::wire::{self, NewHoldBody};

const PATH: &str = "/hooks/claude";
const HOST: AgentHost = AgentHost::Claude;
/// What is left to say when a reply cannot be written.
const DENIED: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Holdpoint could not write its reply. Nothing was run."}}"#;

pub(crate) fn router(app: &App) -> Router {
    Router::new().route(PATH, any(take)).with_state(app.clone())
}

/// As the address in the agent's settings says it: `?wait_s=50&defer=true`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookOptions {
    wait_s: Option<u64>,
    #[serde(default)]
    defer: bool,
}

async fn take(State(app): State<App>, request: Request) -> Response {
    let reply = AssertUnwindSafe(answer(&app, request)).catch_unwind().await;
    let reply = reply.unwrap_or_else(panicked).unwrap_or_else(|refused| denied(&refused));
    let body = reply.spell(HOST).ok().flatten().unwrap_or_else(|| DENIED.to_owned());
    json(StatusCode::OK, body.into())
}

fn panicked(_: Box<dyn Any + Send + 'static>) -> Reply<HookReply> {
    tracing::error!("the hook for Claude Code panicked");
    Err(Problem::internal().into())
}

fn denied(refused: &Refused) -> HookReply {
    match refused {
        Refused::Problem(problem) => HookReply::deny(problem.detail()),
        // Nothing here asks for a kept reply; if one came, it is no approval.
        Refused::Replayed(_) => HookReply::deny("the server gave an old reply; try again"),
    }
}

async fn answer(app: &App, request: Request) -> Reply<HookReply> {
    if request.method() != Method::POST {
        return Err(Problem::wrong_method().into());
    }
    let (parts, body) = request.into_parts();
    let caller = program(app, &parts).await?;
    let _place = caller_place(app)?;
    let options: HookOptions = query(&parts.uri)?;
    let wait_s = options.wait_s.unwrap_or(PEOPLE_WAIT_S);
    if !(1..=HTTP_WAIT_S_MAX).contains(&wait_s) {
        let why = format!("`wait_s` in the hook's address is between 1 and {HTTP_WAIT_S_MAX}");
        return Err(Problem::bad_request(why).into());
    }
    let call = read_body(app, body).await?;
    let proposal = HookProposal::read(HOST, &call, None)
        .map_err(|unreadable| Problem::bad_request(unreadable.to_string()))?;
    // Deferred, the question outlives the request, for as long as the policy lets it.
    let expires_in_s = (!options.defer).then(|| question_expiry_s(wait_s));
    let question = HookQuestion::new(&proposal, &UnseenFiles, expires_in_s);
    let id = open(app, &caller, &proposal, &question).await?;
    let withdrawal = HookWithdrawal::unless_decided(app, &caller, id, options.defer);
    let Some(hold) = decided(app, &caller, id, wait_s).await? else {
        if options.defer {
            let page = format!("{}/holds/{id}", app.origin);
            return Ok(HookReply::Defer(format!("waiting for a person: {page}")));
        }
        withdrawal.withdraw().await;
        return Ok(HookReply::deny(&format!(
            "nobody answered within {wait_s} s, so the question was withdrawn; ask a person to look at {} and try again",
            app.origin
        )));
    };
    withdrawal.disarm();
    let hold = read_back(&hold)?;
    let mismatch = |mismatch: agent_hooks::Mismatch| Problem::bad_request(mismatch.to_string());
    match judge(&proposal, &UnseenFiles, &question, &hold).map_err(mismatch)? {
        Judgement::Reply(reply) => Ok(reply),
        Judgement::TakeUp(approval) => {
            Ok(approval.start(app.engine.start_outside(&caller, id, None).await)?)
        }
    }
}

/// The token is in the agent's environment, where whatever the agent runs can read it. A person's could answer.
async fn program(app: &App, parts: &Parts) -> Reply<Caller> {
    let who = authenticate(app, parts).await.map_err(|refused| match refused {
        Refused::Problem(problem) => Problem::unauthenticated(format!(
            "{}\n  → start Claude Code with a program's token in HOLDPOINT_TOKEN",
            problem.detail()
        ))
        .into(),
        replayed => replayed,
    })?;
    if who.caller.person().is_some() {
        let why = "this is a person's token, and the agent could approve its own calls with it: make a program's \
                   with `holdpoint token create`";
        return Err(Problem::not_entitled(why).into());
    }
    Ok(who.caller)
}

/// The hold of this call: a new one, or the one that was opened when the agent asked before.
async fn open(
    app: &App,
    caller: &Caller,
    proposal: &HookProposal,
    question: &HookQuestion<'_>,
) -> Reply<HoldId> {
    let body = bytes(question);
    let new = parse::<NewHoldBody>(&body)?.parse()?;
    let request = request_digest("POST", PATH, &body);
    let space = caller.stable_name();
    let key = question.key(proposal);
    if let Some(key) = &key
        && let Some(kept) = app.engine.kept(&space, key, request).await?
    {
        let id = std::str::from_utf8(&kept.body).ok().and_then(|id| id.parse().ok());
        return id.ok_or_else(|| Problem::internal().into());
    }
    let render = |hold: &Hold| (200, hold.id.to_string().into_bytes());
    let keep = key.map(|key| Keep { caller: space, key, request, render: &render });
    Ok(Box::pin(app.engine.open_hold(caller, new, keep)).await?.id)
}

async fn decided(
    app: &App,
    caller: &Caller,
    id: HoldId,
    wait_s: u64,
) -> Reply<Option<std::sync::Arc<Hold>>> {
    tokio::select! {
        waited = app.engine.wait(caller, id, Until::Decided, Duration::from_secs(wait_s)) => Ok(waited?),
        () = app.closing.cancelled() => {
            Err(Problem::unavailable("the server is stopping; try again in a moment", 1).into())
        }
    }
}

/// As the HTTP API shows it, so that both kinds of hook read the same.
fn read_back(hold: &Hold) -> Reply<HoldReply> {
    serde_json::from_slice(&bytes(&wire::Hold::of(hold))).map_err(|_| Problem::internal().into())
}

/// Takes the question back when the agent hangs up or stops waiting, so that nobody answers for nothing.
struct HookWithdrawal {
    app: App,
    caller: Caller,
    id: HoldId,
    is_due: bool,
}

impl HookWithdrawal {
    fn unless_decided(app: &App, caller: &Caller, id: HoldId, defer: bool) -> HookWithdrawal {
        HookWithdrawal { app: app.clone(), caller: caller.clone(), id, is_due: !defer }
    }

    fn disarm(mut self) {
        self.is_due = false;
    }

    /// Before the agent hears of it. If the agent hangs up meanwhile, it is done all the same.
    async fn withdraw(mut self) {
        withdraw(&self.app, &self.caller, self.id).await;
        self.is_due = false;
    }
}

async fn withdraw(app: &App, caller: &Caller, id: HoldId) {
    let reason = Some("the agent no longer waits".to_owned());
    // It may be decided by now; otherwise it expires.
    if let Err(error) = app.engine.cancel_hold(caller, id, reason, None).await {
        tracing::debug!(%id, %error, "a hook's question was not withdrawn");
    }
}

impl Drop for HookWithdrawal {
    fn drop(&mut self) {
        if !self.is_due {
            return;
        }
        let (app, caller, id) = (self.app.clone(), self.caller.clone(), self.id);
        self.app.tasks.spawn(async move { withdraw(&app, &caller, id).await });
    }
}
