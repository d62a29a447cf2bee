//! Runs: looking, ending, retrying.

use axum::extract::State;
use axum::http::StatusCode;
use domain::event::Event;
use domain::id::RunId;
use domain::session::Session;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire;

pub(crate) async fn show(State(app): State<App>, who: Who, Id(id): Id<RunId>) -> Reply {
    let session = app.engine.session_of_run(&who.caller, id).await?;
    Ok(json(StatusCode::OK, &find(&app, &session, id).await?))
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Id(id): Id<RunId>,
    asked: ChangeRequest<wire::Cancel>,
) -> Reply {
    let act = async {
        let session =
            app.engine.cancel_run(&asked.who.caller, id, asked.body.reason.clone()).await?;
        Ok((StatusCode::OK, bytes(&find(&app, &session, id).await?)))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

pub(crate) async fn retry(
    State(app): State<App>,
    Id(id): Id<RunId>,
    asked: ChangeRequest<wire::Nothing>,
) -> Reply {
    let act = async {
        let session = app.engine.retry_run(&asked.who.caller, id).await?;
        Ok((StatusCode::OK, bytes(&find(&app, &session, id).await?)))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

/// A session knows its latest run; what became of earlier ones is in its log.
async fn find(app: &App, session: &Session, id: RunId) -> Reply<wire::Run> {
    if let Some(run) =
        wire::Run::latest(session, &app.engine).filter(|run| run.id == id.to_string())
    {
        return Ok(run);
    }
    let mut earlier = Session::begin(session.id);
    let mut found = None;
    for entry in app.engine.read_log(session.id).await? {
        for event in entry.events.iter().filter_map(Event::session_event) {
            earlier.apply(event, entry.at);
            found = earlier.run.as_ref().filter(|run| run.id == id).cloned().or(found);
        }
    }
    match found {
        Some(run) => Ok(wire::Run::of(&run, session, &app.engine)),
        None if session.queue.iter().any(|queued| queued.run == id) => {
            Ok(wire::Run::queued(id, session))
        }
        None => Err(Problem::not_found("run").into()),
    }
}
