//! Carries word of decided holds, slowly, and not always the first time.

use std::sync::Arc;

use async_trait::async_trait;
use domain::hold::Hold;
use ports::callback::{CallbackError, CallbackSender};

use super::node::NodeNo;
use super::records::Delivered;
use super::world::World;

pub(super) struct SimCallbackSender {
    pub(super) world: Arc<World>,
    pub(super) node: NodeNo,
}

#[async_trait]
impl CallbackSender for SimCallbackSender {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn deliver(&self, key: &str, hold: &Hold) -> Result<(), CallbackError> {
        let (fails, ms, sent) = {
            let mut inside = self.world.inside();
            let fails = inside.weather.callback_sender;
            (inside.rng.percent(fails), inside.rng.below(300), inside.journal())
        };
        self.world.wait(self.node, "deliver", ms).await;
        self.hand_over(key, hold, fails, sent);
        if !fails {
            return Ok(());
        }
        self.world.wait(self.node, "deliver", ms).await;
        Err(CallbackError::Again("nobody answered".into()))
    }
}

impl SimCallbackSender {
    fn hand_over(&self, key: &str, hold: &Hold, fails: bool, sent: usize) {
        let mut inside = self.world.inside();
        let arrives = !fails || inside.rng.percent(40);
        if arrives {
            let journal = inside.journal();
            inside.note(format!("n{} DELIVERS {key}", self.node));
            inside.records.delivered.push(Delivered {
                key: key.to_owned(),
                hold: Arc::new(hold.clone()),
                sent,
                journal,
            });
        }
        match (fails, arrives) {
            (false, _) => {}
            (true, true) => inside.fault("callback_sender delivered but said it had not"),
            (true, false) => inside.fault("callback_sender failed"),
        }
    }
}
