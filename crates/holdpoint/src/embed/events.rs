//! What happens, as it happens.

use std::pin::Pin;
use std::task::{Context, Poll};

use engine::{Error, Follow, Followed};
use futures_util::stream::{BoxStream, Stream, StreamExt as _};

/// A stream of what happens. Stored events have consecutive positions: a follower that remembers the last one
/// goes on from there, without a gap and without a repeat. It ends when Holdpoint closes.
pub struct Events(BoxStream<'static, Result<Followed, Error>>);

impl Events {
    pub(super) fn new(follow: Follow) -> Events {
        let stream = futures_util::stream::unfold(Some(follow), async |follow| {
            let mut follow = follow?;
            match follow.next().await {
                Ok(Some(followed)) => Some((Ok(followed), Some(follow))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        });
        Events(stream.boxed())
    }

    /// The next thing that happens; `None` when Holdpoint has closed.
    pub async fn next(&mut self) -> Option<Result<Followed, Error>> {
        self.0.next().await
    }
}

impl Stream for Events {
    type Item = Result<Followed, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}
