//! Numbers for an operator's dashboards. Labels have few values: no ids, no names, no secrets.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use domain::event::{Event, Scope};
use domain::message::Role;
use domain::person::Actor;
use engine::{Caller, Followed, Happening};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use crate::app::App;

type Labels = Vec<(&'static str, String)>;

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    request_seconds: Histogram,
    pub(crate) streams: Gauge,
    holds_opened: Family<Labels, Counter>,
    holds_decided: Family<Labels, Counter>,
    decision_seconds: Histogram,
    calls: Family<Labels, Counter>,
    turns: Counter,
    tokens: Family<Labels, Counter>,
    money: Counter<f64, AtomicU64>,
    budgets_used_up: Family<Labels, Counter>,
    deliveries_failed: Family<Labels, Counter>,
    answers_refused: Family<Labels, Counter>,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("holdpoint");
        let requests = Family::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        let request_seconds = Histogram::new([
            0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 60.0,
        ]);
        registry.register(
            "http_request_seconds",
            "Time to the head of the reply",
            request_seconds.clone(),
        );
        let streams = Gauge::default();
        registry.register("event_streams", "Open event streams", streams.clone());
        let holds_opened = Family::default();
        registry.register("holds_opened", "Holds opened", holds_opened.clone());
        let holds_decided = Family::default();
        registry.register("holds_decided", "Holds that came to an end", holds_decided.clone());
        let decision_seconds =
            Histogram::new([1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0]);
        let help = "Time from opening a hold to its decision by people";
        registry.register("decision_seconds", help, decision_seconds.clone());
        let calls = Family::default();
        registry.register("calls", "Tool calls, by what happened to them", calls.clone());
        let turns = Counter::default();
        registry.register("model_turns", "Turns of models", turns.clone());
        let tokens = Family::default();
        registry.register("model_tokens", "Tokens that turns cost", tokens.clone());
        let money = Counter::default();
        let help = "What turns cost by the configured prices, in their unit";
        registry.register("model_money", help, money.clone());
        let budgets_used_up = Family::default();
        let help = "Times that a run had to ask whether it may go on";
        registry.register("budgets_used_up", help, budgets_used_up.clone());
        let deliveries_failed = Family::default();
        let help = "Prompts that could not be delivered to a chat, and were given up";
        registry.register("deliveries_failed", help, deliveries_failed.clone());
        let answers_refused = Family::default();
        let help = "Answers in chats that were not theirs to give";
        registry.register("answers_refused", help, answers_refused.clone());
        Metrics {
            registry,
            requests,
            request_seconds,
            streams,
            holds_opened,
            holds_decided,
            decision_seconds,
            calls,
            turns,
            tokens,
            money,
            budgets_used_up,
            deliveries_failed,
            answers_refused,
        }
    }

    fn heard(&self, happening: &Happening) {
        let call = |what: &str| {
            self.calls.get_or_create(&vec![("event", what.to_owned())]).inc();
        };
        match &happening.event {
            Event::HoldOpened { hold } => {
                let kind = hold.question.kind().to_owned();
                self.holds_opened.get_or_create(&vec![("kind", kind)]).inc();
            }
            Event::HoldDecided { hold, state } => {
                let outcome = state.name().to_owned();
                self.holds_decided.get_or_create(&vec![("outcome", outcome)]).inc();
                let opened = domain::time::Timestamp::from_ms((hold.0.0 >> 80) as i64);
                if state.decision().is_some_and(|decision| decision.vote().is_some()) {
                    let waited = Duration::from_millis(happening.at.ms_since(opened));
                    self.decision_seconds.observe(waited.as_secs_f64());
                }
            }
            Event::MessageAdded { message } if message.role == Role::Assistant => {
                self.turns.inc();
            }
            Event::TurnCounted { usage, .. } => {
                let tokens = |kind: &str, much: u64| {
                    self.tokens.get_or_create(&vec![("kind", kind.to_owned())]).inc_by(much);
                };
                tokens("input", usage.input_tokens);
                tokens("cached", usage.cached_tokens);
                tokens("output", usage.output_tokens);
                self.money.inc_by(usage.money as f64 / 1_000_000.0);
            }
            Event::BudgetUsedUp { used_up, .. } => {
                let budget = used_up.of.name().to_owned();
                self.budgets_used_up.get_or_create(&vec![("budget", budget)]).inc();
            }
            Event::DeliveryFailed { channel, .. } => {
                self.deliveries_failed.get_or_create(&vec![("channel", channel.clone())]).inc();
            }
            Event::AnswerRefused { refused } => {
                let labels = vec![("channel", refused.channel.clone())];
                self.answers_refused.get_or_create(&labels).inc_by(1 + refused.unlisted);
            }
            Event::CallStarted { .. } => call("started"),
            Event::CallInDoubt { .. } => call("in_doubt"),
            Event::CallSettled { result, .. } => call(result.kind.name()),
            _ => {}
        }
    }
}

/// Follows everything that happens, for as long as the server runs.
pub(crate) async fn follow(app: App) {
    let caller = Caller {
        actor: Actor::Runtime,
        scopes: Scope::ALL.to_vec(),
        person: None,
        roles: Vec::new(),
        confined_to: None,
    };
    let Ok(mut follow) = app.engine.follow_all(&caller, None).await else { return };
    loop {
        match follow.next().await {
            Ok(Some(Followed::Event(happening))) => app.metrics.heard(&happening),
            Ok(Some(_)) => {}
            Ok(None) => return,
            // The store is away; what happens meanwhile is read when it is back.
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}

pub(crate) async fn measure(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().as_str().to_owned();
    let route =
        request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let reply = next.run(request).await;
    let status = reply.status().as_u16().to_string();
    let labels = vec![("method", known(method)), ("route", route), ("status", status)];
    app.metrics.requests.get_or_create(&labels).inc();
    app.metrics.request_seconds.observe(began.elapsed().as_secs_f64());
    reply
}

/// A caller can invent methods, and each would be a new row.
fn known(method: String) -> String {
    match method.as_str() {
        "GET" | "HEAD" | "POST" | "DELETE" | "OPTIONS" | "PUT" | "PATCH" => method,
        _ => "other".into(),
    }
}

pub(crate) async fn show(State(app): State<App>) -> Response {
    let mut text = String::new();
    if prometheus_client::encoding::text::encode(&mut text, &app.metrics.registry).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text).into_response()
}
