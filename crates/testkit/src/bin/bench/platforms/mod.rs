//! Chats on platforms that are really there: the real program in a process of its own, and fakes of two
//! platforms on loopback, one of which calls it over HTTP while the other has a connection that stays.
//!
//! Everything is in the figure that a person's press goes through: the platform's signature or frame, the
//! judgement, the disk, the acknowledgement. Platform and program share the processor's cores, and the
//! cards are repainted meanwhile.

mod feishu;
mod measure;
mod slack;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::report::Report;
use feishu::FeishuLine;
use measure::{pressed, quiet};
use slack::SlackHttp;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A platform, from the side of people.
#[async_trait]
trait Platform: Send + Sync {
    fn name(&self) -> &'static str;

    /// The section of the channel, and a person's identity there.
    fn section(&self) -> String;

    fn identity(&self) -> (&'static str, String);

    fn secrets(&self) -> Vec<(&'static str, &'static str)>;

    async fn connected(&self);

    /// Bob writes in the chat of this number; returns when it is acknowledged.
    async fn write(&self, served: &str, chat: usize, text: &str) -> Result<(), Failure>;

    /// What Bob's *Approve* sends, of every card, by the number of its chat.
    fn buttons(&self, chats: usize) -> Vec<Vec<Value>>;

    /// Returns when it is acknowledged as counted.
    async fn press(&self, served: &str, press: &Value) -> Result<(), Failure>;

    /// Cards and messages that were sent.
    fn sent(&self) -> usize;
}

pub(crate) async fn run(quick: bool, report: &Report) -> Result<(), Failure> {
    let (chats, each, idle) = if quick { (10, 10, 200) } else { (100, 10, 10_000) };
    pressed(Arc::new(SlackHttp::start().await?), chats, each, report).await?;
    let feishu = || async { Arc::new(FeishuLine::start().await) };
    pressed(feishu().await, chats, each, report).await?;
    quiet(feishu().await, idle, report).await
}
