//! The handle to a running Holdpoint.

use std::sync::Arc;
use std::time::Duration;

use domain::event::{Event, SessionEvent};
use domain::hold::Hold;
use domain::id::{HoldId, SessionId};
use domain::person::PersonId;
use domain::refusal::Refusal;
use engine::{Answering, Error, HoldFilter, NewSession, Reported, Until};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::acting::{Acting, Program, Who};
use super::answer::Answer;
use super::ask::Ask;
use super::builder::Builder;
use super::events::Events;
use super::limits::HOLDS_LISTED;
use super::session::Session;
use crate::assembly::RunningEngine;

/// A running Holdpoint. Cheap to clone; every clone is the same one.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> anyhow::Result<()> {
/// use std::sync::Arc;
///
/// use holdpoint::prelude::*;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Letter {
///     to: String,
/// }
///
/// let script = r#"
///     [[turn]]
///     when = { says = "Write to Bob." }
///     calls = [{ tool = "send", arguments = { to = "bob" } }]
///
///     [[turn]]
///     when = { result_of = "send" }
///     text = "{result}"
/// "#;
/// let send = Tool::from_fn("send", "Sends a letter.", |letter: Letter, _| async move {
///     Ok(format!("sent to {}", letter.to))
/// });
/// let holdpoint = Holdpoint::builder()
///     .person(Person::new("ana").admin())
///     .agent(Agent::new("clerk", Arc::new(ScriptedModel::parse(script)?)).tool(send))
///     .build()
///     .await?;
///
/// let ana = holdpoint.vouch("ana", "this is only an example")?;
/// let session = holdpoint.open(&ana, "clerk").await?;
/// let rest = session.ask("Write to Bob.").await?;
/// let [hold] = rest.holds() else { panic!("nothing was sent yet: {rest:?}") };
///
/// holdpoint.answer(&ana, hold, Answer::approve()).await?;
/// assert_eq!(session.wait().await?.text(), Some("sent to bob"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Holdpoint {
    pub(crate) running: RunningEngine,
    /// What its own server has besides the page and the API.
    #[cfg(feature = "server")]
    pub(super) doors: Arc<super::doors::Doors>,
}

impl Holdpoint {
    /// Begins a set-up.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The program's word that this is that person; `how` it knows is kept with every answer. Whoever
    /// calls this must have checked it. Refused if the set-up does not know the person.
    pub fn vouch(&self, person: &str, how: &str) -> Result<Acting, Error> {
        let person = PersonId::new(person);
        let caller = self.running.engine.caller_vouched(&person, how);
        let caller = caller.ok_or(Refusal::NotFound { what: "person" })?;
        Ok(Acting {
            caller,
            person,
            #[cfg(feature = "server")]
            how: how.to_owned(),
        })
    }

    /// A part of the program that opens sessions and asks, by a name that stays the same over restarts.
    pub async fn program(&self, name: &str) -> Result<Program, Error> {
        Ok(Program { caller: self.running.engine.caller_for_program(name).await? })
    }

    /// Opens a session with an agent.
    pub async fn open(&self, who: &impl Who, agent: &str) -> Result<Session, Error> {
        self.open_titled(who, agent, None, Value::Null).await
    }

    /// The same, with a title for people and a JSON object of the program's own.
    pub async fn open_titled(
        &self,
        who: &impl Who,
        agent: &str,
        title: Option<&str>,
        metadata: Value,
    ) -> Result<Session, Error> {
        let title = title.map(str::to_owned);
        let new = NewSession { agent: agent.to_owned(), title, metadata, home: None };
        let state = self.running.engine.open_session(who.caller(), new, None).await?;
        Ok(Session::new(self.running.engine.clone(), who.caller().clone(), state.id))
    }

    /// A session that was opened before, also by an earlier process.
    pub async fn session(&self, who: &impl Who, id: SessionId) -> Result<Session, Error> {
        let state = self.running.engine.session(who.caller(), id).await?;
        Ok(Session::new(self.running.engine.clone(), who.caller().clone(), state.id))
    }

    /// Every hold that this person may answer now, of all sessions, newest first.
    pub async fn pending(&self, acting: &Acting) -> Result<Vec<Arc<Hold>>, Error> {
        let filter = HoldFilter { mine: true, limit: HOLDS_LISTED, ..HoldFilter::default() };
        self.running.engine.holds(&acting.caller, filter).await
    }

    /// One hold, as it is now.
    pub async fn hold(&self, who: &impl Who, id: HoldId) -> Result<Arc<Hold>, Error> {
        self.running.engine.hold(who.caller(), id).await
    }

    /// Answers a hold as it was shown: if the call has changed since, nothing is done and
    /// [`Refusal::VersionConflict`] says so. The first valid answer wins. When this returns, it is on disk.
    pub async fn answer(
        &self,
        acting: &Acting,
        shown: &Hold,
        answer: Answer,
    ) -> Result<Arc<Hold>, Error> {
        let answering = Answering { digest: Some(shown.digest()), answer: answer.said()? };
        self.running.engine.answer(&acting.caller, shown.id, answering, None).await
    }

    /// Puts a question of the program's own to people, without an agent.
    pub async fn ask(&self, who: &impl Who, ask: Ask) -> Result<Arc<Hold>, Error> {
        self.running.engine.open_hold(who.caller(), ask.new_hold()?, None).await
    }

    /// Waits until a hold is decided; `None` when the time is up.
    pub async fn decided(
        &self,
        who: &impl Who,
        id: HoldId,
        within: Duration,
    ) -> Result<Option<Arc<Hold>>, Error> {
        self.running.engine.wait(who.caller(), id, Until::Decided, within).await
    }

    /// Says what became of a call that the program made itself after [`Holdpoint::ask`].
    pub async fn report(
        &self,
        who: &impl Who,
        id: HoldId,
        result: Result<String, String>,
    ) -> Result<Arc<Hold>, Error> {
        let reported = match result {
            Ok(result) => Reported { succeeded: true, result: Some(result) },
            Err(why) => Reported { succeeded: false, result: Some(why) },
        };
        self.running.engine.report_outcome(who.caller(), id, reported, None).await
    }

    /// Withdraws a hold.
    pub async fn cancel(
        &self,
        who: &impl Who,
        id: HoldId,
        reason: Option<&str>,
    ) -> Result<Arc<Hold>, Error> {
        let reason = reason.map(str::to_owned);
        self.running.engine.cancel_hold(who.caller(), id, reason, None).await
    }

    /// Everything that `who` may see, as it happens. `after` is a position among all events; `None` is
    /// from now on.
    pub async fn events(&self, who: &impl Who, after: Option<u64>) -> Result<Events, Error> {
        Ok(Events::new(self.running.engine.follow_all(who.caller(), after).await?))
    }

    /// The one switch: from here on no call starts, until somebody thaws. Admins only.
    pub async fn freeze(&self, acting: &Acting, reason: &str) -> Result<(), Error> {
        self.running.engine.freeze(&acting.caller, reason).await
    }

    /// Lets everything go on that waited; each call is looked at again first. Admins only.
    pub async fn thaw(&self, acting: &Acting) -> Result<(), Error> {
        self.running.engine.thaw(&acting.caller).await
    }

    /// Why nothing may start at present, if so.
    pub fn frozen(&self) -> Option<String> {
        self.running.engine.frozen().map(|freeze| freeze.reason)
    }

    /// Lets running calls end by themselves for a while, then closes the data. What is cut off is found
    /// again at the next start. A program that just ends loses nothing either.
    pub async fn close(&self, grace: Duration) {
        self.running.close(grace).await;
    }
}

/// What a person filled in, as a Rust type: for a hold that asked with [`Ask::form`] or [`crate::Tool::form`].
/// `None` if it is not answered like that.
pub fn filled<T: DeserializeOwned>(hold: &Hold) -> Option<Result<T, serde_json::Error>> {
    match &hold.state.decision()?.vote()?.answer {
        domain::answer::Answer::Fill(values) => Some(serde_json::from_value(values.clone())),
        _ => None,
    }
}

/// What a person chose, by label.
pub fn chosen(hold: &Hold) -> Option<Vec<String>> {
    let domain::answer::Answer::Choose(chosen) = &hold.state.decision()?.vote()?.answer else {
        return None;
    };
    let domain::hold::Question::Choose { options, .. } = &hold.question else { return None };
    let label = |wanted: &String| {
        let option = options.iter().find(|option| option.id == *wanted || option.label == *wanted);
        option.map_or_else(|| wanted.clone(), |option| option.label.clone())
    };
    Some(chosen.iter().map(label).collect())
}

/// Whether an event ends or pauses a run: what a program that follows events mostly waits for.
pub fn is_rest(event: &Event) -> bool {
    matches!(
        event,
        Event::Session(
            SessionEvent::RunPaused { .. }
                | SessionEvent::RunCompleted { .. }
                | SessionEvent::RunFailed { .. }
                | SessionEvent::RunCancelled { .. }
        )
    )
}
