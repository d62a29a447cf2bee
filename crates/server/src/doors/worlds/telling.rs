//! What happens in a run, told on this wire. Prompts of the first generation come one at a time, since
//! its clients show one dialog; the next comes when the former is settled. Those of the second come as
//! they are opened.
//!
//! Clients of the first generation take the end of the body for the end of the turn: a pause ends it.
//! Those of the second follow one stream until the run is over, no matter who answers meanwhile and where.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::response::Response;
use domain::digest::Digest;
use domain::hold::{Hold, HoldState};
use domain::id::HoldId;
use domain::message::Origin;
use domain::session::{CallRecord, CallState, Session};
use domain::tool::Place as Where;
use engine::{Caller, Error};

use super::DOOR;
use super::event::{self, Activity, EventSource, Speaking, ToolProgress, WorldMessage};
use super::fault::WorldsResult;
use super::limits::{IDLE_GRACE, WAIT_MAX};
use super::memory;
use super::name::call_id;
use super::prompt::{self, WorldPrompt};
use super::wire::{LastTold, PromptMetadata, WorldsEvent};
use super::world_request::WorldRequest;
use crate::app::App;
use crate::doors::flow::{End, FlowStep, RunFollower, Settled, SpeechKind};
use crate::doors::{shown, stream};
use crate::streams::StreamPermit;

const STYLE: stream::Style =
    stream::Style { heartbeat: stream::Heartbeat(b": still here\n\n"), headers: &[] };

/// Which clients a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    First,
    /// Names its chat in everything that it sends.
    Second,
}

/// A stream that may be opened. It is taken before anything is said or answered: a caller who hears "too many" has
/// said nothing, and may say it again.
pub(super) struct ReservedStream {
    generation: Generation,
    permit: StreamPermit,
}

impl ReservedStream {
    pub(super) fn take(
        here: &WorldRequest,
        generation: Generation,
    ) -> WorldsResult<ReservedStream> {
        let permit = here.app().streams.take(here.caller().stable_name())?;
        Ok(ReservedStream { generation, permit })
    }

    pub(super) fn take_if(
        wanted: bool,
        here: &WorldRequest,
        generation: Generation,
    ) -> WorldsResult<Option<ReservedStream>> {
        wanted.then(|| ReservedStream::take(here, generation)).transpose()
    }
}

pub(super) struct WorldTeller {
    generation: Generation,
    app: App,
    caller: Caller,
    source: EventSource,
    /// The message that is being written, and its text so far.
    speech: Option<(String, String)>,
    /// What the person said last: answers reply to it.
    said: Option<String>,
    /// Holds that this stream has come to. The session may be ahead of it: what is newer waits its turn,
    /// behind the results that came before it.
    reached: BTreeSet<HoldId>,
    /// The one prompt of the first generation that is out.
    dialog: Option<(HoldId, Digest)>,
    /// Prompts of the second generation that are out.
    asked: BTreeMap<HoldId, Digest>,
    /// Approved calls that have not begun: others of their turn are not decided yet.
    waiting: Vec<Arc<Hold>>,
    /// The last message, or the prompt at which everything waits.
    last: Option<LastTold>,
    activity: u64,
}

impl WorldTeller {
    /// `session` is how things stood before.
    fn new(
        here: &WorldRequest,
        session: &Session,
        source: EventSource,
        generation: Generation,
    ) -> WorldTeller {
        let cleared = |record: &CallRecord| matches!(record.state, CallState::Cleared { .. });
        let cleared = session.turn_calls().filter(|(_, record)| cleared(record));
        let waiting = cleared.filter_map(|(call, _)| session.hold_of(call)).cloned().collect();
        WorldTeller {
            generation,
            app: here.app().clone(),
            caller: here.caller().clone(),
            source,
            speech: None,
            said: None,
            reached: session.open_holds().map(|hold| hold.id).collect(),
            dialog: None,
            asked: BTreeMap::new(),
            waiting,
            last: None,
            activity: 1,
        }
    }

    fn world(&self, activity: Activity) -> WorldsEvent {
        event::world(activity, &self.source, self.activity, self.app.engine.now())
    }

    async fn tell(
        &mut self,
        step: FlowStep,
        flow: &RunFollower,
    ) -> Result<Vec<WorldsEvent>, Error> {
        let mut events = Vec::new();
        match step {
            FlowStep::Said { message } if message.origin == Origin::Own => {
                let said = memory::spoken_message(&message);
                self.said = Some(said.id.clone());
                events.push(event::message(&said, &self.source));
            }
            FlowStep::Open { id, kind: SpeechKind::Text } => events.extend(self.begin(&id)),
            FlowStep::Delta { id, kind: SpeechKind::Text, text } => {
                events.extend(self.begin(&id));
                if let Some((message, so_far)) = &mut self.speech {
                    so_far.push_str(&text);
                    let chunk = Speaking::Chunk { piece: &text, so_far };
                    events.push(event::speaking(&chunk, message, &self.source));
                }
            }
            FlowStep::Withdrawn { message } => {
                self.speech = None;
                let message = message.to_string();
                events.push(event::speaking(&Speaking::Discard, &message, &self.source));
            }
            FlowStep::Thought { message } => {
                if self.speech.take().is_some() {
                    let (id, whole) = (message.id.to_string(), message.text());
                    let end = Speaking::End { whole: &whole };
                    events.push(event::speaking(&end, &id, &self.source));
                }
                let session = flow.fresh().await?;
                let thought = memory::thought(&message, &session, &self.source, &self.app);
                let thought = WorldMessage { reply_to: self.said.clone(), ..thought };
                self.last = Some(LastTold::Message(Box::new(thought.data(&self.source))));
                events.push(event::message(&thought, &self.source));
            }
            FlowStep::Called(called) if called.held.is_none() => {
                let start = ToolProgress::Start { input: &called.input };
                events.push(event::tool(&start, &called.tool, &called.tool_use_id, &self.source));
            }
            FlowStep::Settled(settled) => {
                events.extend(self.started(&*flow.fresh().await?));
                events.push(self.settled(&settled));
            }
            FlowStep::Resumed => events.extend(self.started(&*flow.fresh().await?)),
            FlowStep::HoldOpened(hold) | FlowStep::HoldChanged(hold) => {
                self.reached.insert(hold.id);
                events.extend(self.prompts(&*flow.fresh().await?).await?);
            }
            FlowStep::HoldDecided(hold) => {
                let session = flow.fresh().await?;
                self.waiting.push(hold);
                events.extend(self.started(&session));
                events.extend(self.prompts(&session).await?);
            }
            FlowStep::Rests => {
                let session = flow.fresh().await?;
                // An answer may have come meanwhile, and the run may go on already.
                let prompts = match flow.has_reached(&session) {
                    true => self.all_prompts(&session).await?,
                    false => self.prompts(&session).await?,
                };
                events.extend(prompts);
            }
            FlowStep::End(End::Closed) => {}
            FlowStep::End(end) => {
                if let End::Failed(why) = &end {
                    if let Some((message, _)) = self.speech.take() {
                        let failed = Speaking::Error { why };
                        events.push(event::speaking(&failed, &message, &self.source));
                    }
                    events.push(event::error_event(why));
                }
                // Also what was open before this stream began.
                events.extend(self.all_prompts(&*flow.fresh().await?).await?);
                events.push(self.world(Activity::Ended));
                events.push(self.world(Activity::Idle));
            }
            _ => {}
        }
        Ok(events)
    }

    /// One start for each message, however many blocks it has.
    fn begin(&mut self, block: &str) -> Option<WorldsEvent> {
        let message = block.rsplit_once('-').map_or(block, |(message, _)| message);
        if self.speech.as_ref().is_some_and(|(open, _)| open == message) {
            return None;
        }
        self.speech = Some((message.to_owned(), String::new()));
        Some(event::speaking(&Speaking::Start, message, &self.source))
    }

    /// Approved calls that have really begun by now.
    fn started(&mut self, session: &Session) -> Vec<WorldsEvent> {
        let mut events = Vec::new();
        self.waiting.retain(|hold| {
            let call = hold.call().filter(|call| call.place == Where::Server);
            let (Some(call), HoldState::Approved(_)) = (call, &hold.state) else { return false };
            let begun = session.calls.get(&call.id).is_some_and(|record| record.attempts > 0);
            if begun {
                let input = prompt::arguments(hold);
                let start = ToolProgress::Start { input: &input };
                events.push(event::tool(&start, &call.tool, &call.tool_use_id, &self.source));
            }
            !begun
        });
        events
    }

    fn settled(&self, settled: &Settled) -> WorldsEvent {
        let (text, took_ms) = (settled.result.content.as_str(), settled.took_ms);
        let tool = match settled.result.is_error {
            true => ToolProgress::Error { text },
            false => ToolProgress::Result { text, took_ms },
        };
        event::tool(&tool, &settled.tool, &settled.tool_use_id, &self.source)
    }

    async fn all_prompts(&mut self, session: &Session) -> Result<Vec<WorldsEvent>, Error> {
        self.reached.extend(session.open_holds().map(|hold| hold.id));
        self.prompts(session).await
    }

    /// Whatever this stream has reached, waits for this person and is not out yet, as it is now.
    async fn prompts(&mut self, session: &Session) -> Result<Vec<WorldsEvent>, Error> {
        let open = |id: &HoldId| session.holds.get(id).filter(|hold| hold.is_pending());
        self.asked.retain(|id, _| open(id).is_some());
        let is_out =
            |(id, digest): (HoldId, Digest)| open(&id).is_some_and(|hold| hold.digest() == digest);
        let mut dialog = self.dialog.is_some_and(is_out);
        let mut events = Vec::new();
        for hold in session.open_holds() {
            if !self.reached.contains(&hold.id) {
                continue;
            }
            let asked = self.asked.insert(hold.id, hold.digest());
            let new = asked != Some(hold.digest());
            let link = format!("{}/holds/{}", self.app.origin, hold.id);
            if !self.may_answer(hold) {
                let text = format!("{} waits for somebody else: {link}", hold.title);
                events.extend(new.then(|| self.log(&text)));
                continue;
            }
            let Some(prompt) = WorldPrompt::of(hold) else {
                let text = format!("{} is answered on its page: {link}", hold.title);
                events.extend(new.then(|| self.log(&text)));
                continue;
            };
            let message = prompt::message(hold, &link);
            if new || (message.is_some() && !dialog) {
                record(&self.app, &self.caller, hold).await?;
            }
            if let (Some(message), false) = (&message, dialog) {
                let message = WorldMessage { sender: self.source.agent.clone(), ..message.clone() };
                self.last = Some(LastTold::Message(Box::new(message.data(&self.source))));
                if self.generation == Generation::First {
                    events.extend(self.dialog_events(&message));
                }
                self.dialog = Some((hold.id, hold.digest()));
                // mutant: worlds-dialogs-at-once
                dialog = true;
            }
            if new {
                let prompt = prompt.shown(hold, &self.source);
                if message.is_none() {
                    let told = Box::new(PromptMetadata { hitl_prompt: prompt.clone() });
                    self.last = Some(LastTold::Prompt(told));
                }
                let tool = hold.call().map_or("continue", |call| &*call.tool);
                let progress = ToolProgress::Prompt { prompt: &prompt };
                events.push(event::tool(&progress, tool, &call_id(hold), &self.source));
            }
        }
        Ok(events)
    }

    /// The page shows a dialog for a call in a chunk; of a call in a message alone it loses sight. The
    /// second generation would show either as a tool that never ends.
    fn dialog_events(&self, message: &WorldMessage) -> Vec<WorldsEvent> {
        let speaking = |it: &Speaking<'_>| event::speaking(it, &message.id, &self.source);
        vec![
            speaking(&Speaking::Start),
            speaking(&Speaking::Calls { calls: &message.tool_calls }),
            speaking(&Speaking::End { whole: "" }),
            event::message(message, &self.source),
        ]
    }

    fn may_answer(&self, hold: &Hold) -> bool {
        self.caller.person().is_some_and(|person| {
            hold.admits(person.id(), self.app.engine.people())
                && hold.votes.iter().all(|vote| vote.by != *person.id())
        })
    }

    fn log(&self, text: &str) -> WorldsEvent {
        event::log(text, &self.source, self.app.engine.now())
    }
}

async fn record(app: &App, caller: &Caller, hold: &Hold) -> Result<(), Error> {
    // A prompt that could not be recorded must not go out: its answer would not count.
    shown::record(app, caller, DOOR, hold)
        .await
        .map_err(|_| Error::Unavailable("what was shown could not be recorded".into()))
}

/// The reply that tells all of it, after `first`, and ends a moment after everything rests.
pub(super) fn streamed(
    here: &WorldRequest,
    reserved: ReservedStream,
    flow: RunFollower,
    session: &Session,
    source: EventSource,
    first: Vec<WorldsEvent>,
) -> Response {
    let ReservedStream { generation, permit } = reserved;
    let mut teller = WorldTeller::new(here, session, source, generation);
    let write = |out: stream::Out| async move {
        let mut flow = flow;
        if generation == Generation::Second {
            flow.goes_over_pauses();
        }
        let begun = teller.world(Activity::Begun);
        for event in first.into_iter().chain([begun]) {
            if out.send(event::frame(&event)).await.is_err() {
                return;
            }
        }
        loop {
            let told = match flow.next().await {
                Ok(Some(step)) => teller.tell(step, &flow).await,
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let (events, is_last) = sent(told);
            for event in events {
                if out.send(event::frame(&event)).await.is_err() {
                    return;
                }
            }
            if is_last {
                break;
            }
        }
        tokio::time::sleep(IDLE_GRACE).await;
    };
    stream::reply(here.app(), &here.who, permit, &STYLE, || (), write)
}

/// What to send, and whether nothing comes after it: what failed once is not tried again and again.
fn sent(told: Result<Vec<WorldsEvent>, Error>) -> (Vec<WorldsEvent>, bool) {
    match told {
        Ok(events) => (events, false),
        Err(error) => {
            tracing::debug!(%error, "a stream ends");
            (vec![event::error_event("this cannot be told at present; read again")], true)
        }
    }
}

/// The last message, or the prompt at which everything waits, as soon as the run rests; and whether it
/// does.
pub(super) async fn awaited(
    here: &WorldRequest,
    mut flow: RunFollower,
    session: &Session,
    source: EventSource,
) -> WorldsResult<(Option<LastTold>, bool)> {
    let mut teller = WorldTeller::new(here, session, source, Generation::First);
    let resting = async {
        while let Some(step) = flow.next().await? {
            teller.tell(step, &flow).await?;
        }
        Ok::<(), Error>(())
    };
    let rests = match tokio::time::timeout(WAIT_MAX, resting).await {
        Ok(told) => {
            told?;
            true
        }
        Err(_) => false,
    };
    Ok((teller.last, rests))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_fails_says_so_once_and_ends() {
        let (events, is_last) = sent(Err(Error::Unavailable("the disk is full".into())));
        assert!(is_last);
        let [only] = events.as_slice() else { panic!("{events:?}") };
        let text = String::from_utf8_lossy(&event::frame(only)).into_owned();
        assert!(!text.contains("disk"), "{text}");
        assert!(!sent(Ok(Vec::new())).1);
    }
}
