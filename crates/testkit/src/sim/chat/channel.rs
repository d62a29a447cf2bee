//! The platform as one process reaches it: every call waits for the story, so that a crash can fall
//! before it is done, between done and said, and after.

use std::sync::Arc;

use async_trait::async_trait;
use ports::channel::{
    Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    Showing, Shown, TextProgress, WebhookRequest,
};
use ports::store::Store as _;

use super::{NAME, OUT};
use crate::sim::node::NodeNo;
use crate::sim::world::{World, at_once};

pub(super) struct SimChannel {
    pub(super) world: Arc<World>,
    pub(super) node: NodeNo,
}

/// What becomes of a call, drawn before it sets out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Fine,
    Refused,
    LostUnknown,
    DoneUnknown,
}

impl SimChannel {
    /// On its way; then it is there, or not.
    async fn arrives(&self) -> Result<Fate, ChannelError> {
        let (fate, ms) = {
            let mut inside = self.world.inside();
            let fails = inside.weather.chat;
            let fate = match inside.rng.percent(fails) {
                true => *inside.rng.pick(&[Fate::Refused, Fate::LostUnknown, Fate::DoneUnknown]),
                false => Fate::Fine,
            };
            (fate, inside.rng.below(400))
        };
        self.world.wait(self.node, "to the chat", ms).await;
        match fate {
            Fate::Refused => {
                self.world.inside().fault("chat: refused");
                Err(ChannelError::Again { after: None, why: "too fast".into() })
            }
            Fate::LostUnknown => {
                self.world.inside().fault("chat: lost, and nobody knows");
                Err(ChannelError::Unknown("the connection broke".into()))
            }
            fate => Ok(fate),
        }
    }

    /// It is done; whether the sender lives to hear of it is another matter.
    async fn answers(&self, fate: Fate) -> Result<(), ChannelError> {
        let unheard = Unheard(&self.world);
        let ms = self.world.inside().rng.below(200);
        self.world.wait(self.node, "from the chat", ms).await;
        std::mem::forget(unheard);
        if fate == Fate::DoneUnknown {
            self.world.inside().fault("chat: done, and nobody knows");
            return Err(ChannelError::Unknown("the connection broke".into()));
        }
        Ok(())
    }
}

/// Dropped in the middle: nobody heard that it was done. Only counted, because tasks of a process that
/// dies have no order.
struct Unheard<'a>(&'a World);

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        self.0.inside().counts.fault("chat: done, and the sender died before it was written down");
    }
}

#[async_trait]
impl Channel for SimChannel {
    fn name(&self) -> &str {
        NAME
    }

    fn platform(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> &str {
        "sim"
    }

    /// One press is one answer here.
    fn has_confirm_dialog(&self) -> bool {
        true
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let fate = self.arrives().await?;
        let record = format!("d/{}", showing.key.as_str());
        let note = at_once(self.world.disk.note(OUT, &record)).expect("the disk is there");
        let says_so = note.is_some_and(|note| {
            String::from_utf8_lossy(&note.value).contains("\"perhaps_sent\":true")
        });
        let posted = {
            let mut inside = self.world.inside();
            if !says_so {
                inside.platform.unwritten.push(record);
            }
            let posted = inside.platform.show(place, showing);
            let (id, chat) = (&posted.message, &posted.chat);
            inside.note(format!("n{} SHOWS {} as {id} in {chat}", self.node, showing.hold.id));
            posted
        };
        self.answers(fate).await?;
        Ok(Shown { posted, accepts_approval: true })
    }

    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        let fate = self.arrives().await?;
        {
            let mut inside = self.world.inside();
            inside.platform.repaint(posted, showing);
            let (id, state) = (&posted.message, showing.hold.state.name());
            inside.note(format!("n{} REPAINTS {id}: {state}", self.node));
        }
        self.answers(fate).await?;
        Ok(true)
    }

    async fn say_piece(
        &self,
        _: &Destination,
        _: &OutgoingText<'_>,
        _: usize,
    ) -> Result<TextProgress, ChannelError> {
        let fate = self.arrives().await?;
        self.answers(fate).await?;
        Ok(TextProgress::All)
    }

    async fn hook(&self, _: WebhookRequest, _: &dyn Inbox) -> HookReply {
        HookReply { status: 404, content_type: "text/plain", body: Vec::new() }
    }

    async fn check(&self) -> Vec<Checked> {
        Vec::new()
    }
}
