//! What a model is told, row by row of `docs/agents.md`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdpoint::WhilePending;
use holdpoint::prelude::*;
use holdpoint::testing::TestClock;

use crate::world::{Till, one, people};

const SCRIPT: &str = r#"
    [[turn]]
    when = { says_regex = '^Refund (\d+)$' }
    calls = [{ tool = "refund", json = '{{"order": 7, "amount": {1}}}' }]

    [[turn]]
    when = { says = "Misspell." }
    calls = [{ tool = "refnd", arguments = {} }]

    [[turn]]
    when = { says = "Forget." }
    calls = [{ tool = "refund", arguments = { order = 7 } }]

    [[turn]]
    when = { result_regex = '(?s).*' }
    text = "{result}"
"#;

struct Play {
    till: Till,
    clock: Arc<TestClock>,
    holdpoint: Holdpoint,
    session: Session,
}

async fn play(change: impl FnOnce(Builder) -> Builder, while_pending: WhilePending) -> Play {
    let (till, clock) = (Till::default(), TestClock::new());
    let model = Arc::new(ScriptedModel::parse(SCRIPT).unwrap());
    let agent = Agent::new("shop", model).tool(till.tool()).while_pending(while_pending);
    let builder = people(Holdpoint::builder()).agent(agent).clock(clock.clone());
    let holdpoint = change(builder).build().await.unwrap();
    let ana = holdpoint.vouch("ana", "a test").unwrap();
    let session = holdpoint.open(&ana, "shop").await.unwrap();
    Play { till, clock, holdpoint, session }
}

impl Play {
    async fn asked(&self, say: &str) -> Rest {
        self.session.ask(say).await.unwrap()
    }

    async fn answered(&self, answer: Answer) -> Rest {
        let hold = one(&self.asked("Refund 5").await);
        let ana = self.holdpoint.vouch("ana", "a test").unwrap();
        self.holdpoint.answer(&ana, &hold, answer).await.unwrap();
        self.session.wait().await.unwrap()
    }
}

/// The words stand in the table, and the model was told them as an error.
#[track_caller]
fn told(rest: &Rest, words: &str) {
    assert_eq!(rest.text(), Some(words));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains(words), "docs/agents.md does not say: {words}");
}

#[tokio::test]
async fn what_people_say_reaches_the_model() {
    let plain = || play(|builder| builder, WhilePending::Queue);
    let denied = plain().await;
    told(&denied.answered(Answer::deny("not today")).await, "Denied by Ana: not today");
    assert_eq!(denied.till.paid(), []);

    let answered = plain().await.answered(Answer::respond("I paid it myself")).await;
    assert_eq!(answered.text(), Some("I paid it myself"));

    let edited = plain().await;
    let less = serde_json::json!({"order": 7, "amount": 4});
    let rest = edited.answered(Answer::approve_edited(&less)).await;
    assert!(rest.text().unwrap().contains("paid 4 for 7"), "{rest:?}");
    let state = edited.session.state().await.unwrap();
    assert!(format!("{:?}", state.transcript).contains(r#"\"amount\":5"#), "its own call stays");
    assert_eq!(edited.till.paid(), [(7, 4)]);

    let stopped = plain().await;
    let rest = stopped.answered(Answer::deny_and_stop("enough")).await;
    assert!(matches!(rest, Rest::Cancelled { .. }), "{rest:?}");
    let state = stopped.session.state().await.unwrap();
    assert!(format!("{:?}", state.transcript).contains("Denied by Ana: enough"));
}

#[tokio::test]
async fn what_rules_and_silence_say_reaches_the_model() {
    let rule = Rule::deny("never that much").when("/amount", Is::more_than(900));
    let ruled = play(|builder| builder.rule(rule), WhilePending::Queue).await;
    let words = "Denied by rule \"never that much\". The call was not run.";
    told(&ruled.asked("Refund 901").await, words);

    let strict = play(|builder| builder.otherwise(Then::Deny), WhilePending::Queue).await;
    let words = "Denied by the default policy. The call was not run.";
    told(&strict.asked("Refund 1").await, words);

    let late = play(|builder| builder, WhilePending::Queue).await;
    one(&late.asked("Refund 1").await);
    late.clock.advance(Duration::from_secs(24 * 60 * 60));
    let rest = late.session.wait().await.unwrap();
    told(&rest, "Expired: nobody decided in time. The call was not run.");

    let withdrawn = play(|builder| builder, WhilePending::Queue).await;
    let hold = one(&withdrawn.asked("Refund 1").await);
    let ana = withdrawn.holdpoint.vouch("ana", "a test").unwrap();
    let reason = Some("no longer needed");
    withdrawn.holdpoint.cancel(&ana, hold.id, reason).await.unwrap();
    let rest = withdrawn.session.wait().await.unwrap();
    told(&rest, "Cancelled: no longer needed. The call was not run.");
}

#[tokio::test]
async fn what_cannot_be_a_call_is_told_at_once() {
    let play = play(|builder| builder, WhilePending::Queue).await;
    told(&play.asked("Misspell.").await, "There is no tool `refnd`. The tools are: refund.");
    let words = "The call was not run. The arguments do not fit the tool's schema: \
                 \"amount\" is a required property";
    told(&play.asked("Forget.").await, words);
    told(&play.asked("Refund 0").await, "The call was not run. pay at least one cent");
}

#[tokio::test]
async fn a_message_meanwhile_does_what_the_agent_says() {
    let superseding = play(|builder| builder, WhilePending::Supersede).await;
    let first = one(&superseding.asked("Refund 1").await);
    let second = one(&superseding.asked("Refund 2").await);
    assert_ne!(first.id, second.id);
    let state = superseding.session.state().await.unwrap();
    let words = "Superseded: a new message arrived before anybody decided. The call was not run.";
    assert!(format!("{:?}", state.transcript).contains(words));

    let refusing = play(|builder| builder, WhilePending::Refuse).await;
    let hold = one(&refusing.asked("Refund 1").await);
    let refused = refusing.session.say("Refund 2").await.unwrap_err();
    let Error::Refused(Refusal::HoldsOpen { holds }) = refused else { panic!("{refused}") };
    assert_eq!(holds, [hold.id]);

    let queueing = play(|builder| builder, WhilePending::Queue).await;
    let hold = one(&queueing.asked("Refund 1").await);
    assert_eq!(one(&queueing.asked("Refund 2").await).id, hold.id, "it waits its turn");
}

#[tokio::test]
async fn turns_that_are_used_up_ask_whether_to_go_on() {
    let script = r#"
        [[turn]]
        when = { says = "Go." }
        calls = [{ tool = "refund", arguments = { order = 1, amount = 1 } }]

        [[turn]]
        when = { result_of = "refund" }
        calls = [{ tool = "refund", arguments = { order = 2, amount = 2 } }]
    "#;
    let till = Till::default();
    let model = Arc::new(ScriptedModel::parse(script).unwrap());
    let holdpoint = people(Holdpoint::builder())
        .agent(Agent::new("shop", model).tool(till.tool()).turns(3))
        .otherwise(Then::Allow)
        .build()
        .await
        .unwrap();
    let ana = holdpoint.vouch("ana", "a test").unwrap();
    let session = holdpoint.open(&ana, "shop").await.unwrap();
    let rest = session.ask("Go.").await.unwrap();
    let Rest::Paused { holds } = rest else { panic!("{rest:?}") };
    let [hold] = &holds[..] else { panic!("{holds:?}") };
    assert!(hold.call().is_none(), "it is about the run, and not about a call");
    assert_eq!(till.paid(), [(1, 1), (2, 2), (2, 2)], "every call of the last turn has its result");
}
