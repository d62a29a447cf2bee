//! Frames of an event stream, and the order in which those of several blocks are sent.

use std::collections::VecDeque;

use serde_json::Value;

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) event: Option<&'static str>,
    pub(super) data: Data,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Json(Value),
    Text(&'static str),
    /// A comment, which no client may take for an event.
    Comment,
}

pub(super) type Frames = Box<dyn Iterator<Item = Frame> + Send>;

impl Frame {
    pub(super) fn named(event: &'static str, data: Value) -> Frame {
        Frame { event: Some(event), data: Data::Json(data) }
    }

    pub(super) fn data(data: Value) -> Frame {
        Frame { event: None, data: Data::Json(data) }
    }

    pub(super) fn comment() -> Frame {
        Frame { event: None, data: Data::Comment }
    }

    pub(super) fn bytes(&self, crlf: bool) -> Vec<u8> {
        let end = if crlf { "\r\n" } else { "\n" };
        let data = match &self.data {
            Data::Json(value) => format!("data: {value}"),
            Data::Text(text) => format!("data: {text}"),
            Data::Comment => ": still here".to_owned(),
        };
        let event = self.event.map(|event| format!("event: {event}{end}")).unwrap_or_default();
        format!("{event}{data}{end}{end}").into_bytes()
    }
}

/// The frames of one block.
pub(super) struct Track {
    pub(super) start: Vec<Frame>,
    pub(super) deltas: Frames,
    /// Made when it is needed: it may repeat the whole block.
    pub(super) end: Box<dyn FnOnce() -> Vec<Frame> + Send>,
}

/// One block after the other, or all at once by turns.
pub(super) fn order(tracks: Vec<Track>, interleave: bool) -> Frames {
    if !interleave {
        let one = |track: Track| {
            let end = std::iter::once_with(track.end).flatten();
            track.start.into_iter().chain(track.deltas).chain(end)
        };
        return Box::new(tracks.into_iter().flat_map(one));
    }
    let (mut starts, mut ends, mut deltas) = (Vec::new(), Vec::new(), VecDeque::new());
    for track in tracks {
        starts.extend(track.start);
        deltas.push_back(track.deltas);
        ends.push(track.end);
    }
    let by_turns = std::iter::from_fn(move || {
        while let Some(mut next) = deltas.pop_front() {
            if let Some(frame) = next.next() {
                deltas.push_back(next);
                return Some(frame);
            }
        }
        None
    });
    let ends = ends.into_iter().flat_map(|end| end());
    Box::new(starts.into_iter().chain(by_turns).chain(ends))
}
