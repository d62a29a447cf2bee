//! The last look before a call starts. What was approved must still be approved, by people who are
//! still entitled, of a tool that is still the same, under a policy that is no stricter by now.

use std::sync::Arc;

use super::decide::Draft;
use super::{HoldSpec, Session};
use crate::call::{Call, Clearance};
use crate::caption::{Caption, CaptionKind};
use crate::context::{Context, Renewal};
use crate::event::{HoldEvent, SessionEvent};
use crate::grant::{ClearedBy, Grant};
use crate::hold::{Decision, HoldChange, HoldOutcome, HoldState, Preview, Question, Risk};
use crate::id::{CallId, HoldId};
use crate::outcome::{NotRun, ToolResult};
use crate::person::{Audience, PersonId, Requester};
use crate::policy::{self, Facts, Verdict};
use crate::warning::{Warning, WarningKind, WhyAskedAgain};

/// What the last check before a start found.
pub(super) enum StartCheck {
    Start,
    /// Not now: calls are frozen, or the tool is not configured at present.
    Wait,
    Never(NotRun),
    /// The world changed since: ask again, about the call as it would run now.
    AskAgain(WarningKind),
}

fn ask_again(because: WhyAskedAgain) -> StartCheck {
    StartCheck::AskAgain(WarningKind::AskedAgain { because })
}

impl Session {
    pub(super) fn check_start(
        &self,
        call: &Call,
        clearance: &Clearance,
        context: &Context<'_>,
    ) -> StartCheck {
        // mutant: freeze-ignored
        if context.frozen.is_some() || context.closing {
            return StartCheck::Wait;
        }
        // mutant: late-start
        if clearance.execute_by <= context.now {
            return StartCheck::Never(NotRun::ExpiredBeforeStart);
        }
        let Some(tool) = (context.tool_of)(&call.tool) else { return StartCheck::Wait };
        let verdict = context.policy.rule(&Facts::of(call));
        // mutant: new-denial-ignored
        if let policy::PolicyDecision::Deny = verdict.decision {
            return StartCheck::Never(NotRun::DeniedByRule {
                rule: verdict.rule().map(str::to_owned),
            });
        }
        // mutant: changed-tool-runs
        if tool.definition() != call.definition {
            return ask_again(WhyAskedAgain::ToolChanged);
        }
        match &clearance.by {
            ClearedBy::Rule(_) => match verdict.decision {
                // mutant: runs-without-asking.start
                policy::PolicyDecision::Allow => StartCheck::Start,
                _ => ask_again(WhyAskedAgain::PolicyAsksNow),
            },
            ClearedBy::Grant(grant) => match self.grants.get(grant) {
                Some(grant)
                    if !grant.revoked
                        && context.now < grant.expires_at
                        && self.may_grant(grant, &verdict, context) =>
                {
                    StartCheck::Start
                }
                _ => ask_again(WhyAskedAgain::GrantEnded),
            },
            ClearedBy::People(hold) => self.check_approval(*hold, call, &verdict, context),
        }
    }

    fn check_approval(
        &self,
        hold: HoldId,
        call: &Call,
        verdict: &Verdict,
        context: &Context<'_>,
    ) -> StartCheck {
        let Some(hold) = self.holds.get(&hold) else {
            return ask_again(WhyAskedAgain::ApprovalMissing);
        };
        let HoldState::Approved(Decision::People { voters, vote }) = &hold.state else {
            return ask_again(WhyAskedAgain::ApprovalVoid);
        };
        // mutant: approval-of-another-call
        if vote.digest != call.digest() {
            return ask_again(WhyAskedAgain::OtherCallApproved);
        }
        let now = match &verdict.decision {
            // The rule that asked may be gone; what it asked for then still counts.
            policy::PolicyDecision::Ask(ask)
                if context.policy.version() != call.policy
                    || context.policy.may_change_its_mind() =>
            {
                Some((ask, audience_for(ask, self.requester_and_login_makers())))
            }
            _ => None,
        };
        let entitled = |audience: &Audience| {
            let count = voters
                .iter()
                .filter(|voter| audience.admits(voter, hold.requester.as_ref(), context.people))
                // mutant: made-logins-count-after-the-rule-changed
                .filter(|voter| hold.login_counts(voter, audience))
                .count();
            count >= audience.quorum as usize
        };
        // mutant: left-approver-counts-at-start
        if !entitled(&hold.audience) {
            return ask_again(WhyAskedAgain::ApproversNotEntitled);
        }
        match &now {
            // mutant: stricter-policy-ignored
            Some((ask, audience)) if !entitled(audience) => {
                StartCheck::AskAgain(verdict.stricter_than_before(ask))
            }
            _ => StartCheck::Start,
        }
    }

    fn may_grant(&self, grant: &Grant, verdict: &Verdict, context: &Context<'_>) -> bool {
        match &verdict.decision {
            policy::PolicyDecision::Allow => true,
            policy::PolicyDecision::Deny => false,
            policy::PolicyDecision::Ask(ask) => {
                let audience = audience_for(ask, self.requester_and_login_makers());
                audience.quorum <= 1 && self.covers_rule(grant, &audience, context)
            }
        }
    }
}

impl Session {
    /// Whether the rule that asks this audience would have taken the word of whoever gave the grant.
    pub(super) fn covers_rule(
        &self,
        grant: &Grant,
        audience: &Audience,
        context: &Context<'_>,
    ) -> bool {
        let login_counts = || {
            self.holds.get(&grant.hold).is_some_and(|hold| hold.login_counts(&grant.by, audience))
        };
        audience.admits(&grant.by, self.requester(), context.people)
            && (!audience.refuse_made_logins || login_counts())
    }
}

impl Draft {
    /// Lets a cleared call start, or does what the last look demands. Says whether anything came
    /// of it.
    pub(super) fn start_call(
        &mut self,
        id: CallId,
        call: &Arc<Call>,
        clearance: &Clearance,
        attempt: u32,
        context: &Context<'_>,
    ) -> bool {
        match self.next.check_start(call, clearance, context) {
            StartCheck::Wait => false,
            StartCheck::Start => {
                self.push(
                    SessionEvent::CallStarted { call: id, attempt, node: context.node },
                    context,
                );
                true
            }
            StartCheck::Never(why) => {
                let why = if attempt > 1 { why.after_an_attempt(call.effects) } else { why };
                let result = self.next.shape_for_tool(call, &why.result());
                self.push(SessionEvent::CallSettled { call: id, result }, context);
                true
            }
            StartCheck::AskAgain(why) => self.ask_again(id, call, clearance, why, context),
        }
    }

    fn ask_again(
        &mut self,
        id: CallId,
        call: &Arc<Call>,
        clearance: &Clearance,
        why: WarningKind,
        context: &Context<'_>,
    ) -> bool {
        let Renewed { call: revised, preview, title, risk } =
            match self.next.renewed(id, call, context) {
                Ok(Some(renewed)) => renewed,
                Ok(None) => return false,
                Err(result) => {
                    let result = self.next.shape_for_tool(call, &result);
                    self.push(SessionEvent::CallSettled { call: id, result }, context);
                    return true;
                }
            };
        let earlier = match clearance.by {
            ClearedBy::People(hold) => self.next.holds.get(&hold).cloned(),
            _ => None,
        };
        let mut preview = preview
            .or_else(|| earlier.as_ref().map(|hold| hold.preview.clone()))
            .unwrap_or_default();
        let why = Warning::new(why);
        preview.warnings.push(why.clone());
        let title =
            title.or_else(|| earlier.as_ref().map(|hold| hold.title.clone())).unwrap_or_else(
                || CaptionKind::RunTool { tool: call.tool.to_string(), arguments: None }.into(),
            );
        let risk = risk.max(earlier.as_ref().map(|hold| hold.risk));
        let spec = self.next.respec_as_approve(&revised, title, preview, risk, context);
        if let Some(hold) = &earlier {
            let result = ToolResult::error(format!("Asked again: {}.", why.text()));
            let change = HoldChange::Outcome(HoldOutcome::Failed(result));
            self.push(SessionEvent::Hold(HoldEvent::Updated { hold: hold.id, change }), context);
        }
        self.push(SessionEvent::proposed_anew(id, revised.clone()), context);
        self.open(spec, Some(revised), earlier.map(|hold| hold.id), false, context);
        true
    }
}

impl Session {
    /// The call as it would be proposed now: a new revision, for the tool and the policy of today.
    /// `None`: the tool has changed, and nobody has looked at the call with it yet.
    pub(super) fn renewed(
        &self,
        id: CallId,
        call: &Call,
        context: &Context<'_>,
    ) -> Result<Option<Renewed>, ToolResult> {
        let mut parts = call.parts();
        parts.id = id;
        parts.policy = context.policy.version();
        parts.revision += 1;
        let (mut preview, mut title, mut risk) = (None, None, None);
        if let Some(tool) = (context.tool_of)(&call.tool)
            && tool.definition() != call.definition
        {
            match context.renewals.get(&id) {
                None => return Ok(None),
                Some(Renewal::Unsound(why)) => {
                    return Err(ToolResult::error(format!("Not run: the tool has changed. {why}")));
                }
                Some(Renewal::Prepared { context, preview: seen, title: named, risk: stated }) => {
                    parts.context = context.clone();
                    (preview, title, risk) = (Some((**seen).clone()), named.clone(), *stated);
                }
            }
            parts.definition = tool.definition();
            parts.effects = tool.effects;
            parts.place = tool.place;
            parts.confirm = tool.confirm;
            parts.secrets = crate::schema::write_only_pointers(&tool.input_schema);
        }
        Ok(Some(Renewed { call: Arc::new(Call::fixed(parts)), preview, title, risk }))
    }

    /// An `approve` question about a call, for the people whom the policy names now. `risk` is what an earlier question about
    /// it, or its tool, said: asking again never makes a call less dangerous.
    pub(super) fn respec_as_approve(
        &self,
        call: &Call,
        title: Caption,
        preview: Preview,
        risk: Option<Risk>,
        context: &Context<'_>,
    ) -> HoldSpec {
        let verdict = context.policy.rule(&Facts::of(call));
        let (audience, expires_in_ms) = match &verdict.decision {
            policy::PolicyDecision::Ask(ask) if ask.expires_by_rule => {
                (audience_for(ask, self.requester_and_login_makers()), ask.expires_ms)
            }
            policy::PolicyDecision::Ask(ask) => {
                (audience_for(ask, self.requester_and_login_makers()), context.expires_ms)
            }
            _ => (default_audience(self.requester_and_login_makers()), context.expires_ms),
        };
        HoldSpec {
            question: Question::Approve,
            risk: verdict.risk.max(risk.unwrap_or_default()).max(Risk::Medium),
            title,
            preview,
            shown: serde_json::Value::Null,
            rationale: None,
            audience: audience.into(),
            rule: verdict.rule().map(str::to_owned),
            expires_in_ms: Some(expires_in_ms),
        }
    }
}

/// A call as it would be proposed now, with what its host says about it if that is new.
pub(super) struct Renewed {
    pub(super) call: Arc<Call>,
    pub(super) preview: Option<Preview>,
    pub(super) title: Option<Caption>,
    pub(super) risk: Option<Risk>,
}

/// Whom a rule asks. One that names nobody asks the requester and every admin.
pub fn audience_for(ask: &policy::Ask, requester: Requester<'_>) -> Audience {
    let demanded = Audience {
        quorum: ask.quorum,
        exclude_requester: ask.exclude_requester,
        refuse_made_logins: ask.refuse_made_logins,
        ..default_audience(requester)
    };
    if ask.roles.is_empty() && ask.people.is_empty() {
        return demanded;
    }
    Audience {
        people: ask.people.iter().map(|id| PersonId::new(id)).collect(),
        roles: ask.roles.iter().map(|role| role.to_string()).collect(),
        ..demanded
    }
}

/// Who is asked where a rule names nobody: the requester and every admin, and one of them is enough.
pub fn default_audience(requester: Requester<'_>) -> Audience {
    Audience {
        people: requester.person.into_iter().cloned().collect(),
        roles: [crate::person::ADMIN.to_owned()].into(),
        quorum: 1,
        exclude_requester: false,
        refuse_made_logins: false,
        login_makers: requester.login_makers.clone(),
    }
}
