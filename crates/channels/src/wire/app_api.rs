//! The API of a platform that gives an app a token for its secret: the token is fetched before it dies, and one that
//! they no longer take is replaced once. What an answer means is each platform's business.

use std::sync::Arc;

use domain::time::Timestamp;
use ports::channel::ChannelError;
use ports::clock::Clock;
use ports::secret_string::SecretString;
use reqwest::{Method, Url};
use serde_json::Value;

use super::{AccessToken, Request, Rest, RestFailure, RestReply, Tokens};
use crate::limits::REST_WITHIN;

/// What an answer means, by remedy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiResult {
    /// The whole answer.
    Done(Value),
    /// Another one may be had.
    BadToken,
    Failed(ChannelError),
}

/// How a platform differs from others of its kind.
pub(crate) struct AppPlatform {
    pub(crate) name: &'static str,
    pub(crate) api_result: fn(&RestReply) -> ApiResult,
    /// The header that carries a token.
    pub(crate) token_header: fn(&str) -> (&'static str, String),
    /// Where a token is asked for.
    pub(crate) token_path: &'static [&'static str],
    /// The id of the app and its secret, as they are sent there.
    pub(crate) token_body: fn(&str, &str) -> Value,
    /// Where the answer has the token, and the seconds that it lives.
    pub(crate) token_keys: (&'static str, &'static str),
    /// A token with less than this to live is replaced.
    pub(crate) token_left_ms: u64,
    /// What people are told if the app is refused a token.
    pub(crate) unknown_app: &'static str,
}

/// One call of the API.
pub(crate) struct ApiCall<'a> {
    pub(crate) method: Method,
    /// Parts of the path; an id of theirs is one of them, whatever is in it.
    pub(crate) path: &'a [&'a str],
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) body: Option<&'a Value>,
}

pub(crate) struct AppApi {
    platform: &'static AppPlatform,
    base_url: Url,
    app_id: String,
    secret: SecretString,
    clock: Arc<dyn Clock>,
    rest: Rest,
    tokens: Tokens,
}

impl AppApi {
    pub(crate) fn new(
        platform: &'static AppPlatform,
        base_url: Url,
        app_id: String,
        secret: SecretString,
        clock: Arc<dyn Clock>,
    ) -> AppApi {
        let rest = Rest::new(clock.clone(), REST_WITHIN);
        let tokens = Tokens::new(clock.clone(), platform.token_left_ms);
        AppApi { platform, base_url, app_id, secret, clock, rest, tokens }
    }

    /// With our token. A token that they no longer take is replaced once.
    pub(crate) async fn call(&self, call: ApiCall<'_>) -> Result<Value, ChannelError> {
        let mut refused = None;
        loop {
            let token = self.token(refused.as_deref()).await?;
            let (header, value) = (self.platform.token_header)(&token);
            let answer = self.send(&call, vec![(header, &value)]).await?;
            match self.api_result(answer) {
                ApiResult::Done(answer) => return Ok(answer),
                ApiResult::Failed(error) => return Err(error),
                ApiResult::BadToken if refused.is_none() => refused = Some(token),
                ApiResult::BadToken => {
                    return Err(ChannelError::Never(format!(
                        "{} refuses the token that it has just given us; is `base_url` the one of \
                         this app?",
                        self.platform.name
                    )));
                }
            }
        }
    }

    /// Without a token: where to connect. `refused` is what people are told if one is wanted.
    pub(crate) async fn open(
        &self,
        path: &[&str],
        header: (&'static str, &str),
        body: &Value,
        refused: &str,
    ) -> Result<Value, ChannelError> {
        let call = ApiCall { method: Method::POST, path, query: &[], body: Some(body) };
        let answer = self.send(&call, vec![header]).await?;
        match self.api_result(answer) {
            ApiResult::Done(answer) => Ok(answer),
            ApiResult::Failed(error) => Err(error),
            ApiResult::BadToken => Err(ChannelError::Never(refused.to_owned())),
        }
    }

    /// To an address that they gave us, which is its own leave.
    pub(crate) async fn post(&self, url: Url, body: &Value) -> Result<ApiResult, ChannelError> {
        let request = Request { method: Method::POST, url, headers: Vec::new(), body: Some(body) };
        self.rest
            .ask(request)
            .await
            .map(|answer| self.api_result(answer))
            .map_err(RestFailure::sending)
    }

    /// Asks for a token only to see whether the secret is right, and what time it is there.
    pub(crate) async fn knock(&self) -> Result<Option<Timestamp>, ChannelError> {
        let (token, date) = self.fetch().await?;
        self.tokens.keep(token);
        Ok(date)
    }

    async fn token(&self, refused: Option<&str>) -> Result<String, ChannelError> {
        let fetch = async { self.fetch().await.map(|(token, _)| token) };
        self.tokens.get(refused, fetch).await
    }

    async fn fetch(&self) -> Result<(AccessToken, Option<Timestamp>), ChannelError> {
        let AppPlatform { name, token_path, token_body, token_keys, unknown_app, .. } =
            self.platform;
        let body = token_body(&self.app_id, self.secret.expose());
        let call =
            ApiCall { method: Method::POST, path: token_path, query: &[], body: Some(&body) };
        let asked = self.clock.now();
        // Nothing is done by asking: whatever became of it, it can be asked again.
        let again = |why: String| ChannelError::Again { after: None, why };
        let answer = match self.send(&call, Vec::new()).await {
            Err(ChannelError::Unknown(why)) => return Err(again(why)),
            answer => answer?,
        };
        let date = answer.date();
        match self.api_result(answer) {
            ApiResult::Done(answer) => {
                let (token, seconds) = (&answer[token_keys.0], &answer[token_keys.1]);
                let (Some(value), Some(seconds)) = (token.as_str(), seconds.as_u64()) else {
                    return Err(again(format!("{name} gave no token")));
                };
                let ends = asked.plus_ms(seconds.saturating_mul(1_000));
                Ok((AccessToken { value: value.to_owned(), ends }, date))
            }
            ApiResult::Failed(ChannelError::Unknown(why)) => Err(again(why)),
            ApiResult::Failed(error) => Err(error),
            ApiResult::BadToken => Err(ChannelError::Never((*unknown_app).into())),
        }
    }

    async fn send(
        &self,
        call: &ApiCall<'_>,
        headers: Vec<(&'static str, &str)>,
    ) -> Result<RestReply, ChannelError> {
        let mut url = self.base_url.clone();
        url.path_segments_mut()
            .map_err(|()| ChannelError::Never("`base_url` is no address of a server".into()))?
            .pop_if_empty()
            .extend(call.path);
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(call.query);
        }
        let request = Request { method: call.method.clone(), url, headers, body: call.body };
        self.rest.ask(request).await.map_err(RestFailure::sending)
    }

    fn api_result(&self, answer: RestReply) -> ApiResult {
        match (self.platform.api_result)(&answer) {
            ApiResult::Failed(ChannelError::Never(why)) => {
                ApiResult::Failed(ChannelError::Never(self.secret.scrub(&why)))
            }
            heard => heard,
        }
    }
}
