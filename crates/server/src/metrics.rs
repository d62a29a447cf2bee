//! Numbers for an operator's dashboards. Labels have few values: no ids, no names, no secrets.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::message::Role;
use domain::time::Timestamp;
use engine::{Followed, Happening};
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use crate::app::App;
use crate::state_gauges::StateGauges;

/// Most values are names of ours.
type Labels = [(&'static str, Cow<'static, str>); 1];

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
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
    gauges: StateGauges,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("holdpoint");
        let requests = Family::<RequestLabels, Counter>::default();
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
        let gauges = StateGauges::register(&mut registry);
        Metrics {
            gauges,
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

    fn count_hold(&self, event: &HoldEvent, at: Timestamp) {
        match event {
            HoldEvent::Opened { hold } => {
                let kind = hold.question.kind().name().into();
                self.holds_opened.get_or_create(&[("kind", kind)]).inc();
            }
            HoldEvent::Decided { hold, state } => {
                let outcome = state.name().into();
                self.holds_decided.get_or_create(&[("outcome", outcome)]).inc();
                let opened = Timestamp::from_ms((hold.0.0 >> 80) as i64);
                if state.decision().is_some_and(|decision| decision.vote().is_some()) {
                    let waited = Duration::from_millis(at.ms_since(opened));
                    self.decision_seconds.observe(waited.as_secs_f64());
                }
            }
            HoldEvent::Updated { .. } => {}
        }
    }

    fn count(&self, happening: &Happening) {
        let call = |what: &'static str| {
            self.calls.get_or_create(&[("event", what.into())]).inc();
        };
        match happening.event() {
            Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => {
                self.gauges.apply(event);
                self.count_hold(event, happening.at);
            }
            Event::Session(SessionEvent::MessageAdded { message })
                if message.role == Role::Assistant =>
            {
                self.turns.inc();
            }
            Event::Session(SessionEvent::TurnCounted { usage, .. }) => {
                let tokens = |kind: &'static str, much: u64| {
                    self.tokens.get_or_create(&[("kind", kind.into())]).inc_by(much);
                };
                tokens("input", usage.input_tokens);
                tokens("cached", usage.cached_tokens);
                tokens("output", usage.output_tokens);
                self.money.inc_by(usage.money as f64 / 1_000_000.0);
            }
            Event::Session(SessionEvent::BudgetUsedUp { used_up, .. }) => {
                let budget = used_up.of.name().into();
                self.budgets_used_up.get_or_create(&[("budget", budget)]).inc();
            }
            Event::Global(GlobalEvent::DeliveryFailed { channel, .. }) => {
                let channel = channel.clone().into();
                self.deliveries_failed.get_or_create(&[("channel", channel)]).inc();
            }
            Event::Global(GlobalEvent::AnswerRefused { refused }) => {
                let labels = [("channel", refused.channel.clone().into())];
                self.answers_refused.get_or_create(&labels).inc_by(1 + refused.unlisted);
            }
            Event::Session(SessionEvent::CallStarted { .. }) => call("started"),
            Event::Session(SessionEvent::CallInDoubt { .. }) => call("in_doubt"),
            Event::Session(SessionEvent::CallSettled { result, .. }) => call(result.kind.name()),
            _ => {}
        }
    }
}

/// Follows everything that happens, for as long as the server runs.
pub(crate) async fn follow(app: App) {
    let caller = app.engine.onlooker();
    let Ok(mut follow) = app.engine.follow_all(&caller, None).await else { return };
    while let Err(error) = app.metrics.gauges.load(&app.engine).await {
        tracing::warn!(%error, "pending holds cannot be counted yet");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    loop {
        match follow.next().await {
            Ok(Some(Followed::Event(happening))) => app.metrics.count(&happening),
            Ok(Some(_)) => {}
            Ok(None) => return,
            // The store is away; what happens meanwhile is read when it is back.
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}

/// A request that is being answered.
pub(crate) struct Measured {
    began: Instant,
    method: &'static str,
    route: Option<MatchedPath>,
    /// For the access log, if anybody wants it.
    path: Option<String>,
}

impl Measured {
    pub(crate) fn begin(request: &mut Request) -> Measured {
        let is_logged =
            tracing::enabled!(target: "holdpoint_server::access", tracing::Level::DEBUG);
        let path = request.uri().path();
        // Only the API's own: it has ids in it, and never a secret. What follows the `?` may be one.
        let is_ours = path.starts_with("/v1/");
        Measured {
            began: Instant::now(),
            method: known(request.method()),
            path: (is_logged && is_ours).then(|| path.to_owned()),
            // Taken and not copied: only the numbers are about routes.
            route: request.extensions_mut().remove(),
        }
    }

    /// The head of its reply is there.
    pub(crate) fn end(self, app: &App, status: StatusCode) {
        let elapsed = self.began.elapsed();
        app.metrics.request_seconds.observe(elapsed.as_secs_f64());
        tracing::debug!(
            target: "holdpoint_server::access",
            method = self.method,
            route = self.route.as_ref().map_or("none", MatchedPath::as_str),
            path = self.path,
            status = status.as_u16(),
            ms = elapsed.as_secs_f64() * 1_000.0,
            "request"
        );
        let answered = RequestLabels { method: self.method, route: self.route, status };
        app.metrics.requests.get_or_create(&answered).inc();
    }
}

/// A caller can invent methods, and each would be a new row.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "HEAD", "DELETE", "OPTIONS", "PUT", "PATCH"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

/// What requests are counted by.
#[derive(Clone, Debug)]
struct RequestLabels {
    method: &'static str,
    route: Option<MatchedPath>,
    status: StatusCode,
}

impl RequestLabels {
    fn labels(&self) -> [(&'static str, &str); 3] {
        let route = self.route.as_ref().map_or("none", MatchedPath::as_str);
        [("method", self.method), ("route", route), ("status", self.status.as_str())]
    }
}

impl PartialEq for RequestLabels {
    fn eq(&self, other: &RequestLabels) -> bool {
        self.labels() == other.labels()
    }
}

impl Eq for RequestLabels {}

impl Hash for RequestLabels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.labels().hash(state);
    }
}

impl EncodeLabelSet for RequestLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        self.labels().encode(encoder)
    }
}

pub(crate) async fn show(State(app): State<App>) -> Response {
    app.metrics.gauges.take(&app.engine).await;
    let mut text = String::new();
    if prometheus_client::encoding::text::encode(&mut text, &app.metrics.registry).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const BOARD: &str = include_str!("../../../ops/grafana-dashboard.json");
    const ALERTS: &str = include_str!("../../../ops/alerts.yml");
    const GUIDE: &str = include_str!("../../../docs/guide/operations.md");

    /// Every name that can be scraped, once everything has happened.
    fn names() -> BTreeSet<String> {
        let metrics = Metrics::new();
        let one = |label: &'static str| [(label, Cow::Borrowed("x"))];
        for (family, label) in [
            (&metrics.holds_opened, "kind"),
            (&metrics.holds_decided, "outcome"),
            (&metrics.calls, "event"),
            (&metrics.tokens, "kind"),
            (&metrics.budgets_used_up, "budget"),
            (&metrics.deliveries_failed, "channel"),
            (&metrics.answers_refused, "channel"),
        ] {
            family.get_or_create(&one(label)).inc();
        }
        let answered = RequestLabels { method: "GET", route: None, status: StatusCode::OK };
        metrics.requests.get_or_create(&answered).inc();
        metrics.gauges.count_for_test();
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &metrics.registry).unwrap();
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let name = |line: &str| line.split(['{', ' ']).next().unwrap_or_default().to_owned();
        samples.map(name).collect()
    }

    fn named(text: &str) -> BTreeSet<&str> {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let words = text.split(|letter| !is_of_name(letter));
        words.filter(|word| word.starts_with("holdpoint_")).collect()
    }

    #[test]
    fn every_metric_on_the_board_and_in_the_alerts_exists_and_each_alert_is_explained() {
        let names = names();
        for text in [BOARD, ALERTS, GUIDE] {
            let named = named(text);
            assert!(named.len() > 5, "too few are named");
            for name in named {
                // The guide names histograms without what is behind them.
                let is_there = names.contains(name) || names.contains(&format!("{name}_count"));
                assert!(is_there, "{name} cannot be scraped; there are {names:?}");
            }
        }
        let alerts: Vec<&str> =
            ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
        assert!(alerts.len() > 5);
        for alert in alerts {
            assert!(GUIDE.contains(&format!("`{alert}`")), "the guide does not explain {alert}");
        }
        for name in &names {
            let is_known = named(GUIDE).iter().any(|known| name.starts_with(known));
            assert!(is_known, "the guide does not name {name}");
        }
    }
}
