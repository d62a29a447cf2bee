//! Ids of requests that a client cancelled, and may not use again: an upstream may still answer under them.

use std::collections::{HashSet, VecDeque};

use domain::digest::{Digest, Framed};
use tools::mcp::RpcId;

use crate::limits::RETIRED_IDS_MAX;

/// As digests, and the latest of them, so that a client that cancels for ever takes no more than this.
#[derive(Default)]
pub(crate) struct RetiredIds {
    known: HashSet<Digest>,
    order: VecDeque<Digest>,
}

impl RetiredIds {
    pub(crate) fn contains(&self, id: &RpcId) -> bool {
        self.known.contains(&id_digest(id))
    }

    pub(crate) fn add(&mut self, id: &RpcId) {
        let id = id_digest(id);
        if !self.known.insert(id) {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > RETIRED_IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

fn id_digest(id: &RpcId) -> Digest {
    let kind = if matches!(id, RpcId::Number(_)) { "number" } else { "text" };
    Framed::new("holdpoint.mcp.id.v1").field(kind, id.to_string().as_bytes()).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_cancelled_ids_are_not_used_again() {
        let mut retired = RetiredIds::default();
        let id = |number: usize| RpcId::Text(number.to_string());
        for number in 0..=RETIRED_IDS_MAX {
            retired.add(&id(number));
            retired.add(&id(number));
        }
        assert_eq!((retired.known.len(), retired.order.len()), (RETIRED_IDS_MAX, RETIRED_IDS_MAX));
        assert!(!retired.contains(&id(0)));
        assert!(retired.contains(&id(1)) && retired.contains(&id(RETIRED_IDS_MAX)));
    }
}
