//! How domain values stand in columns: ids as their 16 bytes, small sums as small numbers.

use std::sync::Arc;

use domain::hold::{HoldStateName, QuestionKind, Risk};
use domain::id::{Bits, HoldId, NodeId, RunId, SessionId, StreamId};
use domain::person::{Actor, PersonId};
use domain::session::{Home, RunStatus};
use ports::store::{SecretKind, SessionRow};
use rusqlite::{Row, Statement, params};

use super::audience;
use super::error::Failure;
use super::listed::Listed;
use super::rows::HoldRow;
use crate::record::{Broken, StoredActor, key_of, write_hold, write_since};

pub(super) fn id(bits: Bits) -> [u8; 16] {
    bits.0.to_be_bytes()
}

pub(super) fn bits(value: &[u8]) -> Result<Bits, Broken> {
    match <[u8; 16]>::try_from(value) {
        Ok(bytes) => Ok(Bits(u128::from_be_bytes(bytes))),
        Err(_) => Err(Broken::Damaged("an id has the wrong length".into())),
    }
}

/// A letter, so that ids of different kinds never meet, and the id.
pub(super) fn stream(stream: StreamId) -> Vec<u8> {
    let (letter, bits) = match stream {
        StreamId::Session(SessionId(bits)) => (b's', bits),
        StreamId::ExternalHold(HoldId(bits)) => (b'h', bits),
        StreamId::Global => return vec![b'H'],
    };
    let mut value = Vec::with_capacity(17);
    value.push(letter);
    value.extend(id(bits));
    value
}

pub(super) fn stream_of(value: &[u8]) -> Result<StreamId, Broken> {
    match value.split_first() {
        Some((b's', id)) => Ok(StreamId::Session(SessionId(bits(id)?))),
        Some((b'h', id)) => Ok(StreamId::ExternalHold(HoldId(bits(id)?))),
        Some((b'H', [])) => Ok(StreamId::Global),
        _ => Err(Broken::Damaged("a stream has no known name".into())),
    }
}

pub(super) fn state_code(state: HoldStateName) -> i64 {
    match state {
        HoldStateName::Pending => 0,
        HoldStateName::Approved => 1,
        HoldStateName::Denied => 2,
        HoldStateName::Answered => 3,
        HoldStateName::Expired => 4,
        HoldStateName::Cancelled => 5,
    }
}

pub(super) fn kind_code(kind: QuestionKind) -> i64 {
    match kind {
        QuestionKind::Approve => 0,
        QuestionKind::Choose => 1,
        QuestionKind::Fill => 2,
        QuestionKind::Perform => 3,
        QuestionKind::Settle => 4,
    }
}

pub(super) fn risk_code(risk: Risk) -> i64 {
    match risk {
        Risk::Low => 0,
        Risk::Medium => 1,
        Risk::High => 2,
        Risk::Critical => 3,
    }
}

pub(super) fn secret_code(kind: SecretKind) -> i64 {
    match kind {
        SecretKind::Login => 0,
        SecretKind::Cookie => 1,
    }
}

const STATUSES: [RunStatus; 5] = [
    RunStatus::Running,
    RunStatus::Paused,
    RunStatus::Completed,
    RunStatus::Failed,
    RunStatus::Cancelled,
];

fn status_code(status: RunStatus) -> Option<i64> {
    STATUSES.iter().position(|known| *known == status).map(|code| code as i64)
}

pub(super) const WRITE_HOLD: &str = "INSERT INTO holds (id, state, kind, risk, session, expires_at, agent, opener, creator, \
         audience, opened_in, record, since, opened_at, tool, source, likeness, requester, \
         answered_at, decided_at, decided_by, search) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
         ?20, ?21, ?22) \
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, risk = excluded.risk, \
         expires_at = excluded.expires_at, audience = excluded.audience, \
         record = excluded.record, since = excluded.since, opened_at = excluded.opened_at, \
         tool = excluded.tool, source = excluded.source, likeness = excluded.likeness, \
         requester = excluded.requester, answered_at = excluded.answered_at, \
         decided_at = excluded.decided_at, decided_by = excluded.decided_by, \
         search = excluded.search";

/// By [`WRITE_HOLD`].
pub(super) fn put_hold(write: &mut Statement<'_>, row: &HoldRow) -> Result<(), rusqlite::Error> {
    let hold = &row.hold;
    let opener = key_of(&hold.opener);
    let Listed { facts, requester, decided_by, search } = Listed::of(hold);
    let (record, since) = match &row.opened {
        // The journal has all of it.
        Some(opened) if Arc::ptr_eq(&opened.hold, hold) || opened.hold == *hold => (None, None),
        Some(opened) => match write_since(&opened.hold, hold) {
            None => (Some(write_hold(hold)), None),
            since => (None, since),
        },
        None => (Some(write_hold(hold)), None),
    };
    write
        .execute(params![
            id(hold.id.0),
            state_code(hold.state.state_name()),
            kind_code(hold.question.kind()),
            risk_code(hold.risk),
            hold.session().map(|session| id(session.0)),
            hold.expires_at.map(|at| at.as_ms()),
            hold.agent(),
            opener,
            row.creator.as_deref().filter(|creator| Some(*creator) != opener.as_deref()),
            audience::audience_text(hold),
            // Counts only for a hold that the table does not have yet.
            row.opened.as_ref().map_or(0, |opened| opened.global as i64),
            record,
            since,
            facts.opened_at.as_ms(),
            facts.tool.as_deref(),
            facts.source.as_deref(),
            facts.likeness,
            requester,
            facts.answered_at.map(|at| at.as_ms()),
            facts.decided_at.map(|at| at.as_ms()),
            decided_by,
            search,
        ])
        .map(drop)
}

pub(super) const WRITE_SESSION: &str = "INSERT INTO sessions (id, agent, creator, creator_record, title, run, run_status, opened_at, \
         changed_at, owes, owner, door, place) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
     ON CONFLICT (id) DO UPDATE SET title = excluded.title, run = excluded.run, \
         run_status = excluded.run_status, changed_at = excluded.changed_at, \
         owes = excluded.owes, owner = excluded.owner";

/// By [`WRITE_SESSION`].
pub(super) fn put_session(
    write: &mut Statement<'_>,
    row: &SessionRow,
) -> Result<(), rusqlite::Error> {
    let record = match &row.creator {
        Actor::Person(_) => None,
        other => serde_json::to_string(&StoredActor::from(other)).ok(),
    };
    write
        .execute(params![
            id(row.id.0),
            &*row.agent,
            key_of(&row.creator),
            record,
            row.title,
            row.run.map(|(run, _)| id(run.0)),
            row.run.and_then(|(_, status)| status_code(status)),
            row.opened_at.as_ms(),
            row.changed_at.as_ms(),
            row.owes,
            id(row.owner.0),
            row.home.as_ref().map(|home| &*home.door),
            row.home.as_ref().map(|home| &home.place),
        ])
        .map(drop)
}

pub(super) const SESSION_COLUMNS: &str = "s.id, s.agent, s.creator, s.creator_record, s.title, \
     s.run, s.run_status, s.opened_at, s.changed_at, s.owes, s.owner, s.door, s.place";

pub(super) fn session_row(row: &Row<'_>) -> Result<SessionRow, Failure> {
    let damaged = || Failure::from(Broken::Damaged("a session's row makes no sense".into()));
    let creator = match (row.get_ref(3)?.as_str_or_null()?, row.get_ref(2)?.as_str_or_null()?) {
        (Some(record), _) => {
            Actor::from(serde_json::from_str::<StoredActor<'_>>(record).map_err(|_| damaged())?)
        }
        (None, Some(key)) => {
            Actor::Person(PersonId::new(key.strip_prefix("p:").ok_or_else(damaged)?))
        }
        (None, None) => return Err(damaged()),
    };
    let run = match (row.get_ref(5)?.as_blob_or_null()?, row.get::<_, Option<i64>>(6)?) {
        (Some(run), Some(code)) => {
            let status = usize::try_from(code).ok().and_then(|code| STATUSES.get(code));
            Some((RunId(bits(run)?), *status.ok_or_else(damaged)?))
        }
        _ => None,
    };
    let home = match (row.get_ref(11)?.as_str_or_null()?, row.get_ref(12)?.as_str_or_null()?) {
        (Some(door), Some(place)) => Some(Home { door: door.into(), place: place.into() }),
        _ => None,
    };
    Ok(SessionRow {
        id: SessionId(bits(row.get_ref(0)?.as_blob()?)?),
        agent: row.get_ref(1)?.as_str()?.into(),
        creator,
        title: row.get(4)?,
        home,
        run,
        opened_at: domain::time::Timestamp::from_ms(row.get(7)?),
        changed_at: domain::time::Timestamp::from_ms(row.get(8)?),
        owes: row.get(9)?,
        owner: NodeId(bits(row.get_ref(10)?.as_blob()?)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_kind_and_status_has_a_code() {
        assert_eq!(state_code(HoldStateName::Pending), 0, "the partial indexes say so");
        assert_eq!(HoldStateName::ALL.map(state_code), [0, 1, 2, 3, 4, 5]);
        assert_eq!(QuestionKind::ALL.map(kind_code), [0, 1, 2, 3, 4]);
        for status in STATUSES {
            assert!(status_code(status).is_some());
        }
    }
}
