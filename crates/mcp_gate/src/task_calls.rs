//! The call of a task: made once people agree, with what the upstream asks shown in the task.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tools::mcp::{RawObject, RpcMessage};

use crate::call_wait::{AnnouncedHold, CallWait};
use crate::calls::{CANCELLED_WHILE_ASKED, CallVerdict, GatedCall, denied};
use crate::forms::FormRung;
use crate::gate::GateLeave;
use crate::limits::QUESTION_WITHIN;
use crate::outcome::CallOutcome;
use crate::reply::CallReply;
use crate::session::ProxySession;
use crate::tasks::{TaskId, TaskReply, TaskState, TooManyTasks};
use crate::translate::shapes::put_member;

const TOO_MANY_TASKS: &str = "too many tasks are open; wait for one of them, or cancel one";

impl ProxySession {
    /// The client gets a task as soon as a person has to decide, and asks for it later.
    pub(crate) async fn run_as_task(self: Arc<Self>, mut call: GatedCall) {
        if !self.call_tasks.has_room() {
            return self.refuse_call(&call, denied(TOO_MANY_TASKS)).await;
        }
        let request = call.cancelled.clone();
        call.cancelled = CancellationToken::new();
        let (announce, mut announced) = oneshot::channel();
        let wait = CallWait::new(None, Some(announce), FormRung::None);
        let mut clear = Box::pin(self.clear_call(&call, &wait));
        let asked = tokio::select! {
            biased;
            () = request.cancelled() => return,
            Ok(asked) = &mut announced => asked,
            verdict = &mut clear => {
                return match verdict {
                    CallVerdict::Run(leave) => self.finish_call(&call, leave, None).await,
                    CallVerdict::Reply(reply) => self.refuse_call(&call, reply).await,
                    CallVerdict::Form(_) | CallVerdict::Cancelled => {}
                };
            }
        };
        let (id, task) = match self.begin_task(&call, &asked).await {
            Ok(begun) => begun,
            Err(error) => {
                // Taken back, unless an equal call waits for it.
                call.cancelled.cancel();
                let _ = clear.await;
                return self.refuse_call(&call, denied(&format!("{error:#}"))).await;
            }
        };
        wait.note_task(id.clone(), asked.id);
        self.reply(&call.id, &task).await;
        let verdict = clear.await;
        self.finish_task(&id, &call, verdict).await;
    }

    /// Durable before the client hears of it.
    async fn begin_task(
        &self,
        call: &GatedCall,
        asked: &AnnouncedHold,
    ) -> anyhow::Result<(TaskId, TaskReply)> {
        let id = match asked.is_new {
            true => TaskId::of_asker(asked.id),
            false => TaskId::of_joiner(asked.id)?,
        };
        let request = call.message.object.to_line();
        let kept = self.gate.service().keep_task(&id, asked.id, &request).await;
        kept.context("the task cannot be kept")?;
        let started = self.call_tasks.start(&id, call.cancelled.clone(), self.now());
        let task = started.map_err(|TooManyTasks| anyhow::anyhow!(TOO_MANY_TASKS))?;
        Ok((id, task))
    }

    /// Makes the call of a task if it may be made, and keeps what came of it for the client.
    pub(crate) async fn finish_task(&self, id: &TaskId, call: &GatedCall, verdict: CallVerdict) {
        let state = match verdict {
            CallVerdict::Run(leave) => self.run_task_call(id, call.clone(), leave).await,
            CallVerdict::Reply(reply) => completed(&reply.in_era(call.meta.era)),
            CallVerdict::Form(_) | CallVerdict::Cancelled => TaskState::Cancelled,
        };
        self.call_tasks.finish(id, state, self.now());
    }

    /// What the upstream asks is shown in the task, and the call goes on with what the client answers there.
    async fn run_task_call(&self, id: &TaskId, mut call: GatedCall, leave: GateLeave) -> TaskState {
        let (mut leave, mut before) = (leave, None);
        loop {
            let passed = self.pass_on(&call, &self.own_id(), leave, before).await;
            let response = match passed {
                Ok(Some(response)) => response,
                Ok(None) => return TaskState::Cancelled,
                Err(reply) => return completed(&reply.in_era(call.meta.era)),
            };
            let state = match CallOutcome::of(&response) {
                CallOutcome::NeedsInput { state } => state,
                CallOutcome::GoesOn { task } => {
                    return completed(&goes_on_elsewhere(&task).in_era(call.meta.era));
                }
                CallOutcome::Succeeded | CallOutcome::Failed(_) => return finished_task(&response),
            };
            let result = response.object.get_object("result").unwrap_or_default();
            let asked = result.get_object("inputRequests").unwrap_or_default();
            let named = result.get_text("requestState").unwrap_or_default();
            // Whichever way it ends here, the upstream hears of it at once.
            let failed = |why: &str| {
                self.held.give_up(&named);
                completed(&CallReply::failed(why).in_era(call.meta.era))
            };
            let Some(open) = self.states.take_continuation(call.key, &state) else {
                return failed("the tool asked too often, and the call was given up");
            };
            let answering = self.call_tasks.ask(id, asked, self.now());
            let answered = tokio::select! {
                biased;
                () = call.cancelled.cancelled() => {
                    self.held.give_up(&named);
                    self.report(open.hold, Err(CANCELLED_WHILE_ASKED.into()));
                    return TaskState::Cancelled;
                }
                answered = tokio::time::timeout(QUESTION_WITHIN, answering) => answered.ok().flatten(),
                // Without answers the call is taken up where it is.
                () = self.held.wait_until_unasked(&named) => {
                    self.call_tasks.stop_asking(id, self.now()).map(|()| RawObject::default())
                }
            };
            let Some(answers) = answered else {
                let why =
                    "the client did not answer what the tool asked, and the call was given up";
                self.report(open.hold, Err(why.into()));
                return failed(why);
            };
            if let Err(error) = self.gate.check_going_on(open.hold).await {
                self.held.give_up(&named);
                return completed(&denied(&format!("{error:#}")).in_era(call.meta.era));
            }
            put_member(&mut call.params, "inputResponses", &answers);
            call.params.remove("requestState");
            if let Some(state) = result.get("requestState") {
                call.params.set("requestState", state.to_owned());
            }
            leave = GateLeave { hold: open.hold, edited: open.edited.clone() };
            before = Some(open);
        }
    }
}

/// The client would look for the upstream's task with us, where there is none. What came of the call is not on record.
fn goes_on_elsewhere(task: &str) -> CallReply {
    CallReply::failed(format!(
        "The MCP server goes on with this call in a task of its own (`{task}`), though it was told that there is nobody for \
         that. The call may or may not have been carried out. Look before you try again."
    ))
}

fn finished_task(response: &RpcMessage) -> TaskState {
    match (response.object.get("result"), response.object.get("error")) {
        (Some(result), _) => TaskState::Completed(result.to_owned()),
        (None, error) => TaskState::Failed(error.unwrap_or(RawValue::NULL).to_owned()),
    }
}

pub(crate) fn completed(reply: &CallReply) -> TaskState {
    let result = to_raw_value(reply);
    TaskState::Completed(result.unwrap_or_else(|_| RawValue::NULL.to_owned()))
}
