//! Event streams. Following the log goes on over every heartbeat: giving up in the middle of a read
//! could pass over an event.

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use domain::answer::Answer;
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::{HoldChange, HoldStateName};
use domain::id::{CallId, HoldId, MessageId, RunId, SessionId, StreamId};
use domain::session::Session;
use engine::{Caller, Error, Follow, Followed, Happening, HoldFilter};
use futures_util::stream::{Stream, StreamExt as _, once, unfold};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use crate::app::App;
use crate::asked;
use crate::auth::{Credential, Who};
use crate::limits::{PAGE_MAX, PIECE_BYTES};
use crate::problem::Problem;
use crate::streams::StreamPermit;
use crate::wire;

/// What one commit makes known is mostly shorter.
const USUAL_BYTES: usize = 4 << 10;
/// What every stream begins with.
const FOLLOWING: &[u8] = b": following\n\n";

pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

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

/// What happens in a scene, as it happens.
pub(crate) fn stream(
    app: &App,
    who: Who,
    place: StreamPermit,
    follow: Follow,
    scene: Scene,
) -> Response {
    let Who { caller, credential } = who;
    let told = EventTeller::tell_all(app, caller, follow, scene);
    // Something at once, so that everybody on the way knows that the stream stands.
    reply(Sending::body(app, credential, place, FOLLOWING.to_vec(), told))
}

/// The same for a run that has just been asked for. If it pauses or ends within a moment it is told whole:
/// that it began is nothing that anybody acts on, and by itself it would cost a piece of its own.
pub(crate) async fn run(
    app: &App,
    who: Who,
    place: StreamPermit,
    follow: Follow,
    scene: Scene,
) -> Response {
    let Who { caller, credential } = who;
    let told = EventTeller::tell_all(app, caller, follow, scene);
    let (opening, rest) = gather(told, tokio::time::sleep(app.limits.moment)).await;
    reply(match rest {
        None => Body::from(opening),
        Some(told) => Sending::body(app, credential, place, opening, told),
    })
}

fn reply(body: Body) -> Response {
    let mut reply = Response::new(body);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some proxies collect what they pass on unless they are told not to.
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    reply
}

type Pieces = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// What comes within a moment, and what comes later.
async fn gather(mut told: Pieces, moment: impl Future<Output = ()>) -> (Vec<u8>, Option<Pieces>) {
    let mut opening = Vec::with_capacity(USUAL_BYTES);
    opening.extend_from_slice(FOLLOWING);
    tokio::pin!(moment);
    while opening.len() < PIECE_BYTES {
        tokio::select! {
            biased;
            piece = told.next() => match piece {
                Some(piece) => opening.extend_from_slice(&piece),
                None => return (opening, None),
            },
            () = &mut moment => break,
        }
    }
    (opening, Some(told))
}

struct Sending {
    app: App,
    credential: Credential,
    /// Keeps its place in the log also while a heartbeat is sent.
    told: Pieces,
    checked: Instant,
    _place: StreamPermit,
}

impl Sending {
    fn body(
        app: &App,
        credential: Credential,
        place: StreamPermit,
        opening: Vec<u8>,
        told: Pieces,
    ) -> Body {
        let (app, checked) = (app.clone(), Instant::now());
        let sending = Sending { app, credential, told, checked, _place: place };
        let rest = unfold(sending, |mut sending| async move {
            sending.next().await.map(|bytes| (bytes, sending))
        });
        let opening = once(ready(Bytes::from(opening)));
        Body::from_stream(opening.chain(rest).map(Ok::<_, Infallible>))
    }

    async fn next(&mut self) -> Option<Bytes> {
        let heartbeat = self.app.limits.heartbeat;
        if self.checked.elapsed() >= heartbeat {
            self.checked = Instant::now();
            // A revoked token must not go on listening.
            if !matches!(self.credential.caller(&self.app).await, Ok(Some(_))) {
                return None;
            }
        }
        // Somebody who reads a long log must not keep the server from stopping.
        if self.app.closing.is_cancelled() {
            return None;
        }
        tokio::select! {
            biased;
            told = self.told.next() => told,
            () = self.app.closing.cancelled() => None,
            () = tokio::time::sleep(heartbeat) => Some(Bytes::from_static(b": still here\n\n")),
        }
    }
}

struct EventTeller {
    app: App,
    caller: Caller,
    scene: Scene,
    follow: Follow,
    is_over: bool,
}

impl EventTeller {
    fn tell_all(app: &App, caller: Caller, follow: Follow, scene: Scene) -> Pieces {
        let teller = EventTeller { app: app.clone(), caller, scene, follow, is_over: false };
        Box::pin(unfold(teller, |mut teller| async move {
            teller.next().await.map(|bytes| (bytes, teller))
        }))
    }

    /// What is to be sent next. Whatever is known by then goes out at once: each piece costs a system
    /// call here and one at the client.
    async fn next(&mut self) -> Option<Bytes> {
        let mut piece = Vec::new();
        while !self.is_over && piece.len() < PIECE_BYTES {
            let followed = match self.follow.ready() {
                Some(followed) => Ok(Some(followed)),
                None if !piece.is_empty() => break,
                None => self.follow.next().await,
            };
            let told = match followed {
                Ok(Some(followed)) => self.tell(followed, &mut piece).await,
                Ok(None) => Ok(true),
                Err(error) => Err(error),
            };
            self.is_over = told.unwrap_or_else(|error| {
                // The client comes back and goes on where it was.
                tracing::debug!(%error, "an event stream ends");
                true
            });
        }
        (!piece.is_empty()).then(|| piece.into())
    }

    /// Writes what is to be sent, if anything, and says whether that is the end.
    async fn tell(&mut self, followed: Followed, piece: &mut Vec<u8>) -> Result<bool, Error> {
        match followed {
            Followed::Spoken(spoken) => {
                let ours = match &self.scene {
                    Scene::Run { run, current, .. } => *current == Some(*run),
                    Scene::Session(_) | Scene::Everything => true,
                };
                if ours {
                    let (name, data) = wire::spoken_event(&spoken);
                    write(piece, name, None, &data);
                }
                Ok(false)
            }
            Followed::Event(happening) => {
                let (ours, last) = self.scene.hear(happening.event());
                if ours {
                    self.happened(&happening, piece).await?;
                }
                Ok(last)
            }
            Followed::Reset { position } => {
                self.reset(position, piece).await?;
                Ok(false)
            }
        }
    }

    async fn happened(&self, happening: &Happening, piece: &mut Vec<u8>) -> Result<(), Error> {
        let engine = &self.app.engine;
        let about = match told_secret(happening.event()) {
            Some(hold) => engine.read_hold(hold).await?,
            None => None,
        };
        // Whoever shows a hold wants to know that its call went on.
        let under = match (call_of(happening.event()), happening.stream) {
            (Some(call), StreamId::Session(id)) => {
                held_by(&*engine.session(&self.caller, id).await?, call)
            }
            _ => None,
        };
        let data = wire::EventPayload { happening, about: about.as_deref(), under, engine };
        write(piece, happening.event().name(), Some(happening.position), &data);
        Ok(())
    }

    /// Everything as it is now. The id lets a client that reconnects go on from here.
    async fn reset(&self, position: u64, piece: &mut Vec<u8>) -> Result<(), Error> {
        let engine = &self.app.engine;
        let data = match &self.scene {
            Scene::Session(id) => {
                let session = engine.session(&self.caller, *id).await?;
                json!({"position": position, "session": wire::SessionDocument::of(&session, engine)})
            }
            Scene::Everything | Scene::Run { .. } => {
                let filter = HoldFilter {
                    state: Some(HoldStateName::Pending),
                    limit: PAGE_MAX,
                    ..HoldFilter::default()
                };
                let holds = engine.holds(&self.caller, filter).await?;
                let holds: Vec<_> = holds.iter().map(|hold| wire::Hold::of(hold)).collect();
                json!({"position": position, "holds": holds})
            }
        };
        write(piece, "reset", Some(position), &data);
        Ok(())
    }
}

impl Scene {
    /// Whether an event belongs here, and whether it is the last that does.
    fn hear(&mut self, event: &Event) -> (bool, bool) {
        let Scene::Run { run, message, current } = self else { return (true, false) };
        match event {
            Event::Session(SessionEvent::RunStarted { run: started }) => {
                *current = Some(*started);
                (started == run, false)
            }
            Event::Session(SessionEvent::MessageQueued { message: queued, .. }) => {
                (queued.id == *message, false)
            }
            Event::Session(
                SessionEvent::RunPaused { run: over }
                | SessionEvent::RunCompleted { run: over }
                | SessionEvent::RunFailed { run: over, .. }
                | SessionEvent::RunCancelled { run: over },
            ) => (over == run, over == run),
            _ => (*current == Some(*run), false),
        }
    }
}

/// The hold whose schema says what is secret in this event, if anything could be.
fn told_secret(event: &Event) -> Option<HoldId> {
    let (hold, vote) = match event.hold_event()? {
        HoldEvent::Updated { hold, change: HoldChange::Voted(vote) } => (hold, vote),
        HoldEvent::Decided { hold, state } => (hold, state.decision()?.vote()?),
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
        Event::Session(
            SessionEvent::CallStarted { call, .. } | SessionEvent::CallSettled { call, .. },
        ) => Some(*call),
        _ => None,
    }
}

/// One event. Only what is stored has an id.
pub(crate) fn write(piece: &mut Vec<u8>, name: &str, id: Option<u64>, data: &impl Serialize) {
    if piece.is_empty() {
        piece.reserve(USUAL_BYTES);
    }
    if let Some(id) = id {
        piece.extend_from_slice(b"id: ");
        asked::write(&id, piece);
        piece.push(b'\n');
    }
    for part in ["event: ", name, "\ndata: "] {
        piece.extend_from_slice(part.as_bytes());
    }
    // JSON on one line: nothing in it can end the field.
    asked::write(data, piece);
    piece.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use std::future;

    use futures_util::stream;

    use super::*;

    fn pieces(texts: &[&'static str]) -> impl Stream<Item = Bytes> + Send + use<> {
        stream::iter(
            texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect::<Vec<_>>(),
        )
    }

    fn text(opening: Vec<u8>) -> String {
        let text = String::from_utf8(opening).expect("text");
        text.strip_prefix(": following\n\n").expect("the usual beginning").to_owned()
    }

    #[tokio::test]
    async fn what_ends_within_a_moment_is_told_whole() {
        let slowly = pieces(&["begun ", "over"]).then(async |piece| {
            tokio::task::yield_now().await;
            piece
        });
        let (opening, rest) = gather(Box::pin(slowly), future::pending()).await;
        assert_eq!(text(opening), "begun over");
        assert!(rest.is_none());
    }

    #[tokio::test]
    async fn what_goes_on_is_told_after_a_moment_and_nothing_of_it_is_lost() {
        let (go_on, told_to) = tokio::sync::oneshot::channel::<Bytes>();
        let late = once(async { told_to.await.expect("more") });
        let told = Box::pin(pieces(&["begun"]).chain(late));
        let (opening, rest) = gather(told, tokio::task::yield_now()).await;
        assert_eq!(text(opening), "begun");
        go_on.send(Bytes::from_static(b"later")).expect("it goes on");
        assert_eq!(rest.expect("more").next().await.as_deref(), Some(&b"later"[..]));
    }

    #[tokio::test]
    async fn a_flood_is_not_gathered_for_ever() {
        let flood = stream::repeat(Bytes::from(vec![b'x'; PIECE_BYTES / 4]));
        let (opening, rest) = gather(Box::pin(flood), future::pending()).await;
        assert_eq!(text(opening).len(), PIECE_BYTES);
        assert!(rest.is_some());
    }

    #[test]
    fn text_cannot_forge_an_event() {
        let data = json!({"text": "x\n\nid: 9\nevent: hold.decided\ndata: {}"});
        let mut text = Vec::new();
        write(&mut text, "message.delta", None, &data);
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
