//! For [`crate::fuzz_api`].

use ports::channel::Decided;

use super::decision::read;

pub(crate) fn decision(body: &[u8], id: &str) -> Result<Decided, String> {
    read(body, id)
}
