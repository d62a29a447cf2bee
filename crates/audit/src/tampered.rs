//! What the verifier found.

use std::fmt;

/// Why a log could not be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("{0}")]
    Tampered(#[from] Tampered),
    #[error("the export cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("the checkpoint to compare with is not signed by the key of this log")]
    KnownIsForeign,
}

/// The first thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    /// The first entry that cannot be vouched for; 0 stands for the header.
    pub index: u64,
    /// The line of the export where it shows.
    pub line: u64,
    pub what: TamperKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TamperKind {
    /// The first line is not the header of an export that we can read.
    Header,
    /// Bytes, number or hash of an entry, or anything else of a line, were changed.
    Edited,
    Inserted,
    /// Entries up to this one are missing.
    Deleted {
        last: u64,
    },
    Reordered,
    /// Hashes were made afresh: somewhere from `index` to here there is another history than the
    /// one that was signed.
    Rewritten {
        last: u64,
    },
    /// The end is missing.
    Truncated,
    /// Signed, but not the history of the checkpoint that the verifier had.
    Fork,
    BadSignature,
    WrongKey,
}

impl fmt::Display for Tampered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = self.index;
        match self.what {
            TamperKind::Header => {
                f.write_str("the first line is not the header of an audit export of this version")
            }
            TamperKind::Edited => write!(f, "entry {index} was edited"),
            TamperKind::Inserted => write!(f, "something was inserted before entry {index}"),
            TamperKind::Deleted { last } if last == index => write!(f, "entry {index} was deleted"),
            TamperKind::Deleted { last } => write!(f, "entries {index} to {last} were deleted"),
            TamperKind::Reordered => write!(f, "the order was changed at entry {index}"),
            TamperKind::Rewritten { last } if last == index => {
                write!(f, "entry {index} was rewritten: it is not what was signed")
            }
            TamperKind::Rewritten { last } => write!(
                f,
                "entries {index} to {last} were rewritten in part or all: they are not what was signed"
            ),
            TamperKind::Truncated => {
                write!(f, "the log is cut off: from entry {index} on there is no signed end")
            }
            TamperKind::Fork => write!(
                f,
                "at entry {index} or before, this is another history than that of the known checkpoint"
            ),
            TamperKind::BadSignature => {
                write!(f, "the signature of the checkpoint after entry {index} is wrong")
            }
            TamperKind::WrongKey => {
                f.write_str("it is signed with another key than the trusted one")
            }
        }?;
        write!(f, " (line {})", self.line)
    }
}

impl std::error::Error for Tampered {}
