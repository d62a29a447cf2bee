//! The fakes, each as a [`Chat`](crate::scenarios::chat::Chat).

mod dingtalk;
mod feishu;
mod slack;
mod telegram;

pub(crate) use dingtalk::Dingtalk;
pub(crate) use feishu::Feishu;
pub(crate) use slack::Slack;
pub(crate) use telegram::Telegram;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::time::Timestamp;
use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::{Fault, Reply};

use crate::scenarios::chat::{How, Trouble};

/// When a message was written, by the platform's clock. A moment later than now: nobody answers in the
/// millisecond in which they are asked.
fn written(how: How) -> Timestamp {
    let now = SystemClock::new(None).now().as_ms();
    Timestamp::from_ms(if how == How::Before { now - 60_000 } else { now + 1_000 })
}

/// What goes wrong with a platform that says `too_many` when it is asked too often.
fn fault(trouble: Trouble, too_many: Reply) -> Fault {
    match trouble {
        Trouble::TooMany => Fault::Says(too_many),
        Trouble::Error => Fault::Says(Reply::new(500, json!({"ok": false, "msg": "internal"}))),
        Trouble::Garbage => Fault::Garbage,
        Trouble::Silence => Fault::Hangs,
        Trouble::Mute => Fault::Mute,
    }
}

/// Under which names events were delivered.
#[derive(Default)]
struct Delivered(Mutex<HashMap<String, Vec<String>>>);

impl Delivered {
    fn note(&self, event: &str, id: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(event.to_owned()).or_default().push(id.to_owned());
    }

    fn of(&self, event: &str) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(event).cloned().unwrap_or_default()
    }
}

/// A name that no other event has.
fn fresh(what: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{what}_{}", COUNT.fetch_add(1, Ordering::Relaxed) + 1)
}

/// The first thing inside for which this says something.
fn find<'a, T>(value: &'a Value, seen: &impl Fn(&'a Value) -> Option<T>) -> Option<T> {
    seen(value).or_else(|| match value {
        Value::Object(map) => map.values().find_map(|inner| find(inner, seen)),
        Value::Array(list) => list.iter().find_map(|inner| find(inner, seen)),
        _ => None,
    })
}
