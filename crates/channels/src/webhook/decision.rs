//! A decision that a program brings: `POST /channels/NAME/decisions`.
//!
//! ```json
//! {"hold":"hold_…","digest":"sha256:…","actor":{"id":"ana@example.com"},"answer":{"verdict":"approve"}}
//! ```
//! Every part is looked at and nothing is passed over: an approver must not think they said something
//! that was ignored. A call is not edited from here; that is done on the page.

use domain::answer::{Answer, ApprovalScope, DenyReason};
use domain::digest::Digest;
use domain::hold::Hold;
use domain::id::HoldId;
use domain::json::Arguments;
use domain::visible::visible;
use ports::channel::{HookReply, Inbox, Operator, ReportedDecision, ReportedReply, WebhookRequest};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::body::hold_value;
use super::channel::ChannelSettings;
use super::inbound::verify;
use crate::signed::Headers;
use crate::wire::{refusal_reply, status};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Body")]
struct DecisionBody {
    hold: String,
    digest: String,
    actor: Actor,
    answer: DecisionAnswer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Actor {
    /// As people are linked: `identities = { webhook = "…" }`.
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Said")]
struct DecisionAnswer {
    verdict: Option<String>,
    note: Option<String>,
    reason: Option<String>,
    content: Option<String>,
    choose: Option<Vec<String>>,
    fill: Option<Box<RawValue>>,
}

pub(super) async fn take(
    settings: &ChannelSettings,
    request: &WebhookRequest,
    inbox: &dyn Inbox,
) -> HookReply {
    let (Some(secret), "decisions") = (&settings.inbound_secret, request.path.as_str()) else {
        return status(404);
    };
    if request.method != "POST" {
        return status(405);
    }
    let headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let id = match verify(Headers(&headers), &request.body, secret, request.at) {
        Ok(id) => id,
        Err(why) => return refusal_reply(&settings.name, why),
    };
    let decided = match read_decision(&request.body, id) {
        Ok(decided) => decided,
        Err(why) => return hook_reply(400, &why, None),
    };
    if !settings.speaks_for.contains(&decided.operator.identity) {
        tracing::warn!(
            channel = settings.name,
            "a decision was refused: its sender may not speak for whom it names; see `speaks_for`"
        );
        return hook_reply(403, "you may not speak for them", None);
    }
    match inbox.decided(&settings.name, decided).await {
        Ok(ReportedReply::Taken(hold)) => hook_reply(200, "taken", Some(&hold)),
        Ok(ReportedReply::Already(hold)) => hook_reply(409, "another answer stands", Some(&hold)),
        Ok(ReportedReply::Changed(hold)) => hook_reply(409, "it has changed since", Some(&hold)),
        Ok(ReportedReply::NotEntitled) => hook_reply(403, "they may not answer this", None),
        Ok(ReportedReply::Invalid(why)) => hook_reply(422, &why, None),
        Err(_) => status(503),
    }
}

pub(super) fn read_decision(body: &[u8], id: &str) -> Result<ReportedDecision, String> {
    // An unknown key is named in the error, and may be anything.
    let body: DecisionBody =
        serde_json::from_slice(body).map_err(|error| visible(&error.to_string()))?;
    let hold: HoldId = body.hold.parse().map_err(|_| "`hold` is no id of a hold".to_owned())?;
    // What is not spelled like a digest is another one than was shown.
    let digest = body.digest.parse().unwrap_or_else(|_| Digest::of(body.digest.as_bytes()));
    let operator = Operator::named(body.actor.id);
    Ok(ReportedDecision {
        event: format!("webhook:{id}"),
        operator,
        hold,
        digest,
        answer: read_answer(body.answer)?,
    })
}

fn read_answer(said: DecisionAnswer) -> Result<Answer, String> {
    match said {
        DecisionAnswer {
            verdict: Some(verdict),
            note,
            reason,
            content,
            choose: None,
            fill: None,
        } => match (verdict.as_str(), note, reason, content) {
            ("approve", note, None, None) => {
                Ok(Answer::Approve { scope: ApprovalScope::Once, arguments: None, note })
            }
            ("deny", None, reason, None) => {
                Ok(Answer::Deny { reason: reason.map(DenyReason::from), stop: false })
            }
            ("respond", None, None, Some(content)) => Ok(Answer::Respond { content }),
            ("approve" | "deny" | "respond", ..) => Err(
                "`note` goes with `approve`, `reason` with `deny`, and `content` with `respond`"
                    .into(),
            ),
            _ => Err("`verdict` is one of `approve`, `deny`, `respond`".into()),
        },
        DecisionAnswer {
            verdict: None,
            note: None,
            reason: None,
            content: None,
            choose: Some(chosen),
            fill: None,
        } => Ok(Answer::Choose(chosen)),
        DecisionAnswer {
            verdict: None,
            note: None,
            reason: None,
            content: None,
            choose: None,
            fill: Some(form),
        } => {
            let form = Arguments::parse(form.get().as_bytes()).map_err(|why| why.to_string())?;
            Ok(Answer::Fill(form.value().clone()))
        }
        _ => Err("`answer` has exactly one of `verdict`, `choose`, `fill`".into()),
    }
}

fn hook_reply(status: u16, what: &str, hold: Option<&Hold>) -> HookReply {
    let told = json!({"result": what, "hold": hold.map_or(Value::Null, hold_value)});
    HookReply { status, content_type: "application/json", body: told.to_string().into_bytes() }
}
