//! The agents, with their tools.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::app::App;
use crate::asked::json;
use crate::auth::Who;
use crate::wire;

pub(crate) async fn list(State(app): State<App>, _: Who) -> Response {
    let ids = app.engine.agent_ids();
    let agents = ids.iter().filter_map(|id| app.engine.agent(id));
    let items = agents.map(|agent| wire::Agent::of(agent, &app.engine)).collect();
    json(StatusCode::OK, &wire::List::<wire::Agent>::whole(items))
}
