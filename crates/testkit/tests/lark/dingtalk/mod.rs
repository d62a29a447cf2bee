//! DingTalk.

mod api;
mod check;
mod conforms;
mod event;
mod hook;
mod line;
mod session;

use std::sync::Arc;

use channels::dingtalk::{DingTalkSettings, Dingtalk};
use ports::channel::{Destination, MessageRef};
use ports::secret_string::SecretString;
use testkit::fake_chat::{MovedClock, NoRandomness};
use testkit::fake_dingtalk::{CLIENT_ID, CLIENT_SECRET, CORP, FakeDingtalk, TEMPLATE};

pub(crate) fn settings(fake: &FakeDingtalk) -> DingTalkSettings {
    let url = fake.url().parse().expect("a URL");
    let mut settings =
        DingTalkSettings::new("dingtalk", CLIENT_ID, SecretString::new(CLIENT_SECRET), url);
    settings.card_template = Some(TEMPLATE.into());
    settings.corp_id = Some(CORP.into());
    settings
}

pub(crate) fn connector(
    settings: DingTalkSettings,
    faster: u32,
) -> (Arc<Dingtalk>, Arc<MovedClock>) {
    let clock = MovedClock::new(faster);
    (Arc::new(Dingtalk::new(settings, clock.clone(), Arc::new(NoRandomness))), clock)
}

pub(crate) fn group() -> Destination {
    Destination::Chat { chat: "cid1".into(), thread: None, direct: false }
}

pub(crate) fn posted(message: &str) -> MessageRef {
    MessageRef {
        chat: "cid1".into(),
        thread: None,
        direct: false,
        message: message.into(),
        at: None,
    }
}
