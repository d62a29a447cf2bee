//! A call is no less dangerous because its question changed: after an edit, asked again, or proposed a second time.

use std::sync::Arc;

use async_trait::async_trait;
use domain::answer::{Answer, ApprovalScope};
use domain::hold::Risk;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::policy::{AskSpec, MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{AskAnyway, PrepareError, Prepared, ToolHost};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{Options, World, node};

/// The tool itself says how dangerous a call is, as the SQL tools do.
struct Grave(Tool);

#[async_trait]
impl ToolHost for Grave {
    fn tool(&self) -> &Tool {
        &self.0
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        let ask = AskAnyway { summary: "All of it goes".into(), risk: Risk::High };
        Ok(Prepared { ask: Some(ask), ..Prepared::default() })
    }

    async fn run(
        &self,
        _: ClearedCall,
        start: Start,
        _: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        drop(start.enter().await?);
        Ok(Outcome::Succeeded(Output::text("gone")))
    }
}

/// Two have to approve, so that an edit by the first leaves a question for the second.
fn two_of_them() -> Policy {
    let ask = AskSpec { roles: vec!["dba".into()], quorum: 2, ..AskSpec::default() };
    let rule = RuleSpec {
        name: "two of them".into(),
        matcher: MatchSpec { tool: Some("grave".into()), ..MatchSpec::default() },
        then: Then::Ask,
        ask: Some(ask),
        ..RuleSpec::default()
    };
    Policy::compile(PolicySpec { rules: vec![rule], ..PolicySpec::default() }).unwrap()
}

async fn world() -> World {
    let schema = json!({"type": "object"});
    let tool = Tool::new("grave", "", schema, Effects::AtMostOnce, Place::Server, "test").unwrap();
    let node = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(node)), node);
    options.extra = vec![Arc::new(Grave(tool))];
    options.policy = two_of_them();
    options.start().await
}

fn edited() -> Answer {
    let arguments = Some(Arguments::parse(br#"{"n":2}"#).unwrap());
    Answer::Approve { scope: ApprovalScope::Once, arguments, note: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_leaves_the_risk_that_the_tool_states() {
    let world = world().await;
    let session = world.session().await;
    world.model.will("", &[("grave", json!({"n": 1}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    assert_eq!(hold.risk, Risk::High);
    let arguments = Arguments::parse(br#"{"n":2}"#).unwrap();
    let shown = world.engine.preview_edit(&world.ana, hold.id, arguments).await.unwrap();
    assert_eq!(shown.hold.risk, Risk::High, "what the editor is shown");
    let after = world.answer(&world.ana, &hold, edited()).await.unwrap();
    assert!(after.is_pending(), "the second is asked about the edited call");
    assert_eq!(after.risk, Risk::High);
}
