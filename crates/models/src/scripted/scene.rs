//! What a script can look at: the end of the conversation.

use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest};

pub(super) struct Scene<'a> {
    /// The last message that a person (or the runtime) wrote; empty before the first.
    pub(super) said: &'a str,
    /// The results that came last, in the order of their calls. Empty when the last message is one
    /// that somebody wrote.
    pub(super) results: &'a [CallResult<'a>],
    /// Which answer to `said` this is, counted from 1.
    pub(super) turn: usize,
    /// Calls made in the whole conversation.
    pub(super) calls: usize,
}

impl<'a> Scene<'a> {
    pub(super) fn of(request: &'a ModelRequest<'a>) -> Scene<'a> {
        let mut scene = Scene { said: "", results: &[], turn: 1, calls: 0 };
        for message in &request.messages {
            scene.results = &[];
            match message {
                ModelMessage::User { text } => {
                    scene.said = text;
                    scene.turn = 1;
                }
                // What came with a message is its beginning, and all of it if nothing was written.
                ModelMessage::Image { label, .. } => {
                    scene.said = label;
                    scene.turn = 1;
                }
                ModelMessage::Assistant { parts } => {
                    scene.turn += 1;
                    scene.calls +=
                        parts.iter().filter(|part| matches!(part, AssistantPart::Call(_))).count();
                }
                ModelMessage::Results { results } => scene.results = results,
            }
        }
        scene
    }
}
