//! What is read back of a command: the words of its supervisor on disk, its orders, what the kernel says of
//! its processes, and what it printed. A damaged word is never taken for another, and never for none.

use domain::digest::Digest;
use domain::outcome::Outcome;
use serde_json::Value;
use tools::limits::{EVIDENCE_BYTES_MAX, OUTPUT_BYTES_KEPT};
use tools::process::ExitKind;
use tools::process::fuzz_api::{
    Word, again, is_fenced, order_again, outcome, parent_and_group, printed,
};

use super::{Pieces, told_plainly};

/// Beside what the command itself has printed.
const WORDS_BYTES_MAX: usize = 1_000;

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let (kind, cut) = (pieces.byte(), pieces.byte());
    match kind % 6 {
        0 => first(pieces.rest(), cut),
        1 => word(Word::Pid, pieces.rest(), cut),
        2 => word(Word::Last, pieces.rest(), cut),
        3 => order(pieces.rest(), cut),
        4 => process(pieces.rest()),
        _ => ended(pieces, cut),
    }
}

/// Whole or refused: a torn word is never another one.
fn word(kind: Word, bytes: &[u8], cut: u8) {
    match again(kind, bytes) {
        Err(told) => told_plainly(&told, bytes.len()),
        Ok(written) => {
            assert_eq!(again(kind, &written).as_ref(), Ok(&written), "the same again");
            let torn = &written[..written.len() * usize::from(cut) / 256];
            assert!(again(kind, torn).is_err(), "a part of a word is taken for one");
        }
    }
}

fn first(bytes: &[u8], cut: u8) {
    word(Word::First, bytes, cut);
    if is_fenced(bytes) == Ok(true) {
        let said: Value = serde_json::from_slice(bytes).expect("what is taken is JSON");
        assert!(said == "fenced" || said.get("fenced").is_some(), "nobody said so: {said}");
    }
}

fn order(bytes: &[u8], cut: u8) {
    match order_again(bytes) {
        Err(told) => told_plainly(&told, bytes.len()),
        Ok((sent, length)) => {
            let read = order_again(&sent).expect("what we send we can read");
            assert_eq!(read, (sent, read.1));
            assert_eq!(read.1, read.0.len(), "all of it");
            let half = &bytes[..length * usize::from(cut) / 256];
            assert!(order_again(half).is_err(), "half an order is none");
        }
    }
}

/// However a program is called, it is whose it is.
fn process(bytes: &[u8]) {
    let _ = parent_and_group(bytes);
    let name = bytes.get(..15).unwrap_or(bytes);
    let stat = [b"7 (", name, b") S 3 4 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0\n"].concat();
    assert_eq!(parent_and_group(&stat), Some((3, 4)), "hidden by its name");
}

fn ended(mut pieces: Pieces<'_>, times: u8) {
    let last = pieces.line();
    let stdout = pieces.piece();
    let stdout = stdout.repeat(match times {
        ..200 => 1,
        _ => usize::from(times) * OUTPUT_BYTES_KEPT / 200 / stdout.len().max(1),
    });
    let stderr = pieces.rest();
    shown(&[&stdout, stderr]);
    let (exit, outcome) = match outcome(last, &stdout, stderr) {
        Ok(read) => read,
        Err(told) => return told_plainly(&told, last.len()),
    };
    match (exit.how, outcome) {
        (how, Outcome::Unknown { evidence }) => {
            let is_open = exit.may_still_run > 0 || exit.unproven || how == ExitKind::OwnerGone;
            assert!(is_open, "{how:?} is known");
            told_plainly(&evidence, EVIDENCE_BYTES_MAX);
        }
        (how, _) if exit.may_still_run > 0 || exit.unproven => {
            panic!("{how:?}, and it may still run")
        }
        (ExitKind::Exited(_) | ExitKind::Signalled(_), outcome) => {
            assert!(matches!(outcome, Outcome::Succeeded(_)), "it ended by itself");
        }
        (how, outcome) => assert!(matches!(outcome, Outcome::Failed(_)), "{how:?} did well"),
    }
}

/// Within its bounds, and what is missing is said to be.
fn shown(streams: &[&[u8]]) {
    let output = printed(streams).expect("memory can be read").to_output();
    let whole = streams.concat();
    let streams_used = streams.iter().filter(|stream| !stream.is_empty()).count();
    let most = streams_used * OUTPUT_BYTES_KEPT + WORDS_BYTES_MAX;
    assert!(output.text.len() <= most, "{} bytes of {}", output.text.len(), whole.len());
    let is_long = streams.iter().any(|stream| stream.len() > OUTPUT_BYTES_KEPT);
    assert!(output.cut.is_some() || !is_long, "cut, and nobody says so");
    match output.cut {
        None => {
            if let Ok(said) = std::str::from_utf8(streams[0]) {
                assert!(output.text.starts_with(said), "told as it was printed");
            }
        }
        Some(cut) => {
            assert_eq!((cut.total_bytes, cut.digest), (whole.len() as u64, Digest::of(&whole)));
        }
    }
}
