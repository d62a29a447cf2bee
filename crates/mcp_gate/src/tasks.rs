//! Calls that a modern client asks for again and again, in place of keeping a request open.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use domain::id::HoldId;
use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use tools::mcp::{RawObject, RpcMessage};

use crate::era::TASKS;
use crate::limits::{TASK_POLL_MS, TASK_TTL_MS, TASKS_MAX};

/// By the id of the first hold that the call waited for, which is on the server's disk before the client hears of it.
#[derive(Default)]
pub(crate) struct TaskTable(Mutex<BTreeMap<String, CallTask>>);

struct CallTask {
    created_at: String,
    updated_at: String,
    state: TaskState,
    cancelled: CancellationToken,
}

#[derive(Clone)]
pub(crate) enum TaskState {
    Working,
    /// Also where it was denied, or the tool failed.
    Completed(Box<RawValue>),
    /// The upstream refused the request.
    Failed(Box<RawValue>),
    Cancelled,
}

/// A task, as the protocol has it.
#[derive(Serialize)]
pub(crate) struct TaskReply {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    #[serde(rename = "taskId")]
    task_id: String,
    status: &'static str,
    #[serde(rename = "statusMessage", skip_serializing_if = "Option::is_none")]
    status_message: Option<&'static str>,
    #[serde(rename = "createdAt")]
    created_at: String,
    #[serde(rename = "lastUpdatedAt")]
    last_updated_at: String,
    #[serde(rename = "ttlMs")]
    ttl_ms: u64,
    #[serde(rename = "pollIntervalMs")]
    poll_interval_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

impl CallTask {
    fn reply(&self, id: &str, result_type: &'static str) -> TaskReply {
        let (status, result, error) = match &self.state {
            TaskState::Working => ("working", None, None),
            TaskState::Completed(result) => ("completed", Some(result.clone()), None),
            TaskState::Failed(error) => ("failed", None, Some(error.clone())),
            TaskState::Cancelled => ("cancelled", None, None),
        };
        TaskReply {
            result_type,
            task_id: id.to_owned(),
            status,
            status_message: (status == "working").then_some("waiting for a person"),
            created_at: self.created_at.clone(),
            last_updated_at: self.updated_at.clone(),
            ttl_ms: TASK_TTL_MS,
            poll_interval_ms: TASK_POLL_MS,
            result,
            error,
        }
    }
}

impl TaskTable {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, CallTask>> {
        self.0.lock().unpoisoned()
    }

    /// What the client gets in place of a result.
    pub(crate) fn start(
        &self,
        hold: HoldId,
        cancelled: CancellationToken,
        now: Timestamp,
    ) -> TaskReply {
        start_in(&mut self.lock(), hold, cancelled, now)
    }

    /// Says whether this is the first to begin it.
    pub(crate) fn start_unless_known(
        &self,
        hold: HoldId,
        cancelled: CancellationToken,
        now: Timestamp,
    ) -> bool {
        let mut tasks = self.lock();
        if tasks.contains_key(&hold.to_string()) {
            return false;
        }
        start_in(&mut tasks, hold, cancelled, now);
        true
    }

    pub(crate) fn finish(&self, hold: HoldId, state: TaskState, now: Timestamp) {
        if let Some(task) = self.lock().get_mut(&hold.to_string()) {
            // What was cancelled stays so, whatever came of it.
            if matches!(task.state, TaskState::Working) {
                task.state = state;
                task.updated_at = now.to_string();
            }
        }
    }

    pub(crate) fn has_working(&self) -> bool {
        self.lock().values().any(|task| matches!(task.state, TaskState::Working))
    }

    pub(crate) fn find(&self, id: &str) -> Option<TaskReply> {
        self.lock().get(id).map(|task| task.reply(id, "complete"))
    }

    /// Whether there is such a task.
    pub(crate) fn cancel(&self, id: &str, now: Timestamp) -> bool {
        let mut tasks = self.lock();
        let Some(task) = tasks.get_mut(id) else { return false };
        if matches!(task.state, TaskState::Working) {
            task.cancelled.cancel();
            task.state = TaskState::Cancelled;
            task.updated_at = now.to_string();
        }
        true
    }
}

/// A client takes a task only from a server that says that it has them, and the gate has them whatever its upstream does. An
/// answer that cannot be read well stays as it is.
pub(crate) fn announce_tasks(answer: &mut RpcMessage) -> Option<()> {
    let mut result = answer.object.get_object("result")?;
    let mut capabilities = member_or_empty(&result, "capabilities")?;
    let mut extensions = member_or_empty(&capabilities, "extensions")?;
    if extensions.get(TASKS).is_none() {
        extensions.set_value(TASKS, &RawObject::default()).ok()?;
        capabilities.set("extensions", extensions.to_raw().ok()?);
        result.set("capabilities", capabilities.to_raw().ok()?);
        answer.object.set("result", result.to_raw().ok()?);
    }
    Some(())
}

fn member_or_empty(object: &RawObject, key: &str) -> Option<RawObject> {
    if object.get(key).is_some() { object.get_object(key) } else { Some(RawObject::default()) }
}

fn start_in(
    tasks: &mut BTreeMap<String, CallTask>,
    hold: HoldId,
    cancelled: CancellationToken,
    now: Timestamp,
) -> TaskReply {
    let id = hold.to_string();
    let at = now.to_string();
    let state = TaskState::Working;
    let task = CallTask { created_at: at.clone(), updated_at: at, state, cancelled };
    let reply = task.reply(&id, "task");
    if tasks.len() >= TASKS_MAX {
        let done = tasks.iter().find(|(_, task)| !matches!(task.state, TaskState::Working));
        if let Some(oldest) = done.map(|(id, _)| id.clone()) {
            tasks.remove(&oldest);
        }
    }
    tasks.insert(id, task);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(0);

    #[test]
    fn tasks_are_announced_beside_what_the_upstream_can_do() {
        let announced = |result: &str| {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            let mut answer = RpcMessage::parse(answer.as_bytes()).unwrap();
            announce_tasks(&mut answer);
            answer.object.get("result").unwrap().get().to_owned()
        };
        let tasks = r#""io.modelcontextprotocol/tasks":{}"#;
        for (said, wanted) in [
            (r#"{"a":1.0}"#, format!(r#"{{"a":1.0,"capabilities":{{"extensions":{{{tasks}}}}}}}"#)),
            (
                r#"{"capabilities":{"tools":{"x":1e2}},"z":0}"#,
                format!(
                    r#"{{"capabilities":{{"tools":{{"x":1e2}},"extensions":{{{tasks}}}}},"z":0}}"#
                ),
            ),
            (
                r#"{"capabilities":{"extensions":{"e/x":{}}}}"#,
                format!(r#"{{"capabilities":{{"extensions":{{"e/x":{{}},{tasks}}}}}}}"#),
            ),
        ] {
            assert_eq!(announced(said), wanted);
        }
        for said in [
            r#"{"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{"own":1}}}}"#,
            r#"{"capabilities":{"extensions":{"a":1,"a":2}}}"#,
            r#"{"capabilities":[]}"#,
            "7",
        ] {
            assert_eq!(announced(said), said);
        }
    }

    #[test]
    fn a_task_ends_once() {
        let tasks = TaskTable::default();
        let hold: HoldId = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8".parse().unwrap();
        let cancelled = CancellationToken::new();
        assert_eq!(tasks.start(hold, cancelled.clone(), NOW).result_type, "task");
        let id = hold.to_string();
        assert_eq!(tasks.find(&id).unwrap().status, "working");
        assert!(tasks.cancel(&id, NOW) && cancelled.is_cancelled());
        tasks.finish(hold, TaskState::Completed(RawValue::NULL.to_owned()), NOW);
        assert_eq!(tasks.find(&id).unwrap().status, "cancelled");
        assert!(tasks.find("hold_x").is_none() && !tasks.cancel("hold_x", NOW));
    }
}
