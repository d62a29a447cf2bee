//! A run that has used up a budget stops, also over a restart, until somebody lets it go on.

use std::sync::Arc;

use domain::answer::Answer;
use domain::budget::{Budgets, Prices};
use domain::event::{Event, SessionEvent};
use domain::hold::Hold;
use domain::id::{SessionId, StreamId};
use domain::policy::{MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::session::RunStatus;
use ports::model::TurnUsage;
use serde_json::json;

use crate::world::{Options, World, approve, node, status};

struct Spender {
    store: stores::MemoryStore,
    budgets: Budgets,
    policy: Option<Policy>,
    world: World,
}

impl Spender {
    async fn new(budgets: Budgets, policy: Option<Policy>) -> Spender {
        let first = node();
        let store = stores::MemoryStore::new(first);
        let mut options = Options::new(Arc::new(store.clone()), first);
        options.budgets = budgets;
        options.prices = Prices { input: 3_000_000, cached: 300_000, output: 15_000_000 };
        if let Some(policy) = &policy {
            options.policy = policy.clone();
        }
        Spender { store, budgets, policy, world: options.start().await }
    }

    /// The process is gone, and another takes its place.
    async fn again(self) -> Spender {
        let next = node();
        let store = self.store.again(next);
        let mut options = Options::new(Arc::new(store.clone()), next);
        (options.model, options.witness) = (self.world.model.clone(), self.world.witness.clone());
        options.budgets = self.budgets;
        if let Some(policy) = &self.policy {
            options.policy = policy.clone();
        }
        Spender { store, world: options.start().await, ..self }
    }

    /// A model that looks again and again.
    async fn looking(&self, turns: usize) -> SessionId {
        let session = self.world.session().await;
        for _ in 0..turns {
            self.world.model.will("", &[("look", json!({}))]);
        }
        for line in self.world.model.lines.lock().unwrap().iter_mut().flatten() {
            line.usage = TurnUsage { input_tokens: 1_000, cached_tokens: 600, output_tokens: 10 };
        }
        self.world.say(session, "look").await;
        session
    }
}

async fn asked(world: &World, session: SessionId) -> Arc<Hold> {
    world.paused(session).await.open_holds().next().expect("a hold").clone()
}

fn a_stream_is_locked_by_one_command_at_a_time() -> Budgets {
    Budgets { turns: 2, ..Budgets::default() }
}

#[tokio::test]
async fn the_model_is_not_called_until_somebody_lets_the_run_go_on() {
    let spender = Spender::new(a_stream_is_locked_by_one_command_at_a_time(), None).await;
    let session = spender.looking(3).await;
    let hold = asked(&spender.world, session).await;
    assert!(hold.asks_to_go_on(), "{}", hold.title);
    assert_eq!(spender.world.model.heard().len(), 2);
    let spender = spender.again().await;
    let world = &spender.world;
    assert_eq!(asked(world, session).await.id, hold.id);
    assert_eq!(world.model.heard().len(), 2, "a restart is no leave");
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let over = world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Completed));
    assert_eq!(world.model.heard().len(), 4);
    let spent = over.run.as_ref().unwrap().spent;
    assert_eq!((spent.turns, spent.usage.tokens()), (4, 3 * 1_010));
    // 400 fresh tokens at 3, 600 cached at 0.3, 10 of output at 15, for a million each; the second
    // process was given no prices.
    assert_eq!(spent.usage.money, 2 * (1_200 + 180 + 150));
}

#[tokio::test]
async fn the_money_of_a_run_is_counted_by_the_prices_of_its_model() {
    let budgets = Budgets { money: Some(4_000), ..Budgets::default() };
    let spender = Spender::new(budgets, None).await;
    let session = spender.looking(9).await;
    let hold = asked(&spender.world, session).await;
    assert_eq!(hold.title, "Let the run go on? It has used up its 0.004 of money");
    assert_eq!(spender.world.model.heard().len(), 3);
    let no = Answer::Deny { reason: Some("too dear".into()), stop: false };
    spender.world.answer(&spender.world.ana, &hold, no).await.unwrap();
    let over = spender.world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Cancelled));
    assert_eq!(spender.world.model.heard().len(), 3);
}

#[tokio::test]
async fn i29_its_deadline_survives_a_restart_and_silence_ends_the_run() {
    let look = RuleSpec {
        name: "look".into(),
        matcher: MatchSpec { tool: Some("look".into()), ..MatchSpec::default() },
        then: Then::Allow,
        ..RuleSpec::default()
    };
    let spec = PolicySpec { rules: vec![look], default_expires_ms: 400, ..PolicySpec::default() };
    let policy = Policy::compile(spec).unwrap();
    let spender = Spender::new(a_stream_is_locked_by_one_command_at_a_time(), Some(policy)).await;
    let session = spender.looking(3).await;
    let hold = asked(&spender.world, session).await;
    let spender = spender.again().await;
    let over = spender.world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Cancelled));
    assert_eq!(spender.world.hold(hold.id).await.state.name(), "expired");
    assert_eq!(spender.world.model.heard().len(), 2);
    let entries = spender.store_entries(session).await;
    let ended = entries.iter().any(|event| {
        matches!(event, Event::Session(SessionEvent::RunStopping { reason: Some(reason), .. })
            if reason == "the run used up its 2 turns, and nobody said in time that it may go on")
    });
    assert!(ended, "{entries:?}");
}

impl Spender {
    async fn store_entries(&self, session: SessionId) -> Vec<Event> {
        let entries = self.world.engine.store().load(StreamId::Session(session)).await.unwrap();
        entries.iter().flat_map(|entry| entry.events.iter().cloned()).collect()
    }
}
