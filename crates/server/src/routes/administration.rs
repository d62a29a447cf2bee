//! What admins do, and what belongs to it for everybody.

use axum::http::Method;

use super::{Access, Route, SEQUENCE, delete, get, post};
use crate::openapi::{Parameter, ParameterKind};
use crate::{v1, wire};

const DAYS: Parameter = Parameter::new(
    "days",
    ParameterKind::Number(1, v1::figures::DAYS_MAX as u64),
    "of so many days until now; 7 if not said",
);

pub(super) fn routes() -> Vec<Route> {
    use v1::{
        audit, audit_browse, channels, configured, figures, freeze, grants, logins, mcp, policy,
        tokens,
    };
    let caller =
        |method, path, summary, handler| Route::new(method, path, Access::Caller, summary, handler);
    let admin =
        |method, path, summary, handler| Route::new(method, path, Access::Admin, summary, handler);
    vec![
        caller(Method::GET, "/v1/grants", "Standing grants", get(grants::list))
            .gives::<wire::List<wire::Grant>>(200),
        caller(Method::DELETE, "/v1/grants/{id}", "Take a grant back", delete(grants::revoke))
            .says(204, ""),
        caller(
            Method::GET,
            "/v1/grants/{id}/matches",
            "What a grant would have covered in the last 30 days",
            get(grants::matches),
        )
        .gives::<wire::GrantMatches>(200),
        admin(Method::GET, "/v1/figures", "How much people are asked", get(figures::show))
            .query([DAYS])
            .gives::<wire::Figures>(200),
        admin(Method::GET, "/v1/people", "People and their identities", get(configured::people))
            .gives::<wire::List<wire::ListedPerson>>(200),
        admin(Method::GET, "/v1/tools", "What agents are offered", get(configured::tools))
            .gives::<wire::List<wire::ConfiguredTool>>(200),
        admin(Method::GET, "/v1/channels", "Channels and their last errors", get(channels::list))
            .gives::<wire::List<wire::ConfiguredChannel>>(200),
        admin(
            Method::POST,
            "/v1/channels/test",
            "Send a word to the caller's own account on a channel",
            post(channels::test),
        )
        .takes::<wire::ChannelTestBody>()
        .gives::<wire::ChannelTested>(200),
        admin(
            Method::POST,
            "/v1/policy/explain",
            "What the policy says of a call, and why; nothing runs",
            post(policy::explain),
        )
        .takes::<wire::ImaginedCallBody>()
        .gives::<wire::Explained>(200),
        admin(
            Method::GET,
            "/v1/policy/replay",
            "What the policy in force would have done with the calls of the last days",
            get(policy::replay),
        )
        .query([DAYS])
        .gives::<wire::PolicyReplay>(200),
        admin(Method::GET, "/v1/tokens", "Tokens, without their secrets", get(tokens::list))
            .query([Parameter::LIMIT, Parameter::cursor(ParameterKind::Id("tok_"))])
            .gives::<wire::List<wire::Token>>(200),
        admin(
            Method::POST,
            "/v1/tokens",
            "Make a token; its secret is shown once",
            post(tokens::mint),
        )
        .takes::<wire::NewToken>()
        .gives::<wire::Token>(201)
        .refuses(&[404]),
        admin(Method::DELETE, "/v1/tokens/{id}", "Revoke a token", delete(tokens::revoke))
            .says(204, ""),
        admin(Method::POST, "/v1/logins", "Make a one-time login link", post(logins::open))
            .takes::<wire::NewLogin>()
            .gives::<wire::Login>(201)
            .refuses(&[404]),
        admin(
            Method::GET,
            "/v1/mcp/servers",
            "MCP servers that are connected with OAuth",
            get(mcp::list),
        )
        .gives::<wire::List<wire::McpServerDocument>>(200),
        admin(
            Method::POST,
            "/v1/mcp/connect",
            "Begin to connect an MCP server; a browser does the rest",
            post(mcp::connect),
        )
        .takes::<wire::McpServerBody>()
        .gives::<wire::McpConnectDocument>(201)
        .refuses(&[404]),
        admin(Method::GET, "/v1/mcp/connect", "Wait until it is connected", get(mcp::wait))
            .query([
                Parameter::new("server", ParameterKind::Text, "the server's name").required(),
                Parameter::new("attempt", SEQUENCE, "the `attempt` that was begun").required(),
                Parameter::new(
                    "timeout_s",
                    ParameterKind::Number(0, u64::MAX),
                    "30 if not said; more than 60 counts as 60",
                ),
            ])
            .gives::<wire::McpAttemptDocument>(200)
            .refuses(&[404]),
        admin(
            Method::POST,
            "/v1/mcp/disconnect",
            "Forget the tokens of an MCP server",
            post(mcp::disconnect),
        )
        .takes::<wire::McpServerBody>()
        .gives::<wire::McpServerDocument>(200)
        .refuses(&[404]),
        admin(Method::GET, "/v1/audit", "The audit log", get(audit_browse::list))
            .query([
                Parameter::new("after", SEQUENCE, "entries after this one; with `sort=oldest`"),
                Parameter::new("q", ParameterKind::Text, "a text anywhere in an entry"),
                Parameter::new("event", ParameterKind::Text, "with such an event: `hold_decided`"),
                Parameter::new(
                    "sort",
                    ParameterKind::OneOf(&audit_browse::SORTS),
                    "`oldest` first if not said",
                ),
                Parameter::LIMIT,
                Parameter::cursor(SEQUENCE),
            ])
            .gives::<wire::List<wire::AuditEntry>>(200),
        admin(
            Method::POST,
            "/v1/audit/verify",
            "Check the whole log against its signatures",
            post(audit_browse::verify),
        )
        .takes::<wire::Nothing>()
        .gives::<wire::AuditCheck>(200),
        admin(
            Method::GET,
            "/v1/audit/export",
            "The audit log with its signatures",
            get(audit::export),
        )
        .says(200, "application/jsonl"),
        caller(Method::GET, "/v1/freeze", "Whether everything is frozen", get(freeze::show))
            .gives::<wire::Freeze>(200),
        admin(Method::POST, "/v1/freeze", "Let no call start", post(freeze::freeze))
            .takes::<wire::NewFreeze>()
            .urgent()
            .gives::<wire::Freeze>(200),
        admin(Method::DELETE, "/v1/freeze", "Let calls start again", delete(freeze::thaw))
            .urgent()
            .gives::<wire::Freeze>(200),
    ]
}
