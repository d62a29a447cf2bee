//! What a message led to, as doors keep it under the message's name: the same message again finds it.

use domain::id::{RunId, SessionId};
use serde::{Deserialize, Serialize};

use super::flow::Since;

/// Ids as text: a record that is not one of these names nothing.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KeptRun {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// The position just before the message; none from a door that keeps none.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    /// The run that was under way then.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    /// Whether the message was an answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) agreed: bool,
}

impl KeptRun {
    pub(crate) fn new(session: SessionId, run: Option<RunId>) -> KeptRun {
        let run = run.map(|run| run.to_string());
        KeptRun { session: Some(session.to_string()), run, ..KeptRun::default() }
    }

    pub(crate) fn since(mut self, since: Since) -> KeptRun {
        self.after = Some(since.position);
        self.current = since.current.map(|run| run.to_string());
        self
    }

    pub(crate) fn agreed(mut self) -> KeptRun {
        self.agreed = true;
        self
    }

    /// What cannot be read names nothing.
    pub(crate) fn read(kept: &[u8]) -> KeptRun {
        serde_json::from_slice(kept).unwrap_or_default()
    }

    pub(crate) fn written(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(crate) fn session_id(&self) -> Option<SessionId> {
        self.session.as_deref()?.parse().ok()
    }

    pub(crate) fn run_id(&self) -> Option<RunId> {
        self.run.as_deref()?.parse().ok()
    }

    /// The position and the run of then; `None` if no position was kept.
    pub(crate) fn began(&self) -> Option<Since> {
        let current = self.current.as_deref().and_then(|run| run.parse().ok());
        Some(Since { position: self.after?, current })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_earlier_versions_are_read() {
        let (session, run) = (SessionId::new(1, 1), RunId::new(1, 2));
        let text = format!(
            r#"{{"agreed":true,"after":7,"current":null,"run":"{run}","session":"{session}"}}"#
        );
        let kept = KeptRun::read(text.as_bytes());
        assert_eq!(
            (kept.session_id(), kept.run_id(), kept.agreed),
            (Some(session), Some(run), true)
        );
        assert_eq!(kept.began().map(|since| (since.position, since.current)), Some((7, None)));
        for other in ["{}", "[]", "", r#"{"run":5}"#] {
            assert_eq!(KeptRun::read(other.as_bytes()).run_id(), None, "{other}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let (session, run) = (SessionId::new(1, 1), RunId::new(1, 2));
        let since = Since { position: 3, current: Some(run) };
        let kept = KeptRun::new(session, Some(run)).since(since).agreed();
        let kept = KeptRun::read(&kept.written());
        assert_eq!(
            (kept.session_id(), kept.run_id(), kept.agreed),
            (Some(session), Some(run), true)
        );
        assert_eq!(kept.began().map(|since| (since.position, since.current)), Some((3, Some(run))));
    }
}
