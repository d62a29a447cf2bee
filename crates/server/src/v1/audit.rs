//! The audit log, to read and to take away. Entries are shown to admins exactly as they are kept.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use engine::{Caller, Engine, Error};
use serde::Deserialize;

use crate::AuditLines;
use crate::app::App;
use crate::asked::{Params, json, page};
use crate::auth::Who;
use crate::limits::EXPORT_PAGE;
use crate::problem::{Problem, Refused, Reply};
use crate::wire;

#[derive(Deserialize)]
pub(crate) struct AuditQuery {
    after: Option<u64>,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl AuditQuery {
    /// How many, and after which.
    pub(crate) fn parse(self) -> Result<(usize, u64), Problem> {
        let (limit, cursor) = page::<u64>(self.limit, self.cursor.as_deref())?;
        Ok((limit, cursor.or(self.after).unwrap_or(0)))
    }
}

/// Oldest first, unlike other lists: a log is read from where one stopped.
pub(crate) async fn list(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<AuditQuery>,
) -> Reply {
    who.caller.must_be_admin()?;
    let (limit, after) = asked.parse()?;
    let entries = app.engine.read_audit(&who.caller, after, limit + 1).await?;
    let page = wire::List::cut(entries, limit, |entry| entry.seq.to_string());
    let items = page.items.iter().map(wire::AuditEntry::of).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::AuditEntry> { items, next: page.next }))
}

/// The whole log up to a signed end, a page in memory at a time.
pub(crate) async fn export(State(app): State<App>, who: Who) -> Reply {
    who.caller.must_be_admin()?;
    let unreadable =
        || Refused::from(Problem::unavailable("the audit log cannot be exported at present", 5));
    let lines = app.audit.clone().ok_or_else(unreadable)?;
    let (engine, caller) = (app.engine.clone(), who.caller.clone());
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
    let export =
        Export { engine, caller, lines, signed, at: 0, count, head: Some(header), end: Some(end) };
    let body = futures_util::stream::try_unfold(export, |mut export| async move {
        Ok::<_, Error>(export.next().await?.map(|bytes| (bytes, export)))
    });
    let mut reply = Response::new(Body::from_stream(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
    let name = HeaderValue::from_static("attachment; filename=\"holdpoint-audit.jsonl\"");
    reply.headers_mut().insert(CONTENT_DISPOSITION, name);
    Ok(reply)
}

struct Export {
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
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
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
