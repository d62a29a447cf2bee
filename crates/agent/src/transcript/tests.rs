use std::sync::Arc;

use domain::budget::Spent;
use domain::id::{MessageId, RunId, SessionId};
use domain::message::Origin;
use domain::person::PersonId;
use domain::session::{Queued, Run, RunState};
use domain::time::Timestamp;
use domain::tool::{Confirm, Effects, Place, Tool};
use proptest::prelude::*;

use super::*;
use crate::offer::tool_offer;
use crate::validate::{PairingError, validate};

fn call_id(number: u32) -> CallId {
    CallId::new(1, u128::from(number))
}

fn message(role: Role, origin: Origin, parts: Vec<Part>) -> Arc<Message> {
    let at = Timestamp::from_ms(7);
    let login_makers = Default::default();
    Arc::new(Message { id: MessageId::new(1, 99), role, origin, by: None, login_makers, parts, at })
}

fn user(text: &str) -> Arc<Message> {
    message(Role::User, Origin::Own, vec![Part::Text(text.into())])
}

fn call(number: u32, tool_use_id: &str) -> Part {
    Part::ToolCall {
        call: call_id(number),
        tool_use_id: tool_use_id.into(),
        tool: "shell".into(),
        input: format!("{{\"n\": {number}}}"),
    }
}

fn calls(numbers: &[u32]) -> Arc<Message> {
    let parts = numbers.iter().map(|number| call(*number, &format!("toolu_{number}"))).collect();
    message(Role::Assistant, Origin::Own, parts)
}

fn result(number: u32) -> Part {
    Part::ToolResult {
        call: call_id(number),
        tool_use_id: format!("toolu_{number}"),
        tool: "shell".into(),
        result: ToolResult::output(format!("out {number}")),
    }
}

fn results(numbers: &[u32]) -> Arc<Message> {
    let parts = numbers.iter().map(|number| result(*number)).collect();
    message(Role::Tool, Origin::Own, parts)
}

fn says(text: &str) -> Arc<Message> {
    message(Role::Assistant, Origin::Own, vec![Part::Text(text.into())])
}

fn session(transcript: Vec<Arc<Message>>) -> Session {
    Session { transcript: transcript.into_iter().collect(), ..Session::begin(SessionId::new(1, 1)) }
}

/// The request of a session whose agent has neither instructions nor tools.
fn bare(session: &Session) -> ModelRequest<'_> {
    build_request(session, None, &[])
}

/// A request in a few words: `user: …`, `model: text, toolu_1`, `results: toolu_1=out 1`.
fn picture(request: &ModelRequest<'_>) -> String {
    let lines = request.messages.iter().map(|message| match message {
        ModelMessage::User { text } => format!("user: {text}"),
        ModelMessage::Image { label, .. } => format!("picture: {label}"),
        ModelMessage::Assistant { parts } => {
            let parts = parts.iter().map(|part| match part {
                AssistantPart::Text(text) => text.clone(),
                AssistantPart::Reasoning { text, .. } => format!("({text})").into(),
                AssistantPart::Call(call) => call.tool_use_id.clone(),
            });
            format!("model: {}", parts.collect::<Vec<_>>().join(", "))
        }
        ModelMessage::Results { results } => {
            let results = results.iter().map(|r| format!("{}={}", r.tool_use_id, r.content));
            format!("results: {}", results.collect::<Vec<_>>().join(", "))
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(transcript: Vec<Arc<Message>>, wanted: &str) {
    let session = session(transcript);
    let request = bare(&session);
    assert_eq!(picture(&request), wanted);
    assert_eq!(validate(&request), Ok(()));
}

#[test]
fn i25_results_stand_in_the_order_of_their_calls() {
    check(
        vec![user("go"), calls(&[1, 2, 3]), results(&[3, 1, 2])],
        "user: go\nmodel: toolu_1, toolu_2, toolu_3\nresults: toolu_1=out 1, toolu_2=out 2, toolu_3=out 3",
    );
}

#[test]
fn i22_results_in_several_messages_are_one_answer() {
    check(
        vec![user("go"), calls(&[1, 2]), results(&[2]), user("hurry"), results(&[1])],
        "user: go\nmodel: toolu_1, toolu_2\nresults: toolu_1=out 1, toolu_2=out 2\nuser: hurry",
    );
}

#[test]
fn messages_in_a_row_stay_apart() {
    check(
        vec![user("one"), user("two"), says("three"), user("four")],
        "user: one\nuser: two\nmodel: three\nuser: four",
    );
}

#[test]
fn what_the_runtime_wrote_goes_in_as_user_text() {
    let word = message(Role::User, Origin::Runtime, vec![Part::Text("Ana approved it.".into())]);
    check(
        vec![user("go"), calls(&[1]), results(&[1]), word],
        "user: go\nmodel: toolu_1\nresults: toolu_1=out 1\nuser: Ana approved it.",
    );
}

#[test]
fn empty_text_is_left_out() {
    let quiet = message(Role::Assistant, Origin::Own, vec![Part::Text(" \n".into()), call(1, "a")]);
    let silent = message(Role::Assistant, Origin::Own, vec![Part::Text(String::new())]);
    check(
        vec![user("go"), silent, quiet, results(&[1]), user("")],
        "user: go\nmodel: a\nresults: a=out 1",
    );
}

#[test]
fn repeated_ids_of_a_careless_model_are_told_apart() {
    let turn = |number, id| message(Role::Assistant, Origin::Own, vec![call(number, id)]);
    check(
        vec![
            user("go"),
            turn(1, "call_0"),
            results(&[1]),
            turn(2, "call_0"),
            results(&[2]),
            turn(3, ""),
            results(&[3]),
            turn(4, ""),
            results(&[4]),
        ],
        "user: go\nmodel: call_0\nresults: call_0=out 1\nmodel: call_0_1\nresults: call_0_1=out 2\n\
         model: call_1\nresults: call_1=out 3\nmodel: call_2\nresults: call_2=out 4",
    );
}

#[test]
fn reasoning_goes_back_unchanged() {
    let thought = Part::Reasoning { text: "hm".into(), opaque: Some("sig==".into()) };
    let turn = message(Role::Assistant, Origin::Own, vec![thought, call(1, "a")]);
    let session = session(vec![user("go"), turn, results(&[1])]);
    let request = bare(&session);
    let ModelMessage::Assistant { parts } = &request.messages[1] else { panic!("not a turn") };
    assert_eq!(
        parts[0],
        AssistantPart::Reasoning { text: "hm".into(), opaque: Some("sig==".into()) }
    );
}

#[test]
fn i22_a_broken_transcript_is_neither_mended_nor_sent() {
    let twin = message(Role::Assistant, Origin::Own, vec![call(1, "another")]);
    for (transcript, why) in [
        (vec![user("go"), calls(&[1])], "no result"),
        (vec![user("go"), calls(&[1, 2]), results(&[2])], "no result"),
        (vec![user("go"), calls(&[1]), results(&[1, 1])], "second result"),
        (vec![user("go"), calls(&[1]), results(&[1]), results(&[2])], "did not call"),
        (vec![user("go"), calls(&[1]), results(&[1]), twin], "no result"),
        (vec![], "no messages"),
    ] {
        let told = validate(&bare(&session(transcript))).unwrap_err().to_string();
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn i24_nothing_of_ours_reaches_the_model() {
    let mut session = session(vec![user("go"), calls(&[1]), results(&[1])]);
    let canary = || "CANARY".to_owned();
    session.title = Some(canary());
    session.metadata = json!({"CANARY": "CANARY"});
    session.agent = "CANARY".into();
    session.queue.push_back(Queued { message: user("CANARY"), run: RunId::new(1, 6), join: true });
    session.run = Some(Run {
        id: RunId::new(1, 5),
        by: Some(PersonId::new("CANARY")),
        state: RunState::Failed { error: canary() },
        turn: vec![call_id(1)],
        spent: Spent::begin(Timestamp::from_ms(1)),
        started_at: Timestamp::from_ms(1),
    });
    let text = canonical_text(&bare(&session));
    assert!(!text.contains("CANARY"), "{text}");
    for prefix in ["ses_", "run_", "msg_", "call_", "hold_"] {
        assert!(!text.contains(prefix), "{prefix} in {text}");
    }
}

fn tool(name: &str, schema: Value, confirm: Confirm) -> Tool {
    let mut tool = Tool::new(name, "Does it.", schema, Effects::AtMostOnce, Place::Server, "test")
        .expect("a sound tool");
    tool.confirm = confirm;
    tool
}

#[test]
fn two_phase_tools_are_offered_with_an_optional_confirmed() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}},
                        "required": ["name"], "additionalProperties": false});
    let tools = [
        tool("deploy", schema.clone(), Confirm::TwoPhase),
        tool("human_intervention.request", schema.clone(), Confirm::Held),
        tool("bare", json!({"type": "object"}), Confirm::TwoPhase),
    ];
    let (session, offers) = (session(vec![user("go")]), tools.each_ref().map(tool_offer));
    let request = build_request(&session, Some("Be kind."), &offers);
    assert_eq!(request.system.as_deref(), Some("Be kind."));
    let [deploy, human, bare] = &request.tools[..] else { panic!("three tools are offered") };
    assert_eq!(deploy.input_schema["properties"]["confirmed"]["type"], "boolean");
    assert_eq!(deploy.input_schema["properties"]["name"], schema["properties"]["name"]);
    assert_eq!(deploy.input_schema["required"], json!(["name"]));
    assert_eq!(bare.input_schema["properties"]["confirmed"]["type"], "boolean");
    assert_eq!((&*human.name, &human.input_schema), ("human_intervention.request", &schema));
}

#[test]
fn equal_requests_and_only_those_have_equal_fingerprints() {
    let sessions = [
        session(vec![user("go"), calls(&[1]), results(&[1])]),
        session(vec![user("go"), calls(&[1]), results(&[1]), user("x")]),
    ];
    let [base, other] = sessions.each_ref().map(bare);
    assert_eq!(request_fingerprint(&base), request_fingerprint(&base.clone()));
    let mut seen = vec![request_fingerprint(&base)];
    let system = ModelRequest { system: Some("".into()), ..base.clone() };
    let mut failed = base.clone();
    if let Some(ModelMessage::Results { results }) = failed.messages.last_mut() {
        results[0].is_error = true;
    }
    for request in [other, system, failed] {
        let print = request_fingerprint(&request);
        assert!(!seen.contains(&print), "{}", canonical_text(&request));
        seen.push(print);
    }
}

/// One exchange: what the person says, how many calls the model makes, in which order the results
/// come in, how they are cut into messages, and what is said meanwhile.
#[derive(Clone, Debug)]
struct Exchange {
    calls: usize,
    order: Vec<usize>,
    cut: usize,
    meanwhile: bool,
    text: bool,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    (0usize..5, any::<bool>(), any::<bool>(), 0usize..5).prop_flat_map(
        |(calls, meanwhile, text, cut)| {
            Just((0..calls).collect::<Vec<_>>()).prop_shuffle().prop_map(move |order| Exchange {
                calls,
                order,
                cut: cut.min(calls),
                meanwhile,
                text,
            })
        },
    )
}

fn transcript(exchanges: &[Exchange]) -> Vec<Arc<Message>> {
    let mut transcript = Vec::new();
    let mut next = 1;
    for exchange in exchanges {
        transcript.push(user("say"));
        let numbers: Vec<u32> = (next..).take(exchange.calls).collect();
        next += exchange.calls as u32;
        let mut parts: Vec<Part> = Vec::new();
        if exchange.text {
            parts.push(Part::Text("words".into()));
        }
        parts.extend(numbers.iter().map(|number| call(*number, "again")));
        transcript.push(message(Role::Assistant, Origin::Own, parts));
        let arrived: Vec<u32> = exchange.order.iter().map(|index| numbers[*index]).collect();
        let (early, late) = arrived.split_at(exchange.cut);
        for (part, numbers) in [early, late].into_iter().enumerate() {
            if !numbers.is_empty() {
                transcript.push(results(numbers));
            }
            if part == 0 && exchange.meanwhile {
                transcript.push(user("meanwhile"));
            }
        }
    }
    transcript.push(user("and now?"));
    transcript
}

proptest! {
    #[test]
    fn i25_any_arrival_of_results_gives_one_sound_request(
        exchanges in prop::collection::vec(exchange(), 1..6),
    ) {
        let session = session(transcript(&exchanges));
        let built = bare(&session);
        prop_assert_eq!(validate(&built), Ok(()));
        // Each result is the one of its call, whatever the model named it.
        let mut wanted = Vec::new();
        let mut given = Vec::new();
        for message in &built.messages {
            match message {
                ModelMessage::Assistant { parts } => wanted.extend(parts.iter().filter_map(|part| {
                    let AssistantPart::Call(call) = part else { return None };
                    Some((call.tool_use_id.clone(), call.input.clone()))
                })),
                ModelMessage::Results { results } => given.extend(results.iter().map(|result| {
                    let number = result.content.strip_prefix("out ").unwrap_or_default();
                    (result.tool_use_id.clone(), format!("{{\"n\": {number}}}").into())
                })),
                ModelMessage::User { .. } | ModelMessage::Image { .. } => {}
            }
        }
        prop_assert_eq!(wanted, given);
        // I-26: the same session, the same bytes, and whoever keeps a request keeps all of it.
        let again = session.clone();
        prop_assert_eq!(canonical_text(&built), canonical_text(&bare(&again)));
        prop_assert_eq!(built.clone().into_owned(), built);
    }

    #[test]
    fn names_that_need_no_telling_apart_stay_as_they_would(
        wanted in prop::collection::vec("(call)?(_[12])?|[ab]|toolu_[0-9]{1,3}", 0..6),
    ) {
        let parts = wanted.iter().zip(1..).map(|(name, number)| call(number, name)).collect();
        let turn = message(Role::Assistant, Origin::Own, parts);
        let (mut names, mut one_by_one) = (ToolUseIds::from_transcript([&turn].into_iter()), ToolUseIds::Given(HashSet::new()));
        for name in calls_of(&turn) {
            prop_assert_eq!(names.unique_name(name), one_by_one.unique_name(name));
        }
    }

    #[test]
    fn i22_a_lost_or_doubled_result_is_never_sent(
        exchanges in prop::collection::vec(exchange(), 1..6),
        pick in any::<prop::sample::Index>(),
        double in any::<bool>(),
    ) {
        let mut transcript = transcript(&exchanges);
        let places: Vec<(usize, usize)> = transcript
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == Role::Tool)
            .flat_map(|(at, message)| (0..message.parts.len()).map(move |part| (at, part)))
            .collect();
        prop_assume!(!places.is_empty());
        let (at, part) = places[pick.index(places.len())];
        let message = Arc::make_mut(&mut transcript[at]);
        if double {
            message.parts.push(message.parts[part].clone());
        } else {
            message.parts.remove(part);
        }
        let told = validate(&bare(&session(transcript)));
        let expected = match told {
            Err(PairingError::RepeatedResult { .. }) => double,
            Err(PairingError::NoResult { .. }) => !double,
            _ => false,
        };
        prop_assert!(expected, "{:?}", told);
    }
}

mod files {
    use domain::file::{FileKind, FileName, FileRef, ImageFormat};
    use domain::id::FileId;

    use super::*;
    use crate::attached::{LoadedFiles, TEXT_BYTES_SENT_MAX, files_to_load};

    const PICTURE: FileKind = FileKind::Image { format: ImageFormat::Png, width: 12, height: 8 };

    fn file(number: u128, kind: FileKind, bytes: u64) -> FileRef {
        FileRef {
            id: FileId::new(1, number),
            digest: Digest::of(b"x"),
            bytes,
            kind,
            name: FileName::given("a\u{202e}b"),
        }
    }

    fn says(text: &str, files: &[FileRef]) -> Arc<Message> {
        let text = Some(Part::Text(text.to_owned())).filter(|_| !text.is_empty());
        let files = files.iter().cloned().map(Part::File);
        message(Role::User, Origin::Own, text.into_iter().chain(files).collect())
    }

    fn sent(messages: &[Arc<Message>], files: &LoadedFiles) -> Vec<Value> {
        model_messages(messages.iter(), files).iter().map(message_value).collect()
    }

    #[test]
    fn a_picture_goes_before_the_words_and_a_text_into_them() {
        let (picture, notes) = (file(1, PICTURE, 3), file(2, FileKind::Text, 8));
        let said = [says("what is it?", &[picture.clone(), notes.clone()])];
        let mut loaded = LoadedFiles::new(true);
        loaded.insert(picture.id, Some(Arc::from(*b"png")));
        loaded.insert(notes.id, Some(Arc::from(*b"buy milk\n")));
        let digest = Digest::of(b"png").to_string();
        let text =
            "[file a⟦U+202E⟧b, text/plain, 8 bytes]\nbuy milk\n[end of the file]\nwhat is it?";
        assert_eq!(
            sent(&said, &loaded),
            [
                json!({"image": "[image a⟦U+202E⟧b, 12x8]", "media_type": "image/png", "digest": digest}),
                json!({"user": text}),
            ]
        );
    }

    #[test]
    fn what_is_not_sent_has_a_line_that_says_why() {
        let large = TEXT_BYTES_SENT_MAX + 1;
        for (kind, bytes, takes_images, loaded, why) in [
            (PICTURE, 3, false, None, "this model takes no images"),
            (PICTURE, 4_000_000, true, None, "the image is too large for a model"),
            (PICTURE, 3, true, None, "left out: newer files fill the request"),
            (PICTURE, 3, true, Some(None), "its bytes cannot be read, or have changed since"),
            (FileKind::Csv, large, true, None, "the text is too long for a model"),
            (FileKind::Pdf, 3, true, None, "files of this kind are not sent to a model"),
        ] {
            let file = file(1, kind, bytes);
            let mut files = LoadedFiles::new(takes_images);
            if let Some(bytes) = loaded {
                files.insert(file.id, bytes);
            }
            let sent = sent(&[says("", &[file])], &files);
            let text = sent[0]["user"].as_str().expect("a text");
            assert!(text.starts_with('[') && text.ends_with(&format!(": {why}]")), "{text}");
            assert_eq!(text.lines().count(), 1);
        }
    }

    #[test]
    fn a_request_has_room_for_the_newest() {
        let pictures = |numbers: std::ops::Range<u128>, bytes| -> Vec<FileRef> {
            numbers.map(|number| file(number, PICTURE, bytes)).collect()
        };
        let loaded = |messages, takes_images| -> Vec<u128> {
            let session = session(messages);
            let files = files_to_load(&session, takes_images);
            files.iter().map(|file| file.id.0.random_part()).collect()
        };
        let many = vec![says("", &pictures(0..15, 1)), says("", &pictures(15..30, 1))];
        let wanted: Vec<u128> = (15..30).chain(0..5).collect();
        assert_eq!(loaded(many.clone(), true), wanted, "the later message first");
        assert_eq!(loaded(many, false), [0; 0]);
        let large =
            vec![says("", &pictures(0..3, 3_000_000)), says("", &pictures(3..6, 3_000_000))];
        assert_eq!(loaded(large, true), [3, 4, 5, 0, 1]);
    }
}
