//! A hold, whole: what is asked, of whom, and what has been said.

use std::borrow::Cow;
use std::sync::Arc;

use domain::hold::{CallOnHold, Callback, Hold, HoldOrigin, HoldState, tag_of};
use domain::id::{CallId, HoldId, RunId};
use domain::person::PersonId;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::actor::{StoredActor, StoredAudience};
use super::answer::StoredVote;
use super::call::{StoredCall, StoredSession};
use super::caption::{StoredCaptionKind, read_caption};
use super::comment::StoredComment;
use super::credential::version_of_hold;
use super::json::{Json, is_null, null};
use super::question::StoredQuestion;
use super::state::{StoredOutcome, StoredPreview, StoredRisk, StoredState};
use super::{Broken, Hex, Ms, RowContext, Text, damaged, is_false};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredHold<'a> {
    id: Text<HoldId>,
    #[serde(default = "first", skip_serializing_if = "is_first")]
    version: u32,
    #[serde(borrow, default, skip_serializing_if = "StoredQuestion::is_approve")]
    question: StoredQuestion<'a>,
    #[serde(borrow, default, skip_serializing_if = "StoredState::is_pending")]
    state: StoredState<'a>,
    #[serde(default, skip_serializing_if = "StoredRisk::is_medium")]
    risk: StoredRisk,
    /// Absent: the one that follows from the id.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    tag: Option<Cow<'a, str>>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    title_kind: Option<StoredCaptionKind<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    agent: Option<Cow<'a, str>>,
    /// Absent: that of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<StoredSession>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Text<RunId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Text<HoldId>>,
    #[serde(borrow)]
    opener: StoredActor<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    requester: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    call: Option<StoredCall<'a>>,
    /// The call stands in the same row, where it was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proposed: Option<Text<CallId>>,
    #[serde(borrow, default, skip_serializing_if = "StoredPreview::is_empty")]
    preview: StoredPreview<'a>,
    #[serde(borrow, default = "null", skip_serializing_if = "is_null")]
    context: Json<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    rationale: Option<Cow<'a, str>>,
    #[serde(borrow)]
    audience: StoredAudience<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    rule: Option<Cow<'a, str>>,
    /// Absent: that of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<Hex>,
    /// Absent: when the row was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opened_at: Option<Ms>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Ms>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    claimed_by: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    votes: Vec<StoredVote<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    comments: Vec<StoredComment<'a>>,
    #[serde(default, skip_serializing_if = "is_false")]
    two_phase: bool,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    outcome: Option<StoredOutcome<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    callback: Option<StoredCallback<'a>>,
}

fn first() -> u32 {
    1
}

fn is_first(version: &u32) -> bool {
    *version == 1
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCallback<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    secret_env: Cow<'a, str>,
}

impl StoredCallback<'_> {
    fn callback(self) -> Callback {
        Callback { url: self.url.into_owned(), secret_env: self.secret_env.into_owned() }
    }
}

impl<'a> StoredHold<'a> {
    pub(super) fn new(hold: &'a Hold, frame: RowContext<'_>) -> StoredHold<'a> {
        let call = hold.call();
        let proposed = call.is_some_and(|call| frame.proposed(call.id) == Some(call));
        StoredHold {
            id: Text(hold.id),
            version: hold.version,
            question: (&hold.question).into(),
            state: StoredState::new(&hold.state, &hold.votes),
            risk: hold.risk.into(),
            tag: (hold.tag != tag_of(hold.id)).then(|| hold.tag.as_str().into()),
            title: hold.title.text().into(),
            title_kind: hold.title.kind().map(StoredCaptionKind::from),
            agent: hold.agent().map(Cow::from),
            session: StoredSession::new(hold.session(), frame),
            run: hold.run().map(Text),
            parent: hold.parent.map(Text),
            opener: (&hold.opener).into(),
            requester: hold.requester.as_ref().map(|id| id.as_str().into()),
            call: call.filter(|_| !proposed).map(|call| StoredCall::new(call, frame, None)),
            proposed: hold.call_id().filter(|_| proposed).map(Text),
            preview: (&hold.preview).into(),
            context: (&hold.context).into(),
            rationale: hold.rationale.as_deref().map(Cow::from),
            audience: hold.audience.as_ref().into(),
            rule: hold.rule.as_deref().map(Cow::from),
            policy: (call.map(|call| call.policy) != Some(hold.policy)).then_some(Hex(hold.policy)),
            opened_at: (frame.at != Some(hold.opened_at)).then(|| hold.opened_at.into()),
            expires_at: hold.expires_at.map(Ms::from),
            claimed_by: hold.claimed_by.as_ref().map(|id| id.as_str().into()),
            votes: hold.votes.iter().map(StoredVote::from).collect(),
            comments: hold.comments.iter().map(StoredComment::from).collect(),
            two_phase: hold.two_phase,
            outcome: hold.outcome().map(StoredOutcome::from),
            callback: hold.callback().map(|callback| StoredCallback {
                url: callback.url.as_str().into(),
                secret_env: callback.secret_env.as_str().into(),
            }),
        }
    }

    pub(super) fn hold(self, frame: RowContext<'_>) -> Result<Arc<Hold>, Broken> {
        let id = self.id.0;
        let call = match (self.call, self.proposed) {
            (Some(call), _) => Some(call.call(frame, None)?),
            (None, Some(Text(reference))) => match frame.proposed(reference) {
                Some(call) => Some(call.clone()),
                None => return damaged(format!("{id} refers to a call that is not there")),
            },
            (None, None) => None,
        };
        let policy = match (self.policy, &call) {
            (Some(Hex(policy)), _) => policy,
            (None, Some(call)) => call.policy,
            (None, None) => return damaged(format!("{id} names no policy")),
        };
        let Some(opened_at) = self.opened_at.map(Timestamp::from).or(frame.at) else {
            return damaged(format!("{id} was opened at no time"));
        };
        let session = StoredSession::session(self.session, frame);
        let origin = match (session, self.run, self.agent, self.callback) {
            (Some(session), Some(Text(run)), Some(agent), None) => {
                HoldOrigin::Session { session, run, agent: agent.into() }
            }
            (None, None, Some(agent), None) => HoldOrigin::RunningCall { agent: agent.into() },
            (None, None, None, callback) => {
                HoldOrigin::Program { callback: callback.map(StoredCallback::callback) }
            }
            _ => return damaged(format!("{id} mixes what a session and a program ask")),
        };
        let votes = self.votes.into_iter().map(StoredVote::vote).collect::<Result<Vec<_>, _>>()?;
        let state: HoldState = self.state.state(&votes)?;
        let outcome = self.outcome.map(StoredOutcome::into);
        let call_on_hold = match (call, outcome) {
            (Some(call), outcome) => Some(CallOnHold { call, outcome }),
            (None, None) => None,
            (None, Some(_)) => return damaged(format!("{id} has an outcome and no call")),
        };
        Ok(Arc::new(Hold {
            id,
            version: self.version,
            question: self.question.into(),
            state,
            risk: self.risk.into(),
            tag: self.tag.map_or_else(|| tag_of(id), Cow::into_owned),
            title: read_caption(self.title, self.title_kind)?,
            origin,
            parent: self.parent.map(|Text(parent)| parent),
            opener: self.opener.into(),
            requester: self.requester.map(|id| PersonId::new(&id)),
            call_on_hold,
            preview: self.preview.preview()?,
            context: self.context.value(),
            rationale: self.rationale.map(Cow::into_owned),
            audience: Arc::new(self.audience.into()),
            rule: self.rule.map(Cow::into_owned),
            policy,
            opened_at,
            expires_at: self.expires_at.map(Ms::into),
            claimed_by: self.claimed_by.map(|id| PersonId::new(&id)),
            votes,
            comments: self.comments.into_iter().map(StoredComment::comment).collect(),
            two_phase: self.two_phase,
        }))
    }
}

/// A hold as the read table keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldRecord<'a> {
    v: u32,
    #[serde(borrow)]
    hold: StoredHold<'a>,
}

pub(crate) fn write_hold(hold: &Hold) -> Vec<u8> {
    let v = version_of_hold(hold);
    super::write_record(&HoldRecord { v, hold: StoredHold::new(hold, RowContext::default()) })
}

pub(crate) fn read_hold(bytes: &[u8]) -> Result<Arc<Hold>, Broken> {
    super::read_record::<HoldRecord<'_>>(bytes, |record| record.v)?.hold.hold(RowContext::default())
}
