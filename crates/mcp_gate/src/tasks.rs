//! Calls that a modern client asks for again and again, in place of keeping a request open.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use domain::id::HoldId;
use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

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
