//! What the spool holds about one attempt. Written by one process and read by another, perhaps of a
//! later version, so these are a language of their own.

use serde::{Deserialize, Serialize};

use super::tree::ProcessIdentity;

/// The first word about an attempt, which only one party gets to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FirstRecord {
    /// Written before the command is started.
    Began(StartRecord),
    /// Written by recovery: this attempt has not started, and now it cannot.
    Fenced,
    /// Written by recovery that found no trace of the attempt: it may have run, and now it cannot start.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartRecord {
    pub(crate) marker: String,
    /// The server.
    pub(crate) owner: ProcessIdentity,
    /// Who watches the command: a supervisor, or the server itself.
    pub(crate) keeper: ProcessIdentity,
}

/// The last word: how an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub how: ExitKind,
    pub ran_ms: u64,
    /// Processes that the command left behind, and that were killed.
    pub left_behind: u32,
    /// Processes that could not be killed, or of which it is not proved that they are gone.
    pub may_still_run: u32,
    /// It was stopped without a supervisor, where nobody can know that all of its processes are gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
    /// Why what it printed could not be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_lost: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitKind {
    Exited(i32),
    Signalled(i32),
    TimedOut {
        after_ms: u64,
    },
    Stopped,
    TooMuchOutput {
        bytes_max: u64,
    },
    /// The server died and the command was killed with it: what it got done is not known.
    OwnerGone,
    /// The command could not be started; nothing ran.
    NotStarted {
        why: String,
    },
}

impl ExitRecord {
    pub(crate) fn not_started(why: impl std::fmt::Display) -> ExitRecord {
        ExitRecord {
            how: ExitKind::NotStarted { why: why.to_string() },
            ran_ms: 0,
            left_behind: 0,
            may_still_run: 0,
            unproven: false,
            output_lost: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A server finds what an earlier version of it left behind: these texts never change.
    #[test]
    fn records_are_pinned() {
        let exit = ExitRecord {
            how: ExitKind::Exited(3),
            ran_ms: 12,
            left_behind: 1,
            ..ExitRecord::not_started("")
        };
        let text = r#"{"how":{"exited":3},"ran_ms":12,"left_behind":1,"may_still_run":0}"#;
        assert_eq!(serde_json::to_string(&exit).unwrap(), text);
        assert_eq!(serde_json::from_str::<ExitRecord>(text).unwrap(), exit);
        let began = r#"{"began":{"marker":"m","owner":{"pid":1,"start":2,"boot":"b"},"keeper":{"pid":3,"start":4,"boot":"b"}}}"#;
        let first: FirstRecord = serde_json::from_str(began).unwrap();
        assert_eq!(serde_json::to_string(&first).unwrap(), began);
        assert_eq!(serde_json::to_string(&FirstRecord::Fenced).unwrap(), r#""fenced""#);
        assert_eq!(serde_json::to_string(&FirstRecord::Lost).unwrap(), r#""lost""#);
        let stopped = r#"{"how":"stopped","ran_ms":1,"left_behind":0,"may_still_run":0,"unproven":true,"output_lost":"full"}"#;
        let read: ExitRecord = serde_json::from_str(stopped).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), stopped);
        for how in [
            r#"{"signalled":9}"#,
            r#"{"timed_out":{"after_ms":5}}"#,
            r#""stopped""#,
            r#"{"too_much_output":{"bytes_max":5}}"#,
            r#""owner_gone""#,
            r#"{"not_started":{"why":"x"}}"#,
        ] {
            let read: ExitKind = serde_json::from_str(how).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), how);
        }
    }
}
