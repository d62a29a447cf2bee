//! One call of a tool: reviewed, put to the policy, waited for, passed on, reported.

use std::sync::Arc;

use domain::digest::{Digest, Framed};
use domain::id::HoldId;
use domain::json::Arguments;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::mcp::{INVALID_PARAMS, RawObject, RpcId, RpcMessage};

use crate::call_wait::{AnnouncedHold, CallWait};
use crate::config::ToolNaming;
use crate::definitions::DefinitionStatus;
use crate::era::{CAPABILITIES_KEY, RequestMeta, TASKS};
use crate::gate::{
    GateLeave, GateQuestion, GateStanding, PendingHold, QuestionContext, QuestionSubject, match_key,
};
use crate::gate_hold::GateHold;
use crate::listing::own_meta;
use crate::outcome::{CallOutcome, add_edit_note, state_text};
use crate::reply::{CallReply, RpcFailure};
use crate::session::{ClientRequest, ProxySession};
use crate::states::OpenContinuation;
use crate::translate::held_calls::HeldState;
use crate::translate::rounds::RoundsEnd;
use crate::upstream::{Upstream, UpstreamError};
use crate::waiting::with_progress;

/// The members of a call that are read here, or belong to one exchange alone.
const CALL_MEMBERS: [&str; 5] = ["name", "arguments", "_meta", "inputResponses", "requestState"];
/// What the protocol itself says in the `_meta` of a call: of the exchange, and of nothing that a tool does.
const META_OF_PROTOCOL: [&str; 4] = ["progressToken", "traceparent", "tracestate", "baggage"];
const META_PREFIX: &str = "io.modelcontextprotocol/";
/// What the record says of a call whose upstream was given no answer to its question.
pub(crate) const CANCELLED_WHILE_ASKED: &str =
    "the client cancelled it while it was asked something";
/// How often a question is asked anew because its approval went to another call, or its definition changed again.
const ROUNDS_MAX: usize = 3;

#[derive(Clone)]
pub(crate) struct GatedCall {
    pub(crate) id: RpcId,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) index: usize,
    /// As the upstream calls it.
    pub(crate) tool: String,
    pub(crate) message: RpcMessage,
    pub(crate) params: RawObject,
    pub(crate) arguments: Arguments,
    /// What the call says beside its tool and arguments. It is part of what is approved.
    pub(crate) others: Option<Value>,
    pub(crate) meta: RequestMeta,
    pub(crate) key: Digest,
    pub(crate) cancelled: CancellationToken,
}

impl GatedCall {
    /// The names of what a client adds to a call of its own accord. The values may be secrets, and change with each try.
    fn other_meta(&self) -> Vec<String> {
        let meta = self.params.get_object("_meta").unwrap_or_default();
        let is_other = |key: &String| {
            !META_OF_PROTOCOL.contains(&key.as_str()) && !key.starts_with(META_PREFIX)
        };
        meta.keys().into_iter().filter(is_other).collect()
    }
}

/// What became of the question whether a call may be made.
pub(crate) enum CallVerdict {
    Run(GateLeave),
    Reply(CallReply),
    /// The client shows a form and repeats the call with what was answered.
    Form(Box<RawValue>),
    Cancelled,
}

pub(crate) enum Waited {
    Decided(Box<GateHold>),
    Form(Box<RawValue>),
    Later,
    Cancelled,
}

impl ProxySession {
    pub(crate) fn start_call(
        self: Arc<Self>,
        id: &RpcId,
        message: RpcMessage,
    ) -> Result<(), RpcFailure> {
        let call = self.parse_call(id, message)?;
        let session = self.clone();
        self.tracker.spawn(async move { session.run_call(call).await });
        Ok(())
    }

    fn parse_call(&self, id: &RpcId, message: RpcMessage) -> Result<GatedCall, RpcFailure> {
        let cancelled = match self.lock_requests().get(id) {
            Some(ClientRequest::Held { cancelled }) => cancelled.clone(),
            _ => return Err(RpcFailure::new(INVALID_PARAMS, "the request was cancelled")),
        };
        self.read_call(id, message, cancelled)
    }

    pub(crate) fn read_call(
        &self,
        id: &RpcId,
        message: RpcMessage,
        cancelled: CancellationToken,
    ) -> Result<GatedCall, RpcFailure> {
        let bad = |why: String| RpcFailure::new(INVALID_PARAMS, why);
        let meta =
            RequestMeta::parse(&message).map_err(|version| RpcFailure::unspoken(&version))?;
        let params = message
            .params()
            .ok_or_else(|| bad("`params` must be an object in which no key stands twice".into()))?;
        if params.has_look_alike(&CALL_MEMBERS) {
            return Err(bad("a key of `params` is spelled almost like another one".into()));
        }
        // A name that cannot be read here cannot be shown.
        if params.get("_meta").is_some() && params.get_object("_meta").is_none() {
            return Err(bad("`_meta` must be an object in which no key stands twice".into()));
        }
        let name = params.get_text("name").unwrap_or_default();
        let (index, tool) = self.find_tool(&name).ok_or_else(|| {
            bad(format!("there is no tool `{}`", domain::visible::visible(&name)))
        })?;
        let text = params.get("arguments").map_or("{}", RawValue::get);
        let arguments = Arguments::parse(text.as_bytes()).map_err(|why| bad(why.to_string()))?;
        let others_text = params.others_text(&CALL_MEMBERS);
        let others = match others_text.is_empty() {
            true => None,
            // What people see of it is what any reader makes of it.
            false => {
                let others = Arguments::parse(others_text.as_bytes());
                Some(others.map_err(|why| bad(why.to_string()))?.value().clone())
            }
        };
        let upstream = self.upstreams[index].clone();
        let source = Framed::new("holdpoint.mcp.source.v1")
            .field("server", self.gate.service().source().as_bytes())
            .field("upstream", upstream.config.place().as_bytes())
            .finish();
        let key = match_key(source, &tool, &arguments, &others_text);
        let id = id.clone();
        Ok(GatedCall {
            id,
            upstream,
            index,
            tool,
            message,
            params,
            arguments,
            others,
            meta,
            key,
            cancelled,
        })
    }

    /// Which upstream has the tool, and what it calls it.
    fn find_tool(&self, name: &str) -> Option<(usize, String)> {
        if self.options.naming == ToolNaming::Own {
            return (!name.is_empty()).then(|| (0, name.to_owned()));
        }
        self.split_name(name)
    }

    async fn run_call(self: Arc<Self>, mut call: GatedCall) {
        if let Some(meta) = own_meta(&call.params) {
            if let Err(failure) = self.meet_modern(&call.upstream, &meta).await {
                return self.refuse_call(&call, denied(&failure.message)).await;
            }
            self.note_log_level(&call.upstream, &meta);
        }
        if let Some(open) = self.take_continuation(&call) {
            if let Err(error) = self.gate.check_going_on(open.hold).await {
                return self.refuse_call(&call, denied(&format!("{error:#}"))).await;
            }
            let leave = GateLeave { hold: open.hold, edited: open.edited.clone() };
            return self.finish_call(&call, leave, Some(open)).await;
        }
        let form = match self.take_form_answer(&mut call).await {
            Ok(form) => form,
            Err(error) => return self.refuse_call(&call, denied(&format!("{error:#}"))).await,
        };
        // Nobody asked for them: an upstream would take them for what the call is about, and no person saw them.
        let asked_by_nobody = ["inputResponses", "requestState"];
        if asked_by_nobody.iter().any(|key| call.params.get(key).is_some()) {
            let why = "`inputResponses` and `requestState` answer nothing that was asked; call without them";
            return self.refuse_call(&call, denied(why)).await;
        }
        if call.meta.capabilities.tasks {
            return self.run_as_task(call).await;
        }
        let wait = CallWait::new(Some(self.options.wait), None, form);
        let token = call.meta.progress_token.as_deref();
        let clear = self.clear_call(&call, &wait);
        match with_progress(self.out(), &call.id, token, "waiting for a person", clear).await {
            CallVerdict::Run(leave) => self.finish_call(&call, leave, None).await,
            CallVerdict::Reply(reply) => self.refuse_call(&call, reply).await,
            CallVerdict::Form(form) => self.reply(&call.id, &form).await,
            CallVerdict::Cancelled => {}
        }
    }

    pub(crate) async fn refuse_call(&self, call: &GatedCall, reply: CallReply) {
        self.reply(&call.id, &reply.in_era(call.meta.era)).await;
    }

    /// The upstream asked something in the course of a call that was let through; this is the same call again.
    fn take_continuation(&self, call: &GatedCall) -> Option<OpenContinuation> {
        call.params.get("inputResponses")?;
        self.states.take_continuation(call.key, &state_text(&call.params))
    }

    /// Whether the call may be made. Every error is a no.
    pub(crate) async fn clear_call(&self, call: &GatedCall, wait: &CallWait) -> CallVerdict {
        let cleared = Box::pin(self.try_clear(call, wait)).await;
        cleared.unwrap_or_else(|error| CallVerdict::Reply(denied(&format!("{error:#}"))))
    }

    async fn try_clear(&self, call: &GatedCall, wait: &CallWait) -> anyhow::Result<CallVerdict> {
        if let Some(why) = call.upstream.gone() {
            anyhow::bail!(why);
        }
        if let Some(verdict) = self.review_definition(call, wait).await? {
            return Ok(verdict);
        }
        let tool = format!("{}__{}", call.upstream.name(), call.tool);
        let mut question = GateQuestion {
            key: call.key,
            title: format!("Call `{}` of the MCP server `{}`", call.tool, call.upstream.name()),
            context: QuestionContext {
                other_members: call.others.clone(),
                other_meta: call.other_meta(),
                ..question_context(&call.upstream)
            },
            subject: QuestionSubject::Call { tool, arguments: call.arguments.clone() },
        };
        self.settle(call, wait, &mut question).await
    }

    /// `None`: the tool is as it was pinned.
    async fn review_definition(
        &self,
        call: &GatedCall,
        wait: &CallWait,
    ) -> anyhow::Result<Option<CallVerdict>> {
        let (upstream, name) = (&call.upstream, call.upstream.name());
        for _ in 0..ROUNDS_MAX {
            self.refresh_definitions(upstream, &own_meta(&call.params)).await?;
            let changed = match upstream.definitions.status(&call.tool) {
                DefinitionStatus::Pinned => return Ok(None),
                DefinitionStatus::NotOffered => {
                    anyhow::bail!("the MCP server `{name}` does not offer `{}`", call.tool)
                }
                DefinitionStatus::Unreviewed(changed) => changed,
            };
            let is_new = changed.pinned.is_none();
            let what = if is_new { "is new" } else { "has changed" };
            let mut context = question_context(upstream);
            context.pinned_definition = changed.pinned.as_ref().map(|pinned| pinned.whole.clone());
            context.offered_definition = Some(changed.offered.whole.clone());
            let digest = changed.offered.pin_digest(&changed.identity);
            let key = Framed::new("holdpoint.mcp.review.v1")
                .field("server", self.gate.service().source().as_bytes())
                .field("upstream", upstream.config.scope().as_bytes())
                .field("definition", digest.as_bytes())
                .finish();
            let mut question = GateQuestion {
                key,
                title: format!(
                    "The tool `{}` of the MCP server `{name}` {what}: may it be used with this definition?",
                    call.tool
                ),
                context,
                subject: QuestionSubject::Definition,
            };
            match self.settle(call, wait, &mut question).await? {
                CallVerdict::Run(_) => upstream.definitions.accept(&changed)?,
                other => return Ok(Some(other)),
            }
        }
        anyhow::bail!("the MCP server `{name}` keeps changing what it says about `{}`", call.tool)
    }

    /// Asks, and waits as the call can.
    async fn settle(
        &self,
        call: &GatedCall,
        wait: &CallWait,
        question: &mut GateQuestion,
    ) -> anyhow::Result<CallVerdict> {
        for _ in 0..ROUNDS_MAX {
            let pending = match self.gate.ask(question).await? {
                GateStanding::Cleared(leave) => return Ok(CallVerdict::Run(leave)),
                GateStanding::Refused(why) => return Ok(CallVerdict::Reply(denied(&why))),
                GateStanding::Pending(pending) => pending,
            };
            let hold = match self.wait_for_people(call, wait, question, &pending).await? {
                Waited::Decided(hold) => hold,
                Waited::Form(form) => return Ok(CallVerdict::Form(form)),
                Waited::Later => return Ok(CallVerdict::Reply(self.come_back(&pending))),
                Waited::Cancelled => {
                    self.gate.withdraw(question, *pending).await;
                    return Ok(CallVerdict::Cancelled);
                }
            };
            match self.gate.take_decision(question, &hold).await? {
                Some(GateStanding::Cleared(leave)) => return Ok(CallVerdict::Run(leave)),
                Some(GateStanding::Refused(why)) => return Ok(CallVerdict::Reply(denied(&why))),
                // It was another call's, which was quicker to use it, or took it back: this one is asked about by itself.
                Some(GateStanding::Pending(_)) | None => {}
            }
        }
        anyhow::bail!("its approvals went to other calls; try again")
    }

    async fn wait_for_people(
        &self,
        call: &GatedCall,
        wait: &CallWait,
        question: &GateQuestion,
        pending: &PendingHold,
    ) -> anyhow::Result<Waited> {
        let announce = wait.announce.lock().unpoisoned().take();
        if let Some(announce) = announce {
            let _ = announce.send(AnnouncedHold { id: pending.id(), is_new: pending.is_new });
        }
        self.keep_task_place(call, wait, pending.id()).await?;
        let service = self.gate.service();
        let decided = async {
            match wait.limit {
                Some(limit) => {
                    let asked_at = *wait.asked_at.get_or_init(Instant::now);
                    service.wait_decided(pending.id(), asked_at + limit).await
                }
                None => loop {
                    let until = Instant::now() + self.options.wait;
                    if let Some(hold) = service.wait_decided(pending.id(), until).await? {
                        return Ok(Some(hold));
                    }
                },
            }
        };
        let form = self.show_form(call, wait, question, pending);
        tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Ok(Waited::Cancelled),
            decided = decided => {
                Ok(decided?.map_or(Waited::Later, |hold| Waited::Decided(Box::new(hold))))
            }
            form = form => Ok(Waited::Form(form?)),
        }
    }

    /// A task whose first approval went to an equal call is found under the hold that it waits for now.
    async fn keep_task_place(
        &self,
        call: &GatedCall,
        wait: &CallWait,
        hold: HoldId,
    ) -> anyhow::Result<()> {
        let task = wait.task.lock().unpoisoned().clone();
        match task {
            Some((id, before)) if before != hold => {
                let request = call.message.object.to_line();
                self.gate.service().keep_task(&id, hold, &request).await?;
                wait.note_task(id, hold);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn come_back(&self, pending: &PendingHold) -> CallReply {
        CallReply::failed(format!(
            "Nothing was run yet: this call waits for a person, at {}\nWhen it has been decided, call again with the same \
             arguments; an approval is used once. Do not try another way meanwhile.",
            self.gate.service().page(pending.id())
        ))
    }

    /// Makes the call and gives the client what came of it.
    pub(crate) async fn finish_call(
        &self,
        call: &GatedCall,
        leave: GateLeave,
        before: Option<OpenContinuation>,
    ) {
        match self.pass_on(call, &call.id, leave, before).await {
            Ok(Some(response)) => self.reply_as_is(&call.id, &response).await,
            Ok(None) => {}
            Err(reply) => self.refuse_call(call, reply).await,
        }
    }

    /// `None`: the client cancelled it before it was sent. The error is what the client is told.
    pub(crate) async fn pass_on(
        &self,
        call: &GatedCall,
        wire_id: &RpcId,
        leave: GateLeave,
        before: Option<OpenContinuation>,
    ) -> Result<Option<RpcMessage>, CallReply> {
        let held = match self.take_held(call) {
            HeldState::Foreign => None,
            HeldState::Here(held) => Some(held),
            HeldState::Over => {
                let why = "the client did not answer in time, and the call was given up";
                self.report(leave.hold, Err(why.into()));
                return Err(CallReply::failed(format!(
                    "{why}. It had been sent: it may or may not have been carried out. Look before you try again."
                )));
            }
        };
        // What an upstream has already cannot be said not to have run.
        let is_held = held.is_some();
        let refused = |why: &str| match is_held {
            true => CallReply::failed(format!(
                "Holdpoint did not let this call go on: {why}\nIt had been sent: it may or may not have been carried out. Look before you try again."
            )),
            false => denied(why),
        };
        if let Err(error) = self.check_definition(call).await {
            let why = format!("{error:#}");
            self.report(leave.hold, Err(why.clone()));
            return Err(refused(&why));
        }
        // The list may have taken long, and a freeze holds from when it was acknowledged.
        if self.gate.service().is_frozen().await.unwrap_or(true) {
            self.report(leave.hold, Err("not sent: everything is frozen".into()));
            return Err(refused("everything is frozen"));
        }
        let edited = leave.edited.as_ref().map(raw_arguments).transpose();
        let outgoing = edited
            .and_then(|edited| Ok((self.outgoing(call, wire_id, edited.as_deref())?, edited)));
        let (object, edited) = match outgoing {
            Ok(outgoing) => outgoing,
            Err(error) => {
                self.report(leave.hold, Err(error.to_string()));
                return Err(denied("the approved arguments cannot be written"));
            }
        };
        // The last moment at which a cancellation counts; a task is known to the client by another name.
        let is_wanted = !call.cancelled.is_cancelled()
            && (*wire_id != call.id || self.set_sent(&call.id, "tools/call", call.index));
        if !is_wanted {
            self.report(leave.hold, Err("the client cancelled it before it was sent".into()));
            return Ok(None);
        }
        let sending = self.send_call(call, wire_id, object, held, leave.hold);
        let sent = tokio::select! {
            biased;
            sent = sending => sent,
            // Only of a task: any other request that was sent is cancelled by the client itself. Neither done nor failed, so the
            // record keeps saying that it was started.
            () = call.cancelled.cancelled() => {
                self.cancel_sent(call, wire_id);
                return Ok(None);
            }
        };
        let mut response = match sent {
            RoundsEnd::Answered(response) => response,
            RoundsEnd::Unanswered(why) => {
                self.report(leave.hold, Err(why.clone()));
                return Err(CallReply::failed(format!(
                    "The tool asked for more in the course of the call, and got no answer: {why}"
                )));
            }
            RoundsEnd::Cancelled => {
                self.report(leave.hold, Err(CANCELLED_WHILE_ASKED.into()));
                return Ok(None);
            }
            RoundsEnd::Upstream(UpstreamError::NotSent(why)) => {
                self.report(leave.hold, Err(format!("not sent: {why}")));
                return Err(denied(&why));
            }
            // Neither done nor failed, as well.
            RoundsEnd::Upstream(UpstreamError::Lost(why)) => {
                return Err(CallReply::failed(format!(
                    "{why}\nThe call had been sent: it may or may not have been carried out. Look before you try again."
                )));
            }
        };
        match CallOutcome::of(&response) {
            CallOutcome::Succeeded => self.report(leave.hold, Ok(())),
            CallOutcome::Failed(why) => self.report(leave.hold, Err(why)),
            // Its client follows the task. The record keeps saying that the call was started.
            CallOutcome::GoesOn { .. } => {}
            CallOutcome::NeedsInput { state } => {
                let next = OpenContinuation::next(leave.hold, leave.edited, before.as_ref());
                self.states.keep_continuation(call.key, &state, next);
            }
        }
        if let Some(edited) = &edited {
            add_edit_note(&mut response, edited);
        }
        Ok(Some(response))
    }

    /// The last look before a call is sent: people may have taken long.
    async fn check_definition(&self, call: &GatedCall) -> anyhow::Result<()> {
        self.refresh_definitions(&call.upstream, &own_meta(&call.params)).await?;
        let is_known =
            matches!(call.upstream.definitions.status(&call.tool), DefinitionStatus::Pinned);
        anyhow::ensure!(is_known, "the tool has changed while people were asked; call again");
        Ok(())
    }

    /// The client's own message, with what must be another: the tool's name, edited arguments, the id.
    fn outgoing(
        &self,
        call: &GatedCall,
        wire_id: &RpcId,
        edited: Option<&RawValue>,
    ) -> serde_json::Result<RawObject> {
        let mut params = call.params.clone();
        if self.options.naming == ToolNaming::Prefixed {
            params.set_value("name", &call.tool)?;
        }
        if let Some(edited) = edited {
            params.set("arguments", edited.to_owned());
        }
        // The call is a task of ours, and its client would not find one of the upstream's.
        if *wire_id != call.id {
            without_tasks(&mut params)?;
        }
        let mut object = call.message.clone().with_id(wire_id).object;
        object.set("params", params.to_raw()?);
        Ok(self.in_upstream_era(&call.upstream, object))
    }

    pub(crate) fn report(&self, hold: HoldId, ended: Result<(), String>) {
        let service = self.gate.service().clone();
        self.reports.spawn(async move {
            let _ = service.report(hold, ended).await;
        });
    }
}

/// Says in a modern call that its client takes no tasks.
fn without_tasks(params: &mut RawObject) -> serde_json::Result<()> {
    let taken = (|| {
        let meta = params.get_object("_meta")?;
        let capabilities = meta.get_object(CAPABILITIES_KEY)?;
        let mut extensions = capabilities.get_object("extensions")?;
        extensions.remove(TASKS)?;
        Some((meta, capabilities, extensions))
    })();
    let Some((mut meta, mut capabilities, extensions)) = taken else { return Ok(()) };
    capabilities.set("extensions", extensions.to_raw()?);
    meta.set(CAPABILITIES_KEY, capabilities.to_raw()?);
    params.set("_meta", meta.to_raw()?);
    Ok(())
}

fn raw_arguments(arguments: &Arguments) -> serde_json::Result<Box<RawValue>> {
    serde_json::from_slice(arguments.bytes())
}

fn question_context(upstream: &Upstream) -> QuestionContext {
    let identity = upstream.definitions.identity().map(|identity| identity.to_string());
    // Not its arguments, which may hold secrets.
    QuestionContext::new(&upstream.config, identity)
}

/// For the model, and for the person who reads along.
pub(crate) fn denied(why: &str) -> CallReply {
    CallReply::failed(format!("Holdpoint did not let this call pass: {why}\nNothing was run."))
}
