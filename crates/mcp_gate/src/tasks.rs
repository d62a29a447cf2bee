//! Calls that a modern client asks for again and again, in place of keeping a request open.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use domain::id::HoldId;
use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::mcp::{RawObject, RpcMessage};

use crate::era::TASKS;
use crate::limits::{TASK_OWN_CHARS_MAX, TASK_POLL_MS, TASK_TTL_MS, TASKS_MAX};
use crate::random::fresh_key;

/// A task's name: the first hold that its call waited for, which is on the server's disk before the client hears of it. A call
/// that found the question of an equal one has a name of its own after a dot, so that each has its own result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId {
    hold: HoldId,
    own: Option<String>,
}

/// What is known of a task after its process is gone.
pub struct KeptTask {
    /// The hold that it waits for: another than at first, if the first approval went to an equal call.
    pub hold: HoldId,
    /// The call, as its client wrote it.
    pub request: Vec<u8>,
}

/// There are more open tasks than anybody means.
#[derive(Debug)]
pub(crate) struct TooManyTasks;

#[derive(Default)]
pub(crate) struct TaskTable {
    tasks: Mutex<BTreeMap<TaskId, CallTask>>,
    /// Of questions, in all tasks.
    rounds: AtomicU64,
}

struct CallTask {
    created_at: String,
    updated_at: String,
    state: TaskState,
    cancelled: CancellationToken,
}

#[derive(Clone)]
pub(crate) enum TaskState {
    Working,
    /// The upstream wants to know more: what it asks, and who takes the answers.
    Asking(Box<RawValue>, mpsc::Sender<RawObject>),
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
    #[serde(rename = "inputRequests", skip_serializing_if = "Option::is_none")]
    input_requests: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

impl TaskId {
    /// Of the call that asked the question.
    pub(crate) fn of_asker(hold: HoldId) -> TaskId {
        TaskId { hold, own: None }
    }

    /// Of a call that found the question.
    pub(crate) fn of_joiner(hold: HoldId) -> anyhow::Result<TaskId> {
        Ok(TaskId { hold, own: Some(fresh_key()?) })
    }

    /// The first hold that its call waited for.
    pub fn hold(&self) -> HoldId {
        self.hold
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.own {
            None => self.hold.fmt(f),
            Some(own) => write!(f, "{}.{own}", self.hold),
        }
    }
}

impl FromStr for TaskId {
    type Err = ();

    fn from_str(text: &str) -> Result<TaskId, ()> {
        let (hold, own) = match text.split_once('.') {
            None => (text, None),
            Some((hold, own)) => (hold, Some(own.to_owned())),
        };
        let is_key = |own: &String| {
            let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            (1..=TASK_OWN_CHARS_MAX).contains(&own.len()) && own.chars().all(is_of_key)
        };
        if own.as_ref().is_some_and(|own| !is_key(own)) {
            return Err(());
        }
        Ok(TaskId { hold: hold.parse().map_err(|_| ())?, own })
    }
}

impl CallTask {
    fn is_open(&self) -> bool {
        matches!(self.state, TaskState::Working | TaskState::Asking(..))
    }

    fn reply(&self, id: &TaskId, result_type: &'static str) -> TaskReply {
        let (status, result, error) = match &self.state {
            TaskState::Working => ("working", None, None),
            TaskState::Asking(..) => ("input_required", None, None),
            TaskState::Completed(result) => ("completed", Some(result.clone()), None),
            TaskState::Failed(error) => ("failed", None, Some(error.clone())),
            TaskState::Cancelled => ("cancelled", None, None),
        };
        TaskReply {
            result_type,
            task_id: id.to_string(),
            status,
            status_message: matches!(self.state, TaskState::Working)
                .then_some("waiting for a person"),
            input_requests: match &self.state {
                TaskState::Asking(asked, _) => Some(asked.clone()),
                _ => None,
            },
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
    fn lock(&self) -> MutexGuard<'_, BTreeMap<TaskId, CallTask>> {
        self.tasks.lock().unpoisoned()
    }

    /// What the client gets in place of a result.
    pub(crate) fn start(
        &self,
        id: &TaskId,
        cancelled: CancellationToken,
        now: Timestamp,
    ) -> Result<TaskReply, TooManyTasks> {
        start_in(&mut self.lock(), id, cancelled, now)
    }

    /// Says whether this is the first to begin it.
    pub(crate) fn start_unless_known(
        &self,
        id: &TaskId,
        cancelled: CancellationToken,
        now: Timestamp,
    ) -> Result<bool, TooManyTasks> {
        let mut tasks = self.lock();
        if tasks.contains_key(id) {
            return Ok(false);
        }
        start_in(&mut tasks, id, cancelled, now).map(|_| true)
    }

    /// Whether another one may begin.
    pub(crate) fn has_room(&self) -> bool {
        has_room(&self.lock())
    }

    pub(crate) fn finish(&self, id: &TaskId, state: TaskState, now: Timestamp) {
        if let Some(task) = self.lock().get_mut(id) {
            // What was cancelled stays so, whatever came of it.
            if task.is_open() {
                task.state = state;
                task.updated_at = now.to_string();
            }
        }
    }

    /// Shows in the task what the upstream asks, and waits for the client's answers. `None`: there is no such task.
    pub(crate) async fn ask(
        &self,
        id: &TaskId,
        asked: RawObject,
        now: Timestamp,
    ) -> Option<RawObject> {
        let (to, mut answers) = mpsc::channel(1);
        // No key stands for two questions in the life of a task.
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        let mut shown = RawObject::default();
        for key in asked.keys() {
            shown.set(&format!("{round}.{key}"), asked.get(&key)?.to_owned());
        }
        let asking = TaskState::Asking(shown.to_raw().ok()?, to);
        self.set_open(id, asking, now)?;
        let answers = answers.recv().await?;
        self.set_open(id, TaskState::Working, now)?;
        let mut named = RawObject::default();
        for key in asked.keys() {
            if let Some(answer) = answers.get(&format!("{round}.{key}")) {
                named.set(&key, answer.to_owned());
            }
        }
        Some(named)
    }

    /// What was asked in the task needs no answer any more. `None`: there is no such task.
    pub(crate) fn stop_asking(&self, id: &TaskId, now: Timestamp) -> Option<()> {
        self.set_open(id, TaskState::Working, now)
    }

    fn set_open(&self, id: &TaskId, state: TaskState, now: Timestamp) -> Option<()> {
        let mut tasks = self.lock();
        let task = tasks.get_mut(id).filter(|task| task.is_open())?;
        task.state = state;
        task.updated_at = now.to_string();
        Some(())
    }

    /// Whether there is such a task. What it did not ask is of no use to it.
    pub(crate) fn answer(&self, id: &TaskId, responses: RawObject) -> bool {
        let tasks = self.lock();
        let Some(task) = tasks.get(id) else { return false };
        if let TaskState::Asking(_, to) = &task.state {
            let _ = to.try_send(responses);
        }
        true
    }

    pub(crate) fn has_working(&self) -> bool {
        self.lock().values().any(CallTask::is_open)
    }

    pub(crate) fn find(&self, id: &TaskId) -> Option<TaskReply> {
        self.lock().get(id).map(|task| task.reply(id, "complete"))
    }

    /// Whether there is such a task.
    pub(crate) fn cancel(&self, id: &TaskId, now: Timestamp) -> bool {
        let mut tasks = self.lock();
        let Some(task) = tasks.get_mut(id) else { return false };
        if task.is_open() {
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

fn has_room(tasks: &BTreeMap<TaskId, CallTask>) -> bool {
    tasks.len() < TASKS_MAX || tasks.values().any(|task| !task.is_open())
}

fn start_in(
    tasks: &mut BTreeMap<TaskId, CallTask>,
    id: &TaskId,
    cancelled: CancellationToken,
    now: Timestamp,
) -> Result<TaskReply, TooManyTasks> {
    if !has_room(tasks) {
        return Err(TooManyTasks);
    }
    if tasks.len() >= TASKS_MAX {
        let done = tasks.iter().find(|(_, task)| !task.is_open());
        if let Some(oldest) = done.map(|(id, _)| id.clone()) {
            tasks.remove(&oldest);
        }
    }
    let at = now.to_string();
    let state = TaskState::Working;
    let task = CallTask { created_at: at.clone(), updated_at: at, state, cancelled };
    let reply = task.reply(id, "task");
    tasks.insert(id.clone(), task);
    Ok(reply)
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

    const HOLD: &str = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";

    #[test]
    fn a_task_ends_once() {
        let tasks = TaskTable::default();
        let id = TaskId::of_asker(HOLD.parse().unwrap());
        let cancelled = CancellationToken::new();
        assert_eq!(tasks.start(&id, cancelled.clone(), NOW).unwrap().result_type, "task");
        assert_eq!(tasks.find(&id).unwrap().status, "working");
        assert!(tasks.cancel(&id, NOW) && cancelled.is_cancelled());
        tasks.finish(&id, TaskState::Completed(RawValue::NULL.to_owned()), NOW);
        assert_eq!(tasks.find(&id).unwrap().status, "cancelled");
        let other = TaskId::of_joiner(id.hold()).unwrap();
        assert!(tasks.find(&other).is_none() && !tasks.cancel(&other, NOW));
    }

    #[test]
    fn equal_calls_have_tasks_of_their_own() {
        let hold = HOLD.parse().unwrap();
        let one = TaskId::of_asker(hold);
        let (other, third) = (TaskId::of_joiner(hold).unwrap(), TaskId::of_joiner(hold).unwrap());
        assert!(one != other && other != third);
        for id in [&one, &other] {
            assert_eq!(id.to_string().parse().as_ref(), Ok(id));
            assert_eq!(id.hold(), hold);
        }
        let long = "x".repeat(TASK_OWN_CHARS_MAX + 1);
        for bad in
            ["hold_x", "", &format!("{HOLD}."), &format!("{HOLD}.a/b"), &format!("{HOLD}.{long}")]
        {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn finished_tasks_make_room_and_open_ones_do_not() {
        let tasks = TaskTable::default();
        let hold = HOLD.parse().unwrap();
        let first = TaskId::of_asker(hold);
        let start = |id: &TaskId| tasks.start(id, CancellationToken::new(), NOW);
        start(&first).unwrap();
        for _ in 1..TASKS_MAX {
            start(&TaskId::of_joiner(hold).unwrap()).unwrap();
        }
        assert!(!tasks.has_room());
        let one_more = TaskId::of_joiner(hold).unwrap();
        assert!(start(&one_more).is_err() && tasks.find(&one_more).is_none());
        tasks.finish(&first, TaskState::Cancelled, NOW);
        assert!(tasks.has_room() && start(&one_more).is_ok());
        assert!(tasks.find(&first).is_none() && tasks.find(&one_more).is_some());
    }
}
