//! Carries word of decided holds, slowly, and not always the first time.

use std::sync::Arc;

use async_trait::async_trait;
use domain::hold::Hold;
use ports::courier::{Courier, CourierError};

use super::node::NodeNo;
use super::records::Delivered;
use super::world::World;

pub(super) struct SimCourier {
    pub(super) world: Arc<World>,
    pub(super) node: NodeNo,
}

#[async_trait]
impl Courier for SimCourier {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn deliver(&self, key: &str, hold: &Hold) -> Result<(), CourierError> {
        let (fails, ms, sent) = {
            let mut inside = self.world.inside();
            let fails = inside.weather.courier;
            (inside.chance.percent(fails), inside.chance.below(300), inside.journal())
        };
        self.world.wait(self.node, "deliver", ms).await;
        self.hand_over(key, hold, fails, sent);
        if !fails {
            return Ok(());
        }
        self.world.wait(self.node, "deliver", ms).await;
        Err(CourierError::Again("nobody answered".into()))
    }
}

impl SimCourier {
    fn hand_over(&self, key: &str, hold: &Hold, fails: bool, sent: usize) {
        let mut inside = self.world.inside();
        let arrives = !fails || inside.chance.percent(40);
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
            (true, true) => inside.fault("courier delivered but said it had not"),
            (true, false) => inside.fault("courier failed"),
        }
    }
}
