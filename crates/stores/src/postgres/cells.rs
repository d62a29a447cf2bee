//! How domain values stand in columns: ids as their 16 bytes, names as bytes, small sums as small numbers.

use domain::hold::{HoldStateName, QuestionKind, Risk};
use domain::id::{Bits, HoldId, SessionId, StreamId};
use domain::session::RunStatus;
use ports::store::{OutboxKind, SecretKind};

use crate::record::Broken;

pub(super) fn id(bits: Bits) -> Vec<u8> {
    bits.0.to_be_bytes().to_vec()
}

pub(super) fn bits(cell: &[u8]) -> Result<Bits, Broken> {
    match <[u8; 16]>::try_from(cell) {
        Ok(bytes) => Ok(Bits(u128::from_be_bytes(bytes))),
        Err(_) => Err(Broken::Damaged("an id has the wrong length".into())),
    }
}

pub(super) fn name(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

pub(super) fn text(cell: &[u8]) -> Result<&str, Broken> {
    std::str::from_utf8(cell).map_err(|_| Broken::Damaged("a name is not text".into()))
}

/// A letter, so that ids of different kinds never meet, and the id.
pub(super) fn stream(stream: StreamId) -> Vec<u8> {
    let (letter, bits) = match stream {
        StreamId::Session(SessionId(bits)) => (b's', bits),
        StreamId::ExternalHold(HoldId(bits)) => (b'h', bits),
        StreamId::Global => return vec![b'H'],
    };
    [&[letter], &bits.0.to_be_bytes()[..]].concat()
}

/// 0 is pending: the partial indexes say so.
pub(super) const fn state_code(state: HoldStateName) -> i64 {
    match state {
        HoldStateName::Pending => 0,
        HoldStateName::Approved => 1,
        HoldStateName::Denied => 2,
        HoldStateName::Answered => 3,
        HoldStateName::Expired => 4,
        HoldStateName::Cancelled => 5,
    }
}

pub(super) const fn kind_code(kind: QuestionKind) -> i64 {
    match kind {
        QuestionKind::Approve => 0,
        QuestionKind::Choose => 1,
        QuestionKind::Fill => 2,
        QuestionKind::Perform => 3,
        QuestionKind::Settle => 4,
    }
}

/// In their order: lists ask for what is below one.
pub(super) const fn risk_code(risk: Risk) -> i64 {
    match risk {
        Risk::Low => 0,
        Risk::Medium => 1,
        Risk::High => 2,
        Risk::Critical => 3,
    }
}

pub(super) const fn secret_code(kind: SecretKind) -> i64 {
    match kind {
        SecretKind::Login => 0,
        SecretKind::Cookie => 1,
    }
}

pub(super) const fn outbox_code(kind: OutboxKind) -> i64 {
    match kind {
        OutboxKind::Callback => 0,
        OutboxKind::Prompt => 1,
        OutboxKind::Repaint => 2,
        OutboxKind::Text => 3,
        OutboxKind::Notice => 4,
    }
}

pub(super) const fn status_code(status: RunStatus) -> i64 {
    match status {
        RunStatus::Running => 0,
        RunStatus::Paused => 1,
        RunStatus::Completed => 2,
        RunStatus::Failed => 3,
        RunStatus::Cancelled => 4,
    }
}

const STATUSES: [RunStatus; 5] = [
    RunStatus::Running,
    RunStatus::Paused,
    RunStatus::Completed,
    RunStatus::Failed,
    RunStatus::Cancelled,
];

/// What has this code.
fn decoded<T: Copy>(all: &[T], code: i64, code_of: fn(T) -> i64, what: &str) -> Result<T, Broken> {
    let found = all.iter().copied().find(|known| code_of(*known) == code);
    found.ok_or_else(|| Broken::Damaged(format!("{code} is no known {what}")))
}

pub(super) fn status(code: i64) -> Result<RunStatus, Broken> {
    decoded(&STATUSES, code, status_code, "status of a run")
}

pub(super) fn state(code: i64) -> Result<HoldStateName, Broken> {
    decoded(&HoldStateName::ALL, code, state_code, "state of a hold")
}

pub(super) fn risk(code: i64) -> Result<Risk, Broken> {
    decoded(&Risk::ALL, code, risk_code, "risk")
}

pub(super) fn outbox_kind(code: i64) -> Result<OutboxKind, Broken> {
    decoded(&OutboxKind::ALL, code, outbox_code, "kind of what leaves")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_as_it_was_written() {
        assert_eq!(HoldStateName::ALL.map(state_code), [0, 1, 2, 3, 4, 5]);
        assert_eq!(QuestionKind::ALL.map(kind_code), [0, 1, 2, 3, 4]);
        assert_eq!(Risk::ALL.map(risk_code), [0, 1, 2, 3]);
        assert_eq!(OutboxKind::ALL.map(outbox_code), [0, 1, 2, 3, 4]);
        assert_eq!(STATUSES.map(status_code), [0, 1, 2, 3, 4]);
        for known in HoldStateName::ALL {
            assert_eq!(state(state_code(known)), Ok(known));
        }
        assert!(state(6).is_err() && risk(-1).is_err());
    }
}
