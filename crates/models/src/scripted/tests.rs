use std::sync::{Arc, Mutex};

use ports::model::{AssistantPart, CallResult, ModelMessage};

use super::*;

/// A conversation, built line by line.
#[derive(Clone)]
pub(super) struct Talk(ModelRequest<'static>);

impl Talk {
    pub(super) fn new() -> Talk {
        Talk(ModelRequest { system: None, messages: Vec::new(), tools: Vec::new().into() })
    }

    pub(super) fn user(mut self, text: &str) -> Talk {
        self.0.messages.push(ModelMessage::User { text: text.to_owned().into() });
        self
    }

    pub(super) fn turn(mut self, turn: &ModelTurn) -> Talk {
        let parts = turn.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(AssistantPart::Text(text.clone().into())),
            _ => None,
        });
        let calls = turn.calls.iter().cloned().map(AssistantPart::Call);
        self.0.messages.push(ModelMessage::Assistant { parts: parts.chain(calls).collect() });
        self
    }

    pub(super) fn results(mut self, turn: &ModelTurn, results: &[(&str, bool)]) -> Talk {
        let results =
            turn.calls.iter().zip(results).map(|(call, (content, is_error))| CallResult {
                tool_use_id: call.tool_use_id.clone(),
                tool: call.tool.clone(),
                content: (*content).to_owned().into(),
                is_error: *is_error,
            });
        self.0.messages.push(ModelMessage::Results { results: results.collect() });
        self
    }

    pub(super) fn text_of(turn: &ModelTurn) -> String {
        let texts = turn.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// The answer, and the deltas on the way to it.
async fn watched(
    model: &ScriptedModel,
    talk: &Talk,
) -> (Result<ModelTurn, ModelError>, Vec<Delta>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink: DeltaSink = {
        let seen = seen.clone();
        Arc::new(move |delta| seen.lock().expect("not poisoned").push(delta))
    };
    let turn = model.think(&talk.0, sink, CancellationToken::new()).await;
    let deltas = seen.lock().expect("not poisoned").clone();
    (turn, deltas)
}

pub(super) async fn answer_to(model: &ScriptedModel, talk: &Talk) -> ModelTurn {
    watched(model, talk).await.0.expect("a turn")
}

fn script(text: &str) -> ScriptedModel {
    ScriptedModel::parse(text).expect("a sound script")
}

/// What a script answers to one message.
async fn reply(text: &str, message: &str) -> String {
    Talk::text_of(&answer_to(&script(text), &Talk::new().user(message)).await)
}

#[tokio::test]
async fn the_first_turn_that_fits_is_taken() {
    let text = r#"
        default = "pardon?"
        [[turn]]
        when = { says = "Hello" }
        text = "exact"
        [[turn]]
        when = { says_contains = "hello" }
        text = "part"
        [[turn]]
        when = { says_regex = '^(\w+), (\w+)\.$' }
        text = "{2} {1}, not {{1}}: {message}"
        [[turn]]
        when = { says = "think", turn = 1 }
        reasoning = "hm"
        text = "thought"
    "#;
    for (message, wanted) in [
        (" hello ", "exact"),
        ("Oh, HELLO there", "part"),
        ("left, right.", "right left, not {1}: left, right."),
        ("think", "thought"),
        ("else", "pardon?"),
    ] {
        assert_eq!(reply(text, message).await, wanted, "{message}");
    }
    assert_eq!(
        reply("", "anything").await,
        "I am a scripted model, and my script has no answer to that."
    );
}

const TOOLS: &str = r#"
    [[turn]]
    when = { says = "both" }
    calls = [
        { tool = "a", arguments = { path = "/{message}", list = [1, 2.5, true, "{{}}"], at = 2026-01-02 } },
        { tool = "b", raw = '{"broken": ' },
    ]
    [[turn]]
    when = { says = "both", after_tools = ["a", "b"], is_error = true }
    text = "one failed: {result.1} and {result.2.why}, {result.why}, {result.9}."
    [[turn]]
    when = { says = "both", after_tools = ["a", "b"] }
    text = "{result}"
    [[turn]]
    when = { says = "again" }
    calls = [{ tool = "a", id = "mine" }]
    [[turn]]
    when = { says = "again", turn = 2, result_of = "a", result_regex = 'n=(\d+)' }
    text = "n is {1}"
    calls = [{ tool = "a" }]
    [[turn]]
    when = { turn = 3 }
    text = "third"
"#;

#[tokio::test]
async fn calls_are_made_as_written() {
    let model = script(TOOLS);
    let talk = Talk::new().user("both");
    let turn = answer_to(&model, &talk).await;
    let inputs: Vec<&str> = turn.calls.iter().map(|call| &*call.input).collect();
    assert_eq!(
        inputs,
        [r#"{"at":"2026-01-02","list":[1,2.5,true,"{}"],"path":"/both"}"#, r#"{"broken": "#]
    );
    assert!(turn.parts.is_empty());
    let ok = talk.clone().turn(&turn).results(&turn, &[("x", false), ("y", false)]);
    assert_eq!(Talk::text_of(&answer_to(&model, &ok).await), "x\ny");
    let bad = talk.turn(&turn).results(&turn, &[("x", false), (r#"{"why":"w"}"#, true)]);
    assert_eq!(Talk::text_of(&answer_to(&model, &bad).await), "one failed: x and w, w, .");
}

#[tokio::test]
async fn turns_are_counted_from_the_last_message() {
    let model = script(TOOLS);
    let mut talk = Talk::new().user("both");
    let first = answer_to(&model, &talk).await;
    talk = talk.turn(&first).results(&first, &[("x", false), ("y", false)]).user("again");
    let second = answer_to(&model, &talk).await;
    assert_eq!(second.calls[0].tool_use_id, "mine");
    talk = talk.turn(&second).results(&second, &[("n=12", false)]);
    let third = answer_to(&model, &talk).await;
    assert_eq!(Talk::text_of(&third), "n is 12");
    talk = talk.turn(&third).results(&third, &[("", false)]);
    assert_eq!(Talk::text_of(&answer_to(&model, &talk).await), "third");
}

#[tokio::test]
async fn i26_ids_are_unique_in_a_session_and_the_same_on_replay() {
    let model =
        script("[[turn]]\nwhen = { any = true }\ncalls = [{ tool = \"a\" }, { tool = \"a\" }]\n");
    let mut talk = Talk::new().user("go");
    let mut seen = std::collections::HashSet::new();
    for _ in 0..20 {
        let turn = answer_to(&model, &talk).await;
        assert_eq!(turn, answer_to(&model, &talk).await);
        for call in &turn.calls {
            assert!(seen.insert(call.tool_use_id.clone()), "{}", call.tool_use_id);
            assert!(call.tool_use_id.starts_with("toolu_"));
        }
        talk = talk.turn(&turn).results(&turn, &[("same", false), ("same", false)]);
    }
}

#[tokio::test]
async fn text_is_streamed_in_pieces_and_reasoning_apart() {
    let model = script(
        "[deltas]\nwords = 1\ndelay_ms = 5\n[[turn]]\nwhen = { any = true }\nreasoning = \"so so\"\ntext = \"a bc d\"\ndeltas = { chars = 4 }\n",
    );
    let (turn, deltas) = watched(&model, &Talk::new().user("go")).await;
    assert_eq!(
        deltas,
        [
            Delta::Reasoning("so s".into()),
            Delta::Reasoning("o".into()),
            Delta::Text("a bc".into()),
            Delta::Text(" d".into())
        ]
    );
    let turn = turn.expect("a turn");
    assert_eq!(turn.parts.len(), 2);
    assert_eq!(turn.parts[0], Part::Reasoning { text: "so so".into(), opaque: None });
}

#[tokio::test]
async fn failures_are_told_apart_and_may_pass() {
    let model = script(
        "[[turn]]\nwhen = { says = \"busy\" }\nfail = \"unavailable\"\ntimes = 2\ntext = \"half a\"\n\
         [[turn]]\nwhen = { says = \"busy\" }\ntext = \"back\"\n\
         [[turn]]\nwhen = { says = \"no\" }\nfail = \"refused\"\n\
         [[turn]]\nwhen = { says = \"odd\" }\nfail = \"malformed\"\n",
    );
    let told = async |message: &str| {
        let (turn, deltas) = watched(&model, &Talk::new().user(message)).await;
        (turn.map(|turn| Talk::text_of(&turn)).map_err(|why| why.to_string()), deltas.len())
    };
    let busy =
        "the model is busy or cannot be reached: the script says so; retry the run in a while";
    assert_eq!(told("busy").await, (Err(busy.into()), 1));
    assert_eq!(told("busy").await, (Err(busy.into()), 1));
    assert_eq!(told("busy").await, (Ok("back".into()), 1));
    assert!(told("no").await.0.is_err_and(|why| why.starts_with("the model refused")));
    assert!(told("odd").await.0.is_err_and(|why| why.contains("makes no sense")));
}

#[test]
fn every_example_of_the_documentation_is_sound() {
    let page = include_str!("../../../../docs/scripted-model.md");
    let examples: Vec<&str> = page
        .split("```toml script\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(examples.len() >= 5, "{} examples", examples.len());
    for example in examples {
        ScriptedModel::parse(example).unwrap_or_else(|why| panic!("{why}\n{example}"));
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let turn = |rest: &str| format!("[[turn]]\nwhen = {{ any = true }}\n{rest}");
    for (text, wanted) in [
        (
            turn("txt = \"x\"\n"),
            "line 3: unknown field `txt`, expected one of `when`, `reasoning`, `text`, `calls`, `deltas`, `fail`, `times`, `usage`",
        ),
        ("[[turn]]\ntext = \"x\"\n".into(), "line 1: missing field `when`"),
        (
            "\n[[turn]]\nwhen = {}\ntext = \"x\"\n".into(),
            "line 3: `when` is empty; write `any = true` for a turn that always fits",
        ),
        (
            "[[turn]]\nwhen = { any = true, turn = 1 }\ntext = \"x\"\n".into(),
            "line 2: `any = true` fits everything; leave the other conditions out",
        ),
        (
            "[[turn]]\nwhen = { says = \"a\", says_contains = \"b\" }\ntext = \"x\"\n".into(),
            "line 2: give one of the `says…` conditions, not several",
        ),
        (
            "[[turn]]\nwhen = { says_regex = \"(\" }\ntext = \"x\"\n".into(),
            "line 2: `says_regex` is no pattern: unclosed group",
        ),
        (
            turn(""),
            "line 1: a turn says something or calls something: give it `text`, `calls` or `fail`",
        ),
        (
            turn("text = \"\"\"\na {oops}\"\"\"\n"),
            "line 3: `{oops}` stands for nothing; there are `{message}`, `{result}`, `{result.2}`, `{result.status}`, `{1}`, and `{{` for the character",
        ),
        (
            turn("text = \"a { b\"\n"),
            "line 3: a single `{` stands for nothing; write `{{` for the character",
        ),
        (
            turn("text = \"{1}\"\n"),
            "line 3: there is no capture `{1}`: the patterns of this turn have 0",
        ),
        (turn("text = \"{result.0}\"\n"), "line 3: results are counted from `{result.1}`"),
        (
            turn("fail = \"never\"\n"),
            "line 3: `fail` is unavailable, refused or malformed, and not `never`",
        ),
        (
            turn("text = \"x\"\ntimes = 2\n"),
            "line 4: `times` says how often a turn fails: it needs `fail`",
        ),
        (
            turn("fail = \"refused\"\n\ncalls = [{ tool = \"a\" }]\n"),
            "line 5: a turn that fails makes no calls; leave `calls` or `fail` out",
        ),
        (
            turn("calls = [\n{ tool = \"a\", raw = \"x\", arguments = { a = 1 } }]\n"),
            "line 4: `raw` is all there is to say; leave `arguments` and `json` out",
        ),
        (
            turn("text = \"x\"\ndeltas = { words = 1, chars = 1 }\n"),
            "line 4: cut by `words` or by `chars`, not by both",
        ),
        (turn("text = 5\n"), "line 3: invalid type: integer `5`, expected a string"),
    ] {
        let told = ScriptedModel::parse(&text).map(|_| ()).unwrap_err().to_string();
        assert_eq!(told, wanted, "{text}");
    }
}

#[tokio::test]
async fn the_scripted_model_conforms() {
    let model = script(crate::conformance::SCRIPT);
    crate::conformance::check(&model).await;
}

#[tokio::test]
async fn a_stopped_model_says_nothing_more() {
    let model = script("[[turn]]\nwhen = { any = true }\ntext = \"x\"\n");
    let stop = CancellationToken::new();
    stop.cancel();
    let told = model.think(&Talk::new().user("go").0, Arc::new(|_| {}), stop).await;
    assert!(matches!(told, Err(ModelError::Stopped)));
}
