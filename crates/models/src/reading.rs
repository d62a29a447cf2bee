//! An answer on its way: pieces of bytes go in, and a turn comes out when the provider has ended it.
//! Everything that a client does with foreign bytes happens here, without any network.

use ports::model::TurnUsage;
use ports::sse::Decoder;

use crate::fault::Trouble;
use crate::limits::EVENT_BYTES_MAX;
use crate::reply::{DeltaCallback, ModelReply, Progress, Reader};

pub(crate) struct ReplyStream<R> {
    decoder: Decoder,
    reader: R,
    complete: bool,
}

impl<R: Reader> ReplyStream<R> {
    pub(crate) fn new(reader: R) -> ReplyStream<R> {
        ReplyStream { decoder: Decoder::new(EVENT_BYTES_MAX), reader, complete: false }
    }

    /// The next piece. Once the turn is complete, what can still go wrong only concerns the count,
    /// and is no reason to give the turn up.
    pub(crate) fn feed(
        &mut self,
        piece: &[u8],
        say: DeltaCallback<'_>,
    ) -> Result<Progress, Trouble> {
        let events = match self.decoder.feed(piece) {
            Ok(events) => events,
            Err(_) if self.complete => return Ok(Progress::Done),
            Err(error) => return Err(Trouble::TooMuch(error.to_string())),
        };
        for event in events {
            match self.reader.event(&event, say) {
                Ok(Progress::More) => {}
                Ok(Progress::Complete) => self.complete = true,
                Ok(Progress::Done) => return Ok(Progress::Done),
                Err(_) if self.complete => return Ok(Progress::Done),
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(if self.complete { Progress::Complete } else { Progress::More })
    }

    pub(crate) fn finish(self) -> Result<ModelReply, Trouble> {
        self.reader.finish()
    }

    pub(crate) fn usage(&self) -> TurnUsage {
        self.reader.usage()
    }
}
