//! What is well with an app and what is not, and where to click.

use ports::channel::{ChannelError, Checked};
use reqwest::Method;
use serde_json::Value;

use super::channel::Feishu;
use super::connection::address;
use super::keepalive::KeepaliveConfig;
use super::settings::FeishuMode;
use crate::limits::CLOCK_SKEW_MS_MAX;
use crate::wire::ApiCall;

/// What is needed to ask and to hear answers. Reading of all messages in groups is not among them:
/// people mention the bot.
const SCOPES: [(&str, &str); 3] = [
    ("im:message:send_as_bot", "sending and repainting cards, and texts"),
    ("im:message.p2p_msg:readonly", "messages of people to the bot"),
    ("im:message.group_at_msg:readonly", "messages in groups that mention the bot"),
];

pub(super) async fn check(feishu: &Feishu) -> Vec<Checked> {
    let settings = &feishu.settings;
    let mut checked = Vec::new();
    let date = match feishu.api.knock().await {
        Ok(date) => {
            checked.push(well("credentials"));
            date
        }
        Err(error) => {
            // Without them nothing else can be asked.
            checked.push(failed_check("credentials", error.to_string()));
            checked.extend(reception(feishu));
            return checked;
        }
    };
    checked.push(match date.map(|date| feishu.clock.now().as_ms().abs_diff(date.as_ms())) {
        Some(skew) if skew > CLOCK_SKEW_MS_MAX => failed_check(
            "clock",
            format!(
                "this machine's clock is {} s away from Feishu's; set it (NTP), or signed events \
                 are refused as old",
                skew / 1_000
            ),
        ),
        _ => well("clock"),
    });
    checked.push(match feishu.own_id().await {
        Ok(own) => well(&format!("bot ({own})")),
        Err(error) => failed_check(
            "bot",
            format!(
                "{error}; add the bot under Add Features → Bot and publish a version of the app"
            ),
        ),
    });
    checked.extend(scopes(feishu).await);
    if settings.mode == FeishuMode::LongConnection {
        let asked = address(feishu, &mut KeepaliveConfig::default()).await;
        checked.push(match asked {
            Ok(_) => well("long connection"),
            Err(error) => failed_check(
                "long connection",
                format!(
                    "{error}; only self-built apps have it. Choose it under Events & Callbacks → \
                     Event Configuration *and* Callback Configuration"
                ),
            ),
        });
    }
    checked.extend(reception(feishu));
    checked
}

/// Subscriptions cannot be asked for; what must be there is said.
fn reception(feishu: &Feishu) -> Vec<Checked> {
    let settings = &feishu.settings;
    if settings.mode == FeishuMode::LongConnection {
        return Vec::new();
    }
    let token = match settings.verification_token {
        Some(_) => well("verification token"),
        None => failed_check(
            "verification token",
            "`verification_token_env` is not set, so every request is refused; it stands under \
             Events & Callbacks → Encryption Strategy"
                .into(),
        ),
    };
    let encryption = match settings.encrypt_key {
        Some(_) => well("encryption"),
        None => failed_check(
            "encryption",
            "`encrypt_key_env` is not set, so requests come in the clear and are not signed; set a \
             key under Events & Callbacks → Encryption Strategy, and here"
                .into(),
        ),
    };
    vec![token, encryption]
}

/// One line for each permission that is not granted. A platform that does not tell is believed to
/// have granted them; what fails later says so.
async fn scopes(feishu: &Feishu) -> Vec<Checked> {
    let path = ["open-apis", "application", "v6", "scopes"];
    let call = ApiCall { method: Method::GET, path: &path, query: &[], body: None };
    match feishu.api.call(call).await {
        Ok(answer) => missing(&answer["data"]["scopes"]),
        Err(ChannelError::Again { why, .. }) => vec![failed_check("permissions", why)],
        Err(_) => {
            let names: Vec<&str> = SCOPES.iter().map(|(name, _)| *name).collect();
            vec![well(&format!("permissions (not told; needed are {})", names.join(", ")))]
        }
    }
}

fn missing(scopes: &Value) -> Vec<Checked> {
    let granted = |name: &str| {
        let names = match name {
            "im:message:send_as_bot" => vec![name, "im:message"],
            "im:message.group_at_msg:readonly" => {
                vec![name, "im:message.group_at_msg", "im:message.group_msg"]
            }
            "im:message.p2p_msg:readonly" => vec![name, "im:message.p2p_msg"],
            name => vec![name],
        };
        scopes.as_array().into_iter().flatten().any(|scope| {
            let is = scope["scope_name"].as_str();
            is.is_some_and(|is| names.contains(&is)) && scope["grant_status"] == 1
        })
    };
    let lacking: Vec<Checked> = SCOPES
        .iter()
        .filter(|(name, _)| !granted(name))
        .map(|(name, what)| {
            failed_check(
                &format!("permission {name}"),
                format!(
                    "not granted, so this does not work: {what}. Add it under Permissions & Scopes \
                     and publish a new version of the app"
                ),
            )
        })
        .collect();
    if lacking.is_empty() { vec![well("permissions")] } else { lacking }
}

fn well(what: &str) -> Checked {
    Checked { what: what.to_owned(), wrong: None }
}

fn failed_check(what: &str, why: String) -> Checked {
    Checked { what: what.to_owned(), wrong: Some(why) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_missing_permission_is_named() {
        let scope = |name: &str, status: u8| json!({"scope_name": name, "grant_status": status});
        let told = |scopes: Vec<Value>| {
            let checked = missing(&Value::Array(scopes));
            let names =
                checked.iter().filter(|one| one.wrong.is_some()).map(|one| one.what.clone());
            names.collect::<Vec<_>>()
        };
        let all: Vec<Value> = SCOPES.iter().map(|(name, _)| scope(name, 1)).collect();
        assert_eq!(told(all), Vec::<String>::new());
        let two = [
            "permission im:message.p2p_msg:readonly",
            "permission im:message.group_at_msg:readonly",
        ];
        assert_eq!(told(vec![scope("im:message", 1)]), two);
        let refused = vec![
            scope("im:message", 2),
            scope("im:message.p2p_msg", 1),
            scope("im:message.group_msg", 1),
        ];
        assert_eq!(told(refused), ["permission im:message:send_as_bot"]);
    }
}
