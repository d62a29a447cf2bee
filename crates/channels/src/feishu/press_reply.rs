//! The reply to a press: a toast for the person who pressed, and the card as it now is for everybody.

use ports::channel::{Busy, PressReply, Redraw};
use serde_json::{Value, json};

use super::render::render_card;
use super::settings::FeishuSettings;
use crate::card::{Card, CardWords, Language};

/// Both languages go along: the client shows the reader's own.
struct Toast {
    kind: &'static str,
    english: String,
    chinese: String,
}

impl Toast {
    fn new(kind: &'static str, english: &str, chinese: &str) -> Toast {
        Toast { kind, english: english.to_owned(), chinese: chinese.to_owned() }
    }

    fn both(kind: &'static str, say: impl Fn(CardWords) -> &'static str) -> Toast {
        Toast::new(kind, say(CardWords(Language::English)), say(CardWords(Language::Chinese)))
    }

    fn value(&self, language: Language) -> Value {
        let content = match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        };
        json!({
            "type": self.kind, "content": content,
            "i18n": {"zh_cn": self.chinese, "en_us": self.english},
        })
    }
}

pub(super) fn reply(told: &Result<PressReply, Busy>, settings: &FeishuSettings) -> Value {
    let (toast, redraw) = match told {
        Ok(PressReply::Taken(redraw)) => {
            (Toast::new("success", "Your answer is recorded.", "已记录你的决定。"), Some(redraw))
        }
        Ok(PressReply::Counted(redraw)) => (
            Toast::new(
                "info",
                "Your vote counts. Others are still asked.",
                "已计入你的意见，仍需其他人确认。",
            ),
            Some(redraw),
        ),
        Ok(PressReply::AskAgain(redraw)) => {
            (Toast::both("info", |words| words.once_more()), Some(redraw))
        }
        Ok(PressReply::AsItWas(redraw)) => {
            (Toast::both("info", |words| words.as_it_was()), Some(redraw))
        }
        Ok(PressReply::Already(redraw)) => (already(redraw, settings), Some(redraw)),
        Ok(PressReply::Changed(redraw)) => (
            Toast::new(
                "warning",
                "This has changed. Read it again before you answer.",
                "内容已变化，请重新阅读后再回答。",
            ),
            Some(redraw),
        ),
        Ok(PressReply::NotEntitled) => (
            Toast::new(
                "error",
                "You may not answer this. Nothing was changed.",
                "你无权回答此请求，未做任何更改。",
            ),
            None,
        ),
        Ok(PressReply::NotHere) => {
            (Toast::new("error", "This button does not work here.", "此按钮在这里无效。"), None)
        }
        Ok(PressReply::Invalid(why)) => (Toast::new("warning", why, why), None),
        Err(Busy) => (
            Toast::new(
                "error",
                "It could not be recorded. Press again in a moment.",
                "暂时无法记录，请稍后再按一次。",
            ),
            None,
        ),
    };
    let mut reply = json!({"toast": toast.value(settings.language)});
    if let Some(redraw) = redraw {
        reply["card"] = json!({"type": "raw", "data": redrawn(redraw, settings)});
    }
    reply
}

/// When it takes longer than the platform waits.
pub(super) fn received(settings: &FeishuSettings) -> Value {
    let toast = Toast::new("info", "Received. Working on it…", "已收到，正在处理…");
    json!({"toast": toast.value(settings.language)})
}

/// Who was faster, and when: it is the headline of the card.
fn already(redraw: &Redraw, settings: &FeishuSettings) -> Toast {
    let say = |language| {
        let mention = !redraw.posted.direct;
        Card::showing(&redraw.showing(), language, &settings.zone, mention).headline
    };
    Toast { kind: "info", english: say(Language::English), chinese: say(Language::Chinese) }
}

fn redrawn(redraw: &Redraw, settings: &FeishuSettings) -> Value {
    let (mention, since) = (!redraw.posted.direct, redraw.posted.at);
    render_card(&redraw.showing(), settings, mention, since.unwrap_or(redraw.hold.opened_at)).value
}
