//! A tool host whose work takes time, so that crashes fall before, in and after the effect.

use std::sync::Arc;

use async_trait::async_trait;
use domain::call::Call;
use domain::id::NodeId;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::tool::Tool;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use tokio_util::sync::CancellationToken;

use super::executor::{Kind, Left, Running};
use super::node::NodeNo;
use super::records::{Effect, Handed};
use super::world::World;

pub(super) struct SimTool {
    pub(super) world: Arc<World>,
    pub(super) node: NodeNo,
    pub(super) id: NodeId,
    pub(super) tool: Tool,
    pub(super) kind: Kind,
}

/// Forgets what was running when its task ends, however it ends.
struct AtWork {
    world: Arc<World>,
    id: u64,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.world.inside().drops(self.id);
    }
}

impl SimTool {
    async fn takes_time(&self, what: &'static str) {
        let ms = {
            let mut inside = self.world.inside();
            let long = inside.rng.percent(20);
            inside.rng.below(if long { 20_000 } else { 40 })
        };
        self.world.wait(self.node, what, ms).await;
    }

    /// Whether it was told to stop before the time was over.
    async fn is_stopped(&self, what: &'static str, stop: &CancellationToken) -> bool {
        tokio::select! {
            biased;
            () = stop.cancelled() => true,
            () = self.takes_time(what) => false,
        }
    }

    fn effect(&self, cleared: &ClearedCall) -> Effect {
        Effect::of(cleared.call(), cleared.attempt(), self.id)
    }
}

#[async_trait]
impl ToolHost for SimTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        let (waits, is_blind) = {
            let mut inside = self.world.inside();
            let blind = inside.weather.blind;
            (inside.rng.percent(20), inside.rng.percent(blind))
        };
        if waits {
            self.world.wait(self.node, "prepare", 1).await;
        }
        if is_blind {
            self.world.inside().fault("tool could not look");
            return Err(PrepareError::blind("nothing can be seen right now"));
        }
        Ok(Prepared::default())
    }

    async fn run(
        &self,
        cleared: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let effect = self.effect(&cleared);
        let (key, attempt) = (effect.key.clone(), effect.attempt);
        {
            let mut inside = self.world.inside();
            let handed = Handed { call: effect.call, attempt, journal: inside.journal() };
            inside.records.handed.push(handed);
        }
        if self.is_stopped("tool begins", &stop).await {
            return Ok(Outcome::Failed(Output::text("This attempt was stopped before it began.")));
        }
        let starting = start.enter().await?;
        let entered = self.world.inside().journal();
        // It is through the gate and nothing has begun: who sleeps here and is replaced must find a fence.
        let sleeps = self.world.inside().falls_asleep_at_work(self.node, self.kind);
        if sleeps {
            self.world.wait(self.node, "tool is slow to begin", 1).await;
        }
        let running = Running { node: self.node, kind: self.kind, effect };
        let Some(id) = self.world.inside().begins(running, sleeps.then_some(entered)) else {
            return Ok(Outcome::Failed(Output::text("Nothing was run: it was given up.")));
        };
        drop(starting);
        let _at_work = AtWork { world: self.world.clone(), id };
        if self.is_stopped("tool acts", &stop).await {
            return Ok(match self.kind {
                Kind::Reading | Kind::Marked => {
                    Outcome::Failed(Output::text("Nothing was run: it was stopped."))
                }
                _ => Outcome::Unknown { evidence: "it was stopped in the middle".into() },
            });
        }
        let outcome = self.world.inside().acts(id);
        // What is done is done: a stop comes too late from here on.
        self.is_stopped("tool ends", &stop).await;
        self.world.inside().ends(&key, attempt, &outcome);
        self.is_stopped("tool returns", &stop).await;
        Ok(outcome)
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        self.world.wait(self.node, "recover", 2).await;
        let key = call.idempotency_key();
        let mut inside = self.world.inside();
        let unknown = |evidence: &str| Recovery::Unknown { evidence: evidence.into() };
        match self.kind {
            Kind::Reading | Kind::Keyed => unknown("nobody should have asked"),
            Kind::Untraced => unknown("it leaves no traces"),
            Kind::Marked => match inside.look_for_marker(&key, attempt) {
                Some(outcome) => Recovery::Done(outcome),
                None => Recovery::NeverHappened,
            },
            Kind::Traced => match inside.look_for(&key, attempt) {
                Left::Interrupted => unknown("it was interrupted"),
                found => {
                    if inside.weather.crash > 0 && inside.rng.percent(15) {
                        inside.fault("trace of an attempt lost");
                        return unknown("the folder cannot be read");
                    }
                    match found {
                        Left::Ended(outcome) => Recovery::Done(outcome),
                        _ => Recovery::NeverHappened,
                    }
                }
            },
        }
    }

    async fn forget(&self, call: &Call) {
        self.world.inside().forgets(&call.idempotency_key());
    }
}
