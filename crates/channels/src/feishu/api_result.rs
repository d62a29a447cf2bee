//! What an answer of the API means, by remedy.

use std::time::Duration;

use domain::visible::visible;
use ports::channel::ChannelError;
use serde_json::Value;

use crate::card::clipped;
use crate::limits::{PAUSE_MAX, SAID_CHARACTERS_MAX};
use crate::wire::ApiResult;

/// The token is old, of another app, or none.
const BAD_TOKEN: [i64; 3] = [99991663, 99991664, 99991668];
/// Too much at once: of the whole app, of one message, of one chat.
const TOO_FAST: [i64; 3] = [99991400, 230020, 11232];
/// Trouble of theirs that passes.
const PASSING: [i64; 7] = [1, 1500, 2200, 5000, 55001, 230049, 1000040343];
/// The message was taken back, deleted, or is older than updates may be.
const GONE: [i64; 4] = [230011, 230031, 230075, 230110];

/// `reset`: when they say that the rate is free again.
pub(super) fn api_result(status: u16, body: Option<Value>, reset: Option<Duration>) -> ApiResult {
    let code = body.as_ref().and_then(|body| body["code"].as_i64());
    let said = || {
        let text = body.as_ref().and_then(|body| body["msg"].as_str()).unwrap_or_default();
        let text = clipped(&visible(text), SAID_CHARACTERS_MAX);
        match code {
            Some(code) => format!("Feishu says {code}: {text}"),
            None => format!("Feishu answered {status}"),
        }
    };
    let after = reset.map(|reset| reset.min(PAUSE_MAX));
    let failed = match (status, code) {
        (200..=299, Some(0)) => return ApiResult::Done(body.unwrap_or_default()),
        (_, Some(code)) if BAD_TOKEN.contains(&code) => return ApiResult::BadToken,
        (429, _) => ChannelError::Again { after, why: said() },
        (_, Some(code)) if TOO_FAST.contains(&code) => ChannelError::Again { after, why: said() },
        (503, _) => ChannelError::Again { after, why: said() },
        // A proxy on the way gave up; what lies behind may have gone on.
        (500.., _) => ChannelError::Unknown(said()),
        (_, Some(code)) if PASSING.contains(&code) => ChannelError::Again { after, why: said() },
        (_, Some(code)) if GONE.contains(&code) => ChannelError::Gone(said()),
        (300..=399, _) => ChannelError::Never(format!(
            "Feishu answered {status}, and redirects are not followed; check `base_url`"
        )),
        (200..=299, None) => ChannelError::Unknown(format!(
            "Feishu answered {status} with something that is not its own"
        )),
        (_, code) => ChannelError::Never(format!("{}{}", said(), remedy(code))),
    };
    ApiResult::Failed(failed)
}

/// Where to click. The platform's own words rarely say it.
pub(super) fn remedy(code: Option<i64>) -> &'static str {
    match code {
        Some(10003 | 10014 | 99991543) => {
            "; check `app_id` and the app secret (developer console → Credentials & Basic Info)"
        }
        Some(403 | 514 | 1000040344) => {
            "; check `app_id` and the app secret, and that it is a self-built app: others have no long \
             connection"
        }
        Some(1000040350) => {
            "; more than 50 connections of this app are open: end what else is connected with it"
        }
        Some(99991661) => "; the request had no token",
        Some(99991672 | 230027) => {
            "; a permission is missing: add it under Permissions & Scopes and publish a new version of the app"
        }
        Some(99991401) => "; this machine's address is not in the app's IP allow-list",
        Some(230002) => "; the bot is not in this chat: add it in the group's settings",
        Some(230006 | 11205) => {
            "; the app has no bot: add it under Add Features → Bot and publish a new version"
        }
        Some(230013) => {
            "; this person may not use the app: widen its availability under Version Management"
        }
        Some(230001 | 99992351 | 99992361) => {
            "; it does not know this chat or person; ids of people are valid for one app only"
        }
        Some(230025) => "; it is larger than Feishu takes",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(status: u16, code: i64) -> String {
        let body = json!({"code": code, "msg": "said\u{202e}"});
        match api_result(status, Some(body), Some(Duration::from_secs(7))) {
            ApiResult::Done(_) => "done".into(),
            ApiResult::BadToken => "bad token".into(),
            ApiResult::Failed(ChannelError::Again { after, why }) => {
                assert!(!why.contains('\u{202e}'), "what they say is made visible");
                format!("again in {:?}", after.unwrap())
            }
            ApiResult::Failed(ChannelError::Unknown(_)) => "unknown".into(),
            ApiResult::Failed(ChannelError::Never(why)) => {
                assert!(why.contains(&code.to_string()) || status == 302, "{why}");
                "never".into()
            }
            ApiResult::Failed(ChannelError::Gone(_)) => "gone".into(),
            ApiResult::Failed(ChannelError::Moved(_)) => "moved".into(),
        }
    }

    #[test]
    fn each_answer_has_its_remedy() {
        for (status, code, wanted) in [
            (200, 0, "done"),
            (200, 99991663, "bad token"),
            (400, 99991664, "bad token"),
            (401, 99991668, "bad token"),
            (429, 99991400, "again in 7s"),
            (400, 99991400, "again in 7s"),
            (200, 230020, "again in 7s"),
            (200, 230049, "again in 7s"),
            (503, 1, "again in 7s"),
            (500, 1500, "unknown"),
            (502, 0, "unknown"),
            (400, 230011, "gone"),
            (400, 230031, "gone"),
            (400, 230110, "gone"),
            (400, 230002, "never"),
            (200, 230025, "never"),
            (403, 99991672, "never"),
            (302, 0, "never"),
            (404, 12345, "never"),
            (200, 1, "again in 7s"),
            (200, 1000040343, "again in 7s"),
            (200, 403, "never"),
            (200, 514, "never"),
            (200, 1000040344, "never"),
            (200, 1000040350, "never"),
        ] {
            assert_eq!(told(status, code), wanted, "{status} {code}");
        }
        for code in [403, 514, 1000040344, 1000040350] {
            assert_ne!(remedy(Some(code)), "", "{code}: where to look is said");
        }
    }

    #[test]
    fn what_is_not_theirs_is_not_believed() {
        let page = |status| api_result(status, None, None);
        assert!(matches!(page(200), ApiResult::Failed(ChannelError::Unknown(_))));
        assert!(matches!(page(502), ApiResult::Failed(ChannelError::Unknown(_))));
        assert!(matches!(page(404), ApiResult::Failed(ChannelError::Never(_))));
        assert!(matches!(page(429), ApiResult::Failed(ChannelError::Again { .. })));
        let long = api_result(429, None, Some(Duration::from_secs(1_000_000)));
        assert!(matches!(
            long,
            ApiResult::Failed(ChannelError::Again { after: Some(PAUSE_MAX), .. })
        ));
    }
}
