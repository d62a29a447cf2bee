//! Feishu.

mod api;
mod check;
mod conforms;
mod hook;
mod line;
mod story;

use std::sync::Arc;

use channels::feishu::{Feishu, FeishuSettings};
use ports::channel::{Destination, MessageRef};
use ports::secret_string::SecretString;
use testkit::fake_chat::{MovedClock, NoRandomness};
use testkit::fake_feishu::{APP_ID, APP_SECRET, FakeFeishu};

pub(crate) fn settings(fake: &FakeFeishu) -> FeishuSettings {
    let url = fake.url().parse().expect("a URL");
    FeishuSettings::new("feishu", APP_ID, SecretString::new(APP_SECRET), url)
}

pub(crate) fn connector(settings: FeishuSettings) -> (Arc<Feishu>, Arc<MovedClock>) {
    faster(settings, 1)
}

/// With waits that are so many times shorter.
pub(crate) fn faster(settings: FeishuSettings, times: u32) -> (Arc<Feishu>, Arc<MovedClock>) {
    let clock = MovedClock::new(times);
    (Arc::new(Feishu::new(settings, clock.clone(), Arc::new(NoRandomness))), clock)
}

pub(crate) fn group() -> Destination {
    Destination::Chat { chat: "oc_1".into(), thread: None, direct: false }
}

pub(crate) fn posted(message: &str) -> MessageRef {
    MessageRef {
        chat: "oc_1".into(),
        thread: None,
        direct: false,
        message: message.into(),
        at: None,
    }
}
