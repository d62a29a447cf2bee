//! Replies that decide nothing: the question is put again, and the text is not lost.

use domain::hold::Question;
use engine::Error;
use reply_parser::{AmbiguityReason, ReplyContext, ReplyVerdict, parse_reply};

use crate::ChatService;
use crate::connector::OnAmbiguous;
use crate::incoming::{VerifiedMessage, WaitingPrompt};
use crate::item::Next;
use crate::prompt_record::PromptRecord;

impl ChatService {
    pub(crate) async fn ambiguous(
        &self,
        heard: &VerifiedMessage<'_>,
        one: &WaitingPrompt,
        reason: AmbiguityReason,
    ) -> Result<(), Error> {
        let UnclearReplyEffect { asks, locked, signs } = self.count(heard, one, reason).await?;
        let (words, tag) = (heard.words(), &one.hold.tag);
        if locked {
            self.reply(heard, "locked", &words.locked(tag)).await?;
        } else if asks {
            let choice = matches!(one.hold.question, Question::Choose { .. });
            let mut text = words.reask(tag, reason, choice);
            // "Yes, but …" is a no with a reason, if they say so.
            if one.hold.question == Question::Approve && is_a_remark(reason) {
                text.push_str(&words.offers_a_reason());
            }
            self.reply(heard, "reask", &text).await?;
        } else if signs {
            let kept = heard.runtime.connector.on_ambiguous != OnAmbiguous::ReaskOnly;
            let kept = kept && one.hold.session().is_some();
            self.reply(heard, "unclear", &words.unclear(tag, kept)).await?;
        }
        self.keep_text(heard, Some(&one.hold)).await
    }

    /// Several wait, and the message names none. Clear words are no message for an agent: they wait to be
    /// said again.
    pub(crate) async fn ask_which(
        &self,
        heard: &VerifiedMessage<'_>,
        which: &[&WaitingPrompt],
    ) -> Result<(), Error> {
        let Some(first) = which.first() else { return Ok(()) };
        let context = ReplyContext {
            mentions: heard.wrote.mentions.clone(),
            mentions_others: heard.wrote.mentions_others,
            formatted: heard.wrote.formatted,
            ..ReplyContext::default()
        };
        let verdict = parse_reply(&heard.wrote.text, &context);
        let reason = match verdict {
            ReplyVerdict::Ambiguous(reason) if !reason.asks_again() => reason,
            _ => AmbiguityReason::MultiplePending,
        };
        // A person who says it again is told again: the words decided nothing.
        let UnclearReplyEffect { asks, signs, .. } = self.count(heard, first, reason).await?;
        if asks || signs {
            let tags: Vec<&str> = which.iter().map(|one| one.hold.tag.as_str()).collect();
            self.reply(heard, "which", &heard.words().which(&tags)).await?;
        }
        match verdict {
            ReplyVerdict::Ambiguous(_) => {
                let session = first.hold.session();
                let same = which.iter().all(|one| one.hold.session() == session);
                self.keep_text(heard, same.then_some(&*first.hold)).await
            }
            _ => Ok(()),
        }
    }

    /// Writes down how often it was asked again: not after "wait", not too soon, and not for ever.
    async fn count(
        &self,
        heard: &VerifiedMessage<'_>,
        one: &WaitingPrompt,
        reason: AmbiguityReason,
    ) -> Result<UnclearReplyEffect, Error> {
        let (now, limits) = (self.0.clock.now(), &self.0.limits);
        let mut counted = UnclearReplyEffect::default();
        let change = |delivery: &mut PromptRecord, due_at| {
            counted = UnclearReplyEffect::default();
            let mut changed = false;
            if reason == AmbiguityReason::BadCode {
                delivery.bad_codes += 1;
                counted.locked = delivery.bad_codes >= limits.bad_codes;
                changed = true;
            }
            let since = delivery.reasked_ms.map(|at| now.as_ms().saturating_sub(at));
            let soon = since.is_some_and(|ms| ms < limits.reask_every_ms as i64);
            if reason.asks_again() && !soon && delivery.reasks < limits.reasks {
                delivery.reasks += 1;
                delivery.reasked_ms = Some(now.as_ms());
                (counted.asks, changed) = (true, true);
            } else if reason.asks_again() {
                counted.signs = true;
            }
            changed.then(|| Next { due_at, ..Next::rests() })
        };
        self.update(heard.runtime, &format!("d/{}", one.key), change).await?;
        Ok(counted)
    }
}

/// What follows from one more unclear reply.
#[derive(Clone, Copy, Default)]
struct UnclearReplyEffect {
    asks: bool,
    /// This was one wrong code too many.
    locked: bool,
    /// The question is not put again, and the sender still sees that the reply arrived.
    signs: bool,
}

/// Whether it may be something that the agent should hear, and not only a badly written answer.
fn is_a_remark(reason: AmbiguityReason) -> bool {
    matches!(
        reason,
        AmbiguityReason::Unknown
            | AmbiguityReason::Mixed
            | AmbiguityReason::TooLong
            | AmbiguityReason::DoubleNegative
    )
}
