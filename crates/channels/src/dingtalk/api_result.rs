//! What an answer of the API means, by remedy.

use std::time::Duration;

use domain::visible::visible;
use ports::channel::ChannelError;
use serde_json::Value;

use crate::card::clipped;
use crate::limits::{DINGTALK_BLOCKED, PAUSE_MAX, SAID_CHARACTERS_MAX};
use crate::wire::ApiResult;

/// `after`: when they say that it may be tried again.
pub(super) fn api_result(status: u16, body: Option<Value>, after: Option<Duration>) -> ApiResult {
    let of = |key: &str| body.as_ref().map(|body| &body[key]).unwrap_or(&Value::Null);
    // The older API has numbers, and no status.
    let number = of("errcode").as_i64();
    let code = of("code").as_str().unwrap_or_default();
    let said = || {
        let text = [of("message"), of("errmsg")].into_iter().find_map(Value::as_str);
        let text = clipped(&visible(text.unwrap_or_default()), SAID_CHARACTERS_MAX);
        match (code, number) {
            ("", None) => format!("DingTalk answered {status}"),
            ("", Some(number)) => format!("DingTalk says {number}: {text}"),
            (code, _) => format!("DingTalk says {}: {text}", clipped(&visible(code), 80)),
        }
    };
    let again = |after: Option<Duration>| {
        let after = after.map(|after| after.min(PAUSE_MAX));
        ChannelError::Again { after, why: said() }
    };
    let throttled = code.contains("QpsLimit") || code.contains("Throttling") || code == "90002";
    let failed = match (status, number) {
        // Too much from this machine: nothing is taken for some minutes.
        _ if of("status") == 1111 => {
            let minutes =
                of("wait").as_u64().map(|wait| Duration::from_secs(wait.saturating_mul(60)));
            again(minutes.or(Some(DINGTALK_BLOCKED)))
        }
        (401, _) => return ApiResult::BadToken,
        (429, _) => again(after),
        _ if throttled => again(after),
        (_, Some(90002 | 90018)) => again(after),
        (200..=299, None | Some(0)) if body.is_some() => {
            return ApiResult::Done(body.unwrap_or_default());
        }
        (503, _) => again(after),
        (500.., _) => ChannelError::Unknown(said()),
        _ if is_gone(code) => ChannelError::Gone(said()),
        (300..=399, _) => ChannelError::Never(format!(
            "DingTalk answered {status}, and redirects are not followed; check `base_url`"
        )),
        (200..=299, None) => ChannelError::Unknown(format!(
            "DingTalk answered {status} with something that is not its own"
        )),
        _ => ChannelError::Never(format!("{}{}", said(), remedy(status, code))),
    };
    ApiResult::Failed(failed)
}

/// The card is no more, however they spell it. A template that is not there is another matter.
fn is_gone(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    let card = code.contains("card") || code.contains("outtrackid");
    card && !code.contains("template") && (code.contains("notexist") || code.contains("notfound"))
}

/// Where to click.
fn remedy(status: u16, code: &str) -> &'static str {
    match (status, code) {
        (_, "invalidClientIdOrSecret" | "InvalidAppKey" | "invalid.client") => {
            "; check `client_id` and the client secret (developer console → Credentials)"
        }
        (_, code) if code.contains("robotCode") || code.contains("robot.notExist") => {
            "; check `robot_code` (developer console → Robot), and that the robot is published"
        }
        (_, code) if code.contains("emplate") => {
            "; check `card_template`: its id ends in `.schema`, and it must be published for this app"
        }
        (403, _) => {
            "; a permission is missing: add it under Permissions (robot messages, interactive cards) and publish the app"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(status: u16, body: Value) -> String {
        match api_result(status, Some(body), Some(Duration::from_secs(7))) {
            ApiResult::Done(_) => "done".into(),
            ApiResult::BadToken => "bad token".into(),
            ApiResult::Failed(ChannelError::Again { after, .. }) => {
                format!("again in {}", after.unwrap().as_secs())
            }
            ApiResult::Failed(ChannelError::Unknown(_)) => "unknown".into(),
            ApiResult::Failed(ChannelError::Never(_)) => "never".into(),
            ApiResult::Failed(ChannelError::Gone(_)) => "gone".into(),
            ApiResult::Failed(ChannelError::Moved(_)) => "moved".into(),
        }
    }

    #[test]
    fn each_answer_has_its_remedy() {
        let code = |code: &str| json!({"code": code, "message": "m", "requestid": "r"});
        for (status, body, wanted) in [
            (200, json!({"processQueryKey": "k"}), "done"),
            (200, json!({"errcode": 0, "errmsg": "ok"}), "done"),
            (401, code("InvalidAuthentication"), "bad token"),
            (403, code("Forbidden.AccessDenied.QpsLimitForApi"), "again in 7"),
            (400, code("90002"), "again in 7"),
            (200, json!({"errcode": 90002, "errmsg": "slow"}), "again in 7"),
            (429, json!({}), "again in 7"),
            (200, json!({"status": 1111, "wait": 5}), "again in 300"),
            (200, json!({"status": 1111}), "again in 300"),
            (503, code("ServiceUnavailable"), "again in 7"),
            (500, code("unknownError"), "unknown"),
            (403, code("Forbidden.AccessDenied.AccessTokenPermissionDenied"), "never"),
            (400, code("invalidParameter"), "never"),
            (200, json!({"errcode": 310000, "errmsg": "sign not match"}), "never"),
            (302, json!({}), "never"),
            (400, code("param.cardNotExist"), "gone"),
            (404, code("outTrackId.notFound"), "gone"),
            (400, code("param.cardTemplateNotExist"), "never"),
        ] {
            assert_eq!(told(status, body.clone()), wanted, "{status} {body}");
        }
        // However long they say: it is looked at again in good time.
        let for_ever = told(200, json!({"status": 1111, "wait": u64::MAX}));
        assert_eq!(for_ever, format!("again in {}", PAUSE_MAX.as_secs()));
        assert!(matches!(api_result(200, None, None), ApiResult::Failed(ChannelError::Unknown(_))));
        assert!(matches!(api_result(404, None, None), ApiResult::Failed(ChannelError::Never(_))));
    }
}
