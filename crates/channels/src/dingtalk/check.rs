//! What is well with an app and what is not, and where to click.

use ports::channel::Checked;

use super::channel::Dingtalk;
use super::connection::invitation;
use super::settings::DingTalkMode;
use crate::limits::CLOCK_SKEW_MS_MAX;

pub(super) async fn check(dingtalk: &Dingtalk) -> Vec<Checked> {
    let settings = &dingtalk.settings;
    let mut checked = Vec::new();
    match dingtalk.api.knock().await {
        Ok(date) => {
            checked.push(well("credentials"));
            let now = dingtalk.clock.now();
            checked.push(match date.map(|date| now.as_ms().abs_diff(date.as_ms())) {
                Some(skew) if skew > CLOCK_SKEW_MS_MAX => failed_check(
                    "clock",
                    format!(
                        "this machine's clock is {} s away from DingTalk's; set it (NTP), or signed \
                         requests are refused as old",
                        skew / 1_000
                    ),
                ),
                _ => well("clock"),
            });
        }
        Err(error) => checked.push(failed_check("credentials", error.to_string())),
    }
    match &settings.mode {
        DingTalkMode::Stream => checked.push(match invitation(dingtalk).await {
            Ok(_) => well("stream"),
            Err(error) => failed_check(
                "stream",
                format!(
                    "{error}; choose Stream mode for the robot (developer console → Robot) and \
                     publish the app"
                ),
            ),
        }),
        DingTalkMode::Webhook(webhook) if settings.card_template.is_some() => {
            checked.push(match (&webhook.card_secret, &webhook.card_route) {
                (Some(_), Some(_)) => well("card callbacks"),
                _ => failed_check(
                    "card callbacks",
                    "`card_secret_env` and `card_route` are not both set, so presses of cards are \
                     refused; register the address with /v1.0/card/callbacks/register"
                        .into(),
                ),
            });
        }
        DingTalkMode::Webhook(_) => {}
    }
    checked.push(match &settings.card_template {
        Some(template) if template.ends_with(".schema") => well("card template"),
        Some(_) => failed_check(
            "card template",
            "an id of a template ends in `.schema`; copy it from the card platform (Card Builder → \
             your template)"
                .into(),
        ),
        None => failed_check(
            "card template",
            "`card_template` is not set: questions are shown as messages without buttons, which \
             cannot be repainted. docs/guide/dingtalk.md says how to make one"
                .into(),
        ),
    });
    checked
}

fn well(what: &str) -> Checked {
    Checked { what: what.to_owned(), wrong: None }
}

fn failed_check(what: &str, why: String) -> Checked {
    Checked { what: what.to_owned(), wrong: Some(why) }
}
