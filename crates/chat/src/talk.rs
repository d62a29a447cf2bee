//! What is no answer goes to the agent of the chat, in the name of whoever wrote it.

use std::sync::Arc;

use domain::context::WhilePending;
use domain::digest::Digest;
use domain::hold::Hold;
use domain::id::SessionId;
use domain::session::Home;
use engine::{Error, Keep, MessageReceipt, NewMessage, NewSession};
use serde_json::json;

use crate::incoming::VerifiedMessage;
use crate::prompt_targets::home_of;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    pub(crate) async fn talk(
        &self,
        heard: &VerifiedMessage<'_>,
        while_pending: Option<WhilePending>,
    ) -> Result<(), Error> {
        let (runtime, wrote) = (heard.runtime, heard.wrote);
        let Some(agent) = &runtime.connector.agent else { return Ok(()) };
        let text = message_for_agent(&wrote.text, &wrote.mentions, &heard.codes);
        if text.is_empty() {
            return Ok(());
        }
        let place = home_of(runtime, &wrote.chat, wrote.thread.as_deref());
        let known = self.session_in(runtime, &wrote.chat, wrote.thread.as_deref()).await?;
        let to_us =
            wrote.direct || wrote.mentions_us || (wrote.thread.is_some() && known.is_some());
        if !to_us {
            return Ok(());
        }
        let session = match known {
            Some(session) => session,
            None => {
                let creator = self.0.engine.caller_for_program(&runtime.name).await?;
                let new = NewSession {
                    agent: agent.to_string(),
                    title: None,
                    metadata: json!({"direct": wrote.direct}),
                    home: Some(Home { door: runtime.name.clone(), place }),
                };
                self.0.engine.open_session(&creator, new, None).await?.id
            }
        };
        let saying = NewMessage { texts: vec![text], files: Vec::new(), while_pending };
        let said = self.0.engine.say(&heard.caller, session, saying, Some(heard.keep())).await;
        self.told_the_agent(heard, said).await
    }

    /// Words that decided nothing, for the agent whose hold they are about.
    pub(crate) async fn talk_about(
        &self,
        heard: &VerifiedMessage<'_>,
        hold: &Hold,
        while_pending: WhilePending,
    ) -> Result<(), Error> {
        let text = message_for_agent(&heard.wrote.text, &heard.wrote.mentions, &heard.codes);
        if text.is_empty() {
            return Ok(());
        }
        let saying =
            NewMessage { texts: vec![text], files: Vec::new(), while_pending: Some(while_pending) };
        let keep = Some(heard.keep());
        let said = self.0.engine.say_about(&heard.caller, hold, saying, keep).await;
        self.told_the_agent(heard, said).await
    }

    async fn told_the_agent(
        &self,
        heard: &VerifiedMessage<'_>,
        said: Result<MessageReceipt, Error>,
    ) -> Result<(), Error> {
        match said {
            Ok(_) | Err(Error::Replayed(_) | Error::KeyReused) => Ok(()),
            Err(Error::Refused(refusal)) => {
                self.reply(heard, "refused", &heard.words().refused(&refusal)).await
            }
            Err(error) => Err(error),
        }
    }

    /// The conversation that goes on here, also if it began when the chat had another name.
    async fn session_in(
        &self,
        runtime: &ChannelRuntime,
        chat: &str,
        thread: Option<&str>,
    ) -> Result<Option<SessionId>, Error> {
        for name in self.names_of_chat(runtime, chat).await? {
            let place = home_of(runtime, &name, thread);
            if let Some(session) = self.session_at(&runtime.name, &place).await? {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }

    async fn session_at(&self, door: &Arc<str>, place: &str) -> Result<Option<SessionId>, Error> {
        let place = Some(place.to_owned());
        let rows =
            self.0.engine.sessions_at(&self.0.engine.onlooker(), door, place, None, 1).await?;
        Ok(rows.first().map(|row| row.id))
    }
}

impl VerifiedMessage<'_> {
    /// The same event again says nothing again, whatever becomes of us after this.
    fn keep(&self) -> Keep<'static, MessageReceipt> {
        Keep {
            caller: format!("channel:{}", self.runtime.name),
            // mutant: said-again-after-a-crash
            key: self.wrote.event.clone(),
            request: Digest::of(self.wrote.text.as_bytes()),
            render: &|_| (200, Vec::new()),
        }
    }
}

/// Without our own name at the beginning or the end, which says to whom it is said, and without codes.
fn message_for_agent(text: &str, mentions: &[String], codes: &[String]) -> String {
    let mut text = text.trim();
    loop {
        let shorter = mentions.iter().filter(|mention| !mention.is_empty()).find_map(|mention| {
            text.strip_prefix(mention.as_str()).or_else(|| text.strip_suffix(mention.as_str()))
        });
        match shorter {
            Some(shorter) => text = shorter.trim(),
            None => break,
        }
    }
    codes.iter().fold(text.to_owned(), |text, code| without(&text, code))
}

/// However it is written.
fn without(text: &str, code: &str) -> String {
    let is_code =
        // mutant: codes-told-to-the-model
        |word: &str| reply_parser::fold_text(word).contains(&reply_parser::fold_text(code));
    let words = text.split_inclusive(char::is_whitespace).filter(|word| !is_code(word));
    words.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_name_is_not_said_to_the_agent() {
        let us = ["@bot".to_owned()];
        assert_eq!(message_for_agent("@bot clean up", &us, &[]), "clean up");
        assert_eq!(message_for_agent("clean up, @bot", &us, &[]), "clean up,");
        assert_eq!(message_for_agent("@bot", &us, &[]), "");
        assert_eq!(message_for_agent("ask @bot why", &us, &[]), "ask @bot why");
    }

    #[test]
    fn a_code_is_never_told_to_a_model() {
        assert_eq!(
            message_for_agent("yes 7k3f but later", &[], &["7K3F".to_owned()]),
            "yes but later"
        );
        assert_eq!(message_for_agent("７Ｋ３Ｆ", &[], &["7K3F".to_owned()]), "");
    }
}
