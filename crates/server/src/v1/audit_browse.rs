//! The audit log, to read, search and check. Entries are shown to admins exactly as they are kept.

use std::io::{BufReader, Read};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use engine::Caller;
use ports::store::AuditEntry;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::audit::whole_log;
use crate::app::App;
use crate::asked::{ChangeRequest, Params, bytes, json, page};
use crate::auth::Who;
use crate::limits::{AUDIT_CHECK_WITHIN, AUDIT_SEARCHED, EXPORT_PAGE, SEARCH_BYTES_MAX};
use crate::problem::{Problem, Reply};
use crate::wire;

#[derive(Deserialize)]
pub(crate) struct AuditQuery {
    after: Option<u64>,
    q: Option<String>,
    event: Option<String>,
    sort: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

/// What a page of the log is to have.
pub(crate) struct AuditFilter {
    /// In lower case.
    text: Option<String>,
    event: Option<String>,
    newest: bool,
    /// The last entry of the page before.
    at: Option<u64>,
    limit: usize,
}

pub(crate) const SORTS: [&str; 2] = ["oldest", "newest"];

impl AuditQuery {
    pub(crate) fn parse(self) -> Result<AuditFilter, Problem> {
        let (limit, cursor) = page::<u64>(self.limit, self.cursor.as_deref())?;
        let newest = match self.sort.as_deref() {
            None | Some("oldest") => false,
            Some("newest") => true,
            Some(_) => return Err(Problem::bad_request("`sort` is one of oldest, newest")),
        };
        if newest && self.after.is_some() {
            let detail = "`after` is for the oldest first; with the newest first go on by `cursor`";
            return Err(Problem::bad_request(detail));
        }
        if self.q.as_ref().is_some_and(|text| text.len() > SEARCH_BYTES_MAX) {
            let detail = format!("`q` has at most {SEARCH_BYTES_MAX} bytes");
            return Err(Problem::bad_request(detail));
        }
        Ok(AuditFilter {
            text: self.q.filter(|text| !text.is_empty()).map(|text| text.to_lowercase()),
            event: self.event.filter(|event| !event.is_empty()),
            newest,
            at: cursor.or(self.after),
            limit,
        })
    }
}

#[cfg(feature = "fuzz-api")]
impl AuditQuery {
    /// How many, after which.
    pub(crate) fn parse_place(self) -> Result<(usize, u64), Problem> {
        self.parse().map(|filter| (filter.limit, filter.at.unwrap_or(0)))
    }
}

impl AuditFilter {
    fn wants(&self, entry: &AuditEntry) -> bool {
        let text = || String::from_utf8_lossy(&entry.bytes);
        let has_event = |name: &str| {
            let read = serde_json::from_slice::<Value>(&entry.bytes).unwrap_or_default();
            let events = read["events"].as_array().cloned().unwrap_or_default();
            events.iter().any(|event| event.get(name).is_some() || event == name)
        };
        self.text.as_ref().is_none_or(|wanted| text().to_lowercase().contains(wanted))
            && self.event.as_deref().is_none_or(has_event)
    }
}

/// Oldest first if not said otherwise, unlike other lists: a log is read from where one stopped.
pub(crate) async fn list(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<AuditQuery>,
) -> Reply {
    who.caller.must_be_admin()?;
    let filter = asked.parse()?;
    let mut found = Vec::new();
    let mut at = match (filter.newest, filter.at) {
        (false, at) => at.unwrap_or(0),
        (true, Some(at)) => at,
        // Behind the last one.
        (true, None) => app.engine.count_audit(&who.caller).await? + 1,
    };
    let mut looked_at = 0;
    // `at` is the last entry that was looked at.
    let next = loop {
        let page = next_entries(&app, &who.caller, &filter, at).await?;
        let Some(last) = page.last().map(|entry| entry.seq) else { break None };
        for entry in page {
            at = entry.seq;
            if filter.wants(&entry) {
                found.push(wire::AuditEntry::of(&entry));
            }
            if found.len() == filter.limit {
                break;
            }
        }
        looked_at += EXPORT_PAGE;
        if found.len() == filter.limit || looked_at >= AUDIT_SEARCHED {
            let more =
                at != last || !next_entries(&app, &who.caller, &filter, at).await?.is_empty();
            break more.then(|| at.to_string());
        }
    };
    Ok(json(StatusCode::OK, &wire::List::<wire::AuditEntry> { items: found, next }))
}

/// Some that come after that one in the order of the list.
async fn next_entries(
    app: &App,
    caller: &Caller,
    filter: &AuditFilter,
    at: u64,
) -> Reply<Vec<AuditEntry>> {
    // Without a search, no more is read than is shown.
    let is_search = filter.text.is_some() || filter.event.is_some();
    let length = if is_search { EXPORT_PAGE } else { filter.limit };
    if !filter.newest {
        return Ok(app.engine.read_audit(caller, at, length).await?);
    }
    let end = at.saturating_sub(1);
    let begin = end.saturating_sub(length as u64);
    let mut page = app.engine.read_audit(caller, begin, (end - begin) as usize).await?;
    page.reverse();
    Ok(page)
}

/// The whole log against its signatures, as the offline verifier does it.
pub(crate) async fn verify(State(app): State<App>, asked: ChangeRequest<wire::Nothing>) -> Reply {
    let caller = &asked.who.caller;
    caller.must_be_admin()?;
    let act = async {
        let busy = || Problem::unavailable("the log is being checked; try again in a moment", 5);
        let _turn = app.audit_checks.try_acquire().map_err(|_| busy())?;
        let verdict = tokio::time::timeout(AUDIT_CHECK_WITHIN, check(&app, caller)).await;
        let too_long = || {
            let detail = "the log is too long to be checked here: export it, and run `holdpoint audit verify`";
            Problem::unavailable(detail, 60)
        };
        let verdict = verdict.map_err(|_| too_long())??;
        Ok((StatusCode::OK, bytes(&wire::AuditCheck::of(verdict, app.engine.now()))))
    };
    Box::pin(app.recent.once(asked.key.as_ref(), false, act)).await
}

async fn check(app: &App, caller: &Caller) -> Reply<crate::AuditVerdict> {
    let unavailable = || Problem::unavailable("the audit log cannot be checked at present", 5);
    let mut export = whole_log(app, caller).await?;
    let (lines, key) = (app.audit.clone().ok_or_else(unavailable)?, app.engine.audit_key());
    let (send, receive) = mpsc::channel::<Bytes>(PIECES_AHEAD);
    let checking = app.tasks.spawn_blocking(move || {
        let mut reader = BufReader::new(ExportPieces { receive, piece: Bytes::new() });
        lines.verify(&mut reader, &key)
    });
    while let Some(piece) = export.next().await? {
        if send.send(piece).await.is_err() {
            // The verifier has seen enough.
            break;
        }
    }
    drop(send);
    Ok(checking.await.ok().flatten().ok_or_else(unavailable)?)
}

/// Pages of the log that wait to be checked.
const PIECES_AHEAD: usize = 4;

/// What arrives, as one text.
struct ExportPieces {
    receive: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl Read for ExportPieces {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.piece.is_empty() {
            match self.receive.blocking_recv() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let length = self.piece.len().min(into.len());
        into[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}
