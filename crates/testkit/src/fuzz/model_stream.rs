//! Answers of models: where the network cuts them changes nothing, a part of one is no other turn,
//! and what is wrong with one is told shortly.

use std::time::Duration;

use domain::time::Timestamp;
use models::fuzz_api::{FuzzedApi, pause, refusal, turn};

use super::{Pieces, text, told_plainly};

/// How a model's turn is bounded, whoever is behind it.
const CALLS_MAX: usize = 64;
/// As long as anybody waits for a provider that wants to be left alone, and a little more.
const PAUSE_MAX: Duration = Duration::from_secs(121);
const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let first = pieces.byte();
    let spoken = match first % 3 {
        0 => FuzzedApi::Messages,
        1 => FuzzedApi::Chat,
        _ => FuzzedApi::Responses,
    };
    let size = usize::from(pieces.byte()).max(1);
    let stream = pieces.rest();
    let told = refusal(spoken, 400 + u16::from(first), stream);
    told_plainly(&told, stream.len());
    let whole = turn(spoken, [stream]);
    assert_eq!(whole, turn(spoken, stream.chunks(size)), "cut into pieces of {size}");
    match &whole {
        Err(told) => told_plainly(told, stream.len()),
        Ok((turn, _)) => {
            assert!(turn.calls.len() <= CALLS_MAX);
            let whole_calls = turn.calls.iter().all(|call| !call.input.trim().is_empty());
            assert!(whole_calls, "a call without arguments has the empty ones");
        }
    }
    // Half a stream may be a turn only where the other half adds nothing to it.
    let part = &stream[..stream.len() * size / 256];
    if let (Ok((part, _)), Ok((whole, _))) = (turn(spoken, [part]), &whole) {
        assert_eq!((&part.parts, &part.calls), (&whole.parts, &whole.calls));
    }
    waits(stream);
}

/// Never earlier than the provider said, and never for ever.
fn waits(said: &[u8]) {
    let Some(pause) = pause(said, NOW) else { return };
    assert!(pause <= PAUSE_MAX, "{pause:?} for {said:?}");
    if let Some(Ok(seconds)) = text(said).map(|said| said.trim().parse()) {
        assert!(pause >= Duration::from_secs(seconds), "{pause:?} for {said:?}");
    }
}
