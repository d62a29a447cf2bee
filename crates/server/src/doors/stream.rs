//! The body of a reply that is written while things happen. A client that goes away ends the writing
//! and nothing else; a silent stream is kept open with comments, and ends when its caller is no longer
//! welcome.

use std::convert::Infallible;
use std::future::Future;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::limits::AHEAD;
use crate::app::App;
use crate::asked::write;
use crate::auth::{Credential, Who};
use crate::streams::StreamPermit;

/// The way to one client.
#[derive(Clone)]
pub(crate) struct Out(mpsc::Sender<Bytes>);

/// The client has gone: the writer may stop.
pub(crate) struct Gone;

impl Out {
    pub(crate) async fn send(&self, piece: impl Into<Bytes>) -> Result<(), Gone> {
        self.0.send(piece.into()).await.map_err(|_| Gone)
    }

    /// One server-sent event of data alone. JSON on one line: nothing in it can end the field.
    pub(crate) async fn data(&self, value: &impl Serialize) -> Result<(), Gone> {
        let mut event = b"data: ".to_vec();
        write(value, &mut event);
        event.extend_from_slice(b"\n\n");
        self.send(event).await
    }
}

/// What is sent when there is nothing to say.
#[derive(Clone, Copy)]
pub(crate) struct Heartbeat(pub(crate) &'static [u8]);

/// How a wire's streams look around what is written.
pub(crate) struct Style {
    pub(crate) heartbeat: Heartbeat,
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// Replies with what `write` sends, until it returns. `taken` is called when the connection has taken
/// everything that was written, before the client can see the end of it; not where the client went away
/// before.
pub(crate) fn reply<W>(
    app: &App,
    who: &Who,
    place: StreamPermit,
    style: &Style,
    taken: impl FnOnce() + Send + 'static,
    write: impl FnOnce(Out) -> W,
) -> Response
where
    W: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(AHEAD);
    let (writing, closing) = (write(Out(sender.clone())), app.closing.clone());
    app.tasks.spawn(async move {
        tokio::select! {
            () = writing => {}
            () = sender.closed() => {}
            () = closing.cancelled() => {}
        }
    });
    let state = Sending {
        app: app.clone(),
        credential: who.credential.clone(),
        receiver,
        taken: Some(Box::new(taken)),
        heartbeat: style.heartbeat,
        checked: Instant::now(),
        _place: place,
    };
    let body = futures_util::stream::unfold(state, |mut sending| async move {
        sending.next().await.map(|bytes| (Ok::<_, Infallible>(bytes), sending))
    });
    let mut reply = Response::new(Body::from_stream(body));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
    // Some proxies collect what they pass on unless they are told not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    for (name, value) in style.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    reply
}

struct Sending {
    app: App,
    credential: Credential,
    receiver: mpsc::Receiver<Bytes>,
    taken: Option<Box<dyn FnOnce() + Send>>,
    heartbeat: Heartbeat,
    checked: Instant,
    _place: StreamPermit,
}

impl Sending {
    async fn next(&mut self) -> Option<Bytes> {
        let heartbeat = self.app.limits.heartbeat;
        if self.checked.elapsed() >= heartbeat {
            self.checked = Instant::now();
            // A revoked token must not go on listening.
            if !matches!(self.credential.caller(&self.app).await, Ok(Some(_))) {
                return None;
            }
        }
        match tokio::time::timeout(heartbeat, self.receiver.recv()).await {
            Ok(Some(bytes)) => Some(bytes),
            Ok(None) => {
                if let Some(taken) = self.taken.take() {
                    taken();
                }
                None
            }
            Err(_) => Some(Bytes::from_static(self.heartbeat.0)),
        }
    }
}
