//! What channels and doors have noted down, read back by another process or from a damaged disk. A note is
//! whole or none, and what is in the outbox leads to its record.

use chat::fuzz_api::{RecordKind, again, prompt, saying};
use domain::time::Timestamp;
use engine::Undelivered;
use server::fuzz_api::{note_of_place, note_of_runs, noted_place, noted_runs};

use super::{Pieces, text, told_plainly};

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let kind = pieces.byte() % 9;
    let note = pieces.rest();
    match kind {
        0 => prompted(note),
        1 => said(note),
        2 => kept(RecordKind::Seen, note),
        3 => kept(RecordKind::Position, note),
        4 | 5 => kept(RecordKind::Name, note),
        6 => undelivered(note),
        7 => place(note),
        _ => runs(note),
    }
}

fn kept(kind: RecordKind, note: &[u8]) {
    match again(kind, note) {
        Err(told) => told_plainly(&told, note.len()),
        Ok(written) => {
            assert_eq!(again(kind, &written).as_ref(), Ok(&written), "the same again");
        }
    }
}

fn prompted(note: &[u8]) {
    kept(RecordKind::PromptRecord, note);
    let key = "d0123456789abcdefghijk";
    let Some(prompt) = prompt(note, key, NOW) else { return };
    let value: serde_json::Value = serde_json::from_slice(note).expect("what is taken is JSON");
    assert_eq!(prompt.leads_to, key, "found in the outbox, and not found by that");
    assert!(prompt.hold.is_none_or(|hold| value["hold"] == hold.to_string()), "another hold");
    let stands = value["stage"] != "reserved" && value["stage"].get("reserved").is_none();
    assert!(!stands || !prompt.never_left, "it stands there, and is said never to have left");
    assert!(!stands || !prompt.is_stale, "what stands there is not given up");
    if let Some(posted) = value["stage"]["pending"]["posted"].as_object() {
        assert_eq!(prompt.chat.as_deref(), posted["chat"].as_str(), "where it stands");
    }
    assert!(!prompt.has_nonce || !value["nonce"].as_str().unwrap_or_default().is_empty());
}

fn said(note: &[u8]) {
    kept(RecordKind::Saying, note);
    let key = "s/0123456789abcdefghijk";
    if let Some((_, leads_to)) = saying(note, key, NOW) {
        assert_eq!(leads_to, key, "found in the outbox, and not found by that");
    }
}

fn undelivered(note: &[u8]) {
    if let Some(read) = Undelivered::read(note) {
        assert_eq!(Undelivered::read(&read.write()), Some(read), "the same again");
    }
}

/// A conversation is its owner's and nobody else's.
fn place(note: &[u8]) {
    let owner = text(note).and_then(|note| note.split_once(' ')).unwrap_or_default().1;
    for caller in [owner, "", "person:eve"] {
        let Some(session) = noted_place(note, caller) else { continue };
        assert_eq!(caller, owner, "somebody else's");
        assert_eq!(note_of_place(session, caller), note, "there is one spelling");
    }
}

fn runs(note: &[u8]) {
    let known = noted_runs(note);
    assert_eq!(noted_runs(&note_of_runs(&known)), known, "the same again");
    let said = text(note).unwrap_or_default();
    assert!(known.iter().all(|id| said.contains(&id.to_string())), "a session that is not there");
}
