//! Feishu's API: a token that is fetched before it dies, and one call.

use std::sync::Arc;

use domain::time::Timestamp;
use ports::channel::ChannelError;
use ports::clock::Clock;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::heard::{Heard, heard};
use super::settings::Settings;
use crate::limits::{FEISHU_TOKEN_LEFT_MS, REST_WITHIN};
use crate::wire::{Answer, Failed, Request, Rest, Token, Tokens};

pub(super) struct Api {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    rest: Rest,
    tokens: Tokens,
}

/// One call of the API.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    /// Parts of the path; an id of theirs is one of them, whatever is in it.
    pub(super) path: &'a [&'a str],
    pub(super) query: &'a [(&'a str, &'a str)],
    pub(super) body: Option<&'a Value>,
}

impl Api {
    pub(super) fn new(settings: Arc<Settings>, clock: Arc<dyn Clock>) -> Api {
        Api {
            settings,
            rest: Rest::new(clock.clone(), REST_WITHIN),
            tokens: Tokens::new(clock.clone(), FEISHU_TOKEN_LEFT_MS),
            clock,
        }
    }

    /// With our token. A token that they no longer take is replaced once.
    pub(super) async fn call(&self, call: Call<'_>) -> Result<Value, ChannelError> {
        let mut refused = None;
        loop {
            let token = self.token(refused.as_deref()).await?;
            let bearer = format!("Bearer {token}");
            let answer = self.send(&call, vec![("authorization", &bearer)]).await?;
            match self.heard(answer) {
                Heard::Done(answer) => return Ok(answer),
                Heard::Failed(error) => return Err(error),
                Heard::BadToken if refused.is_none() => refused = Some(token),
                Heard::BadToken => {
                    return Err(ChannelError::Never(
                        "Feishu refuses the token that it has just given us; is `base_url` the \
                         one of this app?"
                            .into(),
                    ));
                }
            }
        }
    }

    /// Without a token: the address of the long connection.
    pub(super) async fn open(&self, path: &[&str], body: &Value) -> Result<Value, ChannelError> {
        let call = Call { method: Method::POST, path, query: &[], body: Some(body) };
        let answer = self.send(&call, vec![("locale", "zh")]).await?;
        match self.heard(answer) {
            Heard::Done(answer) => Ok(answer),
            Heard::Failed(error) => Err(error),
            Heard::BadToken => Err(ChannelError::Never("Feishu wants a token for this".into())),
        }
    }

    /// Asks for a token only to see whether the secret is right, and what time it is there.
    pub(super) async fn knock(&self) -> Result<Option<Timestamp>, ChannelError> {
        let (token, date) = self.fetch().await?;
        self.tokens.keep(token);
        Ok(date)
    }

    async fn token(&self, refused: Option<&str>) -> Result<String, ChannelError> {
        let fetch = async { self.fetch().await.map(|(token, _)| token) };
        self.tokens.get(refused, fetch).await
    }

    async fn fetch(&self) -> Result<(Token, Option<Timestamp>), ChannelError> {
        let secret = self.settings.app_secret.expose();
        let body = json!({"app_id": self.settings.app_id, "app_secret": secret});
        let path = ["open-apis", "auth", "v3", "tenant_access_token", "internal"];
        let call = Call { method: Method::POST, path: &path, query: &[], body: Some(&body) };
        let asked = self.clock.now();
        // Nothing is done by asking: whatever became of it, it can be asked again.
        let again = |why: String| ChannelError::Again { after: None, why };
        let answer = match self.send(&call, Vec::new()).await {
            Err(ChannelError::Unknown(why)) => return Err(again(why)),
            answer => answer?,
        };
        let date = answer.date();
        match self.heard(answer) {
            Heard::Done(answer) => {
                let token = answer["tenant_access_token"].as_str();
                let (Some(value), Some(seconds)) = (token, answer["expire"].as_u64()) else {
                    return Err(again("Feishu gave no token".into()));
                };
                let ends = asked.plus_ms(seconds.saturating_mul(1_000));
                Ok((Token { value: value.to_owned(), ends }, date))
            }
            Heard::Failed(ChannelError::Unknown(why)) => Err(again(why)),
            Heard::Failed(error) => Err(error),
            Heard::BadToken => Err(ChannelError::Never("Feishu refuses our app".into())),
        }
    }

    async fn send(
        &self,
        call: &Call<'_>,
        headers: Vec<(&'static str, &str)>,
    ) -> Result<Answer, ChannelError> {
        let url = address(&self.settings.base_url, call)?;
        let request = Request { method: call.method.clone(), url, headers, body: call.body };
        self.rest.ask(request).await.map_err(|failed| match failed {
            Failed::NotSent(why) => ChannelError::Again { after: None, why },
            Failed::Lost(why) => ChannelError::Unknown(why),
        })
    }

    fn heard(&self, answer: Answer) -> Heard {
        let reset = answer
            .seconds("x-ogw-ratelimit-reset")
            .or_else(|| answer.seconds(reqwest::header::RETRY_AFTER.as_str()));
        match heard(answer.status, answer.json(), reset) {
            Heard::Failed(ChannelError::Never(why)) => {
                Heard::Failed(ChannelError::Never(self.settings.app_secret.scrub(&why)))
            }
            heard => heard,
        }
    }
}

fn address(base: &Url, call: &Call) -> Result<Url, ChannelError> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| ChannelError::Never("`base_url` is no address of a server".into()))?
        .pop_if_empty()
        .extend(call.path);
    if !call.query.is_empty() {
        url.query_pairs_mut().extend_pairs(call.query);
    }
    Ok(url)
}
