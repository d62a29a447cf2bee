//! A client that does not give up: while the disk fails it is told so, and while the server is dead
//! it is told nothing.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{Api, Reply};
use testkit::served::{PATIENCE, Served, unsound};
use testkit::witness::Witness;
use tokio::time::{Instant, sleep};

pub(crate) struct Client {
    api: Api,
    witness: Witness,
}

/// What one cycle came to.
#[derive(Debug, Default)]
pub(crate) struct Cycle {
    /// Times that it was told to come again.
    pub(crate) refused: u32,
    pub(crate) in_doubt: u32,
    /// Once each, or not at all.
    pub(crate) effects: usize,
}

impl Client {
    pub(crate) fn of(served: &Served) -> Client {
        let text = std::fs::read(served.tokens_file()).expect("tokens");
        let tokens: Value = serde_json::from_slice(&text).expect("tokens are JSON");
        let api = Api::new(&served.url(), tokens["person_token"].as_str());
        Client { api, witness: served.witness() }
    }

    /// Message, hold, approval, tool, last word; and then everything is as it was said to be.
    pub(crate) async fn cycle(&self, note: &str) -> Cycle {
        let mut cycle = Cycle::default();
        let open = json!({"agent": "worker"});
        let session = self.insist("/v1/sessions", &open, &format!("{note}-open"), &mut cycle).await;
        let session = format!("/v1/sessions/{}", session.text("id"));
        let say = json!({"text": format!("note {note}")});
        let messages = format!("{session}/messages");
        self.insist(&messages, &say, &format!("{note}-say"), &mut cycle).await;
        let mut approved = None;
        let read = loop {
            let read = self.read(&session).await;
            if read["run"]["status"] == "completed" {
                break read;
            }
            for hold in read["pending"].as_array().into_iter().flatten() {
                let id = hold["id"].as_str().expect("an id");
                assert_ne!(approved.as_deref(), Some(id), "an acknowledged answer is lost");
                let answer = if hold["kind"] == "settle" {
                    cycle.in_doubt += 1;
                    let call = hold["call"]["id"].as_str().expect("an id");
                    let how = if self.witness.has_seen(call) { "succeeded" } else { "failed" };
                    json!({"settle": how})
                } else {
                    approved = Some(id.to_owned());
                    json!({"verdict": "approve"})
                };
                let body = json!({"digest": hold["digest"], "answer": answer});
                let path = format!("/v1/holds/{id}/answer");
                self.insist(&path, &body, &format!("{note}-{id}"), &mut cycle).await;
            }
            sleep(Duration::from_millis(10)).await;
        };
        self.judge(note, &read, &approved.expect("a hold"), &mut cycle).await;
        cycle
    }

    async fn judge(&self, note: &str, read: &Value, approved: &str, cycle: &mut Cycle) {
        assert_eq!(unsound(read), Vec::<String>::new(), "{read:#}");
        let hold = self.read(&format!("/v1/holds/{approved}")).await;
        assert_eq!(hold["decision"]["verdict"], "approve", "the answer stands: {hold:#}");
        let lines = self.witness.lines().expect("a witness");
        let lines: Vec<_> = lines.iter().filter(|line| line.input["note"] == note).collect();
        assert!(lines.len() <= 1, "it ran {} times: {lines:?}", lines.len());
        let outcome = hold["outcome"]["state"].as_str().unwrap_or_default();
        let told = if lines.is_empty() { "failed" } else { "succeeded" };
        assert_eq!(outcome, told, "{} lines: {hold:#}", lines.len());
        cycle.effects = lines.len();
    }

    async fn read(&self, path: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.api.get(path).await {
                Ok(reply) if reply.status == 200 => return reply.body,
                Ok(reply) if reply.status == 503 => {}
                Ok(reply) => panic!("{path} said {}: {}", reply.status, reply.body),
                Err(_) => {}
            }
            assert!(Instant::now() < until, "{path} cannot be read");
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn insist(&self, path: &str, body: &Value, key: &str, cycle: &mut Cycle) -> Reply {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.api.post(path, body, key).await {
                Ok(reply) if reply.is_ok() && !reply.body.is_null() => return reply,
                Ok(reply) if reply.is_ok() => {}
                Ok(reply) if reply.status == 503 => cycle.refused += 1,
                Ok(reply) => panic!("{path} said {}: {}", reply.status, reply.body),
                Err(_) => {}
            }
            assert!(Instant::now() < until, "{path} is not taken");
            sleep(Duration::from_millis(10)).await;
        }
    }
}
