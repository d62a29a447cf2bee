//! Runs jobs for the server, under a supervisor or directly.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fmt, io};

use ports::start_gate::{NotBegun, Start};
use ring::rand::SecureRandom;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio_util::sync::CancellationToken;

use super::job::ProcessJob;
use super::record::{FirstRecord, StartRecord};
use super::run_as::{NoSuchUser, RunAs, find_setpriv};
use super::spool::{Spool, SpooledAttempt};
use super::supervisor::{STOP, Supervisor, SupervisorOrder, encode_order};
use super::trace::AttemptTrace;
use super::tree::{MARKER, ProcessIdentity, ProcessTree};
use super::watch::{CommandWaiter, WatchNotice, carry_out};
use crate::blocking::run_blocking;
use crate::gated_io::first_write;
use crate::limits::{FIRST_WORD_WITHIN, KILL_WITHIN, LAST_WORDS_WITHIN};

/// Runs commands and remembers, in the spool, what became of them. Cheap to clone.
#[derive(Clone)]
pub struct Runner(pub(super) Arc<RunnerParts>);

pub(super) struct RunnerParts {
    pub(super) spool: Spool,
    pub(super) supervisor: Option<Supervisor>,
    pub(super) setpriv: Option<PathBuf>,
    pub(super) me: ProcessIdentity,
}

impl Runner {
    /// Looks at nothing that is in the spool: what is there may take long, and nobody waits for it at
    /// the start.
    pub fn open(spool: Spool, supervisor: Option<Supervisor>) -> Runner {
        let me = ProcessIdentity::of_myself();
        Runner(Arc::new(RunnerParts { spool, supervisor, setpriv: find_setpriv(), me }))
    }

    /// A user to run commands as; tried out at once, so that a mistake is found at the start.
    pub fn run_as(&self, user: &str) -> Result<RunAs, NoSuchUser> {
        RunAs::try_once(user, self.0.setpriv.as_deref())
    }

    /// Runs one attempt at the call of this idempotency key. When this returns nothing of it is running any more, or the trace says so.
    /// When it is dropped, the command is killed. Refused at `start`, the attempt is as announced as before.
    pub async fn run_attempt(
        &self,
        key: &str,
        attempt: u32,
        job: ProcessJob,
        start: Start,
        stop: CancellationToken,
    ) -> Result<AttemptTrace, NotBegun> {
        let never = |why: String| Ok(AttemptTrace::NeverStarted { why });
        if stop.is_cancelled() {
            return never("it was stopped before it started".into());
        }
        self.end_earlier_attempts(key, attempt).await;
        let traces = self.0.spool.attempt(key, attempt);
        match traces.announce() {
            Ok(true) => {}
            Ok(false) if matches!(traces.read_first(), Ok(None)) && traces.is_announced() => {}
            // mutant: attempt-made-twice
            Ok(false) => return never(format!("attempt {attempt} was made before, or given up")),
            Err(error) => return never(format!("the spool cannot be written: {error}")),
        }
        ports::failpoint!("process.reserved");
        let Ok(marker) = random_marker() else {
            return never("no random numbers are to be had".into());
        };
        match &self.0.supervisor {
            Some(supervisor) => {
                self.run_supervised(supervisor, traces, marker, job, (start, stop)).await
            }
            None => self.run_directly(traces, marker, job, (start, stop)).await,
        }
    }

    /// Leaves the proof that an attempt has not begun, before its intent is on disk.
    pub async fn announce_attempt(&self, key: &str, attempt: u32) -> io::Result<()> {
        let traces = self.0.spool.attempt(key, attempt);
        run_blocking(move || traces.announce()).await.map(drop)
    }

    /// The result is in the store: the traces of this call are no longer needed.
    pub async fn forget_call(&self, key: &str) {
        let (spool, key) = (self.0.spool.clone(), key.to_owned());
        run_blocking(move || spool.attempts_of(&key).for_each(|attempt| attempt.remove_folder()))
            .await;
    }

    async fn run_supervised(
        &self,
        supervisor: &Supervisor,
        traces: SpooledAttempt,
        marker: String,
        job: ProcessJob,
        (start, stop): (Start, CancellationToken),
    ) -> Result<AttemptTrace, NotBegun> {
        let order = SupervisorOrder {
            dir: Some(traces.folder().to_owned()),
            marker,
            owner: self.0.me.clone(),
            setpriv: self.0.setpriv.clone(),
            job,
        };
        let spawned = tokio::process::Command::new(&supervisor.program)
            .args(&supervisor.args)
            // What the supervisor knows its commands can read, so it knows nothing.
            .env_clear()
            .env(MARKER, &order.marker)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // An interrupt typed at the terminal is for the server, which then lets go of the lifeline.
            .process_group(0)
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                let why =
                    format!("`{}` could not be started: {error}", supervisor.program.display());
                return Ok(self.fence_attempt(traces, why).await);
            }
        };
        let Some(mut lifeline) = child.stdin.take() else {
            let why = "the supervisor has no standard input";
            return Ok(self.fence_attempt(traces, why.into()).await);
        };
        ports::failpoint!("process.spawned");
        if let Ok(frame) = encode_order(&order)
            && let Err(refused) = give_order(&mut child, &mut lifeline, &frame, &start).await
        {
            // Half an order is none: the supervisor leaves, and has written nothing.
            drop(lifeline);
            let _ = tokio::time::timeout(LAST_WORDS_WITHIN, child.wait()).await;
            return Err(refused);
        }
        ports::failpoint!("process.ordered");
        let patience = order.job.time_limit + 2 * KILL_WITHIN;
        tokio::select! {
            _ = child.wait() => {}
            () = stop.cancelled() => {
                let _ = lifeline.write_all(STOP).await;
                let _ = lifeline.flush().await;
                let _ = tokio::time::timeout(LAST_WORDS_WITHIN, child.wait()).await;
            }
            () = tokio::time::sleep(patience) => {}
        }
        ports::failpoint!("process.ended");
        // The lifeline is held until here on purpose: letting go of it means that we are gone.
        drop(lifeline);
        Ok(self.read_back(traces).await)
    }

    async fn run_directly(
        &self,
        traces: SpooledAttempt,
        marker: String,
        job: ProcessJob,
        (start, stop): (Start, CancellationToken),
    ) -> Result<AttemptTrace, NotBegun> {
        let me = self.0.me.clone();
        let began = FirstRecord::Began(StartRecord {
            marker: marker.clone(),
            owner: me.clone(),
            keeper: me,
        });
        let setpriv = self.0.setpriv.clone();
        let (tell, notices) = mpsc::channel();
        // Told also when this future is dropped.
        let lifeline = Lifeline(tell.clone());
        let attempt = traces.clone();
        let mut work = tokio::task::spawn_blocking(move || {
            let starting = start.enter_blocking()?;
            match attempt.say_first(&began) {
                Ok(true) => drop(starting),
                Ok(false) => return Ok(Err(io::Error::other("this attempt was given up"))),
                Err(error) => return Ok(Err(error)),
            }
            let keeper = CommandWaiter::Server;
            let exit =
                carry_out(&job, &attempt, &marker, keeper, setpriv.as_deref(), (tell, &notices));
            Ok(attempt.say_last(&exit))
        });
        let done = tokio::select! {
            done = &mut work => done,
            () = stop.cancelled() => {
                let _ = lifeline.0.send(WatchNotice::Stop);
                work.await
            }
        };
        match done {
            Ok(Err(refused)) => Err(refused),
            Ok(Ok(Err(error))) if traces.read_first().is_ok_and(|first| first.is_none()) => {
                Ok(self.fence_attempt(traces, error.to_string()).await)
            }
            _ => Ok(self.read_back(traces).await),
        }
    }

    /// Gives an attempt up that has not begun.
    async fn fence_attempt(&self, traces: SpooledAttempt, why: String) -> AttemptTrace {
        let runner = self.clone();
        run_blocking(move || match traces.say_first(&FirstRecord::Fenced) {
            Ok(true) => AttemptTrace::NeverStarted { why },
            _ => runner.read_trace(&traces),
        })
        .await
    }

    /// What the spool says about an attempt that should be over.
    async fn read_back(&self, traces: SpooledAttempt) -> AttemptTrace {
        let runner = self.clone();
        run_blocking(move || runner.read_trace(&traces)).await
    }

    async fn end_earlier_attempts(&self, key: &str, attempt: u32) {
        if attempt < 2 {
            return;
        }
        let (runner, key) = (self.clone(), key.to_owned());
        run_blocking(move || {
            let latest = runner.0.spool.attempt(&key, attempt);
            for earlier in runner.0.spool.attempts_of(&key).filter(|it| *it != latest) {
                runner.kill_remains(&earlier);
            }
        })
        .await;
    }

    /// Kills what is left of an attempt whose owner is gone.
    fn kill_remains(&self, attempt: &SpooledAttempt) {
        if let Ok(Some(FirstRecord::Began(began))) = attempt.read_first()
            && attempt.read_exit().ok().flatten().is_none()
            && (!began.owner.is_alive() || began.owner == self.0.me)
        {
            ProcessTree::with_marker(&began.marker).kill_all();
        }
    }

    /// Ends whatever a server that died left running.
    pub async fn kill_orphans(&self) {
        let runner = self.clone();
        run_blocking(move || {
            for attempt in runner.0.spool.all_attempts() {
                if let Ok(Some(FirstRecord::Began(began))) = attempt.read_first()
                    && !began.owner.is_alive()
                {
                    // A supervisor is cleaning up by itself; give it the time to write down what it saw.
                    runner.await_last_words(&attempt, &began);
                    runner.kill_remains(&attempt);
                }
            }
        })
        .await;
    }

    /// Removes the traces of attempts that are long over. Recovery must have looked at them before.
    pub async fn remove_stale(&self) {
        let runner = self.clone();
        run_blocking(move || {
            let stale = runner.0.spool.all_attempts().into_iter().filter(SpooledAttempt::is_stale);
            stale.for_each(|attempt| attempt.remove_folder());
        })
        .await;
    }

    pub(super) fn await_last_words(&self, attempt: &SpooledAttempt, began: &StartRecord) {
        let since = crate::stopwatch::Stopwatch::start();
        while attempt.read_exit().ok().flatten().is_none()
            && began.keeper != began.owner
            && began.keeper.is_alive()
            && since.elapsed() < LAST_WORDS_WITHIN
        {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn is_me(&self, other: &ProcessIdentity) -> bool {
        self.0.me == *other
    }
}

/// Gives a supervisor its order. Only a whole order is one, so its last byte is the start: all else is sent
/// before the gate, also what has to wait until the supervisor reads. The guard is held until the supervisor
/// says that the attempt's first word is on disk; what happens then happens in a process of its own.
async fn give_order(
    child: &mut Child,
    lifeline: &mut ChildStdin,
    frame: &[u8],
    start: &Start,
) -> Result<(), NotBegun> {
    let Some((last, before)) = frame.split_last() else { return Ok(()) };
    // A supervisor that cannot be spoken to has died, which the task that waits for it sees.
    let _ = lifeline.write_all(before).await;
    let _ = lifeline.flush().await;
    let (_starting, _) = first_write(start, lifeline, std::slice::from_ref(last)).await?;
    if let Some(mut said) = child.stdout.take() {
        // Its word, or its end.
        let _ = tokio::time::timeout(FIRST_WORD_WITHIN, said.read_u8()).await;
    }
    Ok(())
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runner({:?})", self.0.spool)
    }
}

struct Lifeline(mpsc::Sender<WatchNotice>);

impl Drop for Lifeline {
    fn drop(&mut self) {
        let _ = self.0.send(WatchNotice::OwnerGone);
    }
}

pub(super) fn random_marker() -> Result<String, ring::error::Unspecified> {
    let mut bytes = [0; 16];
    ring::rand::SystemRandom::new().fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
