use ports::model::{CallResult, WrittenCall};
use proptest::prelude::*;

use super::*;

fn user(text: &str) -> ModelMessage<'_> {
    ModelMessage::User { text: text.into() }
}

fn calls<'a>(ids: &[&'a str]) -> ModelMessage<'a> {
    let parts = ids.iter().map(|id| {
        let (tool_use_id, tool) = ((*id).into(), "shell".into());
        AssistantPart::Call(WrittenCall { tool_use_id, tool, input: "{}".into() })
    });
    ModelMessage::Assistant { parts: parts.collect() }
}

fn says(text: &str) -> ModelMessage<'_> {
    ModelMessage::Assistant { parts: vec![AssistantPart::Text(text.into())] }
}

fn results<'a>(ids: &[&'a str]) -> ModelMessage<'a> {
    let results = ids.iter().map(|id| CallResult {
        tool_use_id: (*id).into(),
        tool: "shell".into(),
        content: "ok".into(),
        is_error: false,
    });
    ModelMessage::Results { results: results.collect() }
}

fn request(messages: Vec<ModelMessage<'_>>) -> ModelRequest<'_> {
    ModelRequest { system: None, messages, tools: Vec::new().into() }
}

#[track_caller]
fn check(messages: Vec<ModelMessage<'_>>, wanted: &str) {
    let told = validate(&request(messages)).map_or_else(|why| why.to_string(), |()| "sound".into());
    assert_eq!(told, wanted);
}

#[test]
fn i22_sound_requests_pass() {
    check(vec![user("go")], "sound");
    check(vec![user("go"), user("now")], "sound");
    check(vec![user("go"), calls(&["a", "b"]), results(&["a", "b"])], "sound");
    check(vec![user("go"), says("hi"), user("on"), calls(&["a"]), results(&["a"])], "sound");
    check(
        vec![user("go"), calls(&["a"]), results(&["a"]), calls(&["b"]), results(&["b"])],
        "sound",
    );
}

#[test]
fn i22_every_broken_pair_is_named() {
    let missing = "the call `b` in message 1 has no result in the next message";
    check(vec![user("go"), calls(&["a", "b"]), results(&["a"])], missing);
    check(
        vec![user("go"), calls(&["a"]), user("x"), results(&["a"])],
        "the call `a` in message 1 has no result in the next message",
    );
    check(
        vec![user("go"), calls(&["a"])],
        "the call `a` in message 1 has no result in the next message",
    );
    check(
        vec![user("go"), calls(&["a"]), calls(&["b"]), results(&["b"])],
        "the call `a` in message 1 has no result in the next message",
    );
    check(
        vec![user("go"), calls(&["a"]), results(&["a", "a"])],
        "message 2 has a second result for `a`",
    );
    check(
        vec![user("go"), calls(&["a"]), results(&["a", "z"])],
        "message 2 has a result for `z`, which the message before it did not call",
    );
    check(
        vec![user("go"), calls(&["a"]), results(&["a"]), results(&["a"])],
        "message 3 has a result for `a`, which the message before it did not call",
    );
    check(
        vec![results(&["a"])],
        "message 0 has a result for `a`, which the message before it did not call",
    );
    check(
        vec![user("go"), calls(&["a", "b"]), results(&["b", "a"])],
        "the results in message 2 are not in the order of their calls",
    );
    check(vec![user("go"), calls(&["a", "a"])], "message 1 repeats the call id `a`");
    check(
        vec![user("go"), calls(&["a"]), results(&["a"]), calls(&["a"]), results(&["a"])],
        "message 3 repeats the call id `a`",
    );
    check(vec![user("go"), calls(&[""])], "message 1 has a call without an id");
}

#[test]
fn requests_without_anything_to_answer_are_refused() {
    check(vec![], "the request has no messages");
    check(vec![says("hi"), user("go")], "the first message is not a user's");
    check(vec![user(" ")], "message 0 is empty");
    check(vec![user("go"), calls(&[])], "message 1 is empty");
    check(vec![user("go"), says("")], "message 1 is empty");
    check(vec![user("go"), results(&[])], "message 1 is empty");
    check(
        vec![user("go"), says("done")],
        "the last message is the model's own: there is nothing for it to answer",
    );
}

/// The rules as Anthropic words them, on its own shape: messages alternate between the two roles
/// (neighbours of one role are one message), and a turn's results are the first blocks of the next
/// user message.
fn anthropic_takes(messages: &[ModelMessage<'_>]) -> bool {
    enum Block<'a> {
        Text,
        Call(&'a str),
        Result(&'a str),
    }
    let mut turns: Vec<(bool, Vec<Block<'_>>)> = Vec::new();
    for message in messages {
        let (by_user, blocks): (bool, Vec<Block<'_>>) = match message {
            ModelMessage::User { .. } | ModelMessage::Image { .. } => (true, vec![Block::Text]),
            ModelMessage::Results { results } => {
                (true, results.iter().map(|r| Block::Result(&r.tool_use_id)).collect())
            }
            ModelMessage::Assistant { parts } => {
                let blocks = parts.iter().map(|part| match part {
                    AssistantPart::Call(call) => Block::Call(&call.tool_use_id),
                    _ => Block::Text,
                });
                (false, blocks.collect())
            }
        };
        match turns.last_mut() {
            Some((role, held)) if *role == by_user => held.extend(blocks),
            _ => turns.push((by_user, blocks)),
        }
    }
    if turns.first().is_none_or(|(by_user, _)| !by_user) {
        return false;
    }
    let mut open: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for (by_user, blocks) in &turns {
        let mut text_seen = false;
        for block in blocks {
            match block {
                Block::Text => text_seen = true,
                Block::Call(id) if *by_user || !known.insert(*id) || id.is_empty() => return false,
                Block::Call(id) => open.push(id),
                Block::Result(id) => {
                    let Some(at) = open.iter().position(|known| known == id) else { return false };
                    if text_seen || !by_user {
                        return false;
                    }
                    open.remove(at);
                }
            }
        }
        if *by_user && !open.is_empty() {
            return false;
        }
    }
    open.is_empty()
}

/// The rules of OpenAI's chat completions: directly after an assistant message with calls come tool
/// messages, one for each id, before anything else.
fn openai_takes(messages: &[ModelMessage<'_>]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            ModelMessage::Results { results } => {
                for result in results {
                    let at = open.iter().position(|id| *id == result.tool_use_id);
                    let Some(at) = at else { return false };
                    open.remove(at);
                }
            }
            _ if !open.is_empty() => return false,
            ModelMessage::User { .. } | ModelMessage::Image { .. } => {}
            ModelMessage::Assistant { parts } => {
                open.extend(parts.iter().filter_map(|part| match part {
                    AssistantPart::Call(call) => Some(&*call.tool_use_id),
                    _ => None,
                }));
            }
        }
    }
    open.is_empty()
}

fn ids() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c", ""]), 0..4)
}

fn any_message() -> impl Strategy<Value = ModelMessage<'static>> {
    prop_oneof![
        Just(user("go")),
        Just(says("hi")),
        ids().prop_map(|ids| calls(&ids)),
        ids().prop_map(|ids| results(&ids)),
    ]
}

/// Messages that are sound or nearly so: one in a while is dropped or swapped with the next.
fn nearly_sound() -> impl Strategy<Value = Vec<ModelMessage<'static>>> {
    let damage = prop::option::of((any::<prop::sample::Index>(), any::<bool>()));
    (prop::collection::vec(0usize..4, 1..6), damage).prop_map(|(turns, damage)| {
        let mut messages = vec![user("go")];
        let mut next = 0;
        for count in turns {
            let ids: Vec<String> =
                (next..next + count).map(|number| format!("t{number}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            next += count;
            match ids.is_empty() {
                true => messages.extend([says("hm"), user("and?")]),
                false => {
                    messages.extend([calls(&ids).into_owned(), results(&ids).into_owned()]);
                }
            }
        }
        if let Some((index, drop)) = damage {
            let at = index.index(messages.len());
            match drop {
                true => drop_at(&mut messages, at),
                false => {
                    let next = (at + 1) % messages.len();
                    messages.swap(at, next);
                }
            }
        }
        messages
    })
}

fn drop_at(messages: &mut Vec<ModelMessage<'_>>, at: usize) {
    messages.remove(at);
}

proptest! {
    #[test]
    fn i22_what_passes_is_taken_by_both_providers(
        messages in prop_oneof![prop::collection::vec(any_message(), 0..8), nearly_sound()],
    ) {
        if validate(&request(messages.clone())).is_ok() {
            prop_assert!(anthropic_takes(&messages), "{:?}", messages);
            prop_assert!(openai_takes(&messages), "{:?}", messages);
        }
    }

    #[test]
    fn i22_what_both_providers_take_is_not_refused_for_its_pairing(messages in nearly_sound()) {
        if anthropic_takes(&messages) && openai_takes(&messages) {
            let told = validate(&request(messages));
            prop_assert!(matches!(told, Ok(()) | Err(PairingError::NothingNew)), "{:?}", told);
        }
    }
}
