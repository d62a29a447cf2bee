//! What people do in chats: they press what they see, what they saw a while ago, and what others
//! forwarded; twice, late, against one another. And somebody tries buttons that are not theirs.

use std::sync::Arc;

use chat::ChatService;
use domain::hold::Question;
use domain::time::Timestamp;
use ports::channel::{ButtonAction, Form, Inbox as _, Nonce, Operator, Pointer, Press, PressReply};
use serde_json::{Map, Value, json};

use super::platform::{Pressed, Word};
use super::{NAME, account_of};
use crate::sim::mark::Mark;
use crate::sim::node::NodeNo;
use crate::sim::world::{EPOCH_MS, Inside, World};

/// One delivery of one press.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Gesture {
    /// Of the platform's record of it.
    index: usize,
    press: Press,
    /// What is wrong with it.
    marks: Vec<Mark>,
    late_ms: u64,
}

/// So often a platform delivers what could not be taken.
const DELIVERIES_MAX: u32 = 3;

/// Presses to deliver now.
pub(in crate::sim) fn gestures(inside: &mut Inside) -> Vec<Gesture> {
    let Some(mut first) = pressed(inside) else { return Vec::new() };
    match inside.rng.below(100) {
        0..=9 => {
            first.marks.push(Mark::both("press: repeated"));
            vec![first.clone(), first]
        }
        10..=15 => {
            inside.fault("press: lost");
            Vec::new()
        }
        16..=30 => match pressed(inside) {
            Some(mut second) => {
                let [overtaken, overtakes] = Mark::overtaken("press: overtaken by a later one");
                first.marks.push(overtaken);
                second.marks.push(overtakes);
                vec![Gesture { late_ms: 500 + inside.rng.below(4_000), ..first }, second]
            }
            None => vec![first],
        },
        _ => vec![first],
    }
}

fn pressed(inside: &mut Inside) -> Option<Gesture> {
    let count = inside.platform.messages.len() as u64;
    if count == 0 {
        return None;
    }
    // What still waits, or what was asked last, is what most people look at.
    let waits = |at: &usize| {
        inside.platform.messages[*at].looks.last().is_some_and(|look| look.hold.is_pending())
    };
    let waiting: Vec<usize> = (0..count as usize).filter(waits).collect();
    let at = if !waiting.is_empty() && inside.rng.percent(70) {
        *inside.rng.pick(&waiting)
    } else {
        let among = if inside.rng.percent(80) { count.min(4) } else { count };
        (count - 1 - inside.rng.below(among)) as usize
    };
    let message = &inside.platform.messages[at];
    let (mut id, mut chat) = (message.id.clone(), message.chat.clone());
    let (key, looks) = (message.key.clone(), message.looks.clone());
    let mut marks = Vec::new();
    let look = match looks.as_slice() {
        [old @ .., _] if !old.is_empty() && inside.rng.percent(15) => {
            marks.push(Mark::one("press: on an old look"));
            inside.rng.pick(old).clone()
        }
        [.., newest] => newest.clone(),
        [] => return None,
    };
    let who = *inside.rng.pick(&["ana", "ana", "bob", "bob", "eve"]);
    let said = match &look.hold.question {
        Question::Choose { options, .. } => {
            ButtonAction::Option(1 + inside.rng.below(options.len() as u64) as u8)
        }
        Question::Fill { .. } if inside.rng.percent(70) => ButtonAction::Form,
        _ if inside.rng.percent(70) => ButtonAction::Allow,
        _ => ButtonAction::Deny,
    };
    let (mut identity, mut nonce, mut forged) = (account_of(who)?, look.nonce.clone(), true);
    match inside.rng.below(100) {
        0..=3 => {
            marks.push(Mark::one("press: of a stranger"));
            identity = "u-nobody".into();
        }
        4..=7 => {
            marks.push(Mark::one("press: on a forwarded card"));
            (id, chat) = ("m-forwarded".into(), "elsewhere".into());
        }
        8..=11 => {
            marks.push(Mark::one("press: with a made-up nonce"));
            nonce = Nonce::make(inside.bits());
        }
        _ => forged = false,
    }
    let event = format!("e{}", inside.next_serial());
    let at = Timestamp::from_ms(EPOCH_MS + inside.now as i64);
    let (hold, seen) = (look.hold.id, look.hold.digest());
    let index = inside.platform.pressed.len();
    let message = id.clone();
    let filled = match (&look.hold.question, said) {
        (Question::Fill { schema: None }, ButtonAction::Form) => {
            Some(json!({"text": "as you like"}))
        }
        (Question::Fill { .. }, ButtonAction::Form) => Some(json!({"n": inside.rng.below(5)})),
        _ => None,
    };
    let form = Form { fields: filled.as_ref().map(typed).unwrap_or_default(), options: vec![] };
    let told = vec![];
    let pressed = Pressed { who, hold, seen, said, filled, message, forged, told };
    inside.platform.pressed.push(pressed);
    let operator = Some(Operator::named(identity));
    let pointer = Pointer { key, said, nonce };
    let is_on_it = !forged;
    let press = Press { event, operator, chat, message: id, pointer, is_on_it, form, at };
    Some(Gesture { index, press, marks, late_ms: 0 })
}

/// Forms of chats carry texts, whatever was meant.
fn typed(filled: &Value) -> Map<String, Value> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = filled.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.clone(), text(value).into())).collect()
}

impl Gesture {
    pub(in crate::sim) async fn carry_out(self, world: Arc<World>, node: NodeNo, to: ChatService) {
        let Gesture { index, press, marks, late_ms } = self;
        if late_ms > 0 {
            world.wait(node, "press", late_ms).await;
        }
        world.inside().arrived(&marks);
        for _ in 0..DELIVERIES_MAX {
            world.inside().note(format!("n{node} PRESSED {} {}", press.event, press.pointer));
            let word = match to.pressed(NAME, press.clone()).await {
                Ok(PressReply::Taken(it) | PressReply::Counted(it)) => Word::Counts(it.hold),
                Ok(PressReply::Already(it)) => Word::Already(it.hold),
                Ok(_) => Word::Refused,
                Err(_) => Word::Busy,
            };
            let is_busy = matches!(word, Word::Busy);
            {
                let mut inside = world.inside();
                inside.note(format!("n{node} TELLS {}: {}", press.event, word.name()));
                let journal = inside.journal();
                inside.platform.pressed[index].told.push((word, journal));
            }
            if !is_busy {
                return;
            }
            world.wait(node, "press again", 2_000).await;
        }
    }
}

impl Word {
    fn name(&self) -> String {
        match self {
            Word::Counts(hold) => format!("it counts, {} is {}", hold.id, hold.state.name()),
            Word::Already(hold) => format!("{} is {} already", hold.id, hold.state.name()),
            Word::Refused => "refused".into(),
            Word::Busy => "try later".into(),
        }
    }
}
