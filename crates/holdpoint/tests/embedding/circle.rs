//! From a message to an approved call and its result.

use std::sync::Arc;
use std::time::Duration;

use holdpoint::model::{CancellationToken, DeltaSink, Model, ModelError, ModelRequest, ModelTurn};
use holdpoint::prelude::*;
use holdpoint::{Part, async_trait, card, filled, is_rest};
use serde_json::json;

use crate::world::{GRACE, Refund, Till, one, people, script, shop};

#[tokio::test]
async fn a_session_outlives_the_process_and_each_call_runs_once() {
    let (till, data) = (Till::default(), tempfile::tempdir().unwrap());
    let holdpoint = shop(&till).data(data.path()).build().await.unwrap();
    let joe = holdpoint.vouch("joe", "a test").unwrap();
    let session = holdpoint.open(&joe, "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 1250").await.unwrap());
    assert_eq!(hold.title, "Refund order 7");
    assert!(
        card(&hold).contains("preview (tool):\n│ Order 7 was paid by card\n"),
        "{}",
        card(&hold)
    );
    assert_eq!(till.paid(), []);
    let id = session.id();
    holdpoint.close(GRACE).await;
    assert!(session.say("Are you there?").await.is_err(), "nothing is taken once it is closed");
    drop((holdpoint, session));

    let holdpoint = shop(&till).data(data.path()).build().await.unwrap();
    let (joe, bob) =
        (holdpoint.vouch("joe", "a test").unwrap(), holdpoint.vouch("bob", "sso").unwrap());
    let session = holdpoint.session(&joe, id).await.unwrap();
    let pending = holdpoint.pending(&bob).await.unwrap();
    assert_eq!(pending.iter().map(|hold| hold.id).collect::<Vec<_>>(), [hold.id]);
    assert!(holdpoint.pending(&joe).await.unwrap().is_empty());
    holdpoint.answer(&bob, &hold, Answer::approve()).await.unwrap();
    assert_eq!(session.wait().await.unwrap().text(), Some("paid 1250 for 7"));
    // The same answer again changes nothing.
    holdpoint.answer(&bob, &hold, Answer::approve()).await.unwrap();
    assert_eq!(till.paid(), [(7, 1250)]);
    holdpoint.close(GRACE).await;
}

#[tokio::test]
async fn three_calls_decided_in_reverse_by_two_people_one_edited_one_denied() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let (joe, bob, eva) = (vouch("joe"), vouch("bob"), vouch("eva"));
    let session = holdpoint.open(&joe, "shop").await.unwrap();
    let rest = session.ask("Refund two.").await.unwrap();
    let [first, second, third] = rest.holds() else { panic!("{rest:?}") };
    holdpoint.answer(&eva, third, Answer::deny("not that one")).await.unwrap();
    let less = Refund { order: 2, amount: 150, pin: None };
    holdpoint.answer(&bob, second, Answer::approve_edited(&less)).await.unwrap();
    assert_eq!(till.paid(), [], "nothing runs before all are decided");
    let Rest::Paused { holds } = session.wait().await.unwrap() else { panic!() };
    assert_eq!(holds.len(), 1);
    holdpoint.answer(&bob, first, Answer::approve()).await.unwrap();
    let rest = session.wait().await.unwrap();
    let mut paid = till.paid();
    paid.sort_unstable();
    assert_eq!(paid, [(1, 100), (2, 150)]);
    let text = rest.text().unwrap();
    assert!(
        text.contains("Denied by Eva: not that one") && text.contains("paid 150 for 2"),
        "{text}"
    );
}

#[tokio::test]
async fn what_can_never_work_is_told_to_the_model_and_asks_nobody() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let session = holdpoint.open(&holdpoint.vouch("joe", "a test").unwrap(), "shop").await.unwrap();
    let rest = session.ask("Refund 7: 0").await.unwrap();
    assert_eq!(rest.text(), Some("The call was not run. pay at least one cent"));
}

#[tokio::test]
async fn i45_a_secret_reaches_the_tool_and_not_the_card() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund with the pin.").await.unwrap());
    assert!(
        card(&hold).contains("[secret]") && !card(&hold).contains("hunter2"),
        "{}",
        card(&hold)
    );
    holdpoint.answer(&vouch("bob"), &hold, Answer::approve()).await.unwrap();
    session.wait().await.unwrap();
    assert_eq!(till.pins(), [Some("hunter2".to_owned())]);
}

#[tokio::test]
async fn followers_miss_nothing_and_see_nothing_twice() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let mut live = session.events().await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    let mut seen = Vec::new();
    while let Some(followed) = live.next().await {
        let Followed::Event(happening) = followed.unwrap() else { continue };
        seen.push((happening.position, happening.event().name()));
        if is_rest(happening.event()) {
            break;
        }
    }
    holdpoint.answer(&vouch("bob"), &hold, Answer::approve()).await.unwrap();
    session.wait().await.unwrap();
    let version = session.state().await.unwrap().version;
    let mut later = session.events_after(seen.last().unwrap().0).await.unwrap();
    while seen.last().unwrap().0 < version {
        let Followed::Event(happening) = later.next().await.unwrap().unwrap() else { continue };
        seen.push((happening.position, happening.event().name()));
    }
    let positions: Vec<u64> = seen.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, (2..=version).collect::<Vec<_>>());
    let names: Vec<&str> = seen.iter().map(|(_, name)| *name).collect();
    assert_eq!(names.iter().filter(|name| **name == "call.started").count(), 1);
    assert_eq!(names.last(), Some(&"run.completed"));
    holdpoint.close(GRACE).await;
    while later.next().await.is_some() {}
}

#[tokio::test]
async fn a_failed_run_goes_on_when_it_is_retried() {
    let holdpoint = shop(&Till::default()).build().await.unwrap();
    let joe = holdpoint.vouch("joe", "a test").unwrap();
    let session = holdpoint.open(&joe, "shop").await.unwrap();
    assert!(matches!(session.wait().await.unwrap(), Rest::Idle));
    let Rest::Failed { error } = session.ask("Fail once.").await.unwrap() else { panic!() };
    assert!(error.contains("retry the run"), "{error}");
    session.retry().await.unwrap();
    assert_eq!(session.wait().await.unwrap().text(), Some("Now it works."));
}

/// Fails when it is let, and once only.
struct Slow {
    asked: tokio::sync::mpsc::Sender<()>,
    go: tokio::sync::Mutex<tokio::sync::mpsc::Receiver<bool>>,
}

#[async_trait]
impl Model for Slow {
    async fn think(
        &self,
        _: &ModelRequest<'_>,
        _: DeltaSink,
        _: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let _ = self.asked.send(()).await;
        match self.go.lock().await.recv().await {
            Some(true) => {
                let parts = vec![Part::Text("fine".into())];
                Ok(ModelTurn { parts, ..ModelTurn::default() })
            }
            _ => Err(ModelError::Unavailable("it is night".into())),
        }
    }
}

#[tokio::test]
async fn what_was_said_behind_a_failed_run_does_not_hide_the_failure() {
    let ((asked, mut was_asked), (go, may_go)) =
        (tokio::sync::mpsc::channel(1), tokio::sync::mpsc::channel(2));
    let model = Arc::new(Slow { asked, go: tokio::sync::Mutex::new(may_go) });
    let holdpoint =
        people(Holdpoint::builder()).agent(Agent::new("slow", model)).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "slow").await.unwrap();
    session.say("one").await.unwrap();
    was_asked.recv().await.unwrap();
    session.say("two").await.unwrap();
    go.send(false).await.unwrap();
    assert!(matches!(session.wait().await.unwrap(), Rest::Failed { .. }));
    session.retry().await.unwrap();
    was_asked.recv().await.unwrap();
    holdpoint.freeze(&vouch("ana"), "lunch").await.unwrap();
    go.send(true).await.unwrap();
    let Rest::Blocked { why } = session.wait().await.unwrap() else { panic!("`two` waits") };
    assert_eq!(why, "everything is frozen: lunch");
    go.send(true).await.unwrap();
    holdpoint.thaw(&vouch("ana")).await.unwrap();
    let rest = session.wait().await.unwrap();
    assert_eq!(rest.text(), Some("fine"));
    assert_eq!(session.state().await.unwrap().transcript.len(), 4);
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[tokio::test]
async fn a_cancelled_run_stops_the_tool_that_heeds_it() {
    let (started, mut has_started) = tokio::sync::mpsc::channel(1);
    let wait = Tool::from_fn("wait", "Waits.", move |_: Empty, context| {
        let started = started.clone();
        async move {
            started.send(()).await?;
            context.stop().cancelled().await;
            Ok("stopped half way")
        }
    });
    let holdpoint = people(Holdpoint::builder())
        .agent(Agent::new("shop", script()).tool(wait))
        .otherwise(Then::Allow)
        .build()
        .await
        .unwrap();
    let joe = holdpoint.vouch("joe", "a test").unwrap();
    let session = holdpoint.open(&joe, "shop").await.unwrap();
    session.say("Wait.").await.unwrap();
    has_started.recv().await.unwrap();
    session.cancel(Some("never mind")).await.unwrap();
    let rest = session.wait().await.unwrap();
    assert!(
        matches!(&rest, Rest::Cancelled { reason } if reason.as_deref() == Some("never mind")),
        "{rest:?}"
    );
    let state = session.state().await.unwrap();
    let results = format!("{:?}", state.transcript.last().unwrap());
    assert!(results.contains("stopped half way"), "{results}");
}

#[tokio::test]
async fn frozen_means_that_nothing_starts_until_the_thaw() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    let refused = holdpoint.freeze(&vouch("bob"), "no").await.unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::NotEntitled { .. })), "{refused}");
    holdpoint.freeze(&vouch("ana"), "stocktaking").await.unwrap();
    assert_eq!(holdpoint.frozen().as_deref(), Some("stocktaking"));
    holdpoint.answer(&vouch("bob"), &hold, Answer::approve()).await.unwrap();
    let Rest::Blocked { why } = session.wait().await.unwrap() else { panic!() };
    assert_eq!((why.as_str(), till.paid().len()), ("everything is frozen: stocktaking", 0));
    holdpoint.thaw(&vouch("ana")).await.unwrap();
    assert_eq!(session.wait().await.unwrap().text(), Some("paid 5 for 7"));
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Address {
    /// Street and number.
    street: String,
    zip: u32,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Location {
    accuracy: String,
}

#[tokio::test]
async fn forms_and_client_tools_are_answered_by_type() {
    let holdpoint = people(Holdpoint::builder())
        .agent(
            Agent::new("shop", script())
                .tool(Tool::form::<Address>("ask_address", "Asks where.", "Where to?"))
                .tool(Tool::client::<Location>("location", "Where they are.").read_only()),
        )
        .build()
        .await
        .unwrap();
    let joe = holdpoint.vouch("joe", "a test").unwrap();
    let session = holdpoint.open(&joe, "shop").await.unwrap();
    let hold = one(&session.ask("Where to?").await.unwrap());
    assert_eq!(hold.title, "Where to?");
    let wrong = holdpoint.answer(&joe, &hold, Answer::fill(&json!({"street": "X 1"}))).await;
    assert!(wrong.unwrap_err().to_string().contains("zip"));
    let there = Address { street: "Main 1".into(), zip: 8000 };
    let hold = holdpoint.answer(&joe, &hold, Answer::fill(&there)).await.unwrap();
    assert_eq!(filled::<Address>(&hold).unwrap().unwrap(), there);
    let rest = session.wait().await.unwrap();
    assert_eq!(rest.text(), Some(r#"{"street":"Main 1","zip":8000}"#));

    let hold = one(&session.ask("Where am I?").await.unwrap());
    assert!(matches!(hold.question, Question::Perform { .. }));
    holdpoint.answer(&joe, &hold, Answer::perform("in Zürich")).await.unwrap();
    assert_eq!(session.wait().await.unwrap().text(), Some("in Zürich"));
}

#[tokio::test]
async fn a_program_asks_by_itself_and_means_the_same_one_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let build = || async { shop(&Till::default()).data(data.path()).build().await.unwrap() };
    let holdpoint = build().await;
    let job = holdpoint.program("nightly").await.unwrap();
    let ask = Ask::choose("Which strategy?", ["Blue-Green", "Canary"]).role("finance");
    let hold = holdpoint.ask(&job, ask).await.unwrap();
    let soon = Duration::from_millis(1);
    assert!(holdpoint.decided(&job, hold.id, soon).await.unwrap().is_none());
    holdpoint.close(GRACE).await;
    drop(holdpoint);

    let holdpoint = build().await;
    let job = holdpoint.program("nightly").await.unwrap();
    let other = holdpoint.program("hourly").await.unwrap();
    assert!(holdpoint.hold(&other, hold.id).await.is_err(), "another program's hold");
    let bob = holdpoint.vouch("bob", "a test").unwrap();
    holdpoint.answer(&bob, &hold, Answer::choose(["2"])).await.unwrap();
    let decided = holdpoint.decided(&job, hold.id, GRACE).await.unwrap().unwrap();
    assert_eq!(holdpoint::chosen(&decided), Some(vec!["Canary".to_owned()]));

    let call = Ask::approve("Pay").about("refund", &json!({"order": 1, "amount": 2}));
    let hold = holdpoint.ask(&job, call).await.unwrap();
    holdpoint.answer(&bob, &hold, Answer::approve()).await.unwrap();
    let settled = holdpoint.report(&job, hold.id, Ok("paid".into())).await.unwrap();
    assert!(settled.is_finished());
    holdpoint.close(GRACE).await;
}

#[tokio::test]
async fn two_agents_share_one_tool_and_the_handle_is_one() {
    let till = Till::default();
    let tool: Tool = till.tool().into();
    let holdpoint = people(Holdpoint::builder())
        .agent(Agent::new("day", script()).tool(tool.clone()))
        .agent(Agent::new("night", script()).tool(tool))
        .agent(Agent::new("weekend", script()).uses("refund"))
        .rule(Rule::deny("not at night").agent("night"))
        .otherwise(Then::Allow)
        .build()
        .await
        .unwrap();
    let joe = Arc::new(holdpoint.vouch("joe", "a test").unwrap());
    for (agent, text) in [
        ("day", "paid 5 for 7"),
        ("night", "Denied by rule \"not at night\". The call was not run."),
        ("weekend", "paid 5 for 7"),
    ] {
        let session = holdpoint.clone().open(&*joe, agent).await.unwrap();
        assert_eq!(session.ask("Refund 7: 5").await.unwrap().text(), Some(text), "{agent}");
    }
    assert_eq!(till.paid().len(), 2);
    let nobody = holdpoint.open(&*joe, "dya").await.err().unwrap().to_string();
    assert_eq!(nobody, "there is no agent `dya`; the agents are: day, night, weekend");
}
