//! For [`crate::fuzz_api`].

use ports::channel::ReportedDecision;

use super::decision::read_decision;

pub(crate) fn decision(body: &[u8], id: &str) -> Result<ReportedDecision, String> {
    read_decision(body, id)
}
