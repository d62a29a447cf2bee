//! An axum program that has pages and users of its own, and Holdpoint beside them.
//!
//!     cargo run -p holdpoint --example mounted
//!
//! It trusts the header `x-user`, as a program behind an authenticating proxy does. Yours has sessions.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use holdpoint::axum::extract::{Request, State};
use holdpoint::axum::http::StatusCode;
use holdpoint::axum::middleware::{Next, from_fn_with_state};
use holdpoint::axum::response::{IntoResponse as _, Response};
use holdpoint::axum::routing::{get, post};
use holdpoint::axum::{self, Router};
use holdpoint::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Mail {
    /// Whom to write to.
    to: String,
}

const SCRIPT: &str = r#"
    [[turn]]
    when = { says_regex = '^Remind (\w+)$' }
    calls = [{ tool = "mail", arguments = { to = "{1}" } }]

    [[turn]]
    when = { result_of = "mail" }
    text = "{result}"
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mail = Tool::from_fn("mail", "Writes to a customer.", |mail: Mail, _| async move {
        Ok(format!("{} was reminded", mail.to))
    });
    let holdpoint = Holdpoint::builder()
        .person(Person::new("ana").name("Ana").admin())
        .agent(Agent::new("dunning", Arc::new(ScriptedModel::parse(SCRIPT)?)).tool(mail))
        .build()
        .await?;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let mounted = holdpoint.mount(&origin);
    let router = Router::new()
        .route("/invoices", get(async || "two invoices are overdue"))
        .route("/remind/{customer}", post(remind))
        .with_state(holdpoint.clone())
        // `/`, `/login`, `/v1/…` and the page's files are Holdpoint's; what is unknown stays ours.
        .merge(mounted.router())
        .layer(from_fn_with_state(holdpoint.clone(), vouch));
    writeln!(std::io::stdout(), "listening on {origin}")?;

    let stopping = async move {
        stopped().await;
        // Otherwise an open event stream would keep the server from ending.
        mounted.close().await;
    };
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(stopping).await?;
    holdpoint.close(Duration::from_secs(10)).await;
    Ok(writeln!(std::io::stdout(), "closed")?)
}

/// The one place where this program says who somebody is.
async fn vouch(State(holdpoint): State<Holdpoint>, mut request: Request, next: Next) -> Response {
    let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
    if let Some(acting) = user.and_then(|user| holdpoint.vouch(user, "the proxy's login").ok()) {
        // For Holdpoint's routes, and for our own.
        request.extensions_mut().insert(acting.on_request());
        request.extensions_mut().insert(acting);
    }
    next.run(request).await
}

async fn remind(
    State(holdpoint): State<Holdpoint>,
    axum::extract::Path(customer): axum::extract::Path<String>,
    request: Request,
) -> Response {
    let Some(acting) = request.extensions().get::<Acting>() else {
        return (StatusCode::UNAUTHORIZED, "log in first\n").into_response();
    };
    match begin(&holdpoint, acting, &customer).await {
        Ok(text) => text.into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn begin(holdpoint: &Holdpoint, acting: &Acting, customer: &str) -> Result<String, Error> {
    let session = holdpoint.open(acting, "dunning").await?;
    let rest = session.ask(format!("Remind {customer}")).await?;
    Ok(match rest.holds() {
        [] => rest.text().unwrap_or_default().to_owned(),
        holds => format!("{} waits for approval\n", holds[0].id),
    })
}

async fn stopped() {
    let _ = tokio::signal::ctrl_c().await;
}
