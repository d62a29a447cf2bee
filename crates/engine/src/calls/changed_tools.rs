//! Calls whose tool is another by now than when they were proposed.
//!
//! Such a call is asked about again, and its tool looks at it first. That may take long, for a server
//! that changed and then hangs, so nobody waits for it but the call itself: deadlines, other answers and
//! a cancellation of the same session go on meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::answer::{Answer, Settlement};
use domain::context::Renewal;
use domain::digest::Digest;
use domain::hold::HoldCommand;
use domain::id::{CallId, SessionId};
use domain::person::Actor;
use domain::session::{CallRecord, CallState, Command, Recovered, Session};
use ports::tool_host::ToolHost;

use crate::calls::ruling::{ToolInspection, inspect_call};
use crate::calls::tools::ToolsNow;
use crate::effects::dispatch::Work;
use crate::retry::store_backoff;
use crate::{Engine, Error};

/// A tool that is another one after every look is not asked about for ever.
pub(crate) const RECHECKS_MAX: usize = 3;

/// What the hosts of changed tools said, and of which tool they said it.
#[derive(Default)]
pub(crate) struct ToolRechecks(BTreeMap<CallId, (Digest, Renewal)>);

impl ToolRechecks {
    /// What still holds of the tools as they are now.
    pub(crate) fn of(&self, session: &Session, tools: &ToolsNow<'_>) -> BTreeMap<CallId, Renewal> {
        let still = self.0.iter().filter(|(id, (definition, _))| {
            let record = session.calls.get(id);
            let tool = record.and_then(|record| tools.tool(&record.tool));
            tool.is_some_and(|tool| tool.definition() == *definition)
        });
        still.map(|(id, (_, renewal))| (*id, renewal.clone())).collect()
    }

    fn is_of(&self, id: CallId, definition: Digest) -> bool {
        self.0.get(&id).is_some_and(|(seen, _)| *seen == definition)
    }

    fn give_up(&mut self) {
        for (_, renewal) in self.0.values_mut() {
            *renewal = Renewal::Unsound("It changes all the time; call it again.".into());
        }
    }
}

impl Engine {
    /// What changed tools say of calls that this command would attempt anew: the answer `retry`, and a crashed
    /// call that is made again. For every other command this is empty.
    pub(crate) async fn recheck_before_attempt(
        &self,
        id: SessionId,
        command: &Command,
    ) -> Result<ToolRechecks, Error> {
        let retries =
            |answer: &Answer| matches!(answer, Answer::Settle { how: Settlement::Retry, .. });
        let is_attempted_anew: fn(&CallRecord) -> bool = match command {
            Command::Hold { command: HoldCommand::Answer { answer, .. }, .. }
                if retries(answer) =>
            {
                is_in_doubt
            }
            Command::AnswerAll { answers, .. } if answers.iter().any(|it| retries(&it.answer)) => {
                is_in_doubt
            }
            Command::Recover { found: Recovered::Again, .. } => is_running,
            _ => return Ok(ToolRechecks::default()),
        };
        let session = self.load_session(id).await?;
        Ok(self.recheck_changed(&session, &self.0.tools.now(), is_attempted_anew).await)
    }

    /// Whether a crashed call was not made again only because its tool has changed once more.
    pub(crate) async fn awaits_recheck(&self, session: SessionId, call: CallId) -> bool {
        let is_frozen = self.global_state().frozen.is_some();
        let Ok(session) = self.load_session(session).await else { return !is_frozen };
        let tools = self.0.tools.now();
        !is_frozen && changed(&session, &tools, is_running).iter().any(|(id, _)| *id == call)
    }

    /// Lets changed tools look at calls that are cleared and cannot start because of the change.
    pub(crate) fn start_rechecks(&self, session: &Arc<Session>) {
        let tools = self.0.tools.now();
        if self.global_state().frozen.is_some() || changed(session, &tools, is_cleared).is_empty() {
            return;
        }
        let work = Work::Recheck(session.id);
        let Some(stop) = self.0.at_work.take(work) else { return };
        let (engine, session) = (self.clone(), session.clone());
        self.spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = engine.recheck_cleared_calls(session) => {}
            }
            engine.0.at_work.done(work);
        });
    }

    async fn recheck_cleared_calls(&self, mut session: Arc<Session>) {
        for attempt in 1..=RECHECKS_MAX {
            let mut rechecks =
                self.recheck_changed(&session, &self.0.tools.now(), is_cleared).await;
            if attempt == RECHECKS_MAX {
                rechecks.give_up();
            }
            let Some(woken) = self.wake_with(session.id, &rechecks).await else { return };
            session = woken;
            let tools = self.0.tools.now();
            let unseen = |(id, host): &(CallId, &Arc<dyn ToolHost>)| {
                !rechecks.is_of(*id, host.tool().definition())
            };
            if !changed(&session, &tools, is_cleared).iter().any(unseen) {
                return;
            }
        }
    }

    /// Until the store takes it. `None`: there is nothing to wake any more, or the next start does it.
    async fn wake_with(&self, id: SessionId, rechecks: &ToolRechecks) -> Option<Arc<Session>> {
        let mut backoff = store_backoff();
        loop {
            match self.submit_with(id, &Actor::Runtime, &Command::Wake, None, rechecks).await {
                Ok(submitted) => return Some(submitted.state),
                Err(Error::Refused(_)) => return None,
                Err(error) => {
                    tracing::warn!(%error, session = %id, "a call cannot be asked about again yet");
                }
            }
            if self.0.closing.has_begun() {
                return None;
            }
            self.sleep_before_retry(&mut backoff).await;
        }
    }

    async fn recheck_changed(
        &self,
        session: &Session,
        tools: &ToolsNow<'_>,
        which: impl Fn(&CallRecord) -> bool,
    ) -> ToolRechecks {
        let mut rechecks = ToolRechecks::default();
        let changed = changed(session, tools, which);
        if changed.is_empty() {
            return rechecks;
        }
        let known = match self.secrets_of(session).await {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%error, session = %session.id, "the secrets of a session cannot be read");
                return rechecks;
            }
        };
        for (id, host) in changed {
            let Some(call) = session.calls.get(&id).and_then(|record| record.call.clone()) else {
                continue;
            };
            let renewal = match inspect_call(host, &call.arguments, Some(session.id), &known).await
            {
                Ok(ToolInspection { mut prepared, .. }) => {
                    prepared.preview.warnings.extend(self.warn_of_secrets(&call, &known));
                    Renewal::Prepared {
                        context: prepared.context,
                        preview: Box::new(prepared.preview),
                        title: prepared.title,
                        risk: prepared.ask.map(|ask| ask.risk),
                    }
                }
                Err(why) => Renewal::Unsound(why.for_the_model()),
            };
            rechecks.0.insert(id, (host.tool().definition(), renewal));
        }
        rechecks
    }
}

fn is_in_doubt(record: &CallRecord) -> bool {
    matches!(record.state, CallState::InDoubt { .. })
}

fn is_running(record: &CallRecord) -> bool {
    matches!(record.state, CallState::Running { .. })
}

fn is_cleared(record: &CallRecord) -> bool {
    matches!(record.state, CallState::Cleared { .. })
}

/// Almost always there are none, and this costs a comparison a call.
fn changed<'t>(
    session: &Session,
    tools: &'t ToolsNow<'_>,
    which: impl Fn(&CallRecord) -> bool,
) -> Vec<(CallId, &'t Arc<dyn ToolHost>)> {
    let calls = session.turn_calls().filter(|(_, record)| which(record));
    calls
        .filter_map(|(id, record)| {
            let (call, host) = (record.call.as_ref()?, tools.get(&record.tool)?);
            (call.definition != host.tool().definition()).then_some((id, host))
        })
        .collect()
}
