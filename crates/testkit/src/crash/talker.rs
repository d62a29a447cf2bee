//! A program that talks to the agent, and does not give up when the server dies under it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::stage::{Moment, Stage};
use super::world::{RARE_SCENES, SCENES};
use crate::http::{Api, Reply};
use crate::oracle::{Errand, Said};
use crate::rng::Rng;

/// Between two looks at a run: six talkers then stay well below what one caller may ask.
const LOOK_EVERY: Duration = Duration::from_millis(60);
/// Once nobody kills the server any more, every run ends within this.
pub(super) const CALM_WITHIN: Duration = Duration::from_secs(60);

pub(super) struct Talker {
    pub(super) name: String,
    pub(super) api: Api,
    pub(super) stage: Arc<Stage>,
    pub(super) rng: Rng,
}

impl Talker {
    /// Opens sessions and talks in them until the stage closes; then finishes what it began.
    pub(super) async fn talk(mut self) {
        let mut number = 0;
        while !self.stage.is_closing() {
            number += 1;
            let Some(session) = self.open(number).await else { return };
            for round in 0..=self.rng.below(4) {
                if self.stage.is_closing() {
                    return;
                }
                // Now and then a second message comes while the first is being worked on.
                let messages = if self.rng.percent(15) { 2 } else { 1 };
                let mut runs = Vec::new();
                for message in 0..messages {
                    let scene = match self.rng.percent(10) {
                        true => *self.rng.pick(&RARE_SCENES),
                        false => *self.rng.pick(&SCENES),
                    };
                    let text = format!("{scene} {}-{number}-{round}-{message}", self.name);
                    let Some(run) = self.say(&session, &text).await else { return };
                    runs.push(run);
                }
                for run in runs {
                    if !self.ended(&run).await {
                        return;
                    }
                }
            }
        }
    }

    /// Says one thing after the other in one session, each when the one before it is done.
    pub(super) async fn recite(mut self, scenes: &[&str]) {
        let Some(session) = self.open(1).await else { return };
        for (scene, number) in scenes.iter().zip(1..) {
            let text = format!("{scene} {}-{number}", self.name);
            let Some(run) = self.say(&session, &text).await else { return };
            if !self.ended(&run).await {
                return;
            }
        }
    }

    async fn open(&mut self, number: u32) -> Option<String> {
        let key = format!("open-{}-{number}", self.name);
        self.stage.oracle.known().sessions.insert(key.clone(), None);
        let reply =
            self.insist(Errand::Open, "/v1/sessions", json!({"agent": "worker"}), &key).await?;
        let id = reply.text("id").to_owned();
        let mut known = self.stage.oracle.known();
        known.sessions.insert(key, Some(id.clone()));
        known.counts.sessions += 1;
        Some(id)
    }

    async fn say(&mut self, session: &str, text: &str) -> Option<String> {
        let key = text.replace(' ', "-");
        let said = Said { text: text.to_owned(), run: None };
        self.stage.oracle.known().said.entry(session.to_owned()).or_default().push(said);
        let path = format!("/v1/sessions/{session}/messages");
        self.stage.tell(Moment::Say);
        let reply = self.insist(Errand::Say, &path, json!({"text": text}), &key).await?;
        let run = reply.text("run").to_owned();
        let mut known = self.stage.oracle.known();
        known.counts.messages += 1;
        if let Some(said) = known.said.get_mut(session).and_then(|said| said.last_mut()) {
            said.run = Some(run.clone());
        }
        Some(run)
    }

    /// Sends until an answer comes. A connection that breaks says nothing about what was done, so
    /// the same key is used again.
    async fn insist(&self, errand: Errand, path: &str, body: Value, key: &str) -> Option<Reply> {
        let mut calm = None;
        loop {
            self.stage.oracle.sets_out(key, errand);
            let reply = self.api.post(path, &body, key).await;
            self.stage.oracle.is_back(key, reply.is_err());
            match reply {
                Ok(reply) if reply.is_ok() && !reply.body.is_null() => return Some(reply),
                // The promise was made, but its words were lost: ask for them again.
                Ok(reply) if reply.is_ok() || matches!(reply.status, 429 | 503) => {}
                Ok(reply) => {
                    self.stage.oracle.wrong(format!(
                        "POST {path} ({key}) said {}: {}",
                        reply.status, reply.body
                    ));
                    return None;
                }
                Err(_) => {}
            }
            if self.is_too_late(&mut calm, &format!("POST {path} ({key}) got no answer")) {
                return None;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn ended(&self, run: &str) -> bool {
        let mut calm = None;
        let mut last = String::new();
        loop {
            match self.api.get(&format!("/v1/runs/{run}")).await {
                Ok(reply) if reply.status == 200 => match reply.text("status") {
                    "completed" => {
                        self.stage.tell(Moment::RunEnded);
                        return true;
                    }
                    "failed" | "cancelled" => {
                        self.stage
                            .oracle
                            .wrong(format!("the run {run} did not complete: {}", reply.body));
                        return true;
                    }
                    status => last = status.to_owned(),
                },
                Ok(reply) if matches!(reply.status, 429 | 503) => {}
                Ok(reply) => {
                    self.stage
                        .oracle
                        .wrong(format!("the run {run} is gone: {} {}", reply.status, reply.body));
                    return true;
                }
                Err(_) => {}
            }
            if self.is_too_late(&mut calm, &format!("the run {run} does not end ({last})")) {
                return false;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    fn is_too_late(&self, calm: &mut Option<Instant>, what: &str) -> bool {
        self.stage.is_too_late(calm, CALM_WITHIN, what)
    }
}
