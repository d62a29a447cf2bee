//! `POST /agent/run`: something is said, and what follows from it is streamed.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use domain::event::TokenScope;
use domain::id::{RunId, SessionId};
use domain::session::{Home, Session};
use engine::{Error, Keep, MessageReceipt, NewMessage, NewSession};

use super::attached::Connection;
use super::body::{self, RunAsked};
use super::limits::{BODY_BYTES_MAX, TITLE_CHARS};
use super::repeats::{self, Belongs};
use super::telling::Telling;
use super::wire::Meta;
use super::{Frontend, NAME, find, format, transcript};
use crate::asked::read_at_most;
use crate::auth::Who;
use crate::doors::agreed::{self, Agreed, Name};
use crate::doors::flow::{RunFollower, Since};
use crate::doors::kept::KeptRun;
use crate::doors::{AgentType, DoorContext};
use crate::idempotency::{IdempotencyKey, key_of, request_digest};
use crate::problem::{Problem, Refused, Reply};
use crate::streams::StreamPermit;

pub(super) async fn run(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let bytes = read_at_most(&room.app, body, BODY_BYTES_MAX).await?;
    let asked = RunAsked::parse(&bytes)?;
    let key = key(&room, &who, &headers, "/agent/run", &bytes)?;
    start(room, who, key, asked).await
}

/// The key under which a request may come again.
pub(super) fn key(
    room: &DoorContext<Frontend>,
    who: &Who,
    headers: &HeaderMap,
    path: &str,
    bytes: &[u8],
) -> Result<Option<IdempotencyKey>, Problem> {
    let Some(key) = key_of(headers)? else { return Ok(None) };
    let request = request_digest("POST", path, bytes);
    let caller = who.caller.stable_name();
    let key = IdempotencyKey { caller, key, request, at: room.app.engine.now() };
    room.app.recent.check(&key)?;
    Ok(Some(key))
}

pub(super) async fn start(
    room: DoorContext<Frontend>,
    who: Who,
    key: Option<IdempotencyKey>,
    asked: RunAsked,
) -> Reply {
    let (app, caller) = (room.app.clone(), who.caller.clone());
    let named = asked.agent_type.as_deref();
    let known = match &asked.agent_uuid {
        Some(uuid) => Some(find(&room, &caller, uuid).await?),
        None => None,
    };
    let kind = match &known {
        Some(session) => room.wire.kind_for(session, named)?,
        None => room.wire.kind(named)?.clone(),
    };
    // Before a kept reply is given again: a weaker token of the same person may have the same key.
    // mutant: kept-runs-for-any-token
    caller.must_have(TokenScope::Run)?;
    // Before anything is stored: a caller who hears "too many" has said nothing, and may say it again.
    let permit = app.streams.take(caller.stable_name())?;
    let request = Request { room, who, kind, asked, key, permit };
    if let Some(key) = &request.key
        && let Some(reply) = app.engine.kept(&key.caller, &key.key, key.request).await?
    {
        return request.kept(&reply.body).await;
    }
    let (session, connection) = match known {
        Some(session) => {
            let connection = request.room.wire.attached.enter(session.id);
            if let Some(run) = repeats::under_way(&session, &request.asked) {
                return request.again(&session, run, connection).await;
            }
            if let Some(Agreed { run, since }) = request.agreed(&session).await? {
                return request.follow(&session, run, since, connection).await;
            }
            (session, connection)
        }
        None => {
            let kind = request.kind.name.clone();
            match repeats::find(&request.room, &caller, &request.asked, &kind).await? {
                (Belongs::Again(session, run), connection) => {
                    return request.again(&session, run, connection).await;
                }
                (Belongs::New(id), connection) => (request.open(id).await?, connection),
            }
        }
    };
    request.say(session, connection).await
}

/// A request that was understood.
struct Request {
    room: DoorContext<Frontend>,
    who: Who,
    kind: AgentType,
    asked: RunAsked,
    key: Option<IdempotencyKey>,
    permit: StreamPermit,
}

impl Request {
    async fn open(&self, id: SessionId) -> Reply<Arc<Session>> {
        let first = self.asked.query();
        let line = first.trim().lines().next().unwrap_or_default();
        let mut title: String = line.chars().take(TITLE_CHARS).collect();
        if title.len() < line.len() {
            title.push('…');
        }
        let new = NewSession {
            agent: self.kind.agent.to_string(),
            title: Some(title),
            metadata: format::metadata(&self.kind),
            home: Some(Home { door: NAME.into(), place: self.kind.name.clone() }),
        };
        Ok(self.room.app.engine.open_once(&self.who.caller, id, new).await?)
    }

    async fn say(self, session: Arc<Session>, connection: Connection) -> Reply {
        let engine = &self.room.app.engine;
        let render =
            |said: &MessageReceipt| (200, KeptRun::new(session.id, Some(said.run)).written());
        let keep = self.key.clone().map(|key| {
            let IdempotencyKey { caller, key, request, .. } = key;
            Keep { caller, key, request, render: &render }
        });
        // Listen first, then speak: nothing of the run is missed.
        let follow = engine.follow_session(session.id, Some(session.version)).await?;
        let saying = NewMessage {
            texts: self.asked.texts.clone(),
            files: self.asked.files.clone(),
            while_pending: None,
        };
        let run = match engine.say(&self.who.caller, session.id, saying, keep).await {
            Ok(said) => said.run,
            Err(Error::Replayed(reply)) => return self.kept(&reply.body).await,
            Err(error) => return Err(error.into()),
        };
        let since = Since::now(&session);
        let (app, caller) = (&self.room.app, &self.who.caller);
        let flow = RunFollower::on(follow, app, caller, &session, Some(run), since).await?;
        self.stream_run(&session, flow, connection).await
    }

    /// One of the sentences that were agreed on as an answer.
    async fn agreed(&self, session: &Session) -> Reply<Option<Agreed>> {
        let name =
            self.key.clone().map(|IdempotencyKey { key, request, .. }| Name { key, request });
        let (app, caller) = (&self.room.app, &self.who.caller);
        agreed::answer_agreed(app, caller, NAME, session, &self.asked.query(), name).await
    }

    /// What the same key began.
    async fn kept(self, began: &[u8]) -> Reply {
        let began = KeptRun::read(began);
        let (Some(session), Some(run)) = (began.session_id(), began.run_id()) else {
            // The key was used on another address before.
            return Err(Refused::from(Error::KeyReused));
        };
        let session = self.room.app.engine.session(&self.who.caller, session).await?;
        let connection = self.room.wire.attached.enter(session.id);
        self.again(&session, run, connection).await
    }

    /// The whole stream of a run once more.
    async fn again(self, session: &Arc<Session>, run: RunId, connection: Connection) -> Reply {
        let latest = session.run.as_ref().is_some_and(|latest| latest.id == run);
        let since = match latest {
            true => Since::latest_run(&self.room.app, session).await?,
            false => Since { position: 0, current: None },
        };
        self.follow(session, Some(run), since, connection).await
    }

    async fn follow(
        self,
        session: &Arc<Session>,
        run: Option<RunId>,
        since: Since,
        connection: Connection,
    ) -> Reply {
        let flow = RunFollower::open(&self.room.app, &self.who.caller, session, run, since).await?;
        self.stream_run(session, flow, connection).await
    }

    async fn stream_run(
        self,
        session: &Arc<Session>,
        flow: RunFollower,
        connection: Connection,
    ) -> Reply {
        let Request { room, who, kind, asked, permit, .. } = self;
        format::remember(&room.app, session, kind.format).await?;
        let history = kind.history.then(|| {
            let before = session.transcript.iter().map(|message| &**message);
            transcript::messages(before, session, &room.app.engine)
        });
        let meta = Meta {
            format: kind.format,
            user_query: asked.query(),
            agent_uuid: body::uuid(session.id),
            model: kind.agent.to_string(),
            history,
        };
        let (caller, session) = (who.caller.clone(), session.id);
        let opener = Some(meta);
        let telling = Telling { room, caller, session, kind, opener };
        Ok(telling.stream(&who, permit, flow, connection))
    }
}
