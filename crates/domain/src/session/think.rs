//! A turn of the model enters the session: its words, then its calls, each with what was ruled.

use std::sync::Arc;

use super::decide::Draft;
use super::two_phase::{Phase, pending};
use super::{HoldSpec, RuledCall, RuledTurn, Ruling, Session};
use crate::budget::Usage;
use crate::call::{Call, Clearance};
use crate::context::Context;
use crate::event::SessionEvent;
use crate::grant::{ClearedBy, Grant};
use crate::hold::{Decision, Question};
use crate::id::CallId;
use crate::limits::{EXECUTE_WITHIN_MS, OPEN_HOLDS_PER_SESSION_MAX};
use crate::message::{Message, Origin, Part, Role};
use crate::outcome::{NotRun, ToolResult};
use crate::tool::Confirm;
use crate::warning::Warning;

impl Draft {
    pub(super) fn record_turn(&mut self, turn: &RuledTurn, context: &Context<'_>) {
        let mut parts = turn.parts.clone();
        parts.extend(turn.calls.iter().map(|ruled| Part::ToolCall {
            call: ruled.written.id,
            tool_use_id: ruled.written.tool_use_id.clone(),
            tool: ruled.written.tool.clone(),
            input: ruled.written.input.clone(),
        }));
        let message = Message {
            id: turn.message,
            role: Role::Assistant,
            origin: Origin::Own,
            by: None,
            login_makers: Default::default(),
            parts,
            at: context.now,
        };
        self.push(SessionEvent::MessageAdded { message: Arc::new(message) }, context);
        if turn.usage != Usage::default() {
            let run = self.next.run.as_ref().map(|run| run.id);
            self.push_all(
                run.map(|run| SessionEvent::TurnCounted { run, usage: turn.usage }),
                context,
            );
        }
        for ruled in &turn.calls {
            self.propose(ruled, context);
        }
    }

    fn propose(&mut self, ruled: &RuledCall, context: &Context<'_>) {
        let id = ruled.written.id;
        match &ruled.ruling {
            Ruling::TwoPhase { confirmed, otherwise } => {
                let Some(call) = otherwise.call().cloned() else {
                    return self.record_ruling(id, ruled, otherwise, true, context);
                };
                match self.next.phase(&call, *confirmed, context) {
                    Phase::First => self.record_ruling(id, ruled, otherwise, true, context),
                    Phase::Known(result) => {
                        self.push(
                            SessionEvent::CallProposed { id, call, clearance: None },
                            context,
                        );
                        self.push(SessionEvent::CallSettled { call: id, result }, context);
                    }
                    Phase::Run(hold) => {
                        // The stored bytes run, not the ones just sent.
                        let stored = hold.call().cloned().unwrap_or(call);
                        // The approval counts from when it was given, not from when it is used.
                        let at = hold.state.decision().map_or(context.now, Decision::at);
                        let clearance = Clearance {
                            by: ClearedBy::People(hold.id),
                            at,
                            execute_by: at.plus_ms(EXECUTE_WITHIN_MS),
                        };
                        self.push(
                            SessionEvent::CallProposed {
                                id,
                                call: stored,
                                clearance: Some(clearance),
                            },
                            context,
                        );
                    }
                    Phase::Follow(hold) => {
                        let stored = hold.call().cloned().unwrap_or(call);
                        self.push(
                            SessionEvent::CallProposed { id, call: stored, clearance: None },
                            context,
                        );
                    }
                }
            }
            ruling => self.record_ruling(id, ruled, ruling, false, context),
        }
    }

    fn record_ruling(
        &mut self,
        id: CallId,
        ruled: &RuledCall,
        ruling: &Ruling,
        two_phase: bool,
        context: &Context<'_>,
    ) {
        match ruling {
            Ruling::Malformed { why } => self.malformed(ruled, why, context),
            Ruling::Denied { call, rule } => {
                self.push(
                    SessionEvent::CallProposed { id, call: call.clone(), clearance: None },
                    context,
                );
                let result = self
                    .next
                    .shape_for_tool(call, &NotRun::DeniedByRule { rule: rule.clone() }.result());
                self.push(SessionEvent::CallSettled { call: id, result }, context);
            }
            Ruling::Allowed { call, by } => {
                let clearance = Some(clearance(by.clone(), context));
                self.push(
                    SessionEvent::CallProposed { id, call: call.clone(), clearance },
                    context,
                );
            }
            Ruling::Ask { call, spec } => match self.next.standing_grant(call, spec, context) {
                Some(grant) => {
                    let clearance = Some(clearance(ClearedBy::Grant(grant.id), context));
                    self.push(
                        SessionEvent::CallProposed { id, call: call.clone(), clearance },
                        context,
                    );
                    self.push(SessionEvent::GrantUsed { grant: grant.id, call: id }, context);
                }
                // mutant: runs-without-asking.proposal
                None => self.ask(id, call, spec, two_phase, context),
            },
            // Two-phase rulings are not nested; `propose` has taken the outer one apart.
            Ruling::TwoPhase { otherwise, .. } => {
                self.record_ruling(id, ruled, otherwise, true, context)
            }
        }
    }

    fn ask(
        &mut self,
        id: CallId,
        call: &Arc<Call>,
        spec: &HoldSpec,
        two_phase: bool,
        context: &Context<'_>,
    ) {
        self.push(SessionEvent::CallProposed { id, call: call.clone(), clearance: None }, context);
        if self.next.open_holds().count() >= OPEN_HOLDS_PER_SESSION_MAX {
            let why = format!(
                "Not run: {OPEN_HOLDS_PER_SESSION_MAX} calls of this session already wait for people."
            );
            let result = self.next.shape_for_tool(call, &ToolResult::error(why));
            return self.push(SessionEvent::CallSettled { call: id, result }, context);
        }
        let two_phase =
            two_phase && call.confirm == Confirm::TwoPhase && spec.question == Question::Approve;
        let warning = self.next.denied_before(call, context.people, context.now);
        let mut spec = spec.clone();
        spec.preview.warnings.extend(warning.map(Warning::new));
        let hold = self.open(spec, Some(call.clone()), None, two_phase, context);
        if let (true, Some(hold)) = (two_phase, self.next.holds.get(&hold).cloned()) {
            self.push(
                SessionEvent::CallSettled { call: id, result: pending(&hold, call) },
                context,
            );
        }
    }

    fn malformed(&mut self, ruled: &RuledCall, why: &str, context: &Context<'_>) {
        let (call, written) = (ruled.written.id, &ruled.written);
        self.push(
            SessionEvent::CallMalformed {
                call,
                tool_use_id: written.tool_use_id.clone(),
                tool: written.tool.clone(),
            },
            context,
        );
        let result = NotRun::Invalid { why: why.to_owned() }.result();
        self.push(SessionEvent::CallSettled { call, result }, context);
    }
}

impl Session {
    /// A live grant that covers the call, given by somebody whom the rule would ask about it.
    fn standing_grant(
        &self,
        call: &Call,
        spec: &HoldSpec,
        context: &Context<'_>,
    ) -> Option<Arc<Grant>> {
        if spec.question != Question::Approve || spec.audience.quorum > 1 {
            return None;
        }
        self.grants
            .values()
            .find(|grant| {
                grant.is_live(context.now)
                    && grant.covers(call)
                    && self.covers_rule(grant, &spec.audience, context)
            })
            .cloned()
    }
}

fn clearance(by: ClearedBy, context: &Context<'_>) -> Clearance {
    Clearance { by, at: context.now, execute_by: context.now.plus_ms(EXECUTE_WITHIN_MS) }
}
