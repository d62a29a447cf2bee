//! A program that asks from outside, and wants to be told of the answer at an address of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::stage::Stage;
use super::talker::CALM_WITHIN;
use super::world::SECRET_ENV;
use crate::http::Api;
use crate::oracle::Errand;

/// Receives callbacks and remembers all of them, by their id. It is never killed.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox(Arc<Mutex<BTreeMap<String, Vec<Value>>>>);

impl Inbox {
    /// Where it listens, and the tasks that do; dropping them closes it.
    pub(super) async fn open() -> std::io::Result<(Inbox, String, JoinSet<()>)> {
        let inbox = Inbox::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}/told", listener.local_addr()?);
        let (mut tasks, here) = (JoinSet::new(), inbox.clone());
        tasks.spawn(async move {
            let mut receiving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let here = here.clone();
                // A sender that dies in the middle has said nothing.
                receiving.spawn(async move { drop(here.receive(stream).await) });
                while receiving.try_join_next().is_some() {}
            }
        });
        Ok((inbox, address, tasks))
    }

    async fn receive(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let (mut id, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let Some((name, value)) = line.trim().split_once(':') else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "webhook-id" => id = value.trim().to_owned(),
                "content-length" => length = value.trim().parse().unwrap_or_default(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        self.told().entry(id).or_default().push(body);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await
    }

    pub(super) fn told(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Value>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn knows(&self, hold: &str) -> bool {
        self.told().keys().any(|id| id.starts_with(&format!("{hold}-")))
    }

    /// What is wrong with what came: every repeat says the same, and there are no more of them than
    /// crashes that could have caused one.
    pub(super) fn check(&self, crashes: u64) -> Vec<String> {
        let mut wrong = Vec::new();
        for (id, bodies) in self.told().iter() {
            let Some(first) = bodies.first() else { continue };
            let hold = &first["data"]["hold"];
            let key = format!(
                "{}-{}",
                hold["id"].as_str().unwrap_or_default(),
                hold["state"].as_str().unwrap_or_default()
            );
            if *id != key || bodies.iter().any(|body| body != first) {
                wrong.push(format!("callbacks: {id} says {bodies:?}"));
            }
            if bodies.len() as u64 > crashes + 1 {
                wrong.push(format!("callbacks: {id} came {} times", bodies.len()));
            }
        }
        wrong
    }
}

pub(super) struct Outsider {
    pub(super) api: Api,
    pub(super) stage: Arc<Stage>,
    pub(super) inbox: Inbox,
    /// Where the inbox listens.
    pub(super) address: String,
}

impl Outsider {
    /// Asks until the stage closes, but at least once, each time when the last was answered.
    pub(super) async fn ask_on(self) {
        for number in 1.. {
            if !self.ask(number).await || self.stage.is_closing() {
                return;
            }
        }
    }

    /// Asks once, and returns when it was told; false if that took too long.
    async fn ask(&self, number: u32) -> bool {
        let key = format!("outside-{number}");
        let body = json!({"kind": "approve", "title": format!("Ship {number}"),
            "call": {"tool": "deploy", "arguments": {"tag": number}},
            "callback": {"url": self.address, "secret_env": SECRET_ENV}});
        let mut calm = None;
        let hold = loop {
            self.stage.oracle.sets_out(&key, Errand::Ask);
            let reply = self.api.post("/v1/holds", &body, &key).await;
            self.stage.oracle.is_back(&key, reply.is_err());
            match reply {
                Ok(reply) if reply.is_ok() && !reply.body.is_null() => {
                    break reply.text("id").to_owned();
                }
                Ok(reply) if reply.is_ok() || matches!(reply.status, 429 | 503) => {}
                Ok(reply) => {
                    let what = format!("POST /v1/holds said {}: {}", reply.status, reply.body);
                    self.stage.oracle.wrong(what);
                    return false;
                }
                Err(_) => {}
            }
            if self.stage.is_too_late(&mut calm, CALM_WITHIN, &format!("{key} got no answer")) {
                return false;
            }
            sleep(Duration::from_millis(10)).await;
        };
        let mut calm = None;
        while !self.inbox.knows(&hold) {
            let what = format!("callbacks: nobody was told of {hold}");
            if self.stage.is_too_late(&mut calm, CALM_WITHIN, &what) {
                return false;
            }
            sleep(Duration::from_millis(20)).await;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(id: &str, bodies: &[Value]) -> Inbox {
        let inbox = Inbox::default();
        inbox.told().insert(id.into(), bodies.to_vec());
        inbox
    }

    #[test]
    fn a_repeat_must_say_the_same_and_needs_a_crash() {
        let body = |state: &str| json!({"data": {"hold": {"id": "hold_1", "state": state}}});
        let (once, id) = (body("approved"), "hold_1-approved");
        assert_eq!(inbox(id, std::slice::from_ref(&once)).check(0), Vec::<String>::new());
        assert_eq!(inbox(id, &[once.clone(), once.clone()]).check(1), Vec::<String>::new());
        assert!(inbox(id, &[once.clone(), once.clone()]).check(0)[0].contains("came 2 times"));
        assert!(inbox(id, &[once.clone(), body("denied")]).check(1)[0].contains("says"));
        assert!(inbox("hold_1-denied", &[once]).check(0)[0].contains("says"));
    }

    #[tokio::test]
    async fn a_callback_arrives() {
        let (inbox, address, _tasks) = Inbox::open().await.unwrap();
        let body = json!({"data": {"hold": {"id": "hold_1", "state": "approved"}}});
        // Whoever came first installed the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let sent = client.post(address).header("webhook-id", "hold_1-approved").json(&body);
        assert_eq!(sent.send().await.unwrap().status(), 200);
        assert!(inbox.knows("hold_1") && !inbox.knows("hold_2"));
        // Whoever dies in the middle has said nothing.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        assert_eq!(inbox.told()["hold_1-approved"], [body]);
        for half in ["", "POST /told HTTP/1.1\r\nwebhook-id: hold_3-denied\r\n"] {
            let (ours, theirs) = tokio::join!(listener.accept(), TcpStream::connect(here));
            theirs.unwrap().write_all(half.as_bytes()).await.unwrap();
            assert!(inbox.receive(ours.unwrap().0).await.is_err(), "{half:?}");
        }
        assert_eq!(inbox.told().len(), 1);
    }
}
