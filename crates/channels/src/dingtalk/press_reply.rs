//! The reply to a press. What everybody may see goes into the card; a refusal only to the person who pressed.

use ports::channel::{Busy, PressReply, Redraw};
use serde_json::{Value, json};

use super::card::variables;
use super::settings::DingTalkSettings;
use crate::card::{Card, Language};

pub(super) fn reply(told: &Result<PressReply, Busy>, settings: &DingTalkSettings) -> Value {
    match told {
        Ok(
            PressReply::Taken(redraw)
            | PressReply::Counted(redraw)
            | PressReply::Already(redraw)
            | PressReply::AskAgain(redraw)
            | PressReply::AsItWas(redraw)
            | PressReply::Changed(redraw),
        ) => {
            let card = drawn(redraw, settings);
            json!({"cardUpdateOptions": options(), "cardData": {"cardParamMap": card}})
        }
        Ok(PressReply::NotEntitled) => private(
            settings,
            "You may not answer this. Nothing was changed.",
            "你无权回答此请求，未做任何更改。",
        ),
        Ok(PressReply::NotHere) => {
            private(settings, "This button does not work here.", "此按钮在这里无效。")
        }
        Ok(PressReply::Invalid(why)) => private(settings, why, why),
        Err(Busy) => private(
            settings,
            "It could not be recorded. Press again in a moment.",
            "暂时无法记录，请稍后再按一次。",
        ),
    }
}

/// When it takes longer than the platform waits.
pub(super) fn received(settings: &DingTalkSettings) -> Value {
    private(settings, "Received. Working on it…", "已收到，正在处理…")
}

/// Only what is named changes; without this everything else would be gone.
pub(super) fn options() -> Value {
    json!({"updateCardDataByKey": true, "updatePrivateDataByKey": true})
}

fn private(settings: &DingTalkSettings, english: &str, chinese: &str) -> Value {
    let text = match settings.language {
        Language::English => english,
        Language::Chinese => chinese,
    };
    json!({
        "cardUpdateOptions": options(),
        "userPrivateData": {"cardParamMap": {"statusText": text}},
    })
}

fn drawn(redraw: &Redraw, settings: &DingTalkSettings) -> Value {
    let mention = !redraw.posted.direct;
    let showing = redraw.showing();
    let card = Card::showing(&showing, settings.language, &settings.zone, mention);
    variables(&settings.bounded(card, &showing)).value
}
