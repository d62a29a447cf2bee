//! A model behind somebody's API, whichever it is: sends the request, shows what comes, tries again
//! where that may help, and gives a turn only when the provider has ended one. What differs between
//! the APIs is behind [`ModelApi`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::message::Part;
use ports::clock::{Clock, Rng};
use ports::model::{
    Delta, DeltaSink, Model, ModelError, ModelRequest, ModelTurn, TurnUsage, WrittenCall,
};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::fault::{AttemptFault, ProviderError};
use crate::http::{Http, HttpReply};
use crate::limits::{PAUSES_MAX, USAGE_WITHIN};
use crate::names::Names;
use crate::reading::ReplyStream;
use crate::reply::{End, ModelReply, Progress, Reader};
use crate::retry::{pause, retry_after};
use crate::settings::{ModelSettings, endpoint};

/// What one API is like.
pub(crate) trait ModelApi: Send + Sync + 'static {
    type Reader: Reader;

    /// Behind the version: `messages`.
    fn path(&self) -> &'static str;

    /// The headers that are its own, with the key in one of them.
    fn headers<'a>(&self, key: Option<&'a str>) -> Vec<(&'static str, std::borrow::Cow<'a, str>)>;

    /// The body of a request. `paused` is what the model had said of this turn when it paused.
    fn body(
        &self,
        settings: &ModelSettings,
        request: &ModelRequest<'_>,
        names: &Names,
        paused: &[Box<RawValue>],
    ) -> Result<Vec<u8>, serde_json::Error>;

    fn reader(&self, settings: &ModelSettings) -> Self::Reader;

    /// Whether its models take images, where the configuration does not say.
    fn takes_images(&self, settings: &ModelSettings) -> bool;

    /// What the body of a refusal says.
    fn problem(&self, body: &[u8]) -> ProviderError;
}

pub(crate) struct Client<A> {
    api: A,
    settings: Arc<ModelSettings>,
    http: Http,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
}

impl<A: ModelApi> Client<A> {
    pub(crate) fn new(
        api: A,
        settings: ModelSettings,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Client<A> {
        let settings = Arc::new(settings);
        let url = endpoint(&settings.base_url, api.path());
        let http = Http::new(settings.clone(), clock.clone(), url);
        Client { api, settings, http, clock, rng }
    }
}

#[async_trait]
impl<A: ModelApi> Model for Client<A> {
    fn takes_images(&self) -> bool {
        let settings = &self.settings;
        settings.takes_images.unwrap_or_else(|| self.api.takes_images(settings))
    }

    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        let show = Show { deltas, stop: stop.clone(), shown: false, settled: String::new() };
        let limit = self.settings.time_limits.turn;
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(ModelError::Stopped),
            turn = Box::pin(self.turn(request, show)) => match stop.is_cancelled() {
                true => Err(ModelError::Stopped),
                false => turn,
            },
            () = self.clock.sleep(limit) => {
                let why = format!("the turn took longer than {} s", limit.as_secs_f64());
                Err(ModelError::Unavailable(why))
            }
        }
    }
}

/// What those who watch have been shown of the current attempt.
struct Show {
    deltas: DeltaSink,
    stop: CancellationToken,
    shown: bool,
    /// What was said before the provider paused. It stands, whatever comes of the rest.
    settled: String,
}

impl Show {
    fn say(&mut self, delta: Delta) {
        let (Delta::Text(text) | Delta::Reasoning(text)) = &delta else { return };
        if !text.is_empty() && !self.stop.is_cancelled() {
            self.shown = true;
            (self.deltas)(delta);
        }
    }

    fn settle(&mut self, turn: &ModelTurn) {
        let texts = turn.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        self.settled = texts.collect();
        self.shown = false;
    }

    fn discard(&mut self) {
        if std::mem::take(&mut self.shown) && !self.stop.is_cancelled() {
            (self.deltas)(Delta::Discard);
            if !self.settled.is_empty() {
                (self.deltas)(Delta::Text(self.settled.clone()));
            }
        }
    }
}

impl<A: ModelApi> Client<A> {
    /// One turn, in as many pieces as the provider makes of it.
    async fn turn(
        &self,
        request: &ModelRequest<'_>,
        mut show: Show,
    ) -> Result<ModelTurn, ModelError> {
        let names = Names::of(request);
        let mut turn = ModelTurn::default();
        let mut paused: Vec<Box<RawValue>> = Vec::new();
        for _ in 0..=PAUSES_MAX {
            let body =
                self.api.body(&self.settings, request, &names, &paused).map_err(|error| {
                    ModelError::Refused(format!("the request cannot be written: {error}"))
                })?;
            let reply = self.attempts(body.into(), &mut turn.usage, &mut show).await?;
            turn.usage = sum(turn.usage, reply.usage);
            turn.parts.extend(reply.parts);
            turn.calls.extend(reply.calls.into_iter().map(|call| own(call, &names)));
            match reply.end {
                End::Whole => return Ok(turn),
                End::Paused(blocks) => {
                    paused.extend(blocks);
                    show.settle(&turn);
                }
                end => return Err(self.ended_badly(end)),
            }
        }
        let why = format!("it paused one turn more than {PAUSES_MAX} times");
        Err(ModelError::Malformed(why))
    }

    async fn attempts(
        &self,
        body: Bytes,
        paid: &mut TurnUsage,
        show: &mut Show,
    ) -> Result<ModelReply, ModelError> {
        let mut attempt = 0;
        loop {
            let (why, after) = match self.attempt(body.clone(), paid, show).await {
                Ok(reply) => return Ok(reply),
                Err(AttemptFault::Final(error)) => return Err(error),
                Err(AttemptFault::Again { why, after }) => (why, after),
            };
            let pause = pause(attempt, after, &*self.rng);
            let Some(pause) = pause.filter(|_| attempt < self.settings.retries) else {
                return Err(ModelError::Unavailable(match after {
                    Some(after) => format!("{why} (come back in {} s)", after.as_secs()),
                    None => why,
                }));
            };
            show.discard();
            self.clock.sleep(pause).await;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        body: Bytes,
        paid: &mut TurnUsage,
        show: &mut Show,
    ) -> Result<ModelReply, AttemptFault> {
        let key = self.settings.key.as_ref().map(|key| key.secret.expose());
        let headers = self.api.headers(key);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let mut answer = self.http.send(body, &headers).await?;
        let status = answer.status();
        if !(200..300).contains(&status) {
            let after = retry_after(answer.headers(), self.clock.now());
            let problem = self.api.problem(&self.http.problem(&mut answer).await);
            return Err(problem.fault(status, after, &self.settings));
        }
        if let Some(other) = answer.other_type() {
            let why = format!(
                "it answered with `{}` and not with a stream of events; check `base_url` of \
                 [models.{}]",
                crate::fault::safe_text(&other, &self.settings),
                self.settings.name
            );
            return Err(AttemptFault::Final(ModelError::Refused(why)));
        }
        let mut reading = ReplyStream::new(self.api.reader(&self.settings));
        let read = self.read(&mut answer, &mut reading, show).await;
        let usage = reading.usage();
        let reply =
            read.and_then(|()| reading.finish().map_err(|trouble| trouble.fault(&self.settings)));
        if reply.is_err() {
            // It was paid for all the same.
            *paid = sum(*paid, usage);
        }
        reply
    }

    /// Reads until the provider has nothing more to say.
    async fn read(
        &self,
        answer: &mut HttpReply,
        reading: &mut ReplyStream<A::Reader>,
        show: &mut Show,
    ) -> Result<(), AttemptFault> {
        let mut progress = Progress::More;
        loop {
            let piece = match progress {
                Progress::More => self.http.piece(answer).await?,
                // The turn is whole; the count is worth a moment.
                Progress::Complete => {
                    match self.within(USAGE_WITHIN, self.http.piece(answer)).await {
                        Some(Ok(piece)) => piece,
                        _ => return Ok(()),
                    }
                }
                Progress::Done => return Ok(()),
            };
            let Some(piece) = piece else { return Ok(()) };
            progress = reading
                .feed(&piece, &mut |delta| show.say(delta))
                .map_err(|trouble| trouble.fault(&self.settings))?;
        }
    }

    async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.clock.sleep(limit) => None,
        }
    }

    fn ended_badly(&self, end: End) -> ModelError {
        let section = format!("[models.{}]", self.settings.name);
        match end {
            End::TokenLimit => ModelError::CutOff(match self.settings.max_tokens {
                Some(limit) => {
                    format!("it reached `max_tokens` of {section}, which is {limit}")
                }
                None => format!(
                    "it reached the most that the provider allows; see `max_tokens` of {section}"
                ),
            }),
            End::Window => ModelError::TooLong("its window is full".into()),
            End::Declined(word) => {
                ModelError::Declined(crate::fault::safe_text(&word, &self.settings))
            }
            End::Whole | End::Paused(_) => ModelError::Malformed("it ended oddly".into()),
        }
    }
}

fn own(call: WrittenCall<'static>, names: &Names) -> WrittenCall<'static> {
    WrittenCall { tool: names.own(&call.tool).to_owned().into(), ..call }
}

fn sum(a: TurnUsage, b: TurnUsage) -> TurnUsage {
    TurnUsage {
        input_tokens: a.input_tokens.saturating_add(b.input_tokens),
        cached_tokens: a.cached_tokens.saturating_add(b.cached_tokens),
        output_tokens: a.output_tokens.saturating_add(b.output_tokens),
    }
}

#[cfg(test)]
mod tests;
