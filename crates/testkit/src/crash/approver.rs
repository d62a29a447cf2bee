//! The person who answers: at random where it is a matter of taste, and with care where somebody
//! must find out what happened.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::stage::{Moment, Stage};
use super::talker::CALM_WITHIN;
use super::world::BRIEF;
use crate::http::{Api, Reply};
use crate::oracle::{Errand, Given};
use crate::rng::Rng;
use crate::witness::Witness;

const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Clone)]
pub(super) struct Approver {
    pub(super) api: Api,
    pub(super) stage: Arc<Stage>,
    /// Where calls leave what they did.
    pub(super) traces: [Witness; 2],
    pub(super) rng: Rng,
    /// Out of a hundred calls, those that are denied.
    pub(super) denies: u64,
    /// Out of a hundred holds, those that are claimed before they are answered.
    pub(super) claims: u64,
}

impl Approver {
    /// Answers every hold that appears, until nobody talks any more and nothing is open.
    pub(super) async fn answer_all(mut self) {
        let mut taken = BTreeSet::new();
        let mut answering = JoinSet::new();
        loop {
            // Taken before the list: what is acknowledged by now may not be pending in it.
            let acked = self.stage.oracle.acked();
            let pending = self.api.list("/v1/holds?state=pending").await;
            let over = self.stage.is_over();
            let nothing = pending.as_ref().is_ok_and(Vec::is_empty);
            for hold in pending.unwrap_or_default() {
                let id = hold["id"].as_str().unwrap_or_default().to_owned();
                if hold["call"]["tool"] == BRIEF {
                    // Nobody ever gets round to these.
                    continue;
                }
                if acked.contains(&id) {
                    self.lost(&id);
                    taken.remove(&id);
                }
                if taken.insert(id) {
                    self.stage.tell(Moment::HoldSeen);
                    let one = Approver { rng: self.rng.fork(), ..self.clone() };
                    answering.spawn(one.answer(hold));
                }
            }
            while answering.try_join_next().is_some() {}
            if over && nothing && answering.is_empty() {
                return;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    fn lost(&self, hold: &str) {
        let mut known = self.stage.oracle.known();
        let Some(given) = known.answers.get_mut(hold) else { return };
        given.acked = false;
        let what = format!(
            "LOST: the answer {} to {hold} was acknowledged, and it is pending",
            given.answer
        );
        known.wrong.push(what);
    }

    async fn answer(mut self, hold: Value) {
        // People take a moment, and not all of them the same.
        sleep(self.rng.clone().up_to(Duration::from_millis(40))).await;
        let id = hold["id"].as_str().unwrap_or_default().to_owned();
        let digest = hold["digest"].as_str().unwrap_or_default().to_owned();
        if self.rng.percent(self.claims) {
            self.claim(&id).await;
        }
        let (mut answer, contrary) = self.choose(&hold);
        if let Some(earlier) = self.stage.oracle.known().answers.get(&id) {
            // It was lost, which has been told; whoever said it once says it again.
            answer = earlier.answer.clone();
        }
        let given = Given { answer: answer.clone(), digest: digest.clone(), acked: false };
        self.stage.oracle.known().answers.insert(id.clone(), given);
        let key = format!("answer-{id}");
        let body = json!({"digest": digest, "answer": answer});
        let Some(reply) = self.insist_on_answer(&id, &body, &key).await else { return };
        if !reply.is_ok() {
            return self.stage.oracle.wrong(format!(
                "the answer {answer} to {id} got {}: {}",
                reply.status, reply.body
            ));
        }
        {
            let mut known = self.stage.oracle.known();
            known.counts.answers += 1;
            if let Some(given) = known.answers.get_mut(&id) {
                given.acked = true;
            }
        }
        self.stage.tell(Moment::Acked);
        self.insist_further(&id, &body, &json!({"digest": digest, "answer": contrary})).await;
    }

    /// Says that somebody is on it. Once that is acknowledged, everybody is told.
    async fn claim(&self, id: &str) {
        let path = format!("/v1/holds/{id}/claim");
        let key = format!("claim-{id}");
        let Some(reply) = self.insist((Errand::Claim, &path), &json!({}), &key).await else {
            return;
        };
        if !reply.is_ok() {
            let what = format!("the claim of {id} got {}: {}", reply.status, reply.body);
            return self.stage.oracle.wrong(what);
        }
        self.stage.oracle.known().counts.claims += 1;
        let mut calm = None;
        let seen = loop {
            match self.api.get(&format!("/v1/holds/{id}")).await {
                Ok(seen) if seen.is_ok() => break seen,
                _ => {}
            }
            let late = format!("{id} cannot be looked at");
            if self.stage.is_too_late(&mut calm, CALM_WITHIN, &late) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        };
        if seen.body["claimed_by"].is_null() {
            self.stage
                .oracle
                .wrong(format!("LOST: the claim of {id} was acknowledged, and is not there"));
        }
    }

    /// A decision stands: the same again is welcome, anything else is refused.
    async fn insist_further(&mut self, id: &str, body: &Value, contrary: &Value) {
        if self.rng.percent(12) {
            self.stage.oracle.known().counts.repeats += 1;
            let again = self.insist_on_answer(id, body, &format!("again-{id}")).await;
            if let Some(reply) = again.filter(|reply| !reply.is_ok()) {
                let what =
                    format!("the same answer again to {id} got {}: {}", reply.status, reply.body);
                self.stage.oracle.wrong(what);
            }
        }
        if self.rng.percent(12) {
            self.stage.oracle.known().counts.contradictions += 1;
            let other = self.insist_on_answer(id, contrary, &format!("other-{id}")).await;
            if let Some(reply) = other.filter(|reply| reply.status != 409) {
                let what = format!(
                    "LOST: another answer to {id}, which was decided, got {}: {}",
                    reply.status, reply.body
                );
                self.stage.oracle.wrong(what);
            }
        }
    }

    /// An answer, and one that contradicts it.
    fn choose(&mut self, hold: &Value) -> (Value, Value) {
        let approve = json!({"verdict": "approve", "scope": "once"});
        let deny = json!({"verdict": "deny", "reason": "not today"});
        match hold["kind"].as_str() {
            Some("settle") => {
                let call = hold["call"]["id"].as_str().unwrap_or_default();
                let happened = self.traces.iter().any(|trace| trace.has_seen(call));
                let how = match happened {
                    true => "succeeded",
                    false if self.rng.percent(40) => "retry",
                    false => "failed",
                };
                let other = if happened { "failed" } else { "succeeded" };
                (json!({"settle": how}), json!({"settle": other}))
            }
            _ if self.rng.percent(self.denies) => (deny, approve),
            _ => (approve, deny),
        }
    }

    async fn insist_on_answer(&self, id: &str, body: &Value, key: &str) -> Option<Reply> {
        let path = format!("/v1/holds/{id}/answer");
        self.insist((Errand::Answer, &path), body, key).await
    }

    async fn insist(
        &self,
        (errand, path): (Errand, &str),
        body: &Value,
        key: &str,
    ) -> Option<Reply> {
        let mut calm = None;
        loop {
            self.stage.tell(Moment::Answer);
            self.stage.oracle.sets_out(key, errand);
            let reply = self.api.post(path, body, key).await;
            self.stage.oracle.is_back(key, reply.is_err());
            match reply {
                Ok(reply) if matches!(reply.status, 429 | 503) => {}
                Ok(reply) => return Some(reply),
                Err(_) => {}
            }
            if self.stage.is_too_late(&mut calm, CALM_WITHIN, &format!("{key} got no answer")) {
                return None;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}
