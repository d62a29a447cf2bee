//! Where all gestures of people come in, from every channel. An error means that nothing was written: the platform
//! delivers a message again, and a person presses again.

use async_trait::async_trait;
use ports::channel::{
    Busy, Inbox, IncomingMessage, Opened, Press, PressReply, ReportedDecision, ReportedReply,
};

use crate::ChatService;

#[async_trait]
impl Inbox for ChatService {
    async fn opens(&self, channel: &str, press: &Press) -> Result<Opened, Busy> {
        let opened = match self.0.channels.get(channel) {
            Some(runtime) => self.open_form(runtime, press).await,
            None => Ok(Opened::Refused(PressReply::NotHere)),
        };
        opened.map_err(|error| {
            tracing::warn!(%channel, %error, "a form could not be opened");
            Busy
        })
    }

    async fn pressed(&self, channel: &str, press: Press) -> Result<PressReply, Busy> {
        let told = match self.0.channels.get(channel) {
            Some(runtime) => self.press(runtime, &press).await,
            None => Ok(PressReply::NotHere),
        };
        told.map_err(|error| {
            tracing::warn!(%channel, %error, "a press could not be taken; the person is asked to press again");
            Busy
        })
    }

    async fn decided(
        &self,
        channel: &str,
        decided: ReportedDecision,
    ) -> Result<ReportedReply, Busy> {
        let ruling = match self.0.channels.get(channel) {
            Some(runtime) => self.take_reported_decision(runtime, decided).await,
            None => Ok(ReportedReply::NotEntitled),
        };
        ruling.map_err(|error| {
            tracing::warn!(%channel, %error, "a decision could not be taken; it may be sent again");
            Busy
        })
    }

    async fn moved(&self, channel: &str, from: &str, to: &str) -> Result<(), Busy> {
        let moved = match self.0.channels.get(channel) {
            Some(runtime) => self.chat_moved(runtime, from, to).await,
            None => Ok(()),
        };
        moved.map_err(|error| {
            tracing::warn!(%channel, %error, "that a chat has moved could not be written down");
            Busy
        })
    }

    async fn wrote(&self, channel: &str, wrote: IncomingMessage) -> Result<(), Busy> {
        let heard = match self.0.channels.get(channel) {
            Some(runtime) => self.handle_message(runtime, &wrote).await,
            None => Ok(()),
        };
        heard.map_err(|error| {
            tracing::warn!(%channel, %error, "a message could not be taken; the platform may deliver it again");
            Busy
        })
    }
}
