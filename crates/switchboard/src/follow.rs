//! Follows what happens, and sees to it that every chat shows it.

use std::sync::Arc;

use domain::event::Event;
use domain::hold::{Hold, HoldOutcome, HoldStateName};
use domain::id::{HoldId, StreamId};
use domain::message::{Message, Role};
use engine::{Error, Followed, Happening, HoldFilter};
use ports::channel::{Step, StepKind};

use crate::limits::{NOTE_EVERY, PAGE, STORE_RETRY};
use crate::places::place_of;
use crate::saying::Saying;
use crate::send::kind_of;
use crate::words::Words;
use crate::{Switchboard, queue, shelf};

const SHELF: &str = "chats";
const CURSOR: &str = "cursor";

impl Switchboard {
    /// From where an earlier process had come, so that nothing that happened in between is missed.
    pub(crate) async fn follow(self) {
        let caller = self.0.engine.onlooker();
        let mut position = loop {
            match self.begin().await {
                Ok(position) => break position,
                Err(error) => tracing::warn!(%error, "the chats wait for the store"),
            }
            if self.rested().await {
                return;
            }
        };
        loop {
            let followed = match self.0.engine.follow_all(&caller, Some(position)).await {
                Ok(mut follow) => self.go_on(&mut follow, &mut position).await,
                Err(error) => Err(error),
            };
            match followed {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, "the chats wait for the store"),
            }
            if self.rested().await {
                return;
            }
        }
    }

    async fn go_on(&self, follow: &mut engine::Follow, position: &mut u64) -> Result<(), Error> {
        let mut noted = *position;
        loop {
            let next = tokio::select! {
                biased;
                () = self.0.closing.cancelled() => return Ok(()),
                next = follow.next() => next?,
            };
            let concerned = match next {
                Some(Followed::Event(happening)) => {
                    let concerned = match self.happened(&happening).await {
                        // What cannot be found is shown nowhere, and stops nothing behind it.
                        Err(Error::Refused(refusal)) => {
                            let position = happening.position;
                            tracing::warn!(position, %refusal, "something is not shown in chats");
                            false
                        }
                        concerned => concerned?,
                    };
                    *position = happening.position;
                    concerned
                }
                Some(Followed::Reset { position: last }) => {
                    *position = last;
                    true
                }
                Some(Followed::Spoken(_)) => false,
                None => return Ok(()),
            };
            // What concerns nobody here need not be written down each time: it is passed over again.
            if concerned || *position >= noted + NOTE_EVERY {
                self.note(*position).await?;
                noted = *position;
            }
        }
    }

    /// Where to begin. Whatever waits already is asked about, also in a channel that is new.
    async fn begin(&self) -> Result<u64, Error> {
        let noted = shelf::read::<u64>(self.store(), SHELF, CURSOR).await?;
        let (last, _) = self.store().last().await?;
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
                self.ask(hold, true).await?;
            }
            if holds.len() < PAGE {
                break;
            }
            after = holds.last().map(|hold| hold.id);
        }
        Ok(noted.map_or(last, |noted| noted.record.min(last)))
    }

    async fn note(&self, position: u64) -> Result<(), Error> {
        self.store().put_notes(vec![shelf::put(SHELF, CURSOR, &position)]).await?;
        Ok(())
    }

    /// Says whether it concerned a chat.
    async fn happened(&self, happening: &Happening) -> Result<bool, Error> {
        match happening.event() {
            Event::HoldOpened { hold } => {
                // It may be decided by now; then nobody need be asked.
                match self.store().hold(hold.id).await? {
                    Some(hold) if hold.is_pending() => self.ask(&hold, true).await,
                    Some(_) if hold.is_pending() => self.ask(hold, false).await,
                    _ => Ok(false),
                }
            }
            Event::HoldUpdated { hold, change } => {
                self.went_on(*hold, kind_of(change), happening).await
            }
            Event::HoldDecided { hold, .. } => {
                self.went_on(*hold, Some(StepKind::Decided), happening).await
            }
            Event::CallStarted { call, .. }
            | Event::CallInDoubt { call, .. }
            | Event::CallSettled { call, .. } => {
                let StreamId::Session(id) = happening.stream else { return Ok(false) };
                let session = self.0.engine.session(&self.0.engine.onlooker(), id).await?;
                // A second phase runs the call of the first, which is the one that was asked about.
                let record = session.calls.get(call).and_then(|record| record.call.as_ref());
                let ran = record.map_or(*call, |call| call.id);
                let about =
                    |hold: &&Arc<Hold>| hold.call_id().is_some_and(|id| id == *call || id == ran);
                let mut concerned = false;
                for hold in session.holds.values().filter(about) {
                    // A call that was refused has a result, too; but nothing came of it.
                    let ended = hold.outcome.as_ref().is_some_and(HoldOutcome::is_final);
                    let kind = match happening.event() {
                        Event::CallInDoubt { .. } => Some(StepKind::InDoubt),
                        Event::CallSettled { .. } => ended.then_some(StepKind::Settled),
                        _ => None,
                    };
                    concerned |= self.went_on(hold.id, kind, happening).await?;
                }
                Ok(concerned)
            }
            Event::MessageAdded { message } if message.role == Role::Assistant => {
                self.said(happening, message).await
            }
            Event::RunFailed { run, .. } => {
                self.say_at_home(happening, &run.to_string(), |words| words.failed().to_owned())
                    .await
            }
            _ => Ok(false),
        }
    }

    /// Drawn again where people look, and told where each step is.
    async fn went_on(
        &self,
        hold: HoldId,
        kind: Option<StepKind>,
        happening: &Happening,
    ) -> Result<bool, Error> {
        let mut concerned = self.touch(hold).await?;
        if let Some(kind) = kind {
            let step = Step { kind, position: happening.position, at: happening.at };
            concerned |= self.step(hold, step).await?;
        }
        Ok(concerned)
    }

    /// The agent's words go to where it is talked to.
    async fn said(&self, happening: &Happening, message: &Message) -> Result<bool, Error> {
        let text = message.text();
        if text.trim().is_empty() {
            return Ok(false);
        }
        self.say_at_home(happening, &message.id.to_string(), |_| text.to_string()).await
    }

    async fn say_at_home(
        &self,
        happening: &Happening,
        key: &str,
        text: impl Fn(Words) -> String,
    ) -> Result<bool, Error> {
        let StreamId::Session(id) = happening.stream else { return Ok(false) };
        let session = self.0.engine.session(&self.0.engine.onlooker(), id).await?;
        let Some(wire) = session.home.as_ref().and_then(|home| self.0.lines.get(&home.door)) else {
            return Ok(false);
        };
        let Some(place) = place_of(wire, &session) else { return Ok(false) };
        let (_, place) = self.names_of_place(wire, place).await?;
        let text = text(Words(wire.line.language));
        let saying = Saying::new(&place, &text, happening.at);
        // `false`: it was said before, by a process that had not noted how far it had come.
        let now = self.0.clock.now();
        let puts = saying.put(&wire.shelves, key, now);
        queue::write(self.store(), &wire.shelves, puts).await?;
        wire.wake();
        Ok(true)
    }

    /// Waits a little; `true` if it is time to stop.
    async fn rested(&self) -> bool {
        tokio::select! {
            biased;
            () = self.0.closing.cancelled() => true,
            () = self.0.clock.sleep(STORE_RETRY) => false,
        }
    }
}
