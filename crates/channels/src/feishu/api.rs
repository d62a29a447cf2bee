//! Feishu's API, as far as it is its own.

use std::sync::Arc;

use ports::clock::Clock;
use reqwest::header::RETRY_AFTER;
use serde_json::json;

use super::api_result::api_result;
use super::settings::FeishuSettings;
use crate::limits::FEISHU_TOKEN_LEFT_MS;
use crate::wire::{AppApi, AppPlatform};

static PLATFORM: AppPlatform = AppPlatform {
    name: "Feishu",
    api_result: |answer| {
        let reset = answer.seconds("x-ogw-ratelimit-reset");
        let reset = reset.or_else(|| answer.seconds(RETRY_AFTER.as_str()));
        api_result(answer.status, answer.json(), reset)
    },
    token_header: |token| ("authorization", format!("Bearer {token}")),
    token_path: &["open-apis", "auth", "v3", "tenant_access_token", "internal"],
    token_body: |id, secret| json!({"app_id": id, "app_secret": secret}),
    token_keys: ("tenant_access_token", "expire"),
    token_left_ms: FEISHU_TOKEN_LEFT_MS,
    unknown_app: "Feishu refuses our app",
};

pub(super) fn api(settings: &FeishuSettings, clock: Arc<dyn Clock>) -> AppApi {
    let FeishuSettings { base_url, app_id, app_secret, .. } = settings;
    AppApi::new(&PLATFORM, base_url.clone(), app_id.clone(), app_secret.clone(), clock)
}
