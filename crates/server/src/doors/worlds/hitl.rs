//! `POST hitl/respond`: an answer of the second generation. Every case that was decided is told with
//! 200: `accepted` means that it is on disk, and where it is not, `reason` says why.

use domain::answer::Answer;
use domain::hold::{Hold, HoldState};
use domain::refusal::Refusal;
use engine::{Answering, Error};

use super::DOOR;
use super::fault::WorldsResult;
use super::find::Found;
use super::prompt::WorldPrompt;
use super::respond::Respond;
use super::wire::{EmptyObject, HitlReply};
use super::world_request::{PostRequest, WorldRequest, ok};
use crate::doors::shown;

pub(super) async fn respond(posted: PostRequest) -> WorldsResult {
    let given = Respond::read(&posted.strict()?)?;
    let here = posted.here;
    let refused = |reason: String| {
        Ok(ok(&HitlReply { accepted: false, reason: Some(reason), metadata: None }))
    };
    let Some(found) = here.find(&given.request, given.chat.as_deref()).await? else {
        // The client may only be wrong about the chat.
        let elsewhere = match given.chat {
            Some(_) => here.find(&given.request, None).await?,
            None => None,
        };
        let Some(found) = elsewhere else { return refused(nothing_pending(&given.request)) };
        return refused(wrong_chat(&given, &found));
    };
    // mutant: worlds-any-chat
    if given.chat.as_ref().is_some_and(|chat| *chat != found.chat) {
        return refused(wrong_chat(&given, &found));
    }
    here.caller().must_be_person()?;
    let judged = match WorldPrompt::of(&found.hold) {
        Some(prompt) => given.judged(&prompt),
        None => Err(format!("Request '{}' cannot be answered here; open its page.", given.request)),
    };
    let answer = match judged {
        Ok(answer) => answer,
        Err(reason) => return refused(reason),
    };
    match store(&here, &found, answer).await? {
        Ok(()) => {
            Ok(ok(&HitlReply { accepted: true, reason: None, metadata: Some(EmptyObject {}) }))
        }
        Err(refusal) => refused(reason(&here, &given.request, &refusal)),
    }
}

async fn store(
    here: &WorldRequest,
    found: &Found,
    answer: Answer,
) -> WorldsResult<Result<(), Refusal>> {
    let digest = match found.hold.is_pending() {
        true => match shown::seen(here.app(), here.caller(), DOOR, &found.hold).await? {
            Some(digest) => Some(digest),
            None => {
                let hold = Box::new((*found.hold).clone());
                return Ok(Err(Refusal::VersionConflict { hold }));
            }
        },
        false => None,
    };
    let answering = Answering { digest, answer };
    let engine = &here.app().engine;
    match Box::pin(engine.answer(here.caller(), found.hold.id, answering, None)).await {
        Ok(_) => Ok(Ok(())),
        Err(Error::Refused(refusal)) => Ok(Err(refusal)),
        Err(error) => Err(error.into()),
    }
}

fn nothing_pending(request: &str) -> String {
    format!("No pending HITL request found for requestId '{request}'.")
}

fn wrong_chat(given: &Respond, found: &Found) -> String {
    let sent = given.chat.as_deref().unwrap_or_default();
    format!("Request '{}' belongs to chat '{}', not '{sent}'.", given.request, found.chat)
}

fn reason(here: &WorldRequest, request: &str, refusal: &Refusal) -> String {
    match refusal {
        Refusal::AlreadyDecided { hold } | Refusal::AlreadyVoted { hold } => {
            format!("Request '{request}' was already decided: {}.", decided(here, hold))
        }
        Refusal::Expired { .. } => format!("Request '{request}' expired."),
        Refusal::NotEntitled { .. } => format!("You may not answer request '{request}'."),
        Refusal::NotFound { .. } => nothing_pending(request),
        other => format!("Request '{request}': {other}."),
    }
}

fn decided(here: &WorldRequest, hold: &Hold) -> String {
    let people = here.app().engine.people();
    let state = hold.state.name();
    match &hold.state {
        HoldState::Cancelled { by, .. } => match by.accountable() {
            Some(person) => format!("{state} by {}", people.name_of(person)),
            None => format!("{state} by the runtime"),
        },
        other => match other.decision().and_then(|decision| decision.vote()) {
            Some(vote) => format!("{state} by {}", people.name_of(&vote.by)),
            None => state.to_owned(),
        },
    }
}
