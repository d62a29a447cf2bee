//! From what a model wrote to what may be done about it: parse once, check the schema, let the
//! tool look, ask the policy. In any doubt the call is asked about or refused, never allowed.

use std::sync::Arc;

use domain::call::{Call, Proposal};
use domain::grant::ClearedBy;
use domain::hold::{Edited, Hold, Preview, Question, Risk};
use domain::id::{CallId, SessionId, StreamId};
use domain::json::Arguments;
use domain::message::Part;
use domain::person::{Audience, Requester};
use domain::policy::{Facts, PolicyDecision, Verdict};
use domain::refusal::{AnswerFault, Refusal};
use domain::schema::{SchemaErrors, restore};
use domain::scrub::Scrubber;
use domain::secret::{Sealed, SecretValue, references, unsealed};
use domain::session::{
    HoldSpec, Home, RuledCall, Ruling, Session, Written, audience_for, default_audience,
};
use domain::tool::{Confirm, Place};
use domain::warning::{Warning, WarningKind};
use ports::model::WrittenCall;
use ports::tool_host::{PrepareError, Prepared, ToolHost};

use crate::calls::call_title::call_title;
use crate::secrets::references::{scrubbed_preview, secrets_written, stream_of_secrets};
use crate::{AgentSetup, Engine, Error};

impl Engine {
    pub(crate) async fn rule_turn(
        &self,
        session: &Session,
        agent: &AgentSetup,
        calls: Vec<WrittenCall<'static>>,
        beside: &[Part],
    ) -> Vec<RuledCall> {
        let rationale = rationale(beside);
        let mut ruled = Vec::with_capacity(calls.len());
        for (index, call) in calls.into_iter().enumerate() {
            let id = CallId::new(self.now().as_ms(), self.0.rng.bits());
            let offered = self.0.tools.offered(agent);
            let host = offered.host(&call.tool);
            let ruling = match host {
                _ if index >= domain::limits::CALLS_PER_TURN_MAX => malformed(format!(
                    "Not run: at most {} calls fit into one turn.",
                    domain::limits::CALLS_PER_TURN_MAX
                )),
                None => malformed(format!(
                    "There is no tool `{}`. The tools are: {}.",
                    call.tool,
                    offered.names().map(|name| &**name).collect::<Vec<_>>().join(", ")
                )),
                Some(host) => self.rule(session, host, id, &call, rationale.as_deref()).await,
            };
            let written = Written {
                id,
                tool_use_id: call.tool_use_id.into_owned(),
                tool: host.map_or_else(|| (*call.tool).into(), |host| host.tool().name.clone()),
                input: call.input.into_owned(),
            };
            ruled.push(RuledCall { written, ruling });
        }
        ruled
    }

    async fn rule(
        &self,
        session: &Session,
        host: &Arc<dyn ToolHost>,
        id: CallId,
        written: &WrittenCall<'_>,
        rationale: Option<&str>,
    ) -> Ruling {
        let tool = host.tool();
        let arguments = match Arguments::parse(written.input.as_bytes()) {
            Ok(arguments) => arguments,
            Err(error) => return malformed(format!("The call was not run. {error}")),
        };
        if tool.confirm != Confirm::TwoPhase {
            return self.rule_arguments(session, host, id, written, arguments, rationale).await;
        }
        // `confirmed` is taken off before anything is digested: it can never change what runs.
        let confirmed = match arguments.value().get("confirmed") {
            None => false,
            Some(serde_json::Value::Bool(confirmed)) => *confirmed,
            Some(_) => {
                return malformed(
                    "The call was not run. `confirmed` must be true or false.".into(),
                );
            }
        };
        let arguments = arguments.without("confirmed");
        let otherwise = self.rule_arguments(session, host, id, written, arguments, rationale).await;
        Ruling::TwoPhase { confirmed, otherwise: Box::new(otherwise) }
    }

    async fn rule_arguments(
        &self,
        session: &Session,
        host: &Arc<dyn ToolHost>,
        id: CallId,
        written: &WrittenCall<'_>,
        arguments: Arguments,
        rationale: Option<&str>,
    ) -> Ruling {
        let known = match self.secrets_of(session).await {
            Ok(known) => known,
            Err(_) => return malformed("The call was not run: try again.".into()),
        };
        let mut host = host.clone();
        let mut looked = inspect_call(&host, &arguments, Some(session.id), &known).await;
        // Looking may have shown that the tool is another by now; then that one is asked about.
        if let Some(newer) = self.0.tools.get(&host.tool().name)
            && newer.tool().definition() != host.tool().definition()
        {
            host = newer;
            looked = inspect_call(&host, &arguments, Some(session.id), &known).await;
        }
        let tool = host.tool();
        let ToolInspection { mut prepared, blind } = match looked {
            Ok(looked) => looked,
            Err(why) => {
                return malformed(format!("The call was not run. {}", why.for_the_model()));
            }
        };
        let proposal = Proposal {
            id,
            tool_use_id: written.tool_use_id.clone().into_owned(),
            agent: session.agent.clone(),
            session: Some(session.id),
            arguments,
            context: std::mem::take(&mut prepared.context),
            policy: self.0.policy.version(),
        };
        let call = Arc::new(Call::propose(proposal, tool));
        let verdict = self.verdict(&call);
        if let PolicyDecision::Deny = verdict.decision {
            return Ruling::Denied { call, rule: verdict.rule().map(str::to_owned) };
        }
        // A secret goes nowhere on a rule's word alone: who gave it did not say for which tool.
        let gives_a_secret = !references(call.arguments.value(), &call.secrets).is_empty();
        let must_ask =
            blind || prepared.ask.is_some() || tool.place != Place::Server || gives_a_secret;
        if let (PolicyDecision::Allow, false) = (&verdict.decision, must_ask) {
            return Ruling::Allowed {
                call,
                by: ClearedBy::Rule(verdict.rule().map(str::to_owned)),
            };
        }
        let mut spec = self.hold_spec(&call, &verdict, prepared, session, rationale);
        spec.preview.warnings.extend(self.warn_of_secrets(&call, &known));
        if !spec.audience.is_satisfiable(session.requester(), &self.0.people) {
            return malformed(format!(
                "The call was not run: it needs approval, and nobody who may give it is configured{}.",
                spec.rule.as_deref().map(|rule| format!(" (rule \"{rule}\")")).unwrap_or_default()
            ));
        }
        Ruling::Ask { call, spec: Box::new(spec) }
    }

    pub(crate) fn verdict(&self, call: &Call) -> Verdict {
        self.0.policy.rule(&Facts::of(call))
    }

    fn hold_spec(
        &self,
        call: &Call,
        verdict: &Verdict,
        prepared: Prepared,
        session: &Session,
        rationale: Option<&str>,
    ) -> HoldSpec {
        let (audience, expires_ms) = self.audience_and_expiry(
            verdict,
            session.requester_and_login_makers(),
            session.home.as_ref(),
        );
        let mut preview = prepared.preview;
        let mut risk = verdict.risk;
        if let Some(ask) = prepared.ask {
            risk = risk.max(ask.risk);
            preview.summary.get_or_insert(ask.summary);
        }
        HoldSpec {
            question: prepared.question.unwrap_or(Question::Approve),
            risk,
            title: prepared.title.unwrap_or_else(|| call_title(call)),
            preview,
            shown: prepared.shown,
            rationale: rationale.map(str::to_owned),
            audience: audience.into(),
            rule: verdict.rule().map(str::to_owned),
            expires_in_ms: Some(prepared.expires_in_ms.map_or(expires_ms, |ms| ms.min(expires_ms))),
        }
    }

    /// Whom a verdict asks and for how long. Where no rule asks (the tool itself does), those are
    /// asked who are asked when a rule names nobody.
    pub(crate) fn audience_and_expiry(
        &self,
        verdict: &Verdict,
        requester: Requester<'_>,
        home: Option<&Home>,
    ) -> (Audience, u64) {
        match &verdict.decision {
            PolicyDecision::Ask(ask) if ask.expires_by_rule => {
                (audience_for(ask, requester), ask.expires_ms)
            }
            PolicyDecision::Ask(ask) => (audience_for(ask, requester), self.expires_ms(home)),
            PolicyDecision::Allow | PolicyDecision::Deny => {
                (default_audience(requester), self.expires_ms(home))
            }
        }
    }

    /// How long a question waits where no rule says: in a chat people are there or they are not.
    pub(crate) fn expires_ms(&self, home: Option<&Home>) -> u64 {
        let by_home = home.and_then(|home| self.0.limits.home_expires_ms.get(&home.door));
        by_home.copied().unwrap_or_else(|| self.0.policy.default_expires_ms())
    }

    /// Rules on a call that a person edited, as if it had been proposed like that.
    pub(crate) async fn rule_edit(
        &self,
        hold: &Hold,
        arguments: Arguments,
        new: &[Sealed],
    ) -> Result<Edited, Error> {
        let invalid =
            |why: String| Refusal::AnswerInvalid { field: "arguments".into(), why: why.into() };
        let call = hold.call().ok_or_else(|| invalid("there is no call to edit".into()))?;
        // What the editor was not shown, they cannot have meant to change.
        let arguments = match restore(arguments.value(), call.arguments.value(), &call.secrets) {
            Some(restored) => {
                Arguments::from_value(restored).map_err(|error| invalid(error.to_string()))?
            }
            None => arguments,
        };
        let (revised, preview, asks, title, risk) = match self.0.tools.get(&call.tool) {
            // What the editor was shown is another tool than what would run.
            Some(host)
                if hold.session().is_some() && host.tool().definition() != call.definition =>
            {
                return Err(invalid(
                    "the tool has changed since this call was proposed; approve it unchanged, and it is asked \
                     about as it is now, or deny it"
                        .into(),
                )
                .into());
            }
            Some(host) if hold.session().is_some() => {
                let mut known = self.0.store.sealed(stream_of_secrets(hold)).await?;
                known.extend(new.iter().cloned());
                let looked = inspect_call(&host, &arguments, hold.session(), &known)
                    .await
                    .map_err(InspectError::for_the_editor)?;
                let asks = looked.blind || looked.prepared.ask.is_some();
                let risk = looked.prepared.ask.as_ref().map(|ask| ask.risk);
                let context = looked.prepared.context.clone();
                let definition = host.tool().definition();
                let revised = call.revised(arguments, context, definition, self.0.policy.version());
                let mut preview = looked.prepared.preview;
                preview.warnings.extend(self.warn_of_secrets(&revised, &known));
                let title = looked.prepared.title.unwrap_or_else(|| call_title(&revised));
                (revised, preview, asks, Some(title), risk)
            }
            // An outside program's call: we know its rules and the risk that was stated, not its tool.
            _ => {
                let context = call.context.clone();
                let revised =
                    call.revised(arguments, context, call.definition, self.0.policy.version());
                (revised, Preview::default(), false, None, Some(hold.risk))
            }
        };
        let verdict = self.verdict(&revised);
        if let PolicyDecision::Deny = verdict.decision {
            let rule =
                verdict.rule().map(|rule| format!(" by rule \"{rule}\"")).unwrap_or_default();
            return Err(invalid(format!("the edited call is denied{rule}")).into());
        }
        let audience = match (&verdict.decision, asks) {
            // Allowed without asking: whoever may answer the hold may also say yes to this.
            (PolicyDecision::Allow, false) => hold.audience.clone(),
            _ => {
                let asked = |call: &Call| {
                    self.audience_and_expiry(
                        &self.verdict(call),
                        hold.requester_and_login_makers(),
                        None,
                    )
                    .0
                };
                match hold.session().is_none() && asked(call) == asked(&revised) {
                    // The opener wanted a narrower circle than policy's; an edit does not widen it.
                    true => hold.audience.clone(),
                    // mutant: edit-without-a-new-rule
                    false => Arc::new(asked(&revised)),
                }
            }
        };
        if !audience.is_satisfiable(hold.requester.as_ref(), &self.0.people) {
            return Err(
                invalid("nobody could approve the edited call: too few people may".into()).into()
            );
        }
        let ruled = match hold.session() {
            // As when the hold was opened: the word of a program stands unless a rule says more.
            None if !verdict.risk_stated => Risk::Low,
            _ => verdict.risk,
        };
        Ok(Edited {
            title: title.unwrap_or_else(|| hold.title.clone()),
            call: Arc::new(revised),
            audience,
            rule: verdict.rule().map(str::to_owned),
            risk: ruled.max(risk.unwrap_or(Risk::Low)),
            preview,
        })
    }
}

/// What a tool said about a call, and whether it could see anything.
pub(crate) struct ToolInspection {
    pub(crate) prepared: Prepared,
    pub(crate) blind: bool,
}

/// Why a tool cannot take these arguments.
pub(crate) enum InspectError {
    Misfit(SchemaErrors),
    /// In words of the host.
    Unsound(String),
}

impl InspectError {
    /// The model was given the schema, and mends its call by the schema's own words.
    pub(crate) fn for_the_model(&self) -> String {
        match self {
            InspectError::Misfit(errors) => {
                format!("The arguments do not fit the tool's schema: {}", errors.in_schema_words())
            }
            InspectError::Unsound(why) => why.clone(),
        }
    }

    fn for_the_editor(self) -> Refusal {
        let why = match self {
            InspectError::Misfit(errors) => AnswerFault::NotAsTheTool(errors),
            InspectError::Unsound(why) => why.into(),
        };
        Refusal::AnswerInvalid { field: "arguments".into(), why }
    }
}

/// The schema is put to what the tool would really get; the host itself looks at references only.
pub(crate) async fn inspect_call(
    host: &Arc<dyn ToolHost>,
    arguments: &Arguments,
    session: Option<SessionId>,
    known: &[Sealed],
) -> Result<ToolInspection, InspectError> {
    let tool = host.tool();
    let pointers = tool.secrets();
    let whole = unsealed(arguments, pointers, session.map(StreamId::Session), known)
        .map_err(|error| format!("{error}: ask for it again, or leave it out"))
        .map_err(InspectError::Unsound)?;
    let scrubber = match pointers.is_empty() && known.is_empty() {
        true => Scrubber::default(),
        false => {
            let written = secrets_written(arguments, pointers);
            let given = known.iter().map(|one| &one.value);
            Scrubber::new(written.iter().chain(given).map(SecretValue::expose))
        }
    };
    if let Err(errors) = tool.validator().check(whole.value()) {
        return Err(InspectError::Misfit(errors));
    }
    ports::failpoint!("rule.before_prepare");
    let prepared = host.prepare(arguments).await;
    ports::failpoint!("rule.prepared");
    match prepared {
        Ok(prepared) => {
            // Hosts saw references, and compare the context again when the call starts: there only
            // what the model itself wrote can be a secret.
            let own = secrets_written(arguments, pointers);
            let own = Scrubber::new(own.iter().map(SecretValue::expose));
            Ok(ToolInspection {
                prepared: scrubbed_preview(prepared, &scrubber, &own),
                blind: false,
            })
        }
        Err(PrepareError::Unsound(why)) => Err(InspectError::Unsound(scrubber.scrub(&why))),
        Err(PrepareError::Blind { why, sql }) => {
            let mut prepared = Prepared::default();
            prepared.context.sql = sql;
            let warning = Warning::new(WarningKind::NoPreview { why });
            prepared.preview.warnings.push(warning.scrubbed(&scrubber));
            Ok(ToolInspection { prepared, blind: true })
        }
    }
}

fn malformed(why: String) -> Ruling {
    Ruling::Malformed { why }
}

/// The model's words beside its calls: shown to people as the model's, never as ours.
fn rationale(beside: &[Part]) -> Option<String> {
    let texts: Vec<&str> = beside
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
