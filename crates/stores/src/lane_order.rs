//! What is sent next in a lane of the outbox, and when the lane is due: the same in every store.

use domain::time::Timestamp;
use ports::store::{OutboxItem, OutboxLane, OutboxOrder};

/// The items of a lane, as a store finds them.
pub(crate) trait LaneItems {
    type Error;

    /// The first in order.
    fn first(&self, lane: &OutboxLane) -> Result<Option<OutboxItem>, Self::Error>;

    /// The first prompt in order behind an item.
    fn first_prompt(
        &self,
        lane: &OutboxLane,
        after: OutboxOrder,
    ) -> Result<Option<OutboxItem>, Self::Error>;

    /// Without an order: the one that is ready the longest.
    fn earliest(&self, lane: &OutboxLane) -> Result<Option<OutboxItem>, Self::Error>;

    /// When the last lease on an item of the lane ends.
    fn leased_until(&self, lane: &OutboxLane) -> Result<Option<Timestamp>, Self::Error>;
}

/// What is sent next, and when.
pub(crate) struct Candidate {
    pub(crate) item: OutboxItem,
    pub(crate) at: Timestamp,
}

pub(crate) fn candidate<S: LaneItems>(
    items: &S,
    lane: &OutboxLane,
    now: Timestamp,
) -> Result<Option<Candidate>, S::Error> {
    let first = if lane.in_order { items.first(lane)? } else { items.earliest(lane)? };
    let Some(mut item) = first else { return Ok(None) };
    if let Some(order) = item.order
        && item.lets_prompts_pass(now)
    {
        let prompt = items.first_prompt(lane, order)?;
        item = prompt.filter(|prompt| prompt.ready_at() < item.ready_at()).unwrap_or(item);
    }
    let leased_until = items.leased_until(lane)?.filter(|until| *until > now);
    let at = leased_until.map_or_else(|| item.ready_at(), |until| item.ready_at().max(until));
    Ok(Some(Candidate { item, at }))
}

/// When a lane that changed is due. One that was served goes behind those that are due; one that
/// waits keeps its due time: otherwise a chat that is talked in all the time would never be served.
pub(crate) fn lane_due_at(
    candidate: &Candidate,
    before: Option<Timestamp>,
    was_served: bool,
    now: Timestamp,
) -> Timestamp {
    match before {
        _ if candidate.at > now => candidate.at,
        // mutant: the-busiest-chat-first
        _ if was_served => now,
        Some(before) if before <= now => before,
        Some(_) => now,
        None => candidate.at,
    }
}

/// Whether a change ends the lease under which an item was sent.
pub(crate) fn ends_lease(before: Option<&OutboxItem>, after: Option<&OutboxItem>) -> bool {
    let lease = |item: Option<&OutboxItem>| item.and_then(|item| item.lease);
    lease(before).is_some() && lease(before) != lease(after)
}
