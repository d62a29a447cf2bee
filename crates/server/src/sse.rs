//! Event streams. What follows the log runs in a task of its own: giving up in the middle of a read
//! could pass over an event, and a heartbeat must not make it give up.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use domain::answer::Answer;
use domain::event::Event;
use domain::hold::HoldChange;
use domain::id::{CallId, HoldId, MessageId, RunId, SessionId, StreamId};
use domain::session::Session;
use engine::{Error, Follow, Followed, HoldFilter};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::app::App;
use crate::auth::{Credential, Who};
use crate::limits::PAGE_MAX;
use crate::problem::Problem;
use crate::streams::Place;
use crate::wire::{self, Moment};

/// Events written but not yet sent. A slower client makes the follower wait, and read from the store
/// what it missed meanwhile.
const AHEAD: usize = 64;
/// Most events are shorter.
const USUAL_BYTES: usize = 512;

pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Where to go on: after `Last-Event-ID`, else after `?after=`, else from now on.
pub(crate) fn position(headers: &HeaderMap, after: Option<u64>) -> Result<Option<u64>, Problem> {
    match headers.get(LAST_EVENT_ID) {
        None => Ok(after),
        Some(value) => {
            let id = value.to_str().ok().and_then(|text| text.trim().parse().ok());
            id.map(Some).ok_or_else(|| {
                Problem::bad_request("Last-Event-ID is the `id:` of an earlier event")
            })
        }
    }
}

/// Which part of what happens is sent.
pub(crate) enum Scene {
    Session(SessionId),
    Everything,
    /// One run, from the message that asked for it until it pauses or ends.
    Run {
        run: RunId,
        message: MessageId,
        current: Option<RunId>,
    },
}

pub(crate) fn stream(app: &App, who: Who, place: Place, follow: Follow, scene: Scene) -> Response {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let teller = Teller { app: app.clone(), who: who.clone(), scene };
    let closing = app.closing.clone();
    app.tasks.spawn(async move {
        tokio::select! {
            () = teller.tell(follow, &sender) => {}
            // The client went away, or the server stops.
            () = sender.closed() => {}
            () = closing.cancelled() => {}
        }
    });
    let state = Sending {
        app: app.clone(),
        credential: who.credential,
        receiver,
        checked: Instant::now(),
        begun: false,
        _place: place,
    };
    let body = futures_util::stream::unfold(state, |mut sending| async move {
        sending.next().await.map(|bytes| (Ok::<_, Infallible>(bytes), sending))
    });
    let mut reply = Response::new(Body::from_stream(body));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some proxies collect what they pass on unless they are told not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

struct Sending {
    app: App,
    credential: Credential,
    receiver: mpsc::Receiver<Bytes>,
    checked: Instant,
    begun: bool,
    _place: Place,
}

impl Sending {
    async fn next(&mut self) -> Option<Bytes> {
        if !self.begun {
            // Something at once, so that everybody on the way knows that the stream stands.
            self.begun = true;
            return Some(Bytes::from_static(b": following\n\n"));
        }
        let heartbeat = self.app.limits.heartbeat;
        if self.checked.elapsed() >= heartbeat {
            self.checked = Instant::now();
            // A revoked token must not go on listening.
            if !matches!(self.credential.caller(&self.app).await, Ok(Some(_))) {
                return None;
            }
        }
        match tokio::time::timeout(heartbeat, self.receiver.recv()).await {
            Ok(bytes) => bytes,
            Err(_) => Some(Bytes::from_static(b": still here\n\n")),
        }
    }
}

struct Teller {
    app: App,
    who: Who,
    scene: Scene,
}

impl Teller {
    async fn tell(mut self, mut follow: Follow, sender: &mpsc::Sender<Bytes>) {
        loop {
            let told = match follow.next().await {
                Ok(Some(followed)) => self.frame(followed).await,
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let (moment, last) = match told {
                Ok(told) => told,
                Err(error) => {
                    // The client comes back and goes on where it was.
                    tracing::debug!(%error, "an event stream ends");
                    return;
                }
            };
            if let Some(moment) = moment
                && sender.send(written(&moment)).await.is_err()
            {
                return;
            }
            if last {
                return;
            }
        }
    }

    /// What to send, if anything, and whether that is the end.
    async fn frame(&mut self, followed: Followed) -> Result<(Option<Moment>, bool), Error> {
        let engine = &self.app.engine;
        match followed {
            Followed::Spoken(spoken) => {
                let ours = match &self.scene {
                    Scene::Run { run, current, .. } => *current == Some(*run),
                    Scene::Session(_) | Scene::Everything => true,
                };
                Ok((ours.then(|| wire::spoken(&spoken)), false))
            }
            Followed::Event(happening) => {
                let (ours, last) = self.scene.hear(&happening.event);
                if !ours {
                    return Ok((None, last));
                }
                let about = match told_secret(&happening.event) {
                    Some(hold) => engine.store().hold(hold).await?,
                    None => None,
                };
                let mut moment = Moment::of(&happening, about.as_deref(), engine);
                // Whoever shows a hold wants to know that its call went on.
                if let (Some(call), StreamId::Session(id)) =
                    (call_of(&happening.event), happening.stream)
                    && let Some(hold) = held_by(&*engine.session(&self.who.caller, id).await?, call)
                {
                    moment.data["hold"] = json!(hold.to_string());
                }
                Ok((Some(moment), last))
            }
            Followed::Reset { position } => {
                let (name, snapshot) = match &self.scene {
                    Scene::Session(id) => {
                        let session = engine.session(&self.who.caller, *id).await?;
                        ("session", json!(wire::Session::of(&session, engine)))
                    }
                    Scene::Everything | Scene::Run { .. } => {
                        let filter = HoldFilter {
                            state: Some("pending".into()),
                            limit: PAGE_MAX,
                            ..HoldFilter::default()
                        };
                        let holds = engine.holds(&self.who.caller, filter).await?;
                        let holds: Vec<_> = holds.iter().map(|hold| wire::Hold::of(hold)).collect();
                        ("holds", json!(holds))
                    }
                };
                Ok((Some(wire::snapshot_event(position, name, snapshot)), false))
            }
        }
    }
}

impl Scene {
    /// Whether an event belongs here, and whether it is the last that does.
    fn hear(&mut self, event: &Event) -> (bool, bool) {
        let Scene::Run { run, message, current } = self else { return (true, false) };
        match event {
            Event::RunStarted { run: started } => {
                *current = Some(*started);
                (started == run, false)
            }
            Event::MessageQueued { message: queued, .. } => (queued.id == *message, false),
            Event::RunPaused { run: over }
            | Event::RunCompleted { run: over }
            | Event::RunFailed { run: over, .. }
            | Event::RunCancelled { run: over } => (over == run, over == run),
            _ => (*current == Some(*run), false),
        }
    }
}

/// The hold whose schema says what is secret in this event, if anything could be.
fn told_secret(event: &Event) -> Option<HoldId> {
    let (hold, vote) = match event {
        Event::HoldUpdated { hold, change: HoldChange::Voted(vote) } => (hold, vote),
        Event::HoldDecided { hold, state } => (hold, state.decision()?.vote()?),
        _ => return None,
    };
    matches!(vote.answer, Answer::Fill(_) | Answer::Approve { arguments: Some(_), .. })
        .then_some(*hold)
}

/// The hold that a call stands under. The second call of a two-phase tool runs the stored first one,
/// so it is under that one's hold.
fn held_by(session: &Session, call: CallId) -> Option<HoldId> {
    let stored = session.calls.get(&call).and_then(|record| record.call.as_ref());
    session.hold_of(stored.map_or(call, |stored| stored.id)).map(|hold| hold.id)
}

fn call_of(event: &Event) -> Option<CallId> {
    match event {
        Event::CallStarted { call, .. } | Event::CallSettled { call, .. } => Some(*call),
        _ => None,
    }
}

pub(crate) fn written(moment: &Moment) -> Bytes {
    use std::io::Write as _;
    // Writing to memory cannot fail.
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    if let Some(id) = moment.id {
        let _ = writeln!(bytes, "id: {id}");
    }
    let _ = write!(bytes, "event: {}\ndata: ", moment.name);
    // JSON on one line: nothing in it can end the field.
    let _ = serde_json::to_writer(&mut bytes, &moment.data);
    bytes.extend_from_slice(b"\n\n");
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_forge_an_event() {
        let data = json!({"text": "x\n\nid: 9\nevent: hold.decided\ndata: {}"});
        let text = written(&Moment { name: "message.delta", id: None, data });
        assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 3);
        assert!(text.starts_with(b"event: message.delta\ndata: {"));
    }

    #[test]
    fn i36_where_to_go_on_is_said_by_the_header_first() {
        let mut headers = HeaderMap::new();
        assert_eq!(position(&headers, Some(3)).ok(), Some(Some(3)));
        headers.insert(LAST_EVENT_ID, HeaderValue::from_static("7"));
        assert_eq!(position(&headers, Some(3)).ok(), Some(Some(7)));
        headers.insert(LAST_EVENT_ID, HeaderValue::from_static("x"));
        assert!(position(&headers, None).is_err());
    }
}
