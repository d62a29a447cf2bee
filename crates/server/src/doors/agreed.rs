//! The sentence agreed on as the answer to an open hold, said as a message. From whoever may give that
//! answer it is one; from anybody else it is a message like any other.
//!
//! A message is the answer to one hold only. Clients send a message again: when a tab is shown again,
//! when a reply was lost. Under its name (its id, or the key of the request) it finds what it answered
//! before, and never answers the hold that was opened meanwhile. Without a name, the same words are the
//! same message for as long as the run goes on.

use domain::answer::{Answer, ApprovalScope};
use domain::digest::{Digest, Framed};
use domain::hold::Hold;
use domain::id::RunId;
use domain::message::{Origin, Role};
use domain::session::Session;
use engine::{Answering, Caller, Error, Keep};

use super::flow::Since;
use super::kept::KeptRun;
use super::shown;
use super::words::{self, WordsVerdict, folded};
use crate::app::App;
use crate::problem::{Problem, Reply};

/// What makes a message the same when it comes again.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) key: String,
    pub(crate) request: Digest,
}

/// A message that was an answer: now, or when it came first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) run: Option<RunId>,
    /// Just before it was given.
    pub(crate) since: Since,
}

/// Takes the message for an answer if it is one. `None`: it is to be said like any other.
pub(crate) async fn answer_agreed(
    app: &App,
    caller: &Caller,
    door: &str,
    session: &Session,
    text: &str,
    name: Option<Name>,
) -> Reply<Option<Agreed>> {
    let Some((hold, verdict)) = words::agreed_in_text(&app.words, session, text) else {
        return Ok(None);
    };
    // Nobody agrees to what they were not asked yet.
    if name.is_none() && began_this(session, text) {
        return Ok(None);
    }
    let name = name.unwrap_or_else(|| by_text(door, session, &hold, text));
    let space = caller.stable_name();
    if let Some(reply) = app.engine.kept(&space, &name.key, name.request).await? {
        return before(&reply.body).map(Some).map_err(Into::into);
    }
    let Some(digest) = shown::seen(app, caller, door, &hold).await? else { return Ok(None) };
    let answer = match verdict {
        WordsVerdict::Approve => {
            Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
        }
        WordsVerdict::Deny => Answer::Deny { reason: None, stop: false },
    };
    let agreed = Agreed { run: hold.run(), since: Since::now(session) };
    let render = |_: &Hold| (200, agreed.kept(session).written());
    let keep = Keep { caller: space, key: name.key, request: name.request, render: &render };
    let answering = Answering { digest: Some(digest), answer };
    match Box::pin(app.engine.answer(caller, hold.id, answering, Some(keep))).await {
        Ok(_) => Ok(Some(agreed)),
        // It came twice at once.
        Err(Error::Replayed(reply)) => before(&reply.body).map(Some).map_err(Into::into),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Agreed {
    /// As doors keep what a message led to, whether it was an answer or not.
    fn kept(&self, session: &Session) -> KeptRun {
        KeptRun::new(session.id, self.run).since(self.since).agreed()
    }
}

fn before(kept: &[u8]) -> Result<Agreed, Problem> {
    let kept = KeptRun::read(kept);
    // Said under this name when it was an answer to nothing, by a door that keeps no position.
    let since = kept.began().unwrap_or(Since { position: 0, current: None });
    match kept.run_id() {
        Some(id) => Ok(Agreed { run: Some(id), since }),
        None => Err(Problem::unavailable("what was said before cannot be found; try again", 1)),
    }
}

/// Whether these very words are what the run under way began with, or what waits behind it.
fn began_this(session: &Session, text: &str) -> bool {
    let said = folded(text);
    let own = |message: &domain::message::Message| {
        message.role == Role::User && message.origin == Origin::Own
    };
    let latest = session.transcript.iter().rfind(|message| own(message));
    latest.is_some_and(|message| folded(&message.text()) == said)
        || session.queue.iter().any(|queued| folded(&queued.message.text()) == said)
}

fn by_text(door: &str, session: &Session, hold: &Hold, text: &str) -> Name {
    let run = hold.run().map(|run| run.to_string()).unwrap_or_default();
    let request = Framed::new("holdpoint.agreed.v1")
        .field("session", session.id.to_string().as_bytes())
        // mutant: agreed-sentence-again
        .field("run", run.as_bytes())
        .field("text", folded(text).as_bytes())
        .finish();
    Name { key: format!("{door}:agreed:{request}"), request }
}
