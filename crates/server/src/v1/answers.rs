//! Answering: the one thing that only people do.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::event::TokenScope;
use domain::hold::{Hold, Risk};
use domain::id::HoldId;
use engine::{Answering, Caller};

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::problem::{Problem, Refused, Reply};
use crate::wire::{self, AnswerBody, AnswerResult, WrittenAnswer};

pub(crate) async fn answer(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<AnswerBody>,
) -> Reply {
    let caller = &asked.who.caller;
    // Whoever may not see or answer it learns that, and not what is wrong with what they wrote.
    app.engine.hold(caller, id).await?;
    caller.must_be_person()?;
    let render = |hold: &Hold| (200, bytes(&wire::Hold::of(hold)).into());
    let keep = asked.keep(&render);
    let hold = Box::pin(app.engine.answer(caller, id, asked.body.parse()?, keep)).await?;
    ports::failpoint!("http.answer_reply");
    Ok(json(StatusCode::OK, &wire::Hold::of(&hold)))
}

/// Many at once, each judged by itself: what one of them comes to changes nothing for the others.
pub(crate) async fn answer_many(
    State(app): State<App>,
    asked: ChangeRequest<wire::ManyAnswersBody>,
) -> Reply {
    let caller = &asked.who.caller;
    caller.must_be_person()?;
    caller.must_have(TokenScope::Answer)?;
    let written = asked.body.parse()?;
    let act = async {
        let mut results = Vec::with_capacity(written.len());
        for WrittenAnswer { hold, answering } in written {
            results.push(match Box::pin(answer_one(&app, caller, hold, answering)).await {
                Ok(hold) => AnswerResult::counted(&hold),
                Err(Refused::Problem(problem)) => AnswerResult::refused(hold, problem),
                // Only a reply that is kept can come again, and none of these is.
                Err(Refused::Replayed(_)) => AnswerResult::refused(hold, Problem::internal()),
            });
        }
        Ok((StatusCode::OK, bytes(&wire::ManyAnswers { results })))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

async fn answer_one(
    app: &App,
    caller: &Caller,
    id: HoldId,
    answering: Result<Answering, Problem>,
) -> Reply<Arc<Hold>> {
    let hold = app.engine.hold(caller, id).await?;
    if hold.risk == Risk::Critical {
        let why = "a critical hold is answered by itself, not with others";
        return Err(Problem::invalid("hold", why).into());
    }
    // The digest is part of every one of these, so what has become critical since is another call.
    Ok(app.engine.answer(caller, id, answering?, None).await?)
}
