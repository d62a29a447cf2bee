//! Chats: each is a session with the world's main agent, and one more with every other agent that was
//! addressed in it. Which one is current is remembered for each caller.

use std::sync::Arc;

use axum::response::Response;
use domain::id::{MessageId, SessionId};
use domain::session::Session;
use ports::store::PutNote;

use super::DOOR;
use super::edit::is_own;
use super::event::EventSource;
use super::fault::{WorldsFault, WorldsResult};
use super::limits::{CHATS_MAX, PAGES_MAX, TITLE_CHARS};
use super::name::{SessionPlace, is_chat_id, kebab};
use super::prompt::{self, WorldPrompt};
use super::replies::{ChatChosen, ChatOpened, ChatPrompt, ListedChat, Notice};
use super::world_request::{WorldRequest, ok};
use super::{edit, rest};
use crate::doors::{NamedAgent, conversation, shown};

/// One chat of the caller's.
pub(super) struct Chat {
    pub(super) id: String,
    /// With the main agent first.
    pub(super) sessions: Vec<Arc<Session>>,
}

fn session_place(here: &WorldRequest, chat: &str, agent: &NamedAgent) -> String {
    let agent = (!here.is_main(agent)).then(|| kebab(&agent.name));
    SessionPlace { world: here.id.clone(), chat: chat.to_owned(), agent }.text()
}

impl WorldRequest {
    /// A chat that the caller opened.
    pub(super) async fn chat(&self, id: &str) -> WorldsResult<Chat> {
        if !is_chat_id(id) || self.is_removed(id).await? {
            return Err(WorldsFault::no_chat());
        }
        let mut sessions = Vec::new();
        for agent in &self.world.agents {
            let place = session_place(self, id, agent);
            let found = conversation::find(self.app(), self.caller(), DOOR, &place).await;
            match found.map_err(WorldsFault::from) {
                // One that was opened elsewhere is a chat with its own agent.
                Ok(Some(session)) if *session.agent != *agent.agent => {}
                Ok(Some(session)) => sessions.push(session),
                // Without the main agent's there is no chat.
                Ok(None) if sessions.is_empty() => return Err(WorldsFault::no_chat()),
                Ok(None) => {}
                Err(fault) if fault.is_not_found() => return Err(WorldsFault::no_chat()),
                Err(fault) => return Err(fault),
            }
        }
        match sessions.is_empty() {
            true => Err(WorldsFault::no_chat()),
            false => Ok(Chat { id: id.to_owned(), sessions }),
        }
    }

    /// The caller's session with one agent in a chat that there is.
    pub(super) async fn session_with(
        &self,
        chat: &str,
        agent: &NamedAgent,
    ) -> WorldsResult<Arc<Session>> {
        let place = session_place(self, chat, agent);
        let app = self.app();
        let opened =
            conversation::find_or_open(app, self.caller(), DOOR, &place, &agent.agent).await;
        Ok(opened?)
    }

    /// The same chat from before one of the messages in a session of it.
    pub(super) async fn branch(
        &self,
        chat: &str,
        session: &Session,
        before: MessageId,
    ) -> WorldsResult<Arc<Session>> {
        let name = self.source(chat, session).agent;
        let agent = self.agent(&name).ok_or_else(WorldsFault::no_agent)?;
        let place = session_place(self, chat, agent);
        let (app, caller) = (self.app(), self.caller());
        Ok(conversation::branch(app, caller, DOOR, &place, session, before).await?)
    }

    /// A new chat, which becomes the current one.
    pub(super) async fn open_chat(&self) -> WorldsResult<Chat> {
        let fresh = self.app().engine.new_session_id().to_string();
        let id = format!("chat-{}", fresh.trim_start_matches("ses_"));
        let session = self.session_with(&id, self.main_agent()?).await?;
        self.make_current(&id).await?;
        Ok(Chat { id, sessions: vec![session] })
    }

    /// The chat that a client without a name for one means; `None` before there was any.
    pub(super) async fn current_chat(&self) -> WorldsResult<Option<String>> {
        let note = self.app().engine.read_note(CURRENT, &self.note_key()).await?;
        let noted = note.and_then(|note| String::from_utf8(note.value).ok());
        if let Some(id) = noted
            && !self.is_removed(&id).await?
        {
            return Ok(Some(id));
        }
        Ok(self.chats().await?.into_iter().next().map(|(id, _)| id))
    }

    pub(super) async fn make_current(&self, chat: &str) -> WorldsResult<()> {
        self.put_note(CURRENT, self.note_key(), Some(chat.as_bytes().to_vec())).await
    }

    /// The caller's chats, newest first.
    pub(super) async fn chats(&self) -> WorldsResult<Vec<(String, Arc<Session>)>> {
        let mut chats = Vec::new();
        for (place, id) in self.own_sessions().await? {
            if place.agent.is_none() && !self.is_removed(&place.chat).await? {
                chats.push((place.chat, self.app().engine.session(self.caller(), id).await?));
            }
        }
        Ok(chats)
    }

    /// Sessions that the caller opened in this world, newest first. A caller who sees those of many
    /// others does not lose sight of their own behind them.
    pub(super) async fn own_sessions(&self) -> WorldsResult<Vec<(SessionPlace, SessionId)>> {
        let (engine, caller) = (&self.app().engine, self.caller());
        let (mut own, mut after) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let rows = engine.sessions_at(caller, DOOR, None, after, CHATS_MAX).await?;
            after = rows.last().map(|row| row.id);
            let is_last = rows.len() < CHATS_MAX;
            for row in rows.into_iter().filter(|row| row.creator.is_same(caller.actor())) {
                let Some(home) = &row.home else { continue };
                let Some(place) = SessionPlace::read(&home.place) else { continue };
                // What was edited or deleted goes on in another session of the same place.
                if place.world == self.id
                    && conversation::goes_on_in(self.app(), DOOR, &home.place, row.id).await?
                {
                    own.push((place, row.id));
                }
            }
            if is_last || own.len() >= CHATS_MAX {
                break;
            }
        }
        own.truncate(CHATS_MAX);
        Ok(own)
    }

    async fn is_removed(&self, chat: &str) -> WorldsResult<bool> {
        Ok(self.app().engine.read_note(REMOVED, &format!("{}/{chat}", self.id)).await?.is_some())
    }

    fn note_key(&self) -> String {
        format!("{} {}", self.id, self.caller().stable_name())
    }

    async fn put_note(&self, shelf: &str, key: String, value: Option<Vec<u8>>) -> WorldsResult<()> {
        let put = PutNote {
            shelf: shelf.to_owned(),
            key,
            value,
            expected: None,
            due_at: None,
            forget_at: None,
        };
        self.app().engine.write_note(put).await?;
        Ok(())
    }

    /// Who speaks in a session of this world, by the name that it has here.
    pub(super) fn source(&self, chat: &str, session: &Session) -> EventSource {
        let here = session.home.as_ref().filter(|home| &*home.door == DOOR);
        let named = |agent: &NamedAgent| kebab(&agent.name);
        let agent = match here {
            Some(home) => {
                let main = || self.world.agents.first().map(named);
                SessionPlace::read(&home.place).and_then(|place| place.agent).or_else(main)
            }
            None => {
                let mut agents = self.world.agents.iter();
                agents.find(|agent| *agent.agent == *session.agent).map(named)
            }
        };
        EventSource {
            agent: agent.unwrap_or_else(|| session.agent.to_string()),
            chat: chat.to_owned(),
        }
    }
}

const CURRENT: &str = "worlds.current";
const REMOVED: &str = "worlds.removed";

pub(super) fn summary(id: &str, session: &Session) -> ListedChat {
    ListedChat { id: id.to_owned(), name: title(session), message_count: session.transcript.len() }
}

/// A chat is named after the first thing that was said in it.
pub(super) fn title(session: &Session) -> String {
    if let Some(title) = &session.title {
        return title.clone();
    }
    let said = session.transcript.iter().find(|message| is_own(message));
    let first = said.or_else(|| session.queue.front().map(|queued| &queued.message));
    let text = first.map(|message| message.text().into_owned()).unwrap_or_default();
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(TITLE_CHARS) {
        _ if line.is_empty() => "New Chat".into(),
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

pub(super) async fn list(here: WorldRequest) -> WorldsResult {
    let chats = here.chats().await?;
    Ok(ok(&chats.iter().map(|(id, session)| summary(id, session)).collect::<Vec<_>>()))
}

pub(super) async fn open(here: WorldRequest) -> WorldsResult {
    let chat = here.open_chat().await?;
    let world = rest::serialized(&here, Some(&chat)).await?;
    Ok(ok(&ChatOpened { world, chat_id: chat.id, success: true }))
}

/// What was said stays in the record; the chat is gone from the list, and its runs end.
pub(super) async fn remove(here: WorldRequest) -> WorldsResult {
    let chat = here.chat(here.path("chat")).await?;
    for session in &chat.sessions {
        // mutant: worlds-deleted-chat-lives
        edit::end_run(&here, session, "the chat was deleted").await?;
    }
    let key = format!("{}/{}", here.id, chat.id);
    here.put_note(REMOVED, key, Some(Vec::new())).await?;
    Ok(ok(&Notice { message: "Chat deleted successfully" }))
}

/// Makes a chat the current one, and lists everything in it that waits for a person.
pub(super) async fn set(here: WorldRequest) -> WorldsResult<Response> {
    let chat = here.chat(here.path("chat")).await?;
    here.make_current(&chat.id).await?;
    let mut open: Vec<_> = chat
        .sessions
        .iter()
        .flat_map(|session| session.open_holds().map(move |hold| (hold.clone(), session)))
        .collect();
    open.sort_by_key(|(hold, _)| hold.id);
    let mut hitl_prompts = Vec::new();
    for (hold, session) in open {
        let source = here.source(&chat.id, session);
        shown::record(here.app(), here.caller(), DOOR, &hold).await?;
        let prompt = match WorldPrompt::of(&hold) {
            Some(prompt) => prompt.shown(&hold, &source),
            None => {
                let link = format!("{}/holds/{}", here.app().origin, hold.id);
                prompt::elsewhere(&hold, &source, &link)
            }
        };
        hitl_prompts.push(ChatPrompt { chat_id: chat.id.clone(), prompt });
    }
    let world = rest::serialized(&here, Some(&chat)).await?;
    Ok(ok(&ChatChosen { world, chat_id: chat.id, hitl_prompts, success: true }))
}
