//! Follows what happens, and sees to it that every chat shows it. What follows from an event is planned, and
//! written in one transaction with the place in the log: it is planned once, also if this process ends.

use std::sync::Arc;

use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::{Hold, HoldChange, HoldOutcome, HoldStateName};
use domain::id::{HoldId, StreamId};
use domain::message::{Message, Role};
use engine::{Error, Followed, Happening, HoldFilter};
use ports::channel::{Step, StepKind};
use ports::store::OutboxWrite;

use crate::limits::{NOTE_EVERY, PAGE, STORE_RETRY, UPDATE_ATTEMPTS};
use crate::prompt_targets::place_of;
use crate::saying::{TextRecord, said_key};
use crate::send::kind_of;
use crate::words::ChatWords;
use crate::{ChatService, notes};

const SHELF: &str = "chats";
const CURSOR: &str = "cursor";

/// What is to be written because something happened.
#[derive(Default)]
pub(crate) struct Planned {
    pub(crate) write: OutboxWrite,
    pub(crate) concerns_a_chat: bool,
}

impl ChatService {
    /// From where an earlier process had come, so that nothing that happened in between is missed.
    pub(crate) async fn follow(self) {
        let caller = self.0.engine.onlooker();
        for runtime in self.0.channels.values() {
            if !self.upgraded(runtime).await {
                return;
            }
        }
        let mut position = loop {
            match self.begin().await {
                Ok(position) => break position,
                Err(error) => tracing::warn!(%error, "the chats wait for the store"),
            }
            if self.sleep_or_stop().await {
                return;
            }
        };
        loop {
            let followed = match self.0.engine.follow_all(&caller, Some(position)).await {
                Ok(mut follow) => self.follow_from(&mut follow, &mut position).await,
                Err(error) => Err(error),
            };
            match followed {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, "the chats wait for the store"),
            }
            if self.sleep_or_stop().await {
                return;
            }
        }
    }

    async fn follow_from(
        &self,
        follow: &mut engine::Follow,
        position: &mut u64,
    ) -> Result<(), Error> {
        let mut noted = *position;
        loop {
            let next = tokio::select! {
                biased;
                () = self.0.closing.cancelled() => return Ok(()),
                next = follow.next() => next?,
            };
            match next {
                Some(Followed::Event(happening)) => {
                    // What concerns nobody here need not be written down each time: it is passed over again.
                    if self.write_event_plan(&happening).await? {
                        noted = happening.position;
                    }
                    *position = happening.position;
                }
                Some(Followed::Reset { position: last }) => {
                    *position = last;
                    self.note(last).await?;
                    noted = last;
                }
                Some(Followed::Spoken(_)) => {}
                None => return Ok(()),
            }
            if *position >= noted + NOTE_EVERY {
                self.note(*position).await?;
                noted = *position;
            }
        }
    }

    /// Writes down what follows from an event, and that it was read; all of it or nothing. Says whether it
    /// concerned a chat.
    async fn write_event_plan(&self, happening: &Happening) -> Result<bool, Error> {
        for _ in 0..UPDATE_ATTEMPTS {
            let mut planned = Planned::default();
            match self.plan_event(happening, &mut planned).await {
                // What cannot be found is shown nowhere, and stops nothing behind it.
                Err(Error::Refused(refusal)) => {
                    let position = happening.position;
                    tracing::warn!(position, %refusal, "something is not shown in chats");
                }
                planned => planned?,
            }
            if !planned.concerns_a_chat {
                return Ok(false);
            }
            planned.write.notes.push(notes::put(SHELF, CURSOR, &happening.position));
            if self.write_planned(planned).await? {
                return Ok(true);
            }
        }
        Err(Error::Unavailable("the records of the chats change too often; try again".into()))
    }

    /// `false` if a record has changed since: then it is planned anew.
    async fn write_planned(&self, planned: Planned) -> Result<bool, Error> {
        let now = self.0.clock.now();
        let written = self.0.records.write_outbox(planned.write, now).await?;
        if written {
            self.0.channels.values().for_each(|runtime| runtime.wake());
        }
        Ok(written)
    }

    /// Where to begin. Whatever waits already is asked about, also in a channel that is new.
    async fn begin(&self) -> Result<u64, Error> {
        let noted = notes::read_note::<u64>(&self.0.records, SHELF, CURSOR).await?;
        let last = self.0.records.log_end().await?;
        if noted.is_none() {
            // Before anybody is asked: what is asked about may go on while nobody follows, and while
            // this process ends.
            self.note(last).await?;
        }
        let mut after = None;
        loop {
            let filter = HoldFilter {
                state: Some(HoldStateName::Pending),
                after,
                limit: PAGE,
                ..HoldFilter::default()
            };
            let holds = self.0.engine.holds(&self.0.engine.onlooker(), filter).await?;
            for hold in &holds {
                self.ask_now(hold).await?;
            }
            if holds.len() < PAGE {
                break;
            }
            after = holds.last().map(|hold| hold.id);
        }
        // mutant: chats-begin-at-the-end
        Ok(noted.map_or(last, |noted| noted.min(last)))
    }

    async fn ask_now(&self, hold: &Hold) -> Result<(), Error> {
        for _ in 0..UPDATE_ATTEMPTS {
            let mut planned = Planned::default();
            self.ask(hold, true, &mut planned).await?;
            if planned.write.is_empty() || self.write_planned(planned).await? {
                return Ok(());
            }
        }
        Err(Error::Unavailable("the records of the chats change too often; try again".into()))
    }

    async fn note(&self, position: u64) -> Result<(), Error> {
        self.0.records.put_notes(vec![notes::put(SHELF, CURSOR, &position)]).await?;
        Ok(())
    }

    async fn plan_hold_event(
        &self,
        event: &HoldEvent,
        happening: &Happening,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        match event {
            HoldEvent::Opened { hold } => {
                // It may be decided by now; then nobody need be asked.
                match self.0.records.hold(hold.id).await? {
                    Some(hold) if hold.is_pending() => self.ask(&hold, true, planned).await,
                    Some(_) if hold.is_pending() => self.ask(hold, false, planned).await,
                    _ => Ok(()),
                }
            }
            // Cards do not show what people say to one another.
            HoldEvent::Updated { change: HoldChange::Commented(_), .. } => Ok(()),
            HoldEvent::Updated { hold, change } => {
                self.plan_hold_update(*hold, kind_of(change), happening, planned).await
            }
            HoldEvent::Decided { hold, .. } => {
                self.plan_hold_update(*hold, Some(StepKind::Decided), happening, planned).await
            }
        }
    }

    /// Plans what follows from an event.
    async fn plan_event(&self, happening: &Happening, planned: &mut Planned) -> Result<(), Error> {
        match happening.event() {
            Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => {
                self.plan_hold_event(event, happening, planned).await
            }
            Event::Session(
                SessionEvent::CallStarted { call, .. }
                | SessionEvent::CallInDoubt { call, .. }
                | SessionEvent::CallSettled { call, .. },
            ) => {
                let StreamId::Session(id) = happening.stream else { return Ok(()) };
                let session = self.0.engine.session(&self.0.engine.onlooker(), id).await?;
                // A second phase runs the call of the first, which is the one that was asked about.
                let record = session.calls.get(call).and_then(|record| record.call.as_ref());
                let ran = record.map_or(*call, |call| call.id);
                let about =
                    |hold: &&Arc<Hold>| hold.call_id().is_some_and(|id| id == *call || id == ran);
                for hold in session.holds.values().filter(about) {
                    // A call that was refused has a result, too; but nothing came of it.
                    let ended = hold.outcome().is_some_and(HoldOutcome::is_final);
                    let kind = match happening.event() {
                        Event::Session(SessionEvent::CallInDoubt { .. }) => Some(StepKind::InDoubt),
                        Event::Session(SessionEvent::CallSettled { .. }) => {
                            ended.then_some(StepKind::Settled)
                        }
                        _ => None,
                    };
                    self.plan_hold_update(hold.id, kind, happening, planned).await?;
                }
                Ok(())
            }
            Event::Session(SessionEvent::MessageAdded { message })
                if message.role == Role::Assistant =>
            {
                self.said(happening, message, planned).await
            }
            Event::Session(SessionEvent::RunFailed { run, .. }) => {
                let failed = |words: ChatWords| words.failed().to_owned();
                self.say_at_home(happening, &run.to_string(), failed, planned).await
            }
            _ => Ok(()),
        }
    }

    /// Drawn again where people look, and told where each step is.
    async fn plan_hold_update(
        &self,
        hold: HoldId,
        kind: Option<StepKind>,
        happening: &Happening,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        self.plan_repaints(hold, planned).await?;
        if let Some(kind) = kind {
            let step = Step { kind, position: happening.position, at: happening.at };
            self.step(hold, step, planned).await?;
        }
        Ok(())
    }

    /// The agent's words go to where it is talked to.
    async fn said(
        &self,
        happening: &Happening,
        message: &Message,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        let text = message.text();
        if text.trim().is_empty() {
            return Ok(());
        }
        self.say_at_home(happening, &message.id.to_string(), |_| text.to_string(), planned).await
    }

    async fn say_at_home(
        &self,
        happening: &Happening,
        key: &str,
        text: impl Fn(ChatWords) -> String,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        let StreamId::Session(id) = happening.stream else { return Ok(()) };
        let session = self.0.engine.session(&self.0.engine.onlooker(), id).await?;
        let Some(runtime) = session.home.as_ref().and_then(|home| self.0.channels.get(&home.door))
        else {
            return Ok(());
        };
        let Some(place) = place_of(runtime, &session) else { return Ok(()) };
        planned.concerns_a_chat = true;
        // It was said before, by a process that had not noted how far it had come.
        if self.0.records.note(&runtime.shelves.said, &said_key(key)).await?.is_some() {
            return Ok(());
        }
        let (_, place) = self.names_of_place(runtime, place).await?;
        let text = text(ChatWords(runtime.connector.language));
        let saying = TextRecord::new(&place, &text, happening.at);
        planned.write.extend(saying.put(&runtime.shelves, key, self.0.clock.now()));
        Ok(())
    }

    /// Waits a little; `true` if it is time to stop.
    pub(crate) async fn sleep_or_stop(&self) -> bool {
        tokio::select! {
            biased;
            () = self.0.closing.cancelled() => true,
            () = self.0.clock.sleep(STORE_RETRY) => false,
        }
    }
}
