//! The audit log, to take away: exactly as it is kept, with its signatures.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use engine::{Caller, Engine, Error};

use crate::AuditLines;
use crate::app::App;
use crate::auth::Who;
use crate::limits::EXPORT_PAGE;
use crate::problem::{Problem, Refused, Reply};

/// The whole log up to a signed end, a page in memory at a time.
pub(crate) async fn export(State(app): State<App>, who: Who) -> Reply {
    who.caller.must_be_admin()?;
    let body = futures_util::stream::try_unfold(
        whole_log(&app, &who.caller).await?,
        |mut export| async move { Ok::<_, Error>(export.next().await?.map(|bytes| (bytes, export))) },
    );
    let mut reply = Response::new(Body::from_stream(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
    let name = HeaderValue::from_static("attachment; filename=\"holdpoint-audit.jsonl\"");
    reply.headers_mut().insert(CONTENT_DISPOSITION, name);
    Ok(reply)
}

/// Up to a signed end, which is made now.
pub(super) async fn whole_log(app: &App, caller: &Caller) -> Reply<Export> {
    let unreadable =
        || Refused::from(Problem::unavailable("the audit log cannot be exported at present", 5));
    let lines = app.audit.clone().ok_or_else(unreadable)?;
    let (engine, caller) = (app.engine.clone(), caller.clone());
    let end = engine.sign_checkpoint(&caller).await?;
    let (count, end) = lines.checkpoint(&end).ok_or_else(unreadable)?;
    let header = lines.header(&engine.audit_key()).ok_or_else(unreadable)?;
    let mut signed = VecDeque::new();
    for stored in engine.read_checkpoints(&caller).await? {
        let (covers, line) = lines.checkpoint(&stored).ok_or_else(unreadable)?;
        // The end covers the head by itself; the same statement twice says nothing more.
        if covers < count {
            signed.push_back((covers, line));
        }
    }
    let end = Some(end);
    Ok(Export { engine, caller, lines, signed, at: 0, count, head: Some(header), end })
}

pub(super) struct Export {
    engine: Engine,
    caller: Caller,
    lines: Arc<dyn AuditLines>,
    /// Checkpoints that are still to come, with the number of entries that each covers.
    signed: VecDeque<(u64, String)>,
    at: u64,
    count: u64,
    head: Option<String>,
    end: Option<String>,
}

impl Export {
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(head) = self.head.take() {
            return Ok(Some(head.into()));
        }
        let mut text = String::new();
        if self.at < self.count {
            let limit = EXPORT_PAGE.min((self.count - self.at) as usize);
            let entries = self.engine.read_audit(&self.caller, self.at, limit).await?;
            if entries.is_empty() {
                // A log without its end is seen to be cut by whoever verifies it.
                return Err(Error::Unavailable("the log ended early".into()));
            }
            for entry in &entries {
                self.place_signed(&mut text);
                text.push_str(&self.lines.entry(entry));
                self.at = entry.seq;
            }
            self.place_signed(&mut text);
            return Ok(Some(text.into()));
        }
        self.place_signed(&mut text);
        match self.end.take() {
            None => Ok(None),
            Some(end) => {
                text.push_str(&end);
                Ok(Some(text.into()))
            }
        }
    }

    /// A checkpoint stands directly after the last entry that it covers.
    fn place_signed(&mut self, text: &mut String) {
        while self.signed.front().is_some_and(|(covers, _)| *covers <= self.at) {
            if let Some((_, line)) = self.signed.pop_front() {
                text.push_str(&line);
            }
        }
    }
}
