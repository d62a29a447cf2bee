use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::call::{Call, ExecutionContext, Proposal};
use domain::digest::Digest;
use domain::hold::Risk;
use domain::id::CallId;
use domain::json::Arguments;
use domain::outcome::Outcome;
use domain::tool::Tool;
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::cleared::{clear_call, open_gate};
use crate::conformance::{ConformanceCase, check_host};

/// Money that goes back.
#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The order's number.
    order: u64,
    /// To whom.
    to: Account,
    #[schemars(extend("writeOnly" = true))]
    pin: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Account {
    /// Without blanks.
    iban: String,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Deserialize, JsonSchema)]
struct Tag {
    text: String,
}

fn call(tool: &Tool, arguments: &[u8]) -> Call {
    let proposal = Proposal {
        id: CallId::new(1, 1),
        tool_use_id: "toolu_1".into(),
        agent: "ops".into(),
        session: None,
        arguments: Arguments::parse(arguments).unwrap(),
        context: ExecutionContext::default(),
        policy: Digest::of(b"policy"),
    };
    Call::propose(proposal, tool)
}

async fn run(host: &dyn ToolHost, arguments: Value) -> Outcome {
    let call = call(host.tool(), arguments.to_string().as_bytes());
    host.run(clear_call(call, 1), open_gate(), CancellationToken::new()).await.unwrap()
}

async fn prepare(host: &dyn ToolHost, arguments: Value) -> Result<Prepared, String> {
    let arguments = Arguments::from_value(arguments).unwrap();
    host.prepare(&arguments).await.map_err(|error| match error {
        PrepareError::Unsound(why) => format!("unsound: {why}"),
        PrepareError::Blind { why, .. } => format!("blind: {why}"),
    })
}

fn refund() -> Value {
    json!({"order": 7, "to": {"iban": "X1", "tags": [{"text": "a"}]}})
}

#[test]
fn the_schema_is_the_type_with_its_comments() {
    let schema = schema_of::<Refund>();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["description"], "Money that goes back.");
    assert_eq!(schema["properties"]["order"]["description"], "The order's number.");
    assert_eq!(schema["properties"]["order"]["type"], "integer");
    assert_eq!(schema["properties"]["order"]["minimum"], 0);
    assert_eq!(schema["required"], json!(["order", "to"]));
    let account = &schema["properties"]["to"];
    assert_eq!(account["properties"]["iban"]["description"], "Without blanks.");
    assert_eq!(schema.get("$schema"), None);
    assert_eq!(schema.get("title"), None);
    assert_eq!(domain::schema::write_only_pointers(&schema), ["/pin"]);
}

#[test]
fn words_that_the_type_does_not_know_are_refused_at_every_depth() {
    let schema = schema_of::<Refund>();
    let validator = domain::schema::Validator::new(&schema).unwrap();
    assert!(validator.check(&refund()).is_ok());
    for (pointer, key) in [("", "force"), ("/to", "force"), ("/to/tags/0", "force")] {
        let mut value = refund();
        value.pointer_mut(pointer).unwrap()[key] = json!(true);
        assert!(validator.check(&value).is_err(), "{value}");
    }
}

#[test]
fn a_type_that_takes_anything_still_does() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Open {
        name: String,
        #[serde(flatten)]
        rest: std::collections::BTreeMap<String, u32>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Mixed {
        name: String,
        #[serde(flatten)]
        kind: Kind,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is of interest")]
    enum Kind {
        Small { size: u8 },
        Large { weight: u64 },
    }
    let fits = |schema: Value, value: Value| {
        domain::schema::check(&schema, &value).unwrap_or_else(|error| panic!("{schema}: {error}"));
    };
    fits(schema_of::<Open>(), json!({"name": "x", "other": 1}));
    fits(schema_of::<Mixed>(), json!({"name": "x", "kind": "Small", "size": 1}));
}

#[tokio::test]
async fn i02_what_runs_is_what_the_approved_bytes_say() {
    let tool = TypedFn::new("refund", "pays", |refund: Refund, context: CallContext| async move {
        let bytes = String::from_utf8_lossy(context.bytes()).into_owned();
        let Refund { order, to, pin } = refund;
        Ok(format!("{order} {} {} {pin:?} {bytes}", to.iban, to.tags[0].text))
    });
    let host = TypedHost::new(tool).unwrap();
    let written = br#"{ "to": {"tags":[{"text":"a"}],  "iban":"X\u0031"},"order":7 }"#;
    let call = call(host.tool(), written);
    let key = call.idempotency_key();
    let outcome =
        host.run(clear_call(call, 1), open_gate(), CancellationToken::new()).await.unwrap();
    let Outcome::Succeeded(output) = outcome else { panic!("{outcome:?}") };
    assert_eq!(output.text, format!("7 X1 a None {}", String::from_utf8_lossy(written)));
    assert!(key.ends_with("-1"));
}

#[tokio::test]
async fn errors_fail_and_doubts_stay_doubts() {
    #[derive(Deserialize, JsonSchema)]
    struct How {
        how: String,
    }
    let body = |how: How, _: CallContext| async move {
        match &*how.how {
            "io" => Ok(std::fs::read_to_string("/no/such/file").map(|_| ())?),
            "text" => Err("not today".into()),
            "unknown" => Err(ToolError::unknown("the line went dead")),
            "panic" => panic!("a bug"),
            _ => Ok(()),
        }
    };
    let careful = TypedHost::new(TypedFn::new("t", "t", body)).unwrap();
    let reading = TypedHost::new(TypedFn::new("t", "t", body).read_only()).unwrap();
    let failed = |text: &str| Outcome::Failed(domain::outcome::Output::text(text));
    let unknown = |text: &str| Outcome::Unknown { evidence: text.into() };
    for (host, how, expected) in [
        (&careful, "fine", Outcome::Succeeded(().into())),
        (&careful, "io", failed("No such file or directory (os error 2)")),
        (&careful, "text", failed("not today")),
        (&careful, "unknown", unknown("the line went dead")),
        (&careful, "panic", unknown("It panicked before it had finished.")),
        (&reading, "panic", failed("It panicked before it had finished.")),
    ] {
        assert_eq!(run(host, json!({"how": how})).await, expected, "{how}");
    }
}

#[tokio::test]
async fn a_tool_that_heeds_the_token_ends_in_good_order() {
    let tool = TypedFn::new("wait", "waits", |_: Empty, context: CallContext| async move {
        context.stop().cancelled().await;
        Ok("two of three are done")
    });
    let host = TypedHost::new(tool).unwrap();
    let stop = CancellationToken::new();
    let running = host.run(clear_call(call(host.tool(), b"{}"), 1), open_gate(), stop.clone());
    let stopping = async { stop.cancel() };
    let (outcome, ()) = tokio::join!(running, stopping);
    assert_eq!(outcome, Ok(Outcome::Succeeded("two of three are done".into())));
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[tokio::test]
async fn a_tool_that_does_not_heed_it_is_dropped_and_in_doubt() {
    let host = TypedHost::new(TypedFn::new("wait", "waits", |_: Empty, _: CallContext| {
        std::future::pending::<Result<(), ToolError>>()
    }));
    let host = host.unwrap();
    let stop = CancellationToken::new();
    let running = host.run(clear_call(call(host.tool(), b"{}"), 1), open_gate(), stop.clone());
    let (outcome, ()) = tokio::join!(running, async { stop.cancel() });
    let evidence = "It was stopped before it had finished.".into();
    assert_eq!(outcome, Ok(Outcome::Unknown { evidence }));
}

#[tokio::test]
async fn previews_say_refuse_and_go_blind() {
    let tool = TypedFn::new("refund", "pays", |_: Refund, _: CallContext| async { Ok(()) })
        .preview(|refund: Refund| async move {
            match refund.order {
                1 => Err(ToolError::unsound("there is no order 1")),
                2 => Err(ToolError::failed("the shop is closed")),
                3 => panic!("a bug"),
                4 => std::future::pending().await,
                order => Ok(Preview::new(format!("order {order}"))
                    .title("Refund\u{202e}")
                    .rows(3)
                    .diff("- a\n+ b")
                    .warning("twice")
                    .always_ask("it is a lot", Risk::High)),
            }
        });
    let mut host = TypedHost::new(tool).unwrap();
    host.look_within = Duration::from_secs(1);
    let order = |order: u64| json!({"order": order, "to": {"iban": "X"}});
    let said = prepare(&host, order(9)).await.unwrap();
    assert_eq!(said.preview.summary.as_deref(), Some("order 9"));
    assert_eq!(said.title.as_deref(), Some("Refund⟦U+202E⟧"));
    assert_eq!(said.preview.rows, Some(3));
    assert_eq!(said.preview.warnings, ["twice"]);
    assert_eq!(said.ask.as_ref().map(|ask| ask.risk), Some(Risk::High));
    for (number, picture) in [
        (1, "unsound: there is no order 1"),
        (2, "blind: the shop is closed"),
        (3, "blind: the tool's preview failed badly"),
        (4, "blind: the tool's preview took longer than 1 s"),
    ] {
        assert_eq!(prepare(&host, order(number)).await.unwrap_err(), picture);
    }
}

#[tokio::test]
async fn i45_what_cannot_be_read_is_not_repeated_where_something_is_secret() {
    let host = TypedHost::new(TypedFn::new("refund", "pays", |_: Refund, _: CallContext| async {
        Ok(())
    }));
    let host = host.unwrap();
    let why = prepare(&host, json!({"order": "hunter2", "to": {"iban": "X"}})).await.unwrap_err();
    assert_eq!(why, "unsound: The arguments cannot be read.");
    let host = TypedHost::new(TypedFn::new("t", "t", |_: Tag, _: CallContext| async { Ok(()) }));
    let why = prepare(&host.unwrap(), json!({"text": 7})).await.unwrap_err();
    assert!(why.contains("expected a string"), "{why}");
}

#[test]
fn i03_another_version_is_another_definition() {
    let define = |version: &str, description: &str| {
        let tool = TypedFn::new("t", description, |_: Empty, _: CallContext| async { Ok(()) });
        TypedHost::new(tool.version(version)).unwrap().tool().definition()
    };
    assert_eq!(define("", "t"), define("", "t"));
    assert_ne!(define("2", "t"), define("", "t"));
    assert_ne!(define("", "does something else"), define("", "t"));
}

#[tokio::test]
async fn a_recovering_closure_is_asked_and_one_that_fails_leaves_the_doubt() {
    let tool = |fails: bool| {
        let tool = TypedFn::new("t", "t", |_: Empty, _: CallContext| async { Ok(()) });
        let tool = tool.recover(move |_, context: CallContext| async move {
            assert!(!fails, "a bug");
            Recovery::Done(Outcome::Succeeded(format!("attempt {}", context.attempt()).into()))
        });
        TypedHost::new(tool).unwrap()
    };
    let host = tool(false);
    let done = host.recover(&call(host.tool(), b"{}"), 3).await;
    assert_eq!(done, Recovery::Done(Outcome::Succeeded("attempt 3".into())));
    let host = tool(true);
    let lost = host.recover(&call(host.tool(), b"{}"), 3).await;
    assert!(matches!(lost, Recovery::Unknown { .. }), "{lost:?}");
}

#[tokio::test]
async fn a_typed_closure_conforms() {
    #[derive(Deserialize, JsonSchema)]
    struct Count {
        how: How,
    }
    #[derive(Deserialize, JsonSchema, PartialEq)]
    enum How {
        Once,
        Endless,
        Noisy,
    }
    let effects = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&effects);
    let tool = TypedFn::new("count", "counts", move |count: Count, _: CallContext| {
        let counter = Arc::clone(&counter);
        async move {
            loop {
                counter.fetch_add(1, Ordering::Relaxed);
                match count.how {
                    How::Once => return Ok("done".to_owned()),
                    How::Noisy => return Ok("ä".repeat(100_000)),
                    How::Endless => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        }
    });
    let host = TypedHost::new(tool).unwrap();
    check_host(ConformanceCase {
        host: &host,
        works: json!({"how": "Once"}),
        effects: &|| effects.load(Ordering::Relaxed),
        effects_each: 1,
        unsound: Some(json!({"how": "Twice"})),
        endless: Some(json!({"how": "Endless"})),
        noisy: Some(json!({"how": "Noisy"})),
        clear: &clear_call,
    })
    .await;
}

#[tokio::test]
async fn a_form_conforms_and_asks_by_its_type() {
    let host = FormTool::new::<Account>("ask_account", "Asks.", "Whose account?").unwrap();
    let prepared = prepare(&host, json!({"note": "for the refund"})).await.unwrap();
    let question = Some(domain::hold::Question::Fill { schema: Some(schema_of::<Account>()) });
    assert_eq!(prepared.question, question);
    assert_eq!(prepared.title.as_deref(), Some("Whose account?"));
    assert_eq!(prepared.shown, json!({"note": "for the refund"}));
    check_host(ConformanceCase {
        host: &host,
        works: json!({}),
        effects: &|| 0,
        effects_each: 0,
        unsound: None,
        endless: None,
        noisy: None,
        clear: &clear_call,
    })
    .await;
    let other = FormTool::new::<Tag>("ask_account", "Asks.", "Whose account?").unwrap();
    assert_ne!(host.tool().definition(), other.tool().definition());
}
