//! Follows what happens from the place up to which an earlier process had come. What follows from an event is written in one
//! transaction with that place.

use std::sync::atomic::Ordering;

use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::HoldChange;
use ports::push::PushKind;
use ports::store::{OutboxWrite, PutNote};

use super::PLACE;
use crate::follow::watch::{Follow, Followed, Happening};
use crate::limits::{PUSH_NOTE_EVERY, STORE_RETRY_MAX};
use crate::{Engine, Error};

impl Engine {
    pub(super) async fn follow_for_notices(&self) {
        let mut position = None;
        loop {
            if let Err(error) = self.follow_notices_from(&mut position).await {
                tracing::warn!(%error, "notices wait for the store");
            } else {
                return;
            }
            tokio::select! {
                biased;
                () = self.0.closing.begins() => return,
                () = self.0.clock.sleep(STORE_RETRY_MAX) => {}
            }
        }
    }

    async fn follow_notices_from(&self, position: &mut Option<u64>) -> Result<(), Error> {
        if self.is_somebody_subscribed().await? {
            self.0.push.want();
        }
        let from = match *position {
            Some(known) => known,
            None => self.begin_notices().await?,
        };
        *position = Some(from);
        let mut follow: Follow = self.follow_all(&self.onlooker(), Some(from)).await?;
        let mut noted = from;
        loop {
            let next = tokio::select! {
                biased;
                () = self.0.closing.begins() => return Ok(()),
                next = follow.next() => next?,
            };
            let at = match next {
                Some(Followed::Event(happening)) => {
                    let mut write = match self.plan_notices(&happening).await {
                        // What cannot be found is told to nobody, and stops nothing behind it.
                        Err(Error::Refused(_)) => OutboxWrite::default(),
                        planned => planned?,
                    };
                    if !write.is_empty() {
                        noted = happening.position;
                        write.notes.push(place(noted));
                        self.0.store.write_outbox(write, self.now()).await?;
                        self.0.push.wake.notify_one();
                    }
                    happening.position
                }
                Some(Followed::Reset { position: last }) => last,
                Some(Followed::Spoken(_)) => continue,
                None => return Ok(()),
            };
            *position = Some(at);
            if at >= noted + PUSH_NOTE_EVERY {
                self.0.store.put_notes(vec![place(at)]).await?;
                noted = at;
            }
        }
    }

    async fn begin_notices(&self) -> Result<u64, Error> {
        let (last, _) = self.0.store.last().await?;
        let noted = self.0.store.note(PLACE, PLACE).await?;
        let noted = noted.and_then(|note| String::from_utf8(note.value).ok()?.parse::<u64>().ok());
        match noted {
            Some(noted) => Ok(noted.min(last)),
            None => {
                self.0.store.put_notes(vec![place(last)]).await?;
                Ok(last)
            }
        }
    }

    async fn plan_notices(&self, happening: &Happening) -> Result<OutboxWrite, Error> {
        let is_wanted = self.0.push.is_wanted.load(Ordering::Acquire) || self.0.store.is_shared();
        let event = match happening.event() {
            Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) if is_wanted => {
                event
            }
            _ => return Ok(OutboxWrite::default()),
        };
        let id = event.hold_id();
        // As it now is: what was decided since is not asked about.
        let Some(hold) = self.0.store.hold(id).await? else { return Ok(OutboxWrite::default()) };
        match event {
            HoldEvent::Opened { .. }
            | HoldEvent::Updated { change: HoldChange::Revised { .. }, .. } => {
                self.plan_asks(&hold, PushKind::Asks).await
            }
            HoldEvent::Updated { change: HoldChange::Commented(comment), .. } => {
                self.plan_mentions(&hold, &comment.mentions).await
            }
            HoldEvent::Updated { .. } => Ok(OutboxWrite::default()),
            HoldEvent::Decided { .. } => self.plan_settled(id).await,
        }
    }
}

fn place(position: u64) -> PutNote {
    PutNote {
        shelf: PLACE.into(),
        key: PLACE.into(),
        value: Some(position.to_string().into_bytes()),
        expected: None,
        due_at: None,
        forget_at: None,
    }
}
