//! Questions that come up while a call runs. Each is a hold of its own, put to those who may be asked
//! about the call. It lives no longer than the call: what nobody waits for any more is withdrawn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use domain::call::Call;
use domain::caption::Caption;
use domain::digest::Framed;
use domain::external_hold::ExternalHoldCommand;
use domain::hold::{CancelReason, Hold, HoldCommand, HoldOrigin, HoldState, Preview, tag_of};
use domain::id::{Bits, CallId, HoldId, StreamId};
use domain::limits::CONTEXT_BYTES_MAX;
use domain::person::Actor;
use domain::refusal::{AnswerFault, Refusal};
use domain::scrub::Scrubber;
use domain::visible::visible;
use ports::nested_question::{NestedAnswer, NestedAsker, NestedQuestion};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, SemaphorePermit};

use crate::{Engine, Error};

/// Questions that are looked for when the call that asked them was interrupted.
const QUESTIONS_MAX: u32 = 64;

pub(crate) struct NestedHoldAsker<'a> {
    engine: &'a Engine,
    call: Arc<Call>,
    attempt: u32,
    /// Given back while people think: others need not wait for them.
    permit: Mutex<Option<SemaphorePermit<'a>>>,
    asked: AtomicU32,
    /// What the host was given in place of references must not come back as a question.
    scrubber: &'a Scrubber,
}

impl<'a> NestedHoldAsker<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        call: Arc<Call>,
        attempt: u32,
        permit: SemaphorePermit<'a>,
        scrubber: &'a Scrubber,
    ) -> NestedHoldAsker<'a> {
        let (permit, asked) = (Mutex::new(Some(permit)), AtomicU32::new(0));
        NestedHoldAsker { engine, call, attempt, permit, asked, scrubber }
    }

    fn tells_a_secret(&self, asked: &NestedQuestion) -> bool {
        let question = format!("{:?}", asked.question);
        asked.title.clone().scrubbed(self.scrubber) != asked.title
            || self.scrubber.scrub_value(&asked.shown) != asked.shown
            || self.scrubber.scrub(&question) != question
    }

    async fn put(&self, asked: NestedQuestion) -> Result<NestedAnswer, Error> {
        let engine = self.engine;
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let id = question_id(self.call.id, self.attempt, number);
        let hold = Arc::new(engine.plan_question(&self.call, id, asked).await?);
        // First listen, then ask: what happens in between is heard.
        let stream = StreamId::ExternalHold(id);
        let mut bus = engine.subscribe(stream);
        let withdrawn = Withdraw(Some((engine.clone(), id)));
        engine.open_external(hold, &Actor::Runtime, None).await?;
        let decided = loop {
            if let Some(hold) = engine.0.store.hold(id).await?.filter(|hold| !hold.is_pending()) {
                break hold;
            }
            tokio::select! {
                heard = bus.recv() => {
                    if let Err(tokio::sync::broadcast::error::RecvError::Closed) = heard {
                        return Err(Error::Unavailable("the server is stopping".into()));
                    }
                }
                () = engine.0.closing.begins() => {
                    return Err(Error::Unavailable("the server is stopping".into()));
                }
            }
        };
        withdrawn.disarm();
        engine.0.bus.sweep(stream, 1);
        Ok(match decided.state.decision().and_then(|decision| decision.vote()) {
            Some(vote) => NestedAnswer::Given(vote.answer.clone()),
            None => {
                NestedAnswer::Nobody { why: format!("the question is {}", decided.state.name()) }
            }
        })
    }
}

#[async_trait]
impl NestedAsker for NestedHoldAsker<'_> {
    async fn ask(&self, asked: NestedQuestion) -> NestedAnswer {
        if !self.scrubber.is_idle() && self.tells_a_secret(&asked) {
            tracing::warn!(call = %self.call.id, "a question of a running call would tell a secret, and is not put");
            return NestedAnswer::Nobody { why: "the question would tell a secret".into() };
        }
        drop(self.permit.lock().await.take());
        let answered = match self.put(asked).await {
            Ok(answered) => answered,
            Err(error) => {
                tracing::warn!(call = %self.call.id, %error, "a question of a running call could not be put");
                NestedAnswer::Nobody { why: error.to_string() }
            }
        };
        *self.permit.lock().await = self.engine.0.executing.acquire().await.ok();
        answered
    }
}

/// Takes a question back that nobody waits for.
struct Withdraw(Option<(Engine, HoldId)>);

impl Withdraw {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        let (Some((engine, id)), Ok(_)) = (self.0.take(), Handle::try_current()) else { return };
        let tasks = engine.clone();
        tasks.spawn(async move { engine.withdraw(id).await });
    }
}

/// Made of the call and the attempt, so that a process that comes after a crash finds what is left of
/// the one before it.
fn question_id(call: CallId, attempt: u32, number: u32) -> HoldId {
    let digest = Framed::new("holdpoint.question-of-call.v1")
        .field("call", &call.0.0.to_le_bytes())
        .number("attempt", attempt.into())
        .number("number", number.into())
        .finish();
    let mut rng = [0; 16];
    rng.copy_from_slice(&digest.as_bytes()[..16]);
    let ms = (call.0.0 >> 80) as i64;
    HoldId(Bits::new(ms, u128::from_le_bytes(rng)))
}

/// A title of ours is made of visible text already.
fn shown_title(title: Caption) -> Caption {
    match title.kind() {
        Some(_) => title,
        None => visible(&title).into(),
    }
}

impl Engine {
    async fn plan_question(
        &self,
        call: &Call,
        id: HoldId,
        asked: NestedQuestion,
    ) -> Result<Hold, Error> {
        let invalid =
            |field: &str, why: AnswerFault| Refusal::AnswerInvalid { field: field.into(), why };
        asked.question.check().map_err(|refused| invalid(&refused.field, refused.why))?;
        if asked.shown.to_string().len() > CONTEXT_BYTES_MAX {
            return Err(invalid("context", "there is too much to show".into()).into());
        }
        let session = call.session.ok_or(Refusal::NotFound { what: "session" })?;
        let session = self.load_session(session).await?;
        let requester = session.requester().cloned();
        let verdict = self.verdict(call);
        let (audience, expires_ms) = self.audience_and_expiry(
            &verdict,
            session.requester_and_login_makers(),
            session.home.as_ref(),
        );
        if !audience.is_satisfiable(requester.as_ref(), &self.0.people) {
            return Err(invalid("audience", "nobody may be asked about this call".into()).into());
        }
        let now = self.now();
        let about = session.holds.values().rfind(|hold| hold.call_id() == Some(call.id));
        Ok(Hold {
            id,
            version: 1,
            question: asked.question,
            state: HoldState::Pending,
            risk: verdict.risk,
            tag: tag_of(id),
            title: shown_title(asked.title),
            origin: HoldOrigin::RunningCall { agent: call.agent.clone() },
            parent: about.map(|hold| hold.id),
            opener: Actor::Runtime,
            requester,
            call_on_hold: None,
            preview: Preview::default(),
            context: asked.shown,
            rationale: None,
            audience: audience.into(),
            rule: verdict.rule().map(str::to_owned),
            policy: self.0.policy.version(),
            opened_at: now,
            expires_at: Some(now.plus_ms(expires_ms)),
            claimed_by: None,
            votes: Vec::new(),
            comments: Vec::new(),
            two_phase: false,
        })
    }

    /// Withdraws what an interrupted attempt has left open.
    pub(crate) async fn withdraw_questions(&self, call: CallId, attempt: u32) {
        for number in 0..QUESTIONS_MAX {
            let id = question_id(call, attempt, number);
            match self.0.store.hold(id).await {
                Ok(Some(_)) => self.withdraw(id).await,
                // A number is used up also by a question that could not be put.
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    async fn withdraw(&self, id: HoldId) {
        let reason = "the call that asked this is not running any more".to_owned();
        let reason = CancelReason::Stated(reason);
        let command = ExternalHoldCommand::Hold(HoldCommand::Cancel { by: Actor::Runtime, reason });
        match self.submit_external(id, &Actor::Runtime, &command, None).await {
            // It was answered meanwhile, or never opened.
            Ok(_) | Err(Error::Refused(_)) => {}
            Err(error) => tracing::warn!(hold = %id, %error, "a question could not be withdrawn"),
        }
    }
}
