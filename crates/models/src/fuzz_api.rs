//! What the clients make of foreign bytes, without a client around it: the very functions that they
//! call, for fuzzers.

use std::sync::Arc;
use std::time::Duration;

use domain::time::Timestamp;
use ports::clock::Rng;
use ports::model::{Delta, ModelTurn};
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};

use crate::anthropic::Anthropic;
use crate::client::ModelApi;
use crate::fault::{AttemptFault, Trouble};
use crate::openai::chat::Chat;
use crate::openai::responses::Responses;
use crate::reading::ReplyStream;
use crate::reply::{End, Progress};
use crate::retry;
use crate::settings::ModelSettings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuzzedApi {
    Messages,
    Chat,
    Responses,
}

/// Ids that can be told apart from any other.
struct Same;

impl Rng for Same {
    fn bits(&self) -> u128 {
        7
    }
}

/// The turn in a stream that comes in these pieces, and what was shown of it; or what people would
/// be told.
pub fn turn<'a>(
    spoken: FuzzedApi,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(ModelTurn, Vec<Delta>), String> {
    match spoken {
        FuzzedApi::Messages => read_turn(&Anthropic::default(), pieces),
        FuzzedApi::Chat => {
            read_turn(&Chat { at_vendor: false, send_thinking: true, rng: Arc::new(Same) }, pieces)
        }
        FuzzedApi::Responses => {
            read_turn(&Responses { keep_thinking: true, rng: Arc::new(Same) }, pieces)
        }
    }
}

/// What people would be told about a refusal with this body.
pub fn refusal(spoken: FuzzedApi, status: u16, body: &[u8]) -> String {
    let problem = match spoken {
        FuzzedApi::Messages => Anthropic::default().problem(body),
        FuzzedApi::Chat | FuzzedApi::Responses => crate::openai::problem(body),
    };
    fault_text(problem.fault(status, None, &settings()))
}

/// How long is waited for a provider that says when to come back; `None` if that is too long for
/// anybody, or if no HTTP library would hand it on.
pub fn pause(retry_after: &[u8], now: Timestamp) -> Option<Duration> {
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, HeaderValue::from_bytes(retry_after).ok()?);
    retry::pause(0, retry::retry_after(&headers, now), &Same)
}

fn read_turn<'a, A: ModelApi>(
    api: &A,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(ModelTurn, Vec<Delta>), String> {
    let settings = settings();
    let words = |trouble: Trouble| fault_text(trouble.fault(&settings));
    let mut reading = ReplyStream::new(api.reader(&settings));
    let mut deltas = Vec::new();
    for piece in pieces {
        let progress = reading.feed(piece, &mut |delta| deltas.push(delta)).map_err(words)?;
        if progress == Progress::Done {
            break;
        }
    }
    let reply = reading.finish().map_err(words)?;
    match reply.end {
        End::Whole => {
            let turn = ModelTurn { parts: reply.parts, calls: reply.calls, usage: reply.usage };
            Ok((turn, deltas))
        }
        end => Err(format!("it ended otherwise: {end:?}")),
    }
}

fn fault_text(fault: AttemptFault) -> String {
    match fault {
        AttemptFault::Again { why, .. } => why,
        AttemptFault::Final(error) => error.to_string(),
    }
}

fn settings() -> ModelSettings {
    let nowhere = reqwest::Url::parse("http://127.0.0.1").expect("a URL");
    ModelSettings::new("fuzz", "fuzz", nowhere)
}
