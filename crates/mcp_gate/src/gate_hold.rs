//! A hold, as the gate reads it: the few members that decide whether a call may run, each of its own type.
//!
//! Read from this process's own engine, or from the shape of the HTTP API. A state that is not known is
//! [`HoldReplyState::Other`], which allows nothing.

use anyhow::Context as _;
use domain::answer::Answer;
use domain::digest::Digest;
use domain::grant::ClearedBy;
use domain::hold::{Decision, Hold, HoldOutcome, HoldReplyState, HoldState, Risk};
use domain::id::HoldId;
use domain::schema::redacted;
use domain::visible::visible;
use serde::Deserialize;
use serde_json::Value;

/// The reason with which a call that is not wanted any more takes its question back.
pub(crate) const WITHDRAWN: &str = "the client cancelled the call";

#[derive(Clone, Debug)]
pub struct GateHold {
    pub id: HoldId,
    pub state: HoldReplyState,
    /// Of what is on the table now.
    pub digest: Option<Digest>,
    /// `None`: a risk that is not known.
    pub risk: Option<Risk>,
    pub rule: Option<String>,
    /// The call that it was asked about, by our key.
    pub match_key: Option<String>,
    pub call: Option<HeldCallText>,
    pub decision: Option<GateDecision>,
    pub withdrawal: Option<GateWithdrawal>,
    pub outcome: Option<GateOutcome>,
}

/// The call that is on the table: after an edit, the edited one.
#[derive(Clone, Debug, Deserialize)]
pub struct HeldCallText {
    pub tool: String,
    pub arguments: Value,
}

/// What stands, in the words that a model is told.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct GateDecision {
    /// `None`: no person was asked; a rule or a standing grant spoke.
    pub by: Option<String>,
    pub rule: Option<String>,
    pub grant: Option<String>,
    pub reason: Option<String>,
    pub note: Option<String>,
    /// What a person answered in the tool's place.
    pub content: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct GateWithdrawal {
    pub by: Option<String>,
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    Executing,
    Succeeded,
    Failed,
    Unknown,
    /// Of a newer server. The approval is used.
    #[serde(other)]
    Other,
}

/// The members of a hold in the shape of the HTTP API.
#[derive(Deserialize)]
struct HoldBody {
    id: String,
    state: HoldReplyState,
    digest: Option<String>,
    risk: Option<String>,
    rule: Option<String>,
    #[serde(default)]
    context: Value,
    call: Option<HeldCallText>,
    decision: Option<GateDecision>,
    cancelled: Option<GateWithdrawal>,
    outcome: Option<OutcomeBody>,
}

#[derive(Deserialize)]
struct OutcomeBody {
    state: GateOutcome,
}

impl GateHold {
    /// Of this process's own engine.
    pub fn of(hold: &Hold) -> GateHold {
        let call = hold.call().map(|call| HeldCallText {
            tool: call.tool.to_string(),
            arguments: redacted(call.arguments.value(), &call.secrets).into_owned(),
        });
        let withdrawal = match &hold.state {
            HoldState::Cancelled { by, reason, .. } => Some(GateWithdrawal {
                by: Some(by.to_string()),
                reason: reason.text().map(str::to_owned),
            }),
            _ => None,
        };
        GateHold {
            id: hold.id,
            state: hold.state.state_name().into(),
            digest: Some(hold.digest()),
            risk: Some(hold.risk),
            rule: hold.rule.clone(),
            match_key: hold.context["match_key"].as_str().map(str::to_owned),
            call,
            decision: hold.state.decision().map(GateDecision::of),
            withdrawal,
            outcome: hold.outcome().map(GateOutcome::of),
        }
    }

    /// In the shape of the HTTP API. What cannot be read is an error, and so no approval.
    pub fn parse(hold: &Value) -> anyhow::Result<GateHold> {
        let body = HoldBody::deserialize(hold).context("the server's reply is no hold")?;
        let digest = body.digest.as_deref().map(str::parse).transpose();
        Ok(GateHold {
            id: body.id.parse().ok().context("the server's reply names no hold")?,
            state: body.state,
            digest: digest.ok().context("the digest of the hold cannot be read")?,
            risk: body.risk.as_deref().and_then(Risk::parse),
            rule: body.rule,
            match_key: body.context["match_key"].as_str().map(str::to_owned),
            call: body.call,
            decision: body.decision,
            withdrawal: body.cancelled,
            outcome: body.outcome.map(|outcome| outcome.state),
        })
    }

    pub fn is_pending(&self) -> bool {
        self.state == HoldReplyState::Pending
    }

    /// Taken back by a call that nobody waits for: another call with the same question still has none.
    pub(crate) fn was_withdrawn_by_a_call(&self) -> bool {
        let reason = self.withdrawal.as_ref().and_then(|withdrawal| withdrawal.reason.as_deref());
        self.state == HoldReplyState::Cancelled && reason == Some(WITHDRAWN)
    }

    /// Why it is no approval, for the model.
    pub fn why_not(&self) -> String {
        let rule = self.rule.as_deref().map(|rule| format!(" (rule \"{}\")", visible(rule)));
        let rule = rule.unwrap_or_default();
        let decision = self.decision.clone().unwrap_or_default();
        match self.state {
            HoldReplyState::Answered => {
                let said = decision.content.as_deref().map_or_else(String::new, visible);
                format!("A person answered in its place: {said}")
            }
            HoldReplyState::Denied => format!("Denied{}{rule}", decision.text()),
            HoldReplyState::Expired => format!("Expired: nobody answered in time.{rule}"),
            HoldReplyState::Cancelled => {
                let withdrawal = self.withdrawal.clone();
                let (by, reason) = withdrawal.map_or((None, None), |it| (it.by, it.reason));
                let said = GateDecision { by, reason, ..GateDecision::default() };
                format!("Cancelled: taken back{}{rule}", said.text())
            }
            HoldReplyState::Pending | HoldReplyState::Approved | HoldReplyState::Other => {
                format!("There is no approval.{rule}")
            }
        }
    }
}

impl GateDecision {
    fn of(decision: &Decision) -> GateDecision {
        let none = GateDecision::default();
        let vote = match decision {
            Decision::People { vote, .. } => vote,
            Decision::Automatic { by: ClearedBy::Rule(rule), .. } => {
                let rule = rule.as_deref().unwrap_or("default").to_owned();
                return GateDecision { rule: Some(rule), ..none };
            }
            Decision::Automatic { by: ClearedBy::Grant(grant), .. } => {
                return GateDecision { grant: Some(grant.to_string()), ..none };
            }
            Decision::Automatic { by: ClearedBy::People(_), .. } => return none,
        };
        let by = Some(vote.by.to_string());
        match &vote.answer {
            Answer::Approve { note, .. } => {
                GateDecision { by, note: note.as_deref().map(str::to_owned), ..none }
            }
            Answer::Deny { reason, .. } => {
                GateDecision { by, reason: reason.as_deref().map(str::to_owned), ..none }
            }
            Answer::Respond { content } => {
                GateDecision { by, content: Some(content.to_string()), ..none }
            }
            Answer::Choose(_)
            | Answer::Fill(_)
            | Answer::Perform { .. }
            | Answer::Settle { .. } => GateDecision { by, ..none },
        }
    }

    /// Whether a rule or a standing grant decided, and no person was asked.
    pub(crate) fn is_automatic(&self) -> bool {
        self.by.is_none() && (self.rule.is_some() || self.grant.is_some())
    }

    /// Who decided, and why.
    fn text(&self) -> String {
        let said =
            |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(visible);
        let by = match (said(&self.by), said(&self.rule), said(&self.grant)) {
            (Some(by), ..) => format!(" by {by}"),
            (None, Some(rule), _) => format!(" by the rule \"{rule}\""),
            (None, None, Some(grant)) => format!(" by the standing grant {grant}"),
            (None, None, None) => String::new(),
        };
        let why = said(&self.reason).or_else(|| said(&self.note));
        format!("{by}{}", why.map(|why| format!(": {why}")).unwrap_or_default())
    }
}

impl GateOutcome {
    fn of(outcome: &HoldOutcome) -> GateOutcome {
        match outcome {
            HoldOutcome::Executing => GateOutcome::Executing,
            HoldOutcome::Succeeded(_) => GateOutcome::Succeeded,
            HoldOutcome::Failed(_) => GateOutcome::Failed,
            HoldOutcome::Unknown => GateOutcome::Unknown,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// A hold in the shape of the HTTP API, with `more` in it.
    pub(crate) fn hold(more: &Value) -> GateHold {
        let mut hold = json!({"id": "hold_01jd3kq8v2m4x6z8a0c2e4g6j8", "state": "pending"});
        hold.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        GateHold::parse(&hold).unwrap()
    }

    #[test]
    fn what_is_not_known_is_no_approval() {
        assert_eq!(hold(&json!({"state": "postponed"})).state, HoldReplyState::Other);
        assert_eq!(hold(&json!({"risk": "enormous"})).risk, None);
        let paused = hold(&json!({"outcome": {"state": "paused"}}));
        assert_eq!(paused.outcome, Some(GateOutcome::Other));
        for bad in [
            json!(null),
            json!({"id": "hold_01jd3kq8v2m4x6z8a0c2e4g6j8"}),
            json!({"id": "x", "state": "approved"}),
            json!({"id": "hold_01jd3kq8v2m4x6z8a0c2e4g6j8", "state": 7}),
            json!({"id": "hold_01jd3kq8v2m4x6z8a0c2e4g6j8", "state": "pending", "digest": "x"}),
        ] {
            assert!(GateHold::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_model_hears_who_decided_and_why() {
        let why = |more: Value| hold(&more).why_not();
        let denied = json!({"verdict": "deny", "by": "ana", "reason": "not\u{202e} on a Friday"});
        assert_eq!(
            why(json!({"state": "denied", "rule": "r", "decision": denied})),
            "Denied by ana: not⟦U+202E⟧ on a Friday (rule \"r\")"
        );
        assert_eq!(
            why(json!({"state": "denied", "decision": {"by": null, "rule": "no moving"}})),
            "Denied by the rule \"no moving\""
        );
        assert_eq!(why(json!({"state": "expired"})), "Expired: nobody answered in time.");
        assert_eq!(
            why(json!({"state": "cancelled", "cancelled": {"by": "ci", "reason": "late"}})),
            "Cancelled: taken back by ci: late"
        );
        assert_eq!(
            why(json!({"state": "answered", "decision": {"by": "ana", "content": "42"}})),
            "A person answered in its place: 42"
        );
        assert_eq!(why(json!({"state": "postponed"})), "There is no approval.");
    }
}
