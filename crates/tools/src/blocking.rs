//! Work that blocks, off the threads that everything else runs on.

/// Files and signals do not wait politely. A panic in there is a bug, and is passed on.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match tokio::task::spawn_blocking(work).await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(value) => value,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime ends, and with it this task.
        Err(Err(_)) => std::future::pending().await,
    }
}

/// Runs `work` while the only thread for blocking work is taken, until it is set free.
#[cfg(test)]
pub(crate) fn without_blocking_threads<F: Future<Output = ()>>(
    work: impl FnOnce(std::sync::mpsc::Sender<()>) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (free, taken) = std::sync::mpsc::channel();
    runtime.spawn_blocking(move || taken.recv());
    runtime.block_on(work(free));
}
