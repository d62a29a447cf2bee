//! The gate between a tool host that is ready and the first effect of a call.
//!
//! A host has waits of its own before it can begin: a lock of a database, a connection, a folder. The engine's
//! look at the freeze comes before those waits, so a host enters this gate after them, immediately before the
//! first byte of effect. A freeze closes the gate and is acknowledged when no start is half done: what entered
//! earlier has begun by then, and what comes later is refused and runs after the thaw.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::unpoisoned::Unpoisoned as _;

/// The gate of one engine; open until it is closed. Clones are the same gate.
///
/// ```
/// use holdpoint_ports::start_gate::StartGate;
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main]
/// # async fn main() {
/// let gate = StartGate::default();
/// let start = gate.start(CancellationToken::new());
/// gate.close();
/// assert!(start.enter().await.is_err(), "frozen: nothing has begun");
/// gate.open();
/// let starting = start.enter().await.unwrap();
/// // The first byte of effect leaves here.
/// drop(starting);
/// gate.idle().await;
/// # }
/// ```
#[derive(Clone, Default)]
pub struct StartGate(Arc<Gate>);

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    idle: Notify,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    /// Guards that are held.
    starting: usize,
}

impl StartGate {
    /// From here on nothing enters. What has entered is waited for with [`StartGate::idle`].
    pub fn close(&self) {
        self.0.state().is_closed = true;
    }

    /// Lets calls start again.
    pub fn open(&self) {
        self.0.state().is_closed = false;
    }

    /// Returns when no guard is held.
    pub async fn idle(&self) {
        loop {
            let mut idle = pin!(self.0.idle.notified());
            // Heard from here on, so that a guard which goes just now is not missed.
            idle.as_mut().enable();
            if self.0.state().starting == 0 {
                return;
            }
            idle.await;
        }
    }

    /// The way through the gate for one attempt at one call, which `stop` closes as well.
    pub fn start(&self, stop: CancellationToken) -> Start {
        Start { gate: self.0.clone(), stop, look: None, begun: Arc::default() }
    }
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing can be half done in there.
        self.state.lock().unpoisoned()
    }
}

/// A look at a store that other nodes write to, where one of them may have frozen everything.
#[async_trait]
pub trait FreezeLook: Send + Sync {
    /// Whether nothing may start now.
    async fn must_wait(&self) -> bool;

    /// Whether this node may begin anything at this very moment: another may have taken it for gone. Asked last of
    /// all, and at once.
    fn may_begin(&self) -> bool {
        true
    }
}

/// What a host needs to begin: see [`crate::tool_host::ToolHost::run`]. Clones are the same start.
#[derive(Clone)]
pub struct Start {
    gate: Arc<Gate>,
    stop: CancellationToken,
    look: Option<Arc<dyn FreezeLook>>,
    begun: Arc<AtomicBool>,
}

/// Nothing of the call has happened, and nothing will before it is started again. Only the gate says so.
///
/// ```compile_fail
/// let forged = holdpoint_ports::start_gate::NotBegun(());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing has begun: everything is frozen, or the run is to stop")]
pub struct NotBegun(());

impl Start {
    /// With a look at a shared store before each entry.
    #[must_use]
    pub fn looking(self, look: Arc<dyn FreezeLook>) -> Start {
        Start { look: Some(look), ..self }
    }

    /// Enters the gate. Call it when nothing is left to wait for, and hold the guard until the first byte of
    /// effect has left: the statement sent, the process started, the request written. No wait that somebody
    /// else can prolong belongs between: a freeze waits for the guard. Where sending itself can wait, hold it
    /// until sending has begun ([`Starting::first_poll`]).
    pub async fn enter(&self) -> Result<Starting, NotBegun> {
        if let Some(look) = &self.look
            && look.must_wait().await
        {
            return Err(NotBegun(()));
        }
        self.pass()
    }

    /// The same on a thread for blocking work of the runtime.
    pub fn enter_blocking(&self) -> Result<Starting, NotBegun> {
        match self.look {
            Some(_) => Handle::current().block_on(self.enter()),
            None => self.pass(),
        }
    }

    fn pass(&self) -> Result<Starting, NotBegun> {
        let mut state = self.gate.state();
        let may_begin = self.look.as_ref().is_none_or(|look| look.may_begin());
        if state.is_closed || self.stop.is_cancelled() || !may_begin {
            return Err(NotBegun(()));
        }
        state.starting += 1;
        self.begun.store(true, Ordering::Release);
        Ok(Starting(self.gate.clone()))
    }

    /// Whether the gate was entered. What a call does after its first effect needs no second entry.
    pub fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }
}

/// A start that is half done. A freeze is not acknowledged while one is held.
#[must_use = "a start lasts until its first effect: keep the guard until then"]
pub struct Starting(Arc<Gate>);

impl Starting {
    /// Polls `work` once under the guard, lets the guard go, and goes on with `work`. For work whose first poll
    /// hands the effect over, and which then waits for what comes of it.
    pub async fn first_poll<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        drop(self);
        match first {
            Poll::Ready(done) => done,
            Poll::Pending => work.await,
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.starting -= 1;
        if state.starting == 0 {
            self.0.idle.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    /// What a future says when it is asked once.
    fn once<T>(work: impl Future<Output = T>) -> Poll<T> {
        pin!(work).poll(&mut Context::from_waker(Waker::noop()))
    }

    fn entered(start: &Start) -> Result<Starting, NotBegun> {
        match once(start.enter()) {
            Poll::Ready(entered) => entered,
            Poll::Pending => panic!("without a shared store nothing is waited for"),
        }
    }

    #[test]
    fn i52_a_closed_gate_lets_nobody_in_until_it_is_open() {
        let gate = StartGate::default();
        let start = gate.start(CancellationToken::new());
        gate.close();
        assert!(entered(&start).is_err() && !start.has_begun());
        gate.open();
        assert!(entered(&start).is_ok() && start.has_begun());
        let stop = CancellationToken::new();
        let stopped = gate.start(stop.clone());
        stop.cancel();
        assert!(entered(&stopped).is_err());
    }

    #[test]
    fn i52_what_is_half_begun_is_waited_for() {
        let gate = StartGate::default();
        let start = gate.start(CancellationToken::new());
        let (one, two) = (entered(&start).unwrap(), entered(&start.clone()).unwrap());
        gate.close();
        let mut idle = Box::pin(gate.idle());
        assert!(once(idle.as_mut()).is_pending());
        drop(one);
        assert!(once(idle.as_mut()).is_pending());
        drop(two);
        assert!(once(idle.as_mut()).is_ready());
        assert!(once(gate.idle()).is_ready());
    }

    #[test]
    fn a_guard_goes_with_the_first_poll() {
        let gate = StartGate::default();
        let start = gate.start(CancellationToken::new());
        let (held, mut polls) = (gate.clone(), 0);
        let work = poll_fn(|_| {
            polls += 1;
            let is_idle = once(held.idle()).is_ready();
            assert_eq!(is_idle, polls > 1, "in poll {polls}");
            if polls == 3 { Poll::Ready(polls) } else { Poll::Pending }
        });
        let mut running = Box::pin(entered(&start).unwrap().first_poll(work));
        assert!(once(running.as_mut()).is_pending());
        assert!(matches!(once(running.as_mut()), Poll::Ready(3)));
    }

    struct Frozen(AtomicBool);

    #[async_trait]
    impl FreezeLook for Frozen {
        async fn must_wait(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn i52_a_freeze_that_only_the_store_knows_keeps_a_start_back() {
        let store = Arc::new(Frozen(AtomicBool::new(true)));
        let start = StartGate::default().start(CancellationToken::new()).looking(store.clone());
        assert!(entered(&start).is_err());
        store.0.store(false, Ordering::Relaxed);
        assert!(entered(&start).is_ok());
    }
}
