//! Holds that programs open over HTTP: the gate before agents that we did not write.

use std::sync::Arc;

use domain::call::{Call, Proposal};
use domain::event::TokenScope;
use domain::external_hold::{ExternalHold, ExternalHoldCommand};
use domain::grant::ClearedBy;
use domain::hold::{
    CallOnHold, Callback, Decision, Hold, HoldOrigin, HoldOutcome, HoldState, HoldStateName,
    Preview, Question, Risk, tag_of,
};
use domain::id::{CallId, HoldId};
use domain::json::Arguments;
use domain::limits::{CONTEXT_BYTES_MAX, TITLE_BYTES_MAX};
use domain::outcome::ToolResult;
use domain::person::{Actor, Audience, PersonId, Requester};
use domain::policy::PolicyDecision;
use domain::refusal::{AnswerFault, Refusal};
use domain::session::default_audience;
use domain::time::Timestamp;
use domain::tool::{Effects, Place, Tool};
use domain::view::is_like_an_edit;
use domain::visible::visible;
use ports::store::{HoldQuery, Viewer};
use serde_json::{Value, json};

use crate::accounts::Caller;
use crate::commands::session::at_most;
use crate::lane::submit::{Keep, Submitted};
use crate::retry::store_backoff;
use crate::stream::ExternalHoldInput;
use crate::{Engine, Error};

/// Pending holds that are read at a time after a thaw.
const WAKE_PAGE: usize = 200;

/// A hold as a program asks for it. Policy decides what becomes of it.
#[derive(Clone, Debug)]
pub struct NewHold {
    pub question: Question,
    pub title: String,
    /// Tool and arguments of the call that the program wants to make.
    pub call: Option<(String, Arguments)>,
    pub context: Value,
    /// What the call would change, line by line, as the program says.
    pub diff: Option<String>,
    pub audience: Option<NewAudience>,
    pub risk: Option<Risk>,
    pub expires_in_ms: Option<u64>,
    pub callback: Option<Callback>,
}

/// Whom the program wants asked: only ever a narrower circle than policy's.
#[derive(Clone, Debug, Default)]
pub struct NewAudience {
    pub people: Vec<String>,
    pub roles: Vec<String>,
    pub quorum: Option<u32>,
    pub exclude_requester: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct Reported {
    pub succeeded: bool,
    pub result: Option<String>,
}

impl Engine {
    pub async fn open_hold(
        &self,
        caller: &Caller,
        new: NewHold,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        caller.must_have(TokenScope::Ask)?;
        if let Some(freeze) = self.frozen() {
            return Err(Refusal::Frozen { reason: freeze.reason }.into());
        }
        let hold = Arc::new(self.plan_hold(caller, new).await?);
        self.note_files_of_hold(caller, &hold).await?;
        self.open_external(hold, &caller.actor, keep).await
    }

    /// Opens a hold that is a stream of its own.
    pub(crate) async fn open_external(
        &self,
        hold: Arc<Hold>,
        actor: &Actor,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let render = |submitted: &Submitted<ExternalHold>| match &keep {
            Some(keep) => (keep.render)(&submitted.state.hold),
            None => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let command = ExternalHoldInput::Open(&hold);
        match self.submit_to(hold.id, actor, &command, keep.as_ref()).await {
            Err(Error::Refused(Refusal::Overtaken)) => {
                Err(Error::Unavailable("the hold could not be opened; try again".into()))
            }
            opened => opened.map(|_| hold.clone()),
        }
    }

    async fn plan_hold(&self, caller: &Caller, new: NewHold) -> Result<Hold, Error> {
        let invalid =
            |field: &str, why: AnswerFault| Refusal::AnswerInvalid { field: field.into(), why };
        if new.title.trim().is_empty() {
            return Err(invalid("title", "say in the title what is asked".into()).into());
        }
        at_most("title", &new.title, TITLE_BYTES_MAX)?;
        at_most("context", &new.context.to_string(), CONTEXT_BYTES_MAX)?;
        if let Some(diff) = &new.diff {
            at_most("preview.diff", diff, CONTEXT_BYTES_MAX)?;
            if new.call.is_none() {
                let why = "a diff shows what a call would change; there is no `call`";
                return Err(invalid("preview.diff", why.into()).into());
            }
            if is_like_an_edit(diff) {
                let why = "it begins as what people changed in a call does; give the file's name in its first line";
                return Err(invalid("preview.diff", why.into()).into());
            }
        }
        new.question.check().map_err(|refused| invalid(&refused.field, refused.why))?;
        if let Some(callback) = &new.callback {
            self.0
                .callback_sender
                .accepts(&callback.url, &callback.secret_env)
                .map_err(|why| invalid("callback", why.into()))?;
        }
        self.must_have_room(caller).await?;
        let now = self.now();
        let id = HoldId::new(now.as_ms(), self.0.rng.bits());
        let requester = caller.actor.accountable().cloned();
        let requested_by = caller.requester();
        let call = match new.call {
            None => None,
            Some((tool, arguments)) => {
                Some(Arc::new(self.outside_call(caller, id, &tool, arguments)?))
            }
        };
        let verdict = call.as_ref().map(|call| self.verdict(call));
        let (admitted, expires_ms) = match &verdict {
            Some(verdict) => self.audience_and_expiry(verdict, requested_by, None),
            None => (self.everybody(requested_by), self.0.policy.default_expires_ms()),
        };
        let tool = call.as_ref().map(|call| &*call.tool);
        let audience = self.narrowed(admitted, new.audience, tool, requested_by)?;
        let state = match verdict.as_ref().map(|verdict| (&verdict.decision, verdict.rule())) {
            Some((PolicyDecision::Allow, rule)) if new.question == Question::Approve => {
                automatic(true, rule, now)
            }
            Some((PolicyDecision::Deny, rule)) => automatic(false, rule, now),
            _ => HoldState::Pending,
        };
        if state == HoldState::Pending
            && !audience.is_satisfiable(requester.as_ref(), &self.0.people)
        {
            return Err(invalid(
                "audience",
                format!(
                    "nobody could be asked: {} must agree, and {} of the configured people may answer this",
                    audience.quorum,
                    audience.count(requester.as_ref(), &self.0.people)
                )
                .into(),
            )
            .into());
        }
        let expires_in = new.expires_in_ms.unwrap_or(expires_ms).min(expires_ms);
        Ok(Hold {
            id,
            version: 1,
            question: new.question,
            state,
            risk: match verdict.as_ref().filter(|verdict| verdict.risk_stated) {
                // A rule's word counts if it is the higher one.
                Some(verdict) => verdict.risk.max(new.risk.unwrap_or(Risk::Low)),
                None => new.risk.unwrap_or_default(),
            },
            tag: tag_of(id),
            // Shown everywhere, so it is made safe to show once and for all.
            title: visible(&new.title).into(),
            origin: HoldOrigin::Program { callback: new.callback },
            parent: None,
            opener: caller.actor.clone(),
            requester,
            preview: Preview { diff: new.diff, ..Preview::default() }.about(call.as_deref()),
            call_on_hold: call.map(CallOnHold::new),
            context: new.context,
            rationale: None,
            audience: audience.into(),
            rule: verdict.as_ref().and_then(|verdict| verdict.rule()).map(str::to_owned),
            policy: self.0.policy.version(),
            opened_at: now,
            expires_at: Some(now.plus_ms(expires_in)),
            claimed_by: None,
            votes: Vec::new(),
            comments: Vec::new(),
            two_phase: false,
        })
    }

    fn outside_call(
        &self,
        caller: &Caller,
        hold: HoldId,
        tool: &str,
        arguments: Arguments,
    ) -> Result<Call, Refusal> {
        // We know nothing of the tool but its name and who speaks for it.
        let unknown = Tool::new(
            tool,
            "",
            json!({}),
            Effects::AtMostOnce,
            Place::Client,
            &caller.stable_name(),
        );
        let tool = unknown
            .map_err(|why| Refusal::AnswerInvalid { field: "call".into(), why: why.into() })?;
        let proposal = Proposal {
            id: CallId(hold.0),
            tool_use_id: hold.to_string(),
            agent: caller.actor.to_string().into(),
            session: None,
            arguments,
            context: Default::default(),
            policy: self.0.policy.version(),
        };
        Ok(Call::propose(proposal, &tool))
    }

    /// Who may be asked when nothing is gated: anybody that the configuration names.
    fn everybody(&self, requester: Requester<'_>) -> Audience {
        let people = self.0.people.iter().map(|person| person.id.clone()).collect();
        Audience { people, ..default_audience(requester) }
    }

    fn narrowed(
        &self,
        admitted: Audience,
        wanted: Option<NewAudience>,
        tool: Option<&str>,
        requester: Requester<'_>,
    ) -> Result<Audience, Refusal> {
        let invalid =
            |why: String| Refusal::AnswerInvalid { field: "audience".into(), why: why.into() };
        let is_question = tool.is_none();
        let Some(wanted) = wanted else {
            return Ok(if is_question { default_audience(requester) } else { admitted });
        };
        let mut people: Vec<PersonId> = Vec::new();
        for name in &wanted.people {
            let id = PersonId::new(name);
            if self.0.people.get(&id).is_none() {
                return Err(invalid(format!("there is no person `{name}`")));
            }
            people.push(id);
        }
        for role in &wanted.roles {
            let holders: Vec<_> =
                self.0.people.iter().filter(|person| person.roles.contains(role)).collect();
            if holders.is_empty() {
                return Err(invalid(format!("nobody has the role `{role}`")));
            }
            people.extend(holders.into_iter().map(|person| person.id.clone()));
        }
        let named = !wanted.people.is_empty() || !wanted.roles.is_empty();
        let exclude_requester =
            admitted.exclude_requester || wanted.exclude_requester.unwrap_or(false);
        let refuse_made_logins = admitted.refuse_made_logins;
        let quorum = admitted.quorum.max(wanted.quorum.unwrap_or(1));
        if !named {
            let base = if is_question { default_audience(requester) } else { admitted };
            return Ok(Audience { quorum, exclude_requester, refuse_made_logins, ..base });
        }
        let within = people
            .iter()
            .filter(|id| admitted.admits(id, requester.person, &self.0.people))
            .count();
        if within == 0 {
            return Err(invalid(match tool {
                None => "none of those that you want asked may answer".into(),
                Some(tool) => missing_rule(tool, &wanted),
            }));
        }
        // Roles are kept as roles where policy admits the whole of them, so that newcomers count.
        let whole = |role: &String| admitted.roles.contains(role) || is_question;
        Ok(Audience {
            people: people
                .iter()
                .filter(|id| admitted.admits(id, requester.person, &self.0.people))
                .filter(|id| {
                    wanted.people.iter().any(|name| name == id.as_str())
                        || !wanted.roles.iter().filter(|role| whole(role)).any(|role| {
                            self.0.people.get(id).is_some_and(|person| person.roles.contains(role))
                        })
                })
                .cloned()
                .collect(),
            roles: wanted.roles.iter().filter(|role| whole(role)).cloned().collect(),
            quorum,
            exclude_requester,
            refuse_made_logins,
            login_makers: admitted.login_makers.clone(),
        })
    }

    async fn must_have_room(&self, caller: &Caller) -> Result<(), Error> {
        let limit = self.0.limits.outside_holds_per_caller;
        let query = HoldQuery {
            state: Some(HoldStateName::Pending),
            ..HoldQuery::all(Viewer::Caller { actor: caller.actor.clone(), person: None }, 1)
        };
        if self.0.store.count_holds(query).await? >= limit {
            return Err(Refusal::TooMany { what: "too many of your holds are open", limit }.into());
        }
        Ok(())
    }

    pub async fn report_outcome(
        &self,
        caller: &Caller,
        id: HoldId,
        reported: Reported,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        self.must_be_opener(caller, id).await?;
        let content = reported.result.unwrap_or_default();
        at_most("result", &content, domain::limits::CONTENT_BYTES_MAX)?;
        let outcome = match reported.succeeded {
            true => HoldOutcome::Succeeded(ToolResult::output(content)),
            false => HoldOutcome::Failed(ToolResult::error(content)),
        };
        self.change_external(&caller.actor, id, &ExternalHoldCommand::Report { outcome }, keep)
            .await
    }

    /// The program is about to make its approved call: said once for each approval, and never while all is
    /// frozen. A second program with the same approval is refused, and so is a restarted one that does not
    /// know whether the call was made.
    pub async fn start_outside(
        &self,
        caller: &Caller,
        id: HoldId,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        self.must_be_opener(caller, id).await?;
        let command = ExternalHoldCommand::Report { outcome: HoldOutcome::Executing };
        self.change_external(&caller.actor, id, &command, keep).await
    }

    async fn must_be_opener(&self, caller: &Caller, id: HoldId) -> Result<(), Error> {
        let hold = self.hold(caller, id).await?;
        if hold.session().is_some() || !hold.opener.is_same(&caller.actor) {
            return Err(Refusal::NotEntitled {
                why: "only the program that opened a hold reports its outcome".into(),
            }
            .into());
        }
        Ok(())
    }

    pub(crate) async fn expire_outside(&self, id: HoldId) -> Result<(), Error> {
        self.submit_external(id, &Actor::Runtime, &ExternalHoldCommand::Expire, None).await?;
        Ok(())
    }

    /// Answers that were taken while all was frozen take effect. After a thaw, and after a start, as the
    /// process may have ended between the thaw and this.
    pub(crate) async fn wake_outside(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let query = HoldQuery {
                state: Some(HoldStateName::Pending),
                after,
                ..HoldQuery::all(Viewer::Everything, WAKE_PAGE)
            };
            let pending = self.0.store.holds(query).await?;
            let Some(last) = pending.last() else { return Ok(()) };
            after = Some(last.id);
            for hold in pending {
                let is_answered = hold.session().is_none() && !hold.votes.is_empty();
                if is_answered && self.frozen().is_none() {
                    let woken = self.submit_external(
                        hold.id,
                        &Actor::Runtime,
                        &ExternalHoldCommand::Wake,
                        None,
                    );
                    // It may have been withdrawn or have expired meanwhile.
                    if let Err(error @ Error::Unavailable(_)) = woken.await {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// The same in the background, until the store lets it.
    pub(crate) fn start_waking_outside(&self) {
        let global = self.global_state();
        if !global.was_frozen || global.frozen.is_some() {
            return;
        }
        let engine = self.clone();
        self.spawn(async move {
            let mut backoff = store_backoff();
            while let Err(error) = engine.wake_outside().await {
                if engine.0.closing.has_begun() {
                    return;
                }
                tracing::warn!(%error, "answers that waited for a thaw cannot take effect yet");
                engine.sleep_before_retry(&mut backoff).await;
            }
        });
    }
}

/// Which rule would let those answer whom a program wants asked.
fn missing_rule(tool: &str, wanted: &NewAudience) -> String {
    let list = |names: &[String]| {
        let names: Vec<String> =
            names.iter().map(|name| format!("\"{}\"", visible(name))).collect();
        format!("[{}]", names.join(", "))
    };
    let mut ask = Vec::new();
    if !wanted.roles.is_empty() {
        ask.push(format!("roles = {}", list(&wanted.roles)));
    }
    if !wanted.people.is_empty() {
        ask.push(format!("people = {}", list(&wanted.people)));
    }
    format!(
        "policy admits none of those that you want asked for a call of `{tool}`; to let them answer, \
         write the rule [[policy.rules]] name = \"{tool} asks them\", match = {{ tool = \"{tool}\" }}, then = \"ask\", ask = {{ {ask} }}",
        tool = visible(tool),
        ask = ask.join(", ")
    )
}

fn automatic(allowed: bool, rule: Option<&str>, at: Timestamp) -> HoldState {
    let decision =
        Decision::Automatic { allowed, by: ClearedBy::Rule(rule.map(str::to_owned)), at };
    if allowed { HoldState::Approved(decision) } else { HoldState::Denied(decision) }
}
