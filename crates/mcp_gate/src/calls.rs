//! One call of a tool: reviewed, put to the policy, waited for, passed on, reported.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use domain::digest::{Digest, Framed};
use domain::id::HoldId;
use domain::json::Arguments;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::mcp::{INVALID_PARAMS, RawObject, RpcId, RpcMessage};

use crate::config::ToolNaming;
use crate::definitions::DefinitionStatus;
use crate::era::{RequestMeta, UNSUPPORTED_VERSION};
use crate::forms::FormRung;
use crate::gate::{
    GateLeave, GateQuestion, GateStanding, PendingHold, QuestionContext, QuestionSubject, match_key,
};
use crate::listing::own_meta;
use crate::outcome::{CallOutcome, add_edit_note, state_text};
use crate::reply::{CallReply, RpcFailure};
use crate::session::{ClientRequest, ProxySession};
use crate::states::OpenContinuation;
use crate::tasks::TaskState;
use crate::upstream::{Upstream, UpstreamError};
use crate::waiting::with_progress;

/// The members of a call that are read here, or belong to one exchange alone.
const CALL_MEMBERS: [&str; 5] = ["name", "arguments", "_meta", "inputResponses", "requestState"];
/// How often a question is asked anew because its approval went to another call, or its definition changed again.
const ROUNDS_MAX: usize = 3;

pub(crate) struct GatedCall {
    pub(crate) id: RpcId,
    pub(crate) upstream: Arc<Upstream>,
    index: usize,
    /// As the upstream calls it.
    pub(crate) tool: String,
    message: RpcMessage,
    pub(crate) params: RawObject,
    pub(crate) arguments: Arguments,
    pub(crate) meta: RequestMeta,
    pub(crate) key: Digest,
    pub(crate) cancelled: CancellationToken,
}

/// How long a call waits, and who is told that it does.
pub(crate) struct CallWait {
    /// `None`: as long as people take.
    limit: Option<Duration>,
    /// When people were first asked: an upstream that takes its time to start takes none of theirs.
    asked_at: OnceLock<Instant>,
    announce: Mutex<Option<oneshot::Sender<HoldId>>>,
    pub(crate) form: FormRung,
}

impl CallWait {
    fn new(
        limit: Option<Duration>,
        announce: Option<oneshot::Sender<HoldId>>,
        form: FormRung,
    ) -> CallWait {
        CallWait { limit, asked_at: OnceLock::new(), announce: Mutex::new(announce), form }
    }

    /// As long as people take, and nobody is told.
    pub(crate) fn endless() -> CallWait {
        CallWait::new(None, None, FormRung::None)
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
    Decided(serde_json::Value),
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
        let meta = RequestMeta::parse(&message).map_err(|version| {
            RpcFailure::new(
                UNSUPPORTED_VERSION,
                format!("`{version}` is not a version that is spoken"),
            )
        })?;
        let params = message
            .params()
            .ok_or_else(|| bad("`params` must be an object in which no key stands twice".into()))?;
        if params.has_look_alike(&CALL_MEMBERS) {
            return Err(bad("a key of `params` is spelled almost like another one".into()));
        }
        let name = params.get_text("name").unwrap_or_default();
        let (index, tool) = self.find_tool(&name).ok_or_else(|| {
            bad(format!("there is no tool `{}`", domain::visible::visible(&name)))
        })?;
        let text = params.get("arguments").map_or("{}", RawValue::get);
        let arguments = Arguments::parse(text.as_bytes()).map_err(|why| bad(why.to_string()))?;
        let upstream = self.upstreams[index].clone();
        let source = Framed::new("holdpoint.mcp.source.v1")
            .field("server", self.gate.service().source().as_bytes())
            .field("upstream", upstream.config.place().as_bytes())
            .finish();
        let key = match_key(source, &tool, &arguments, &params.others_text(&CALL_MEMBERS));
        let id = id.clone();
        Ok(GatedCall {
            id,
            upstream,
            index,
            tool,
            message,
            params,
            arguments,
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

    async fn refuse_call(&self, call: &GatedCall, reply: CallReply) {
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
            context: question_context(&call.upstream),
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
                    self.gate.withdraw(question, pending.id).await;
                    return Ok(CallVerdict::Cancelled);
                }
            };
            match self.gate.take_decision(question, pending.id, &hold).await? {
                Some(GateStanding::Cleared(leave)) => return Ok(CallVerdict::Run(leave)),
                Some(GateStanding::Refused(why)) => return Ok(CallVerdict::Reply(denied(&why))),
                // Another call was quicker to use it: this one is asked about by itself.
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
            let _ = announce.send(pending.id);
        }
        let service = self.gate.service();
        let decided = async {
            match wait.limit {
                Some(limit) => {
                    let asked_at = *wait.asked_at.get_or_init(Instant::now);
                    service.wait_decided(pending.id, asked_at + limit).await
                }
                None => loop {
                    let until = Instant::now() + self.options.wait;
                    if let Some(hold) = service.wait_decided(pending.id, until).await? {
                        return Ok(Some(hold));
                    }
                },
            }
        };
        let form = self.show_form(call, wait, question, pending);
        tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Ok(Waited::Cancelled),
            decided = decided => Ok(decided?.map_or(Waited::Later, Waited::Decided)),
            form = form => Ok(Waited::Form(form?)),
        }
    }

    fn come_back(&self, pending: &PendingHold) -> CallReply {
        CallReply::failed(format!(
            "Nothing was run yet: this call waits for a person, at {}\nWhen it has been decided, call again with the same \
             arguments; an approval is used once. Do not try another way meanwhile.",
            self.gate.service().page(pending.id)
        ))
    }

    /// Makes the call and gives the client what came of it.
    async fn finish_call(
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
    async fn pass_on(
        &self,
        call: &GatedCall,
        wire_id: &RpcId,
        leave: GateLeave,
        before: Option<OpenContinuation>,
    ) -> Result<Option<RpcMessage>, CallReply> {
        if let Err(error) = self.check_definition(call).await {
            let why = format!("{error:#}");
            self.report(leave.hold, Err(why.clone()));
            return Err(denied(&why));
        }
        // The list may have taken long, and a freeze holds from when it was acknowledged.
        if self.gate.service().is_frozen().await.unwrap_or(true) {
            self.report(leave.hold, Err("not sent: everything is frozen".into()));
            return Err(denied("everything is frozen"));
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
        let sent = call.upstream.request(wire_id, &object).await;
        let mut response = match sent {
            Ok(response) => response,
            Err(UpstreamError::NotSent(why)) => {
                self.report(leave.hold, Err(format!("not sent: {why}")));
                return Err(denied(&why));
            }
            // Neither done nor failed: the record keeps saying that it was started.
            Err(UpstreamError::Lost(why)) => {
                return Err(CallReply::failed(format!(
                    "{why}\nThe call had been sent: it may or may not have been carried out. Look before you try again."
                )));
            }
        };
        match CallOutcome::of(&response) {
            CallOutcome::Succeeded => self.report(leave.hold, Ok(())),
            CallOutcome::Failed(why) => self.report(leave.hold, Err(why)),
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
        let mut object = call.message.clone().with_id(wire_id).object;
        object.set("params", params.to_raw()?);
        Ok(object)
    }

    fn report(&self, hold: HoldId, ended: Result<(), String>) {
        let service = self.gate.service().clone();
        self.reports.spawn(async move {
            let _ = service.report(hold, ended).await;
        });
    }

    /// The client gets a task as soon as a person has to decide, and asks for it later.
    async fn run_as_task(self: Arc<Self>, mut call: GatedCall) {
        let request = call.cancelled.clone();
        call.cancelled = CancellationToken::new();
        let (announce, mut announced) = oneshot::channel();
        let wait = CallWait::new(None, Some(announce), FormRung::None);
        let mut clear = Box::pin(self.clear_call(&call, &wait));
        let hold = tokio::select! {
            biased;
            () = request.cancelled() => return,
            Ok(hold) = &mut announced => hold,
            verdict = &mut clear => {
                return match verdict {
                    CallVerdict::Run(leave) => self.finish_call(&call, leave, None).await,
                    CallVerdict::Reply(reply) => self.refuse_call(&call, reply).await,
                    CallVerdict::Form(_) | CallVerdict::Cancelled => {}
                };
            }
        };
        let kept = self.gate.service().keep_task(hold, &call.message.object.to_line()).await;
        if let Err(error) = kept {
            self.refuse_call(&call, denied(&format!("the task cannot be kept: {error:#}"))).await;
            return call.cancelled.cancel();
        }
        let task = self.call_tasks.start(hold, call.cancelled.clone(), self.now());
        self.reply(&call.id, &task).await;
        let verdict = clear.await;
        self.finish_task(hold, &call, verdict).await;
    }

    /// Makes the call of a task if it may be made, and keeps what came of it for the client.
    pub(crate) async fn finish_task(&self, hold: HoldId, call: &GatedCall, verdict: CallVerdict) {
        let state = match verdict {
            CallVerdict::Run(leave) => {
                match self.pass_on(call, &self.own_id(), leave, None).await {
                    Ok(Some(response)) => finished_task(&response),
                    Ok(None) => TaskState::Cancelled,
                    Err(reply) => completed(&reply.in_era(call.meta.era)),
                }
            }
            CallVerdict::Reply(reply) => completed(&reply.in_era(call.meta.era)),
            CallVerdict::Form(_) | CallVerdict::Cancelled => TaskState::Cancelled,
        };
        self.call_tasks.finish(hold, state, self.now());
    }
}

fn finished_task(response: &RpcMessage) -> TaskState {
    if let CallOutcome::NeedsInput { .. } = CallOutcome::of(response) {
        return completed(&CallReply::failed(
            "the tool asks for more input, which is not passed on in a task; call it without tasks",
        ));
    }
    match (response.object.get("result"), response.object.get("error")) {
        (Some(result), _) => TaskState::Completed(result.to_owned()),
        (None, error) => TaskState::Failed(error.unwrap_or(RawValue::NULL).to_owned()),
    }
}

pub(crate) fn completed(reply: &CallReply) -> TaskState {
    let result = serde_json::value::to_raw_value(reply);
    TaskState::Completed(result.unwrap_or_else(|_| RawValue::NULL.to_owned()))
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
fn denied(why: &str) -> CallReply {
    CallReply::failed(format!("Holdpoint did not let this call pass: {why}\nNothing was run."))
}
