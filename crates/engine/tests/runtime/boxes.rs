//! Tools that come, change and go while the engine runs, and calls that ask people something.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::answer::Answer;
use domain::hold::{HoldState, Question, QuestionKind};
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::nested_question::{NestedAnswer, NestedAsker, NestedQuestion};
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use ports::toolbox::{BoxedTools, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::{Options, World, approve, node, results};

/// Its server does not answer any more.
const HANGS: &str = "hangs";

/// It is another tool whenever it is asked to look at a call.
const SHIFTS: &str = "shifts";
/// A call of it never ends.
const STUCK: &str = "stuck";

/// One tool, which does what it is called and asks when it is called `ask`.
struct Boxed {
    tool: Tool,
    toolbox: Box1,
    did: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl ToolHost for Boxed {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        if self.tool.description == HANGS {
            std::future::pending::<()>().await;
        }
        if self.tool.description.starts_with(SHIFTS) {
            self.toolbox.puts(&[(&self.tool.name, &format!("{}!", self.tool.description))]);
        }
        Ok(Prepared::default())
    }

    async fn run(
        &self,
        _: ClearedCall,
        start: Start,
        _: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let _starting = start.enter().await?;
        self.did.lock().unwrap().push(self.tool.description.clone());
        if self.tool.description == STUCK {
            std::future::pending::<()>().await;
        }
        Ok(Outcome::Succeeded(Output::text(self.tool.description.clone())))
    }

    async fn run_asking(
        &self,
        call: ClearedCall,
        asker: &dyn NestedAsker,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        if &*self.tool.name != "box__ask" {
            return self.run(call, start, stop).await;
        }
        drop(start.enter().await?);
        let question =
            Question::choose([("red".into(), None), ("green".into(), None)], false, false);
        let asked = NestedQuestion {
            title: "Which colour?".into(),
            question: question.unwrap(),
            shown: Value::Null,
        };
        let said = tokio::select! {
            said = asker.ask(asked) => said,
            () = stop.cancelled() => return Ok(Outcome::Failed(Output::text("stopped"))),
        };
        Ok(Outcome::Succeeded(Output::text(match said {
            NestedAnswer::Given(Answer::Choose(chosen)) => chosen.join(","),
            other => format!("{other:?}"),
        })))
    }
}

#[derive(Clone, Default)]
struct Box1 {
    in_box: Arc<Mutex<Arc<BoxedTools>>>,
    did: Arc<Mutex<Vec<String>>>,
}

impl Toolbox for Box1 {
    fn name(&self) -> &str {
        "box"
    }

    fn boxed_tools(&self) -> Arc<BoxedTools> {
        self.in_box.lock().unwrap().clone()
    }
}

impl Box1 {
    fn puts(&self, tools: &[(&str, &str)]) {
        let mut in_box = BoxedTools::default();
        for (name, description) in tools {
            let schema = json!({"type": "object"});
            let effects = match *name {
                "box__look" => Effects::ReadOnly,
                _ => Effects::AtMostOnce,
            };
            let tool = Tool::new(name, description, schema, effects, Place::Server, "box").unwrap();
            in_box.offered.push(tool.name.clone());
            let (toolbox, did) = (self.clone(), self.did.clone());
            let host = Boxed { tool: tool.clone(), toolbox, did };
            in_box.hosts.insert(tool.name.clone(), Arc::new(host));
        }
        *self.in_box.lock().unwrap() = Arc::new(in_box);
    }
}

async fn world(toolbox: &Box1) -> World {
    let node = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(node)), node);
    options.boxes = vec![Arc::new(toolbox.clone())];
    options.start().await
}

fn offered(world: &World) -> Vec<String> {
    let names = world.engine.offered("ops");
    names.iter().filter(|name| name.starts_with("box__")).map(|name| name.to_string()).collect()
}

#[tokio::test]
async fn what_is_in_the_box_is_offered_and_what_is_not_is_refused() {
    let toolbox = Box1::default();
    let world = world(&toolbox).await;
    assert!(offered(&world).is_empty());
    toolbox.puts(&[("box__b", "B"), ("box__a", "A")]);
    assert_eq!(offered(&world), ["box__b", "box__a"]);

    let session = world.session().await;
    world.model.will("", &[("box__c", json!({}))]);
    world.say(session, "go").await;
    let over = world.over(session).await;
    assert!(results(&over)[0].starts_with("There is no tool `box__c`"), "{:?}", results(&over));
    let heard = world.model.heard();
    assert!(heard[0].tools.iter().any(|tool| &*tool.name == "box__a"));
}

#[tokio::test]
async fn i03_a_tool_of_a_box_that_changed_is_asked_about_again() {
    let toolbox = Box1::default();
    let world = world(&toolbox).await;
    toolbox.puts(&[("box__a", "first")]);
    let session = world.session().await;
    world.model.will("", &[("box__a", json!({}))]);
    world.say(session, "go").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    toolbox.puts(&[("box__a", "then")]);
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let asked_again =
        |session: &domain::session::Session| session.open_holds().any(|open| open.id != hold.id);
    let again = world.until(session, "asked again", asked_again).await;
    let again = again.open_holds().next().unwrap().clone();
    assert_ne!(again.digest(), hold.digest());
    assert!(toolbox.did.lock().unwrap().is_empty());
    world.answer(&world.ana, &again, approve()).await.unwrap();
    assert_eq!(results(&*world.over(session).await), ["then"]);
    assert_eq!(*toolbox.did.lock().unwrap(), ["then"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_an_interrupted_call_whose_tool_keeps_changing_is_in_doubt() {
    let (first, next) = (node(), node());
    let store = stores::MemoryStore::new(first);
    let toolbox = Box1::default();
    let start = async |store: stores::MemoryStore, node| {
        let mut options = Options::new(Arc::new(store), node);
        options.boxes = vec![Arc::new(toolbox.clone())];
        options.start().await
    };
    let before = start(store.clone(), first).await;
    toolbox.puts(&[("box__look", STUCK)]);
    let session = before.session().await;
    before.model.will("", &[("box__look", json!({}))]);
    before.say(session, "go").await;
    let hold = before.paused(session).await.open_holds().next().unwrap().clone();
    before.answer(&before.ana, &hold, approve()).await.unwrap();
    while toolbox.did.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    toolbox.puts(&[("box__look", SHIFTS)]);
    let after = start(store.again(next), next).await;
    let asked = |session: &domain::session::Session| session.open_holds().next().is_some();
    let doubtful = after.until(session, "asked what happened", asked).await;
    let open = doubtful.open_holds().next().unwrap();
    assert_eq!(open.question.kind(), QuestionKind::Settle);
    assert_eq!(*toolbox.did.lock().unwrap(), [STUCK], "nothing ran again");
}

#[tokio::test]
async fn a_tool_that_changed_and_hangs_keeps_nobody_else_waiting() {
    let toolbox = Box1::default();
    let world = world(&toolbox).await;
    toolbox.puts(&[("box__a", "first"), ("box__b", "other")]);
    let session = world.session().await;
    world.model.will("", &[("box__a", json!({})), ("box__b", json!({}))]);
    world.say(session, "go").await;
    let paused = world.paused(session).await;
    let holds: Vec<_> = paused.open_holds().cloned().collect();
    toolbox.puts(&[("box__a", HANGS), ("box__b", "other")]);
    // Both answers count at once, the other call runs, and the run can be cancelled.
    for hold in &holds {
        world.answer(&world.ana, hold, approve()).await.unwrap();
    }
    let ran = |session: &domain::session::Session| {
        session.turn_calls().any(|(_, record)| record.state.is_settled())
    };
    let session_now = world.until(session, "the other one ran", ran).await;
    assert_eq!(*toolbox.did.lock().unwrap(), ["other"]);
    let run = session_now.run.as_ref().unwrap().id;
    world.engine.cancel_run(&world.ana, run, None).await.unwrap();
    world.over(session).await;
    assert_eq!(*toolbox.did.lock().unwrap(), ["other"]);
}

#[tokio::test]
async fn a_running_call_asks_those_who_may_be_asked_about_it() {
    let toolbox = Box1::default();
    let world = world(&toolbox).await;
    toolbox.puts(&[("box__ask", "asks")]);
    let session = world.session().await;
    world.model.will("", &[("box__ask", json!({}))]);
    world.say(session, "go").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let question = question(&world).await;
    assert_eq!(question.title, "Which colour?");
    assert_eq!(question.audience, hold.audience);
    assert!(question.audience.roles.contains("dba"), "not just anybody: {:?}", question.audience);
    assert_eq!(question.parent, Some(hold.id));
    world.answer(&world.ana, &question, Answer::Choose(vec!["green".into()])).await.unwrap();
    assert_eq!(results(&*world.over(session).await), ["green"]);
}

#[tokio::test]
async fn a_question_is_withdrawn_with_its_call() {
    let toolbox = Box1::default();
    let world = world(&toolbox).await;
    toolbox.puts(&[("box__ask", "asks")]);
    let session = world.session().await;
    world.model.will("", &[("box__ask", json!({}))]);
    world.say(session, "go").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let question = question(&world).await;
    let run = world.get(session).await.run.as_ref().unwrap().id;
    world.engine.cancel_run(&world.ana, run, None).await.unwrap();
    world.over(session).await;
    let ended = world.engine.wait(
        &world.ana,
        question.id,
        holdpoint_engine::Until::Decided,
        std::time::Duration::from_secs(20),
    );
    let ended = ended.await.unwrap().expect("it is withdrawn");
    assert!(matches!(ended.state, HoldState::Cancelled { .. }), "{:?}", ended.state);
}

/// The open hold that is no call's own.
async fn question(world: &World) -> Arc<domain::hold::Hold> {
    let looking = async {
        loop {
            let holds = world.holds().await;
            if let Some(found) = holds.iter().find(|hold| hold.session().is_none()) {
                return found.clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), looking).await.expect("a question")
}

#[tokio::test]
async fn i03_an_edit_does_not_stand_for_a_tool_that_changed_meanwhile() {
    let toolbox = Box1::default();
    let world = world(&toolbox).await;
    toolbox.puts(&[("box__a", "first")]);
    let session = world.session().await;
    world.model.will("", &[("box__a", json!({"n": 1}))]);
    world.say(session, "go").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    toolbox.puts(&[("box__a", "then")]);
    let edited = Arguments::from_value(json!({"n": 2})).unwrap();
    let answer = Answer::Approve {
        scope: domain::answer::ApprovalScope::Once,
        arguments: Some(edited),
        note: None,
    };
    let refused = world.answer(&world.ana, &hold, answer).await.unwrap_err().to_string();
    assert!(refused.contains("the tool has changed"), "{refused}");
    assert!(world.hold(hold.id).await.is_pending());
    assert!(toolbox.did.lock().unwrap().is_empty());
}
