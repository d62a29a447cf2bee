//! Time and chance of one process. The clock keeps the promise of the real one: it never goes
//! backwards while the process lives, and it begins no earlier than the last commit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::time::Timestamp;
use ports::clock::{Clock, Rng};

use super::node::NodeNo;
use super::world::{EPOCH_MS, World};

pub(super) struct NodeClock {
    world: Arc<World>,
    node: NodeNo,
    /// What was last read, and the true time at which it led.
    latest: Mutex<(i64, u64)>,
}

impl NodeClock {
    pub(super) fn new(world: Arc<World>, node: NodeNo, not_before: Option<Timestamp>) -> NodeClock {
        let (wall, now) = read(&world, node);
        let not_before = not_before.map_or(wall, Timestamp::as_ms);
        NodeClock { world, node, latest: Mutex::new((wall.max(not_before), now)) }
    }
}

/// The wall clock as this process sees it, and the monotonic one.
fn read(world: &World, node: NodeNo) -> (i64, u64) {
    let inside = world.inside();
    let skew = inside.skew_ms.get(&node).copied().unwrap_or_default();
    (EPOCH_MS + inside.now as i64 + inside.wall_ms + skew, inside.now)
}

#[async_trait]
impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        let (wall, now) = read(&self.world, self.node);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let at_least = latest.0 + (now - latest.1) as i64;
        if wall > at_least {
            *latest = (wall, now);
        }
        Timestamp::from_ms(wall.max(at_least))
    }

    async fn sleep(&self, duration: Duration) {
        self.world.wait(self.node, "sleep", duration.as_millis() as u64).await;
    }
}

pub(super) struct NodeRng(pub(super) Arc<World>);

impl Rng for NodeRng {
    fn bits(&self) -> u128 {
        self.0.inside().bits()
    }
}
