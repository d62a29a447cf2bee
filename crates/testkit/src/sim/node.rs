//! One process of the server: the real engine on a runtime of its own, which moves only when it is
//! told to. Dropping the runtime is a crash: every task ends at whatever it awaited.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use chat::ChatService;
use domain::id::NodeId;
use engine::{Engine, Error, Setup};
use tokio::runtime::{Builder, Runtime};

/// Processes are numbered as they start; none comes back under its old number.
pub(super) type NodeNo = u32;

pub(super) struct Node {
    pub(super) no: NodeNo,
    pub(super) id: NodeId,
    /// Some task may be able to go on.
    pub(super) runnable: bool,
    /// Taken over by others while it slept.
    pub(super) deposed: bool,
    runtime: Runtime,
    started: Arc<OnceLock<Result<Engine, Error>>>,
    board: Arc<OnceLock<ChatService>>,
    idle: Arc<Idle>,
}

/// Set when the runtime has nothing left to do.
#[derive(Default)]
struct Idle {
    is: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Node {
    /// `chats` makes the chat service, where there is one, once the engine has started.
    pub(super) fn start(
        no: NodeNo,
        id: NodeId,
        setup: Setup,
        chats: Option<impl FnOnce(Engine) -> ChatService + Send + 'static>,
    ) -> Node {
        let idle = Arc::new(Idle::default());
        let hook = idle.clone();
        let runtime = Builder::new_current_thread()
            // One task for each look at the root, so that a step is one task's step.
            .event_interval(1)
            // What the story wakes from outside comes first, whatever waits inside.
            .global_queue_interval(1)
            .on_thread_park(move || hook.set())
            .build()
            .expect("a runtime without drivers needs nothing");
        let started = Arc::new(OnceLock::new());
        let board = Arc::new(OnceLock::new());
        let (slot, chat) = (started.clone(), board.clone());
        let engine = Engine::start(setup);
        runtime.spawn(async move {
            let engine = Box::pin(engine).await;
            if let (Ok(engine), Some(chats)) = (&engine, chats) {
                let board = chats(engine.clone());
                board.start("http://sim.test");
                let _ = chat.set(board);
            }
            let _ = slot.set(engine);
        });
        Node { no, id, runnable: true, deposed: false, runtime, started, board, idle }
    }

    /// The engine, once it has started.
    pub(super) fn engine(&self) -> Option<&Engine> {
        self.started.get().and_then(|started| started.as_ref().ok())
    }

    /// Its chat service, where there are chats.
    pub(super) fn board(&self) -> Option<&ChatService> {
        self.board.get()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.started.get().is_some_and(Result::is_err)
    }

    /// A client's request, served by this process.
    pub(super) fn serve(&mut self, request: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(request);
        self.runnable = true;
    }

    /// One task goes one step.
    pub(super) fn step(&mut self) {
        self.idle.clear();
        self.runtime.block_on(Step { begun: false });
        self.runnable = !self.idle.is();
    }

    /// Everything goes on until it waits for something outside.
    pub(super) fn settle(&mut self) {
        self.idle.clear();
        self.runtime.block_on(UntilIdle { idle: self.idle.clone() });
        self.runnable = false;
    }
}

impl Idle {
    fn set(&self) {
        self.is.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn clear(&self) {
        self.is.store(false, Ordering::Relaxed);
    }

    fn is(&self) -> bool {
        self.is.load(Ordering::Relaxed)
    }
}

struct Step {
    begun: bool,
}

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.begun {
            return Poll::Ready(());
        }
        self.begun = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

struct UntilIdle {
    idle: Arc<Idle>,
}

impl Future for UntilIdle {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.idle.is() {
            return Poll::Ready(());
        }
        let mut waker = self.idle.waker.lock().unwrap_or_else(PoisonError::into_inner);
        *waker = Some(context.waker().clone());
        Poll::Pending
    }
}
