//! A server whose agent thinks with the fake, and the people around it.

use serde_json::{Value, json};
use testkit::fake_model::{Api, FakeModel, KEY, MODEL, Recorded, Script, Turn};
use testkit::served::{Caller, Served, unsound};

pub(crate) struct Stage {
    pub(crate) api: Api,
    pub(crate) fake: FakeModel,
    pub(crate) served: Served,
    pub(crate) ana: Caller,
}

const CONFIG: &str = r#"
@SERVER@

[[agents]]
id = "worker"
model = "fake"
instructions = "You leave notes."
tools = ["look", "witness", "slow", "shop.note"]

[[tools]]
name = "look"
kind = "command"
description = "Says what it was told."
argv = ["/bin/sh", "-c", "printf 'looked: '; cat"]
effects = "read_only"
input_schema = { type = "object", required = ["note"], properties = { note = { type = "string" } } }

@WITNESS@

[[tools]]
name = "shop.note"
kind = "command"
description = "Leaves a note, under a name that no model API takes."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
input_schema = { type = "object", required = ["note"], properties = { note = { type = "string" } } }

[[tools]]
name = "slow"
kind = "command"
description = "Leaves a note, and takes its time to say so."
argv = ["/bin/sh", "-c", "sh @SITE@/append.sh @SITE@/witness; sleep 30"]
input_schema = { type = "object", required = ["note"], properties = { note = { type = "string" } } }

[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "ops"]

[[people]]
id = "bob"
name = "Bob"
roles = ["ops"]

[[policy.rules]]
name = "looking is free"
match = { tool = "look", args = { "/note" = { regex = "^[^!]*$" } } }
then = "allow"

[[policy.rules]]
name = "soon"
match = { args = { "/note" = { glob = "soon*" } } }
then = "ask"
ask = { roles = ["ops"], expires = "1s" }

[[policy.rules]]
name = "operators decide"
match = { tool = "*" }
then = "ask"
ask = { roles = ["ops"] }
"#;

fn config(api: Api, url: &str, more: &str) -> String {
    let provider = match api {
        Api::Anthropic => "provider = \"anthropic\"",
        Api::Chat => "provider = \"openai\"\napi = \"chat\"",
        Api::Responses => "provider = \"openai\"\napi = \"responses\"",
    };
    let model = if more.contains("\nmodel = ") || more.starts_with("model = ") {
        String::new()
    } else {
        format!("model = \"{MODEL}\"\n")
    };
    format!(
        "{CONFIG}\n[models.fake]\n{provider}\n{model}base_url = \"{url}\"\n\
         api_key_file = \"@SITE@/key\"\n{more}\n"
    )
}

impl Stage {
    /// `more` stands in the model's section.
    pub(crate) async fn set_with(api: Api, more: &str, turns: Vec<Turn>) -> Stage {
        let fake = FakeModel::start(Script::new(turns)).await;
        let mut served = Served::prepare(&config(api, &fake.url(), more), "");
        served.write("key", KEY);
        served.up().await;
        let ana = served.admin();
        Stage { api, fake, served, ana }
    }

    /// Without retries, so that a failure shows.
    pub(crate) async fn set(api: Api, turns: Vec<Turn>) -> Stage {
        Stage::set_with(api, "retries = 0", turns).await
    }

    /// With a model that thinks, where that must be said.
    pub(crate) async fn set_thinking(api: Api, turns: Vec<Turn>) -> Stage {
        let more = match api {
            Api::Anthropic => "retries = 0\nthinking = 2000",
            Api::Chat => "retries = 0",
            Api::Responses => "retries = 0\neffort = \"low\"",
        };
        Stage::set_with(api, more, turns).await
    }

    /// SIGKILL, and a new start.
    pub(crate) async fn crash(&mut self) {
        self.served.kill().await;
        self.served.up().await;
    }

    /// A session in which this was said.
    pub(crate) async fn said(&self, text: &str) -> String {
        let session = self.ana.session("worker").await;
        self.ana.say(&session, text).await;
        session
    }

    /// Once the run is over, everything about the transcript and the requests must be sound.
    pub(crate) async fn completed(&self, session: &str) -> Value {
        let over = |read: &Value| {
            matches!(read["run"]["status"].as_str(), Some("completed" | "failed" | "cancelled"))
        };
        let read = self.ana.until(session, "the end", over).await;
        assert_eq!(read["run"]["status"], "completed", "{:#}", read["run"]);
        self.sound(&read);
        read
    }

    pub(crate) fn sound(&self, session: &Value) {
        assert_eq!(unsound(session), Vec::<String>::new());
        assert_eq!(self.fake.refused(), Vec::<String>::new(), "a vendor would have refused these");
    }

    /// The run has failed; its error in words.
    pub(crate) async fn failed(&self, session: &str) -> String {
        let read = self.ana.run_is(session, "failed").await;
        assert_eq!(unsound(&read), Vec::<String>::new());
        assert_eq!(read["pending"], json!([]), "nobody is asked about a turn that failed");
        let error = read["run"]["error"].as_str().unwrap_or_default().to_owned();
        assert!(!error.is_empty(), "{:#}", read["run"]);
        error
    }

    pub(crate) async fn retry(&self, session: &str) {
        let read = self.ana.read(session).await;
        let run = read["run"]["id"].as_str().expect("a run");
        self.ana.post(&format!("/v1/runs/{run}/retry"), &json!({})).await.must(200);
    }

    /// What the tools got, in the order in which they ran.
    pub(crate) fn inputs(&self) -> Vec<Value> {
        let lines = self.served.witness().lines().expect("a witness");
        lines.into_iter().map(|line| line.input).collect()
    }

    /// Waits until the model was asked so often.
    pub(crate) async fn asked(&self, count: usize) -> Vec<Recorded> {
        let until = tokio::time::Instant::now() + testkit::served::PATIENCE;
        loop {
            let asked = self.fake.asked();
            if asked.len() >= count {
                return asked;
            }
            assert!(tokio::time::Instant::now() < until, "{count} requests are waited for");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// The results in the last request: the call, what the model is told, and the error flag where
    /// the API has one.
    pub(crate) fn told(&self) -> Vec<(String, String, Option<bool>)> {
        let body = self.fake.asked().pop().expect("a request").json();
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
        };
        let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        match self.api {
            Api::Anthropic => {
                let blocks = list(&body["messages"]).into_iter().flat_map(|m| list(&m["content"]));
                let results = blocks.filter(|block| block["type"] == "tool_result");
                let flag = |block: &Value| Some(block["is_error"] == true);
                results.map(|b| (id(&b["tool_use_id"]), text(&b["content"]), flag(&b))).collect()
            }
            Api::Chat => {
                let results = list(&body["messages"]).into_iter().filter(|m| m["role"] == "tool");
                results.map(|m| (id(&m["tool_call_id"]), text(&m["content"]), None)).collect()
            }
            Api::Responses => {
                let items = list(&body["input"]).into_iter();
                let results = items.filter(|item| item["type"] == "function_call_output");
                results.map(|item| (id(&item["call_id"]), text(&item["output"]), None)).collect()
            }
        }
    }
}

pub(crate) fn note(text: &str) -> Value {
    json!({"note": text})
}

pub(crate) fn nothing() -> Vec<Value> {
    Vec::new()
}
