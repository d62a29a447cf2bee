//! For [`crate::fuzz_api`].

use ports::channel::ReportedDecision;

use super::decision::read;

pub(crate) fn decision(body: &[u8], id: &str) -> Result<ReportedDecision, String> {
    read(body, id)
}
