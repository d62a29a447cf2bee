//! The one table of what can be asked: the router is built from it, and `/openapi.json` is written
//! from it, so neither can know a route that the other does not.

mod administration;

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use domain::event::TokenScope;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::app::App;
use crate::openapi::{Parameter, ParameterKind};
use crate::problem::Problem;
use crate::replay::Need;
use crate::threshold::{Behind, Guard};
use crate::{health, login, metrics, oauth_callback, openapi, page, send_link, v1, wire};

pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) access: Access,
    pub(crate) query: Vec<Parameter>,
    pub(crate) takes: Option<Shape>,
    /// The body is a file, as it is.
    pub(crate) takes_bytes: bool,
    pub(crate) gives: Vec<RouteReply>,
    /// Problems that come from what it means; those that come from its shape are worked out.
    pub(crate) refuses: &'static [u16],
    /// What a caller must be to get a kept reply of it.
    replay: Need,
    /// Places are kept for it.
    urgent: bool,
    handler: Handled,
}

/// A handler that waits to hear whether it is guarded.
type Handled = Box<dyn FnOnce(Guard) -> MethodRouter<App>>;

fn handled<T: 'static>(method: MethodFilter, handler: impl Handler<T, App>) -> Handled {
    Box::new(move |guard| on(method, Behind { handler, guard }))
}

fn get<T: 'static>(handler: impl Handler<T, App>) -> Handled {
    handled(MethodFilter::GET, handler)
}

fn post<T: 'static>(handler: impl Handler<T, App>) -> Handled {
    handled(MethodFilter::POST, handler)
}

fn delete<T: 'static>(handler: impl Handler<T, App>) -> Handled {
    handled(MethodFilter::DELETE, handler)
}

/// One reply that is not a problem.
pub(crate) struct RouteReply {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) shape: Option<Shape>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// For everybody: nothing here is about anybody.
    Open,
    /// A page or one of its files; not part of the API.
    Page,
    /// A token, or a login.
    Caller,
    /// The same, and the role and scope `admin`.
    Admin,
}

impl Access {
    /// Whether nobody gets there without a name.
    fn is_guarded(self) -> bool {
        match self {
            Access::Open | Access::Page => false,
            Access::Caller | Access::Admin => true,
        }
    }
}

fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Route {
    fn new(
        method: Method,
        path: &'static str,
        access: Access,
        summary: &'static str,
        handler: Handled,
    ) -> Route {
        Route {
            method,
            path,
            summary,
            access,
            query: Vec::new(),
            takes: None,
            takes_bytes: false,
            gives: Vec::new(),
            refuses: &[],
            replay: Need::Admin,
            urgent: false,
            handler,
        }
    }

    fn query(self, query: impl Into<Vec<Parameter>>) -> Route {
        Route { query: query.into(), ..self }
    }

    fn takes<T: JsonSchema>(self) -> Route {
        Route { takes: Some(shape::<T>), ..self }
    }

    fn takes_bytes(self) -> Route {
        Route { takes_bytes: true, ..self }
    }

    fn gives<T: JsonSchema>(mut self, status: u16) -> Route {
        self.gives.push(RouteReply { status, kind: "application/json", shape: Some(shape::<T>) });
        self
    }

    fn refuses(self, refuses: &'static [u16]) -> Route {
        Route { refuses, ..self }
    }

    fn replay(self, replay: Need) -> Route {
        Route { replay, ..self }
    }

    fn urgent(self) -> Route {
        Route { urgent: true, ..self }
    }

    fn says(mut self, status: u16, kind: &'static str) -> Route {
        self.gives.push(RouteReply { status, kind, shape: None });
        self
    }
}

const AGENT: Parameter = Parameter::new("agent", ParameterKind::Text, "only of this agent");

const RISKS: [&str; 4] = ["low", "medium", "high", "critical"];

const SEQUENCE: ParameterKind = ParameterKind::Number(0, u64::MAX);

const EVENTS: [Parameter; 1] = [Parameter::new(
    "after",
    SEQUENCE,
    "go on after this position; the header `Last-Event-ID` says the same",
)];

/// Everything that can be asked.
pub(crate) fn table() -> Vec<Route> {
    let mut routes = native();
    routes.extend(administration::routes());
    routes.extend(open());
    routes.extend(page::paths().map(|path| {
        Route::new(Method::GET, path, Access::Page, "A file of the page", get(page::file))
            .says(200, "*/*")
    }));
    routes
}

fn native() -> Vec<Route> {
    use v1::{
        agents, answers, comments, configured, events, files, holds, inbox, me, messages, outcome,
        preview, push, reveal, runs, sessions, snooze, views,
    };
    let caller =
        |method, path, summary, handler| Route::new(method, path, Access::Caller, summary, handler);
    vec![
        caller(Method::GET, "/v1/me", "Who the caller is", get(me::show)).gives::<wire::Me>(200),
        caller(
            Method::GET,
            "/v1/me/push",
            "The caller's own browsers that are told, and the key to subscribe with",
            get(push::list),
        )
        .gives::<wire::PushSubscriptions>(200)
        .refuses(&[403]),
        caller(Method::POST, "/v1/me/push", "Be told in this browser", post(push::subscribe))
            .takes::<wire::PushBody>()
            .replay(Need::Person)
            .gives::<wire::PushSubscription>(201)
            .refuses(&[403, 404]),
        caller(Method::DELETE, "/v1/me/push", "Be told there no longer", delete(push::unsubscribe))
            .query([Parameter::new("id", ParameterKind::Text, "which of the caller's browsers")])
            .says(204, "")
            .refuses(&[403]),
        caller(
            Method::GET,
            "/v1/me/views",
            "Views of the inbox that the caller keeps",
            get(views::list),
        )
        .gives::<wire::List<wire::SavedView>>(200)
        .refuses(&[403]),
        caller(Method::POST, "/v1/me/views", "Keep a view, or rename one", post(views::save))
            .takes::<wire::SavedViewBody>()
            .replay(Need::Person)
            .gives::<wire::SavedView>(200)
            .refuses(&[403]),
        caller(Method::DELETE, "/v1/me/views", "Keep it no longer", delete(views::forget))
            .query([Parameter::new("name", ParameterKind::Text, "which of the caller's views")])
            .says(204, "")
            .refuses(&[403]),
        caller(Method::GET, "/v1/agents", "The agents and their tools", get(agents::list))
            .gives::<wire::List<wire::Agent>>(200),
        caller(Method::POST, "/v1/sessions", "Open a session", post(sessions::open))
            .takes::<wire::NewSessionBody>()
            .replay(Need::Scope(TokenScope::Run))
            .gives::<wire::SessionDocument>(201)
            .refuses(&[403]),
        caller(
            Method::GET,
            "/v1/sessions",
            "The sessions that the caller may see",
            get(sessions::list),
        )
        .query([AGENT, Parameter::LIMIT, Parameter::cursor(ParameterKind::Id("ses_"))])
        .gives::<wire::List<wire::Summary>>(200),
        caller(Method::GET, "/v1/sessions/{id}", "One session in full", get(sessions::show))
            .gives::<wire::SessionDocument>(200),
        caller(Method::POST, "/v1/sessions/{id}/messages", "Say something", post(messages::say))
            .takes::<wire::SayBody>()
            .replay(Need::Scope(TokenScope::Run))
            .gives::<wire::MessageReceipt>(202)
            .says(200, "text/event-stream")
            .refuses(&[409, 423]),
        caller(
            Method::GET,
            "/v1/sessions/{id}/events",
            "Follow one session",
            get(events::of_session),
        )
        .query(EVENTS)
        .says(200, "text/event-stream"),
        caller(
            Method::GET,
            "/v1/events",
            "Follow everything that the caller may see",
            get(events::of_all),
        )
        .query(EVENTS)
        .says(200, "text/event-stream"),
        caller(Method::GET, "/v1/runs/{id}", "One run", get(runs::show)).gives::<wire::Run>(200),
        caller(
            Method::POST,
            "/v1/runs/{id}/cancel",
            "End a run; its open holds are cancelled",
            post(runs::cancel),
        )
        .takes::<wire::Cancel>()
        .replay(Need::Scope(TokenScope::Run))
        .urgent()
        .gives::<wire::Run>(200)
        .refuses(&[409]),
        caller(Method::POST, "/v1/runs/{id}/retry", "Let a failed run go on", post(runs::retry))
            .takes::<wire::Nothing>()
            .replay(Need::Scope(TokenScope::Run))
            .gives::<wire::Run>(200)
            .refuses(&[409, 423]),
        caller(
            Method::POST,
            "/v1/files",
            "Upload a file: the body is its bytes, which also say what it is",
            post(files::upload),
        )
        .query([Parameter::new("name", ParameterKind::Text, "what people call it")])
        .takes_bytes()
        .replay(Need::Nothing)
        .gives::<wire::File>(201)
        .refuses(&[507]),
        caller(Method::GET, "/v1/files/{id}", "The bytes of a file", get(files::show))
            .says(200, "*/*")
            .refuses(&[500]),
        caller(Method::GET, "/v1/files/{id}/about", "What a file is", get(files::about))
            .gives::<wire::File>(200),
        caller(
            Method::DELETE,
            "/v1/files/{id}",
            "Remove a file that nothing has",
            delete(files::remove),
        )
        .says(204, "")
        .refuses(&[409]),
        caller(Method::GET, "/v1/holds", "The inbox, and what was decided", get(holds::list))
            .query(inbox_query())
            .gives::<wire::List<wire::Hold>>(200)
            // By urgency, a page ends with a hold that must be seen to go on after it.
            .refuses(&[404]),
        caller(Method::GET, "/v1/holds/counts", "How many holds wait", get(inbox::counts))
            .query([Parameter::new(
                "since",
                ParameterKind::Moment,
                "when the day of `decided_today` began; midnight in UTC if not said",
            )])
            .gives::<wire::InboxCounts>(200),
        caller(Method::POST, "/v1/holds", "Open a hold from outside", post(holds::open))
            .takes::<wire::NewHoldBody>()
            .replay(Need::Scope(TokenScope::Ask))
            .gives::<wire::Hold>(201)
            .refuses(&[423]),
        caller(
            Method::POST,
            "/v1/holds/answers",
            "Answer many holds, each judged by itself; critical ones are refused here",
            post(answers::answer_many),
        )
        .takes::<wire::ManyAnswersBody>()
        .replay(Need::PersonWith(TokenScope::Answer))
        .gives::<wire::ManyAnswers>(200),
        caller(Method::GET, "/v1/holds/{id}", "One hold", get(holds::show))
            .gives::<wire::Hold>(200),
        caller(
            Method::GET,
            "/v1/holds/{id}/asked_before",
            "How often calls like this one were asked about",
            get(inbox::asked_before),
        )
        .gives::<wire::AskedBefore>(200),
        caller(
            Method::GET,
            "/v1/holds/{id}/tool",
            "The tool that the held call is for, and what it takes",
            get(configured::tool_of_hold),
        )
        .gives::<wire::HeldTool>(200),
        caller(Method::POST, "/v1/holds/{id}/answer", "Answer a hold", post(answers::answer))
            .takes::<wire::AnswerBody>()
            .replay(Need::PersonWith(TokenScope::Answer))
            .gives::<wire::Hold>(200)
            .refuses(&[409, 410]),
        caller(
            Method::POST,
            "/v1/holds/{id}/preview",
            "See what an edit would make of it; nothing is stored",
            post(preview::preview),
        )
        .takes::<wire::EditBody>()
        .replay(Need::PersonWith(TokenScope::Answer))
        .gives::<wire::EditPreview>(200)
        .refuses(&[409, 410]),
        caller(Method::POST, "/v1/holds/{id}/cancel", "Withdraw a hold", post(holds::cancel))
            .takes::<wire::Cancel>()
            .replay(Need::Nothing)
            .gives::<wire::Hold>(200)
            .refuses(&[409, 410]),
        caller(Method::POST, "/v1/holds/{id}/claim", "Say that one is on it", post(holds::claim))
            .takes::<wire::Nothing>()
            .replay(Need::Person)
            .gives::<wire::Hold>(200)
            .refuses(&[409, 410]),
        caller(
            Method::POST,
            "/v1/holds/{id}/comments",
            "Say something about it to others; it decides nothing",
            post(comments::comment),
        )
        .takes::<wire::CommentBody>()
        .replay(Need::PersonWith(TokenScope::Answer))
        .gives::<wire::Hold>(201)
        .refuses(&[409]),
        caller(
            Method::POST,
            "/v1/holds/{id}/snooze",
            "Do not see it for a while; nobody else learns of it",
            post(snooze::snooze),
        )
        .takes::<wire::SnoozeBody>()
        .replay(Need::Person)
        .gives::<wire::Snooze>(200)
        .refuses(&[409]),
        caller(Method::DELETE, "/v1/holds/{id}/snooze", "See it again", delete(snooze::unsnooze))
            .says(204, ""),
        caller(Method::GET, "/v1/snoozes", "What the caller has snoozed", get(snooze::list))
            .gives::<wire::List<wire::Snooze>>(200)
            .refuses(&[403]),
        caller(
            Method::DELETE,
            "/v1/holds/{id}/claim",
            "Let go of it again",
            delete(holds::unclaim),
        )
        .gives::<wire::Hold>(200)
        .refuses(&[409, 410]),
        caller(
            Method::POST,
            "/v1/holds/{id}/reveal",
            "See its secrets; the log says who did",
            post(reveal::reveal),
        )
        .takes::<wire::Nothing>()
        .replay(Need::PersonWith(TokenScope::Answer))
        .gives::<wire::Secrets>(200)
        .refuses(&[403]),
        caller(Method::GET, "/v1/holds/{id}/wait", "Wait for a decision", get(holds::wait))
            .query([
                Parameter::new(
                    "until",
                    ParameterKind::OneOf(&["decided", "settled"]),
                    "`decided` if not said",
                ),
                Parameter::new(
                    "timeout_s",
                    ParameterKind::Number(0, u64::MAX),
                    "30 if not said; more than 60 counts as 60",
                ),
            ])
            .gives::<wire::Hold>(200)
            .says(204, ""),
        caller(
            Method::POST,
            "/v1/holds/{id}/outcome",
            "Report that an outside call starts, and what it did",
            post(outcome::reported),
        )
        .takes::<wire::OutcomeBody>()
        .replay(Need::Nothing)
        .gives::<wire::Hold>(200)
        .refuses(&[409, 423]),
    ]
}

fn inbox_query() -> Vec<Parameter> {
    use v1::inbox::{KINDS, SECTIONS, SORTS, STATES};
    let one_of = |name, words, says| Parameter::new(name, ParameterKind::OneOf(words), says);
    let text = |name, says| Parameter::new(name, ParameterKind::Text, says);
    let mine = "true: only what the caller may answer now";
    vec![
        one_of("state", &STATES, "only in this state; `decided` is every state but pending"),
        AGENT,
        text("tool", "only calls of this tool"),
        text("requester", "only what was asked on behalf of this person"),
        text("decided_by", "only what this person decided, alone or with others"),
        Parameter::new("session", ParameterKind::Id("ses_"), "only of this session"),
        one_of("kind", &KINDS, "only of this kind"),
        one_of("risk", &RISKS, "only of this risk"),
        Parameter::new("mine", ParameterKind::Flag, mine),
        one_of("section", &SECTIONS, "only open ones in this section, as they are counted"),
        one_of("sort", &SORTS, "`newest` if not said; `urgency` is for open ones"),
        text("q", "a text in the title, the tool, the agent, the requester or the tag"),
        Parameter::LIMIT,
        Parameter::cursor(ParameterKind::Id("hold_")),
    ]
}

fn open() -> Vec<Route> {
    let open =
        |path, summary, handler| Route::new(Method::GET, path, Access::Open, summary, handler);
    let page =
        |path, summary, handler| Route::new(Method::GET, path, Access::Page, summary, handler);
    vec![
        open("/healthz", "Whether the process lives", get(health::alive))
            .gives::<wire::Health>(200),
        open("/readyz", "Whether it can work", get(health::ready)).gives::<wire::Health>(200),
        open("/metrics", "Numbers for Prometheus", get(metrics::show))
            .says(200, "application/openmetrics-text"),
        open("/openapi.json", "This document", get(openapi::show)).says(200, "application/json"),
        page("/", "The page", get(page::index)).says(200, "text/html"),
        page("/history", "Decided holds on the page", get(page::index)).says(200, "text/html"),
        page("/start", "The page that starts a session", get(page::index)).says(200, "text/html"),
        page("/sessions", "The sessions on the page", get(page::index)).says(200, "text/html"),
        page("/admin", "Administration on the page", get(page::index)).says(200, "text/html"),
        page("/admin/{tab}", "One part of the administration", get(page::index))
            .says(200, "text/html"),
        page("/holds/{id}", "One hold on the page", get(page::index)).says(200, "text/html"),
        page("/sessions/{id}", "One session on the page", get(page::index)).says(200, "text/html"),
        page("/login", "A button that uses a login link up", get(login::page))
            .says(200, "text/html"),
        Route::new(Method::POST, "/login", Access::Page, "Log in", post(login::log_in))
            .says(303, ""),
        page("/oauth/callback", "A button that connects an MCP server", get(oauth_callback::page))
            .says(200, "text/html"),
        Route::new(
            Method::POST,
            "/oauth/callback",
            Access::Page,
            "Connect an MCP server",
            post(oauth_callback::finish),
        )
        .says(200, "text/html"),
        open(
            "/oauth/client.json",
            "What authorization servers may read about this client",
            get(oauth_callback::client_document),
        )
        .gives::<wire::OauthClientDocument>(200),
        Route::new(
            Method::POST,
            "/login/link",
            Access::Open,
            "Have a login link sent to a person's own chat account",
            post(send_link::ask),
        )
        .takes::<wire::LinkWanted>()
        .gives::<wire::LinkPromised>(202)
        .refuses(&[403, 404, 429]),
        Route::new(Method::POST, "/logout", Access::Caller, "Log out", post(login::log_out))
            .says(303, ""),
    ]
}

pub(crate) fn router(app: &App) -> Router {
    let handler = async || Problem::not_found("address");
    routed(|_| true).fallback(Behind { handler, guard: Guard::Open }).with_state(app.clone())
}

/// Those whose path is wanted. Any other address is somebody else's business.
pub(crate) fn chosen(app: &App, wanted: impl Fn(&str) -> bool) -> Router {
    routed(wanted).with_state(app.clone())
}

fn routed(wanted: impl Fn(&str) -> bool) -> Router<App> {
    let mut router = Router::new();
    for route in table().into_iter().filter(|route| wanted(route.path)) {
        let guard = match route.access.is_guarded() {
            true => Guard::Caller { replay: route.replay, urgent: route.urgent },
            false => Guard::Open,
        };
        router = router.route(route.path, (route.handler)(guard));
    }
    let handler = async || Problem::wrong_method();
    router.method_not_allowed_fallback(Behind { handler, guard: Guard::Open })
}

/// Every route as method and path, and whether it needs a caller: for tests that go through all.
pub fn list() -> Vec<(Method, &'static str, bool)> {
    let listed = |route: Route| (route.method, route.path, route.access.is_guarded());
    table().into_iter().map(listed).collect()
}
