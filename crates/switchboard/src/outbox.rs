//! Carries out what is due on one line: in each chat one thing after the other, in different chats at the
//! same time. Lines know nothing of one another, so one that is dead delays no other.

use std::sync::Arc;
use std::time::Duration;

use domain::time::Timestamp;
use engine::Error;
use ports::store::{Note, PutNote};

use crate::delivery::Delivery;
use crate::limits::{BLOCKED_LOOK, PAGE, STORE_RETRY, UNREADABLE_MS};
use crate::saying::Saying;
use crate::{Switchboard, Wire, shelf};

/// What is left when everything was started that can be.
enum Left {
    Nothing,
    Until(Duration),
    /// Something waits for its chat, or for a place.
    Blocked,
}

impl Switchboard {
    pub(crate) async fn carry_out(self, wire: Arc<Wire>) {
        if let Err(error) = self.take_over(&wire).await {
            // Its leases bring it back.
            tracing::warn!(channel = %wire.name, %error, "what was being sent cannot be read");
        }
        loop {
            let pause = match self.start_due(&wire).await {
                Ok(Left::Nothing) => None,
                Ok(Left::Until(pause)) => Some(pause),
                Ok(Left::Blocked) => Some(BLOCKED_LOOK),
                Err(error) => {
                    tracing::warn!(channel = %wire.name, %error, "what is to be sent cannot be read");
                    Some(STORE_RETRY)
                }
            };
            let slept = async {
                match pause {
                    Some(pause) => self.0.clock.sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.0.closing.cancelled() => return,
                () = wire.wake.notified() => {}
                () = slept => {}
            }
        }
    }

    async fn start_due(&self, wire: &Arc<Wire>) -> Result<Left, Error> {
        let now = self.0.clock.now();
        let mut due = self.store().due_notes(&wire.shelves.out, now, PAGE).await?;
        // What an agent says comes before what it asks about in the same moment.
        due.sort_by_key(|note| (note.due_at, !note.key.starts_with("s/")));
        let mut blocked = due.len() == PAGE;
        for note in due {
            let Some(lane) = lane_of(&note) else {
                self.put_off(note, now).await?;
                continue;
            };
            if wire.busy.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).contains(&lane) {
                blocked = true;
                continue;
            }
            let Ok(place) = wire.room.clone().try_acquire_owned() else { return Ok(Left::Blocked) };
            let going = OnItsWay::new(wire.clone(), lane);
            let board = self.clone();
            self.spawn(async move {
                if let Err(error) = board.send(&going.wire, &note.key).await {
                    let channel = &going.wire.name;
                    tracing::warn!(%channel, %error, "what was sent could not be written down");
                    // The lease brings it back; but not at once.
                    board.0.clock.sleep(STORE_RETRY).await;
                }
                drop(place);
                drop(going);
            });
        }
        if blocked {
            return Ok(Left::Blocked);
        }
        Ok(match self.store().next_due_note(&wire.shelves.out).await? {
            // In hand already: whoever has it wakes us.
            Some(at) if at <= now => Left::Blocked,
            Some(at) => Left::Until(Duration::from_millis(at.ms_since(now).max(1))),
            None => Left::Nothing,
        })
    }

    /// What cannot be read is not lost; but nobody looks at it all the time.
    async fn put_off(&self, note: Note, now: Timestamp) -> Result<(), Error> {
        let put = PutNote {
            shelf: note.shelf,
            key: note.key,
            value: Some(note.value),
            expected: Some(note.version),
            due_at: Some(now.plus_ms(UNREADABLE_MS)),
            forget_at: note.forget_at,
        };
        self.store().put_notes(vec![put]).await?;
        Ok(())
    }
}

/// Nothing else goes to this chat meanwhile.
struct OnItsWay {
    wire: Arc<Wire>,
    lane: String,
}

impl OnItsWay {
    fn new(wire: Arc<Wire>, lane: String) -> OnItsWay {
        wire.busy.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(lane.clone());
        OnItsWay { wire, lane }
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        let mut busy = self.wire.busy.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        busy.remove(&self.lane);
        self.wire.wake.notify_one();
    }
}

fn lane_of(note: &Note) -> Option<String> {
    match note.key.starts_with("s/") {
        true => shelf::parse::<Saying>(note).map(|read| read.record.place.lane()),
        false => shelf::parse::<Delivery>(note).map(|read| read.record.lane()),
    }
}
