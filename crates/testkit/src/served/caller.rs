//! Somebody who calls a server, and expects answers.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::rng::Rng;

/// What should happen soon has happened by then, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub struct Caller {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// What the server said.
#[derive(Clone, Debug)]
pub struct Heard {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    /// Null if it is no JSON.
    pub body: Value,
}

impl Heard {
    /// The body, if the status is what it should be.
    #[track_caller]
    pub fn must(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// The body of a problem with this status and code.
    #[track_caller]
    pub fn problem(self, status: u16, code: &str) -> Value {
        assert_eq!(
            (self.status, self.body["code"].as_str()),
            (status, Some(code)),
            "{}",
            self.text
        );
        let kind = self.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        assert_eq!(kind, Some("application/problem+json"), "{}", self.text);
        assert_eq!(self.body["status"], status, "{}", self.text);
        for field in ["type", "title", "detail"] {
            let said = self.body[field].as_str().is_some_and(|text| !text.trim().is_empty());
            assert!(said, "nothing is said in `{field}`: {}", self.text);
        }
        self.body
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Caller {
    pub fn new(base: &str, token: Option<&str>) -> Caller {
        // Whoever came first installed the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .build()
            .expect("a client without settings");
        Caller { http, base: base.to_owned(), token: token.map(str::to_owned) }
    }

    /// For clients that are programs of their own.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// A request with this caller's credentials, for what the methods below do not do.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn send(&self, request: RequestBuilder) -> Heard {
        let reply = request.send().await.expect("the server answers");
        let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
        let text = reply.text().await.expect("the whole of it");
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Heard { status, headers, text, body }
    }

    pub async fn get(&self, path: &str) -> Heard {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Heard {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// A body as it is, also one that is no JSON.
    pub async fn post_raw(&self, path: &str, body: impl Into<Vec<u8>>) -> Heard {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request.body(body.into())).await
    }

    pub async fn session(&self, agent: &str) -> String {
        let opened = self.post("/v1/sessions", &json!({"agent": agent})).await.must(201);
        opened["id"].as_str().expect("an id").to_owned()
    }

    /// Says something and returns the run.
    pub async fn say(&self, session: &str, text: &str) -> String {
        let path = format!("/v1/sessions/{session}/messages");
        let said = self.post(&path, &json!({"text": text})).await.must(202);
        said["run"].as_str().expect("a run").to_owned()
    }

    pub async fn read(&self, session: &str) -> Value {
        self.get(&format!("/v1/sessions/{session}")).await.must(200)
    }

    /// The session, once it is as wanted.
    pub async fn until(&self, session: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let read = self.read(session).await;
            if is(&read) {
                return read;
            }
            assert!(Instant::now() < end, "{what} is still waited for: {read:#}");
            sleep(Duration::from_millis(15)).await;
        }
    }

    /// The session, once its latest run has this status.
    pub async fn run_is(&self, session: &str, status: &str) -> Value {
        self.until(session, status, |read| read["run"]["status"] == status).await
    }

    /// The open holds of a session, once there are so many, in the order of their calls.
    pub async fn held(&self, session: &str, count: usize) -> Vec<Value> {
        let there = |read: &Value| read["pending"].as_array().is_some_and(|p| p.len() == count);
        let read = self.until(session, &format!("{count} holds"), there).await;
        let mut holds = read["pending"].as_array().cloned().expect("a list");
        let calls = called(&read);
        holds.sort_by_key(|hold| calls.iter().position(|call| *call == hold["call"]["id"]));
        holds
    }

    pub async fn hold(&self, id: &Value) -> Value {
        self.get(&format!("/v1/holds/{}", id.as_str().expect("an id"))).await.must(200)
    }

    /// Answers a hold as it was shown, once.
    pub async fn answer(&self, hold: &Value, answer: Value) -> Heard {
        let path = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
        self.post(&path, &json!({"digest": hold["digest"], "answer": answer})).await
    }

    pub async fn approve(&self, hold: &Value) -> Value {
        self.answer(hold, json!({"verdict": "approve"})).await.must(200)
    }

    /// A key for requests that are repeated.
    pub fn fresh_key() -> String {
        format!("key-{:x}", Rng::fresh_seed())
    }
}

/// The ids of all calls, in the order in which the model made them.
fn called(session: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let parts = list(&session["messages"]).into_iter().flat_map(|message| list(&message["parts"]));
    parts
        .filter(|part| part["type"] == "tool-call")
        .map(|part| part["toolCallId"].clone())
        .collect()
}
