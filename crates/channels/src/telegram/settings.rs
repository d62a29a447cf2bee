//! What the configuration says about a bot.

use std::fmt;

use ports::secret_string::SecretString;
use reqwest::Url;

use super::TelegramSecret;
use crate::card::{Language, Zone};

#[derive(Clone, Debug)]
pub struct TelegramSettings {
    /// As the configuration names the channel.
    pub name: String,
    pub token: BotToken,
    pub base_url: Url,
    pub mode: TelegramMode,
    pub language: Language,
    pub zone: Zone,
}

#[derive(Clone, Debug)]
pub enum TelegramMode {
    /// We ask. Nothing has to be reachable from outside, and only one process may ask.
    Polling,
    /// Telegram calls, with this secret; where its address for us is known, we see to it that it does.
    Webhook { secret: TelegramSecret, address: Option<Url> },
}

impl TelegramSettings {
    /// A bot that polls, in English.
    pub fn new(name: &str, token: BotToken, base_url: Url) -> TelegramSettings {
        TelegramSettings {
            name: name.to_owned(),
            token,
            base_url,
            mode: TelegramMode::Polling,
            language: Language::default(),
            zone: Zone::default(),
        }
    }
}

/// `<the bot's id>:<its secret>`
#[derive(Clone)]
pub struct BotToken {
    id: String,
    whole: SecretString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the token of a bot: @BotFather gives one such as `123456:ABC-def…`")]
pub struct BadToken;

impl BotToken {
    pub fn new(text: &str) -> Result<BotToken, BadToken> {
        let (id, secret) = text.split_once(':').ok_or(BadToken)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let good = !id.is_empty()
            && id.bytes().all(|byte| byte.is_ascii_digit())
            && !secret.is_empty()
            && secret.bytes().all(plain);
        good.then(|| BotToken { id: id.to_owned(), whole: SecretString::new(text) }).ok_or(BadToken)
    }

    /// Which is no secret: everybody who chats with the bot knows it.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn whole(&self) -> &str {
        self.whole.expose()
    }
}

impl fmt::Debug for BotToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}:…)", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_and_never_shown() {
        let token = BotToken::new("123456:ABC-def_9").unwrap();
        assert_eq!((token.id(), format!("{token:?}").as_str()), ("123456", "Token(123456:…)"));
        for bad in ["", "123456", "123456:", ":ABC", "12a:ABC", "1:A/../B", "1:A\n"] {
            assert_eq!(BotToken::new(bad).err(), Some(BadToken), "{bad}");
        }
    }
}
