//! The hold that a client means: by the id of its prompt, or by the model's own id of the call. It must
//! be of this world, or of an agent of this world in a session that was opened elsewhere, and the caller
//! must be allowed to see it; otherwise there is none.

use std::sync::Arc;

use domain::hold::Hold;
use domain::refusal::Refusal;
use domain::session::Session;
use engine::Error;

use super::DOOR;
use super::body::Detail;
use super::fault::{WorldsFault, WorldsResult};
use super::limits::CHATS_MAX;
use super::name::{SessionPlace, hold_id};
use super::world_request::WorldRequest;

pub(super) struct Found {
    pub(super) hold: Arc<Hold>,
    pub(super) session: Arc<Session>,
    pub(super) chat: String,
}

impl WorldRequest {
    pub(super) async fn find(&self, id: &str, chat: Option<&str>) -> WorldsResult<Option<Found>> {
        match hold_id(id) {
            Some(_) => self.by_prompt(id).await,
            None => self.by_call(id, chat).await,
        }
    }

    async fn by_prompt(&self, id: &str) -> WorldsResult<Option<Found>> {
        let engine = &self.app().engine;
        let Some(id) = hold_id(id) else { return Ok(None) };
        let hold = match engine.hold(self.caller(), id).await {
            Err(Error::Refused(Refusal::NotFound { .. })) => return Ok(None),
            found => found?,
        };
        let Some(session) = hold.session() else { return Ok(None) };
        let session = match engine.session(self.caller(), session).await {
            Err(Error::Refused(Refusal::NotFound { .. })) => return Ok(None),
            found => found?,
        };
        // The session knows its holds a little earlier than the table of all holds.
        let hold = session.holds.get(&id).cloned().unwrap_or(hold);
        Ok(self.of_this_world(hold, session))
    }

    /// Models use an id again in another chat: where two chats wait under one id, the client must say
    /// which it means, and what is answered already is meant only where nothing waits.
    async fn by_call(&self, id: &str, chat: Option<&str>) -> WorldsResult<Option<Found>> {
        let engine = &self.app().engine;
        let rows = engine.sessions_at(self.caller(), DOOR, None, None, CHATS_MAX).await?;
        let mut found = Vec::new();
        for row in rows {
            let session = match engine.session(self.caller(), row.id).await {
                Err(Error::Refused(Refusal::NotFound { .. })) => continue,
                found => found?,
            };
            let is_meant =
                |hold: &&Arc<Hold>| hold.call().is_some_and(|call| call.tool_use_id == id);
            for hold in session.holds.values().filter(is_meant) {
                found.extend(self.of_this_world(hold.clone(), session.clone()));
            }
        }
        found.retain(|found| chat.is_none_or(|chat| found.chat == chat));
        found.sort_by_key(|found| (found.hold.is_pending(), found.hold.id));
        let pending = found.iter().filter(|found| found.hold.is_pending()).count();
        match pending {
            // mutant: worlds-one-id-two-chats
            0 | 1 => Ok(found.pop()),
            _ => {
                let message = "several prompts have this id: send that of the prompt (`hitl_…`, `approval_…`), or `chatId`";
                Err(WorldsFault::invalid(vec![Detail::new("tool_call_id", message)]))
            }
        }
    }

    fn of_this_world(&self, hold: Arc<Hold>, session: Arc<Session>) -> Option<Found> {
        let chat = match session.home.as_ref().filter(|home| &*home.door == DOOR) {
            Some(home) => {
                // mutant: worlds-any-world
                SessionPlace::read(&home.place).filter(|place| place.world == self.id)?.chat
            }
            None => {
                self.world.agents.iter().find(|agent| *agent.agent == *session.agent)?;
                session.id.to_string()
            }
        };
        Some(Found { hold, session, chat })
    }
}
