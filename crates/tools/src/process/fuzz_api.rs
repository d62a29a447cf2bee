//! What is read of a command and its supervisor, without either around it: the very functions that read
//! the spool, the pipe and the kernel's list, for fuzzers.

use std::fmt::Display;
use std::io;

use domain::outcome::Outcome;
use domain::visible::visible;

use super::captured::CapturedOutput;
use super::record::{ExitRecord, FirstRecord};
use super::spool_file::parse_record;
use super::supervisor::{encode_order, read_order};
use super::trace::{AttemptTrace, EndedAttempt};
use super::tree::{ProcessIdentity, ProcessStat};

/// One of the words about an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    First,
    Pid,
    Last,
}

/// A word as it would be written again.
pub fn again(kind: Word, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let written = match kind {
        Word::First => {
            parse_record::<FirstRecord>(bytes).and_then(|first| Ok(serde_json::to_vec(&first)?))
        }
        Word::Pid => {
            parse_record::<ProcessIdentity>(bytes).and_then(|pid| Ok(serde_json::to_vec(&pid)?))
        }
        Word::Last => {
            parse_record::<ExitRecord>(bytes).and_then(|exit| Ok(serde_json::to_vec(&exit)?))
        }
    };
    written.map_err(error_text)
}

/// Whether an attempt is said never to have begun.
pub fn is_fenced(bytes: &[u8]) -> Result<bool, String> {
    parse_record::<FirstRecord>(bytes).map(|first| first == FirstRecord::Fenced).map_err(error_text)
}

/// An order as it would be sent again, and how many bytes it took.
pub fn order_again(bytes: &[u8]) -> Result<(Vec<u8>, usize), String> {
    let mut rest = bytes;
    let order = read_order(&mut rest).map_err(|error| visible(&error.to_string()))?;
    Ok((encode_order(&order).map_err(error_text)?, bytes.len() - rest.len()))
}

/// The parent and the group of a process, by what the kernel says of it.
pub fn parent_and_group(stat: &[u8]) -> Option<(i32, i32)> {
    ProcessStat::parse_stat(1, stat).map(|process| (process.parent, process.group))
}

/// What a command printed.
pub fn printed(streams: &[&[u8]]) -> io::Result<CapturedOutput> {
    CapturedOutput::from_streams(streams.iter().copied().map(Some).collect())
}

/// What is made of a last word and of what was printed, if a process that ended by itself did well.
pub fn outcome(last: &[u8], stdout: &[u8], stderr: &[u8]) -> Result<(ExitRecord, Outcome), String> {
    let exit: ExitRecord = parse_record(last).map_err(error_text)?;
    let (stdout, both) = (printed(&[stdout]), printed(&[stdout, stderr]));
    let (stdout, both) = (stdout.map_err(error_text)?, both.map_err(error_text)?);
    let trace = AttemptTrace::Ended(EndedAttempt { exit: exit.clone(), stdout, both });
    Ok((exit, trace.into_outcome(|ended| Outcome::Succeeded(ended.both.to_output()))))
}

fn error_text(error: impl Display) -> String {
    error.to_string()
}
