//! DingTalk's API: a token that is fetched before it dies, and one call.

use std::sync::Arc;

use domain::time::Timestamp;
use ports::channel::ChannelError;
use ports::clock::Clock;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::heard::{Heard, heard};
use super::settings::Settings;
use crate::limits::{DINGTALK_TOKEN_LEFT_MS, REST_WITHIN};
use crate::wire::{Answer, Failed, Request, Rest, Token, Tokens};

pub(super) struct Api {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    rest: Rest,
    tokens: Tokens,
}

impl Api {
    pub(super) fn new(settings: Arc<Settings>, clock: Arc<dyn Clock>) -> Api {
        Api {
            settings,
            rest: Rest::new(clock.clone(), REST_WITHIN),
            tokens: Tokens::new(clock.clone(), DINGTALK_TOKEN_LEFT_MS),
            clock,
        }
    }

    /// With our token. A token that they no longer take is replaced once.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, ChannelError> {
        let mut refused = None;
        loop {
            let token = self.token(refused.as_deref()).await?;
            let headers = vec![("x-acs-dingtalk-access-token", token.as_str())];
            let answer = self.send(method.clone(), path, headers, body).await?;
            match self.heard(answer) {
                Heard::Done(answer) => return Ok(answer),
                Heard::Failed(error) => return Err(error),
                Heard::BadToken if refused.is_none() => refused = Some(token),
                Heard::BadToken => {
                    return Err(ChannelError::Never(
                        "DingTalk refuses the token that it has just given us; is `base_url` the \
                         one of this app?"
                            .into(),
                    ));
                }
            }
        }
    }

    /// Without a token: where to connect.
    pub(super) async fn open(&self, path: &str, body: &Value) -> Result<Value, ChannelError> {
        let headers = vec![("accept", "application/json")];
        let answer = self.send(Method::POST, path, headers, body).await?;
        match self.heard(answer) {
            Heard::Done(answer) => Ok(answer),
            Heard::Failed(error) => Err(error),
            Heard::BadToken => Err(ChannelError::Never(
                "DingTalk does not know this app; check `client_id` and the client secret \
                 (developer console → Credentials)"
                    .into(),
            )),
        }
    }

    /// To an address that they gave us, which is its own leave.
    pub(super) async fn post(&self, url: Url, body: &Value) -> Result<(), ChannelError> {
        let request = Request { method: Method::POST, url, headers: Vec::new(), body: Some(body) };
        let answer = self.rest.ask(request).await.map_err(Failed::sending)?;
        match self.heard(answer) {
            // A page of some proxy is no word of theirs.
            Heard::Done(said) if said["errcode"] != 0 => {
                Err(ChannelError::Unknown("what answers there is not DingTalk".into()))
            }
            Heard::Done(_) => Ok(()),
            Heard::Failed(error) => Err(error),
            Heard::BadToken => Err(ChannelError::Never("DingTalk takes nothing there".into())),
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
        let secret = self.settings.client_secret.expose();
        let body = json!({"appKey": self.settings.client_id, "appSecret": secret});
        let asked = self.clock.now();
        // Nothing is done by asking: whatever became of it, it can be asked again.
        let again = |why: String| ChannelError::Again { after: None, why };
        let path = "/v1.0/oauth2/accessToken";
        let answer = match self.send(Method::POST, path, Vec::new(), &body).await {
            Err(ChannelError::Unknown(why)) => return Err(again(why)),
            answer => answer?,
        };
        let date = answer.date();
        match self.heard(answer) {
            Heard::Done(answer) => {
                let token = answer["accessToken"].as_str();
                let (Some(value), Some(seconds)) = (token, answer["expireIn"].as_u64()) else {
                    return Err(again("DingTalk gave no token".into()));
                };
                let ends = asked.plus_ms(seconds.saturating_mul(1_000));
                Ok((Token { value: value.to_owned(), ends }, date))
            }
            Heard::Failed(ChannelError::Unknown(why)) => Err(again(why)),
            Heard::Failed(error) => Err(error),
            Heard::BadToken => Err(ChannelError::Never(
                "DingTalk does not know this app; check `client_id` and the client secret \
                 (developer console → Credentials)"
                    .into(),
            )),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: Vec<(&'static str, &str)>,
        body: &Value,
    ) -> Result<Answer, ChannelError> {
        let url = address(&self.settings.base_url, path)?;
        let request = Request { method, url, headers, body: Some(body) };
        self.rest.ask(request).await.map_err(|failed| match failed {
            Failed::NotSent(why) => ChannelError::Again { after: None, why },
            Failed::Lost(why) => ChannelError::Unknown(why),
        })
    }

    fn heard(&self, answer: Answer) -> Heard {
        let after = answer.seconds(reqwest::header::RETRY_AFTER.as_str());
        match heard(answer.status, answer.json(), after) {
            Heard::Failed(ChannelError::Never(why)) => {
                Heard::Failed(ChannelError::Never(self.settings.client_secret.scrub(&why)))
            }
            heard => heard,
        }
    }
}

fn address(base: &Url, path: &str) -> Result<Url, ChannelError> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| ChannelError::Never("`base_url` is no address of a server".into()))?
        .pop_if_empty()
        .extend(path.split('/').skip(1));
    Ok(url)
}
