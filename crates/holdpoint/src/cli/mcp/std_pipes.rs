//! Standard input and output of this process, read and written by a thread each: they may be files, pipes or
//! sockets, and reading them can take for ever.

use std::io::{Read as _, Write as _};
use std::thread;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What is on its way between a thread and a task.
const PIPE_BYTES: usize = 64 << 10;

pub(super) fn stdin() -> anyhow::Result<DuplexStream> {
    let (mut to, from) = duplex(PIPE_BYTES);
    let runtime = Handle::current();
    let copy = move || {
        let mut input = std::io::stdin().lock();
        let mut chunk = vec![0; PIPE_BYTES];
        while let Ok(length @ 1..) = input.read(&mut chunk) {
            if runtime.block_on(to.write_all(&chunk[..length])).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("stdin".into()).spawn(copy).context("a thread for input")?;
    Ok(from)
}

/// The second says when all that was written is out, or cannot be any more.
pub(super) fn stdout() -> anyhow::Result<(DuplexStream, oneshot::Receiver<()>)> {
    let (to, mut from) = duplex(PIPE_BYTES);
    let (done, is_done) = oneshot::channel();
    let runtime = Handle::current();
    let copy = move || {
        let mut output = std::io::stdout().lock();
        let mut chunk = vec![0; PIPE_BYTES];
        while let Ok(length @ 1..) = runtime.block_on(from.read(&mut chunk)) {
            if output.write_all(&chunk[..length]).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    };
    thread::Builder::new().name("stdout".into()).spawn(copy).context("a thread for output")?;
    Ok((to, is_done))
}
