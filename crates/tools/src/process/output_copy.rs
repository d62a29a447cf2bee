//! Copies what a command prints from its pipes into the spool, up to a bound.
//!
//! The command never holds the files: it could make them larger than any disk without writing a byte, and
//! rewrite what it printed before. What is still in a pipe when its reader is killed is lost; nothing is
//! lost when the command is.

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ports::unpoisoned::Unpoisoned as _;

use super::watch::WatchNotice;

pub(super) struct OutputCopy {
    shared: Arc<CopyState>,
    /// Disconnected when every copying thread has ended.
    copying: Receiver<()>,
}

struct CopyState {
    /// Bytes that may still be written, of all streams together.
    room: AtomicU64,
    is_over: AtomicBool,
    is_closed: AtomicBool,
    lost: Mutex<Option<String>>,
}

/// What came of the copy.
pub(super) struct CopyResult {
    /// More was printed than there was room for.
    pub(super) is_over: bool,
    /// Every writer has let go of the pipes. Otherwise some process still has them.
    pub(super) has_ended: bool,
    /// Why what was printed could not be stored.
    pub(super) lost: Option<String>,
}

impl OutputCopy {
    pub(super) fn start(
        bytes_max: u64,
        streams: [(PipeReader, File); 2],
        tell: &Sender<WatchNotice>,
    ) -> OutputCopy {
        let shared = Arc::new(CopyState {
            room: AtomicU64::new(bytes_max),
            is_over: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            lost: Mutex::default(),
        });
        let (working, copying) = mpsc::channel();
        for (pipe, file) in streams {
            let (shared, tell, working) = (shared.clone(), tell.clone(), working.clone());
            thread::spawn(move || {
                if let Err(error) = shared.copy_stream(pipe, file, &tell) {
                    let mut lost = shared.lost.lock().unpoisoned();
                    lost.get_or_insert(error.to_string());
                }
                drop(working);
            });
        }
        OutputCopy { shared, copying }
    }

    /// Waits until all of it is in the files. For a time only: a process that could not be killed may
    /// keep a pipe open for ever.
    pub(super) fn finish(self, within: Duration) -> CopyResult {
        let waited = self.copying.recv_timeout(within);
        self.shared.is_closed.store(true, Ordering::Relaxed);
        CopyResult {
            is_over: self.shared.is_over.load(Ordering::Relaxed),
            has_ended: waited == Err(RecvTimeoutError::Disconnected),
            lost: self.shared.lost.lock().unpoisoned().take(),
        }
    }
}

impl CopyState {
    fn copy_stream(
        &self,
        mut pipe: PipeReader,
        mut file: File,
        tell: &Sender<WatchNotice>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = match pipe.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if self.is_closed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let room = self.take_room(read as u64) as usize;
            file.write_all(&buffer[..room])?;
            if room < read {
                self.is_over.store(true, Ordering::Relaxed);
                // Told before the pipe is let go of: the command is stopped for this, and not by a signal of
                // the pipe.
                let _ = tell.send(WatchNotice::TooMuchOutput);
                return Ok(());
            }
        }
    }

    fn take_room(&self, wanted: u64) -> u64 {
        let left = |room: u64| Some(room.saturating_sub(wanted));
        let room = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        room.unwrap_or_else(|room| room).min(wanted)
    }
}
