//! DingTalk's API, as far as it is its own.

use std::sync::Arc;

use ports::channel::ChannelError;
use ports::clock::Clock;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::api_result::api_result;
use super::settings::DingTalkSettings;
use crate::limits::DINGTALK_TOKEN_LEFT_MS;
use crate::wire::{ApiCall, ApiResult, AppApi, AppPlatform};

const UNKNOWN_APP: &str = "DingTalk does not know this app; check `client_id` and the client secret \
                           (developer console → Credentials)";

static PLATFORM: AppPlatform = AppPlatform {
    name: "DingTalk",
    api_result: |answer| {
        api_result(answer.status, answer.json(), answer.seconds(RETRY_AFTER.as_str()))
    },
    token_header: |token| ("x-acs-dingtalk-access-token", token.to_owned()),
    token_path: &["v1.0", "oauth2", "accessToken"],
    token_body: |id, secret| json!({"appKey": id, "appSecret": secret}),
    token_keys: ("accessToken", "expireIn"),
    token_left_ms: DINGTALK_TOKEN_LEFT_MS,
    unknown_app: UNKNOWN_APP,
};

pub(super) struct DingTalkApi(AppApi);

impl DingTalkApi {
    pub(super) fn new(settings: &DingTalkSettings, clock: Arc<dyn Clock>) -> DingTalkApi {
        let DingTalkSettings { base_url, client_id, client_secret, .. } = settings;
        let (base_url, id, secret) = (base_url.clone(), client_id.clone(), client_secret.clone());
        DingTalkApi(AppApi::new(&PLATFORM, base_url, id, secret, clock))
    }

    /// With our token.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, ChannelError> {
        self.0.call(ApiCall { method, path: &parts(path), query: &[], body: Some(body) }).await
    }

    /// Without a token: where to connect.
    pub(super) async fn open(&self, path: &str, body: &Value) -> Result<Value, ChannelError> {
        self.0.open(&parts(path), ("accept", "application/json"), body, UNKNOWN_APP).await
    }

    /// To an address that they gave us, which is its own leave.
    pub(super) async fn post(&self, url: Url, body: &Value) -> Result<(), ChannelError> {
        match self.0.post(url, body).await? {
            // A page of some proxy is no word of theirs.
            ApiResult::Done(said) if said["errcode"] != 0 => {
                Err(ChannelError::Unknown("what answers there is not DingTalk".into()))
            }
            ApiResult::Done(_) => Ok(()),
            ApiResult::Failed(error) => Err(error),
            ApiResult::BadToken => Err(ChannelError::Never("DingTalk takes nothing there".into())),
        }
    }

    pub(super) async fn knock(&self) -> Result<Option<domain::time::Timestamp>, ChannelError> {
        self.0.knock().await
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').skip(1).collect()
}
