//! Sessions and runs, as their callers see them.

use std::sync::Arc;

use domain::context::WhilePending;
use domain::event::{SessionEvent, TokenScope};
use domain::hold::Hold;
use domain::id::{FileId, GrantId, MessageId, RunId, SessionId};
use domain::limits::{MESSAGE_BYTES_MAX, TITLE_BYTES_MAX};
use domain::message::{Message, Origin, Part, Role};
use domain::person::AuthenticatedPerson;
use domain::refusal::{AnswerFault, Refusal};
use domain::session::{Command, Home, Session, SessionReply};
use serde_json::Value;

use crate::accounts::Caller;
use crate::lane::submit::{Keep, Submitted};
use crate::stream::SessionCommand;
use crate::{Engine, Error};

#[derive(Clone, Debug)]
pub struct NewSession {
    pub agent: String,
    pub title: Option<String>,
    pub metadata: Value,
    /// The door or channel that opens it.
    pub home: Option<Home>,
}

#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Texts, in order.
    pub texts: Vec<String>,
    /// Uploads that come with them.
    pub files: Vec<FileId>,
    pub while_pending: Option<WhilePending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageReceipt {
    pub run: RunId,
    pub message: MessageId,
}

impl Engine {
    pub async fn open_session(
        &self,
        caller: &Caller,
        new: NewSession,
        keep: Option<Keep<'_, Session>>,
    ) -> Result<Arc<Session>, Error> {
        match self.open_as(caller, self.new_session_id(), new, Vec::new(), keep).await? {
            Some(session) => Ok(session),
            None => Err(Error::Unavailable("the session could not be opened; try again".into())),
        }
    }

    /// A fresh one, for whoever must know it before the session is opened.
    pub fn new_session_id(&self) -> SessionId {
        SessionId::new(self.now().as_ms(), self.0.rng.bits())
    }

    /// Opens a session under this id, or gives the one that has it. Concurrent callers get the same session.
    pub async fn open_once(
        &self,
        caller: &Caller,
        id: SessionId,
        new: NewSession,
    ) -> Result<Arc<Session>, Error> {
        match self.session(caller, id).await {
            Err(Error::Refused(Refusal::NotFound { .. })) => {}
            found => return found,
        }
        match self.open_as(caller, id, new, Vec::new(), None).await? {
            Some(session) => Ok(session),
            None => self.session(caller, id).await,
        }
    }

    /// `None`: there is one with this id already.
    pub(crate) async fn open_as(
        &self,
        caller: &Caller,
        id: SessionId,
        new: NewSession,
        transcript: Vec<Arc<Message>>,
        keep: Option<Keep<'_, Session>>,
    ) -> Result<Option<Arc<Session>>, Error> {
        caller.must_have(TokenScope::Run)?;
        let agent =
            self.0.agents.get(new.agent.as_str()).ok_or_else(|| Refusal::AnswerInvalid {
                field: "agent".into(),
                why: format!(
                    "there is no agent `{}`; the agents are: {}",
                    domain::visible::visible(&new.agent),
                    self.agent_ids().join(", ")
                )
                .into(),
            })?;
        at_most("title", new.title.as_deref().unwrap_or_default(), TITLE_BYTES_MAX)?;
        at_most("metadata", &new.metadata.to_string(), domain::limits::CONTEXT_BYTES_MAX)?;
        let opened = SessionEvent::SessionOpened {
            agent: agent.id.clone(),
            creator: caller.actor.clone(),
            title: new.title,
            metadata: new.metadata,
            home: new.home,
        };
        // A branch has the files of what it repeats.
        let files: Vec<FileId> =
            transcript.iter().flat_map(|message| message.files()).map(|file| file.id).collect();
        self.note_files(&files, id).await?;
        let said = transcript.into_iter().map(|message| SessionEvent::MessageAdded { message });
        let command = SessionCommand::Open([opened].into_iter().chain(said).collect());
        let render = |submitted: &Submitted<Session>| match &keep {
            Some(keep) => (keep.render)(&submitted.state),
            None => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        match self.submit_to::<Session>(id, &caller.actor, &command, keep.as_ref()).await {
            Err(Error::Refused(Refusal::Overtaken)) => Ok(None),
            opened => opened.map(|opened| Some(opened.state)),
        }
    }

    /// A session that the caller may see.
    pub async fn session(&self, caller: &Caller, id: SessionId) -> Result<Arc<Session>, Error> {
        let session = self.load_session(id).await?;
        if self.sees_session(caller, &session) {
            Ok(session)
        } else {
            Err(Refusal::NotFound { what: "session" }.into())
        }
    }

    /// A message never answers a hold, whatever it says.
    pub async fn say(
        &self,
        caller: &Caller,
        id: SessionId,
        saying: NewMessage,
        keep: Option<Keep<'_, MessageReceipt>>,
    ) -> Result<MessageReceipt, Error> {
        let session = self.session(caller, id).await?;
        // The speaker becomes the requester of the run: were it another person, the speaker could approve
        // their own request where the rule excludes the requester.
        let creator = session.creator.is_same(&caller.actor);
        let by = caller.person.as_ref().filter(|_| !creator && caller.is_in_chat_of(&session));
        if !creator && by.is_none() {
            let why = "only its creator speaks in a session";
            return Err(Refusal::NotEntitled { why: why.into() }.into());
        }
        self.speak(caller, id, by, saying, keep).await
    }

    /// Words about a hold that decided nothing, for the agent that asked. People who may answer the hold may say
    /// them, and are then who asks for what the agent makes of them.
    pub async fn say_about(
        &self,
        caller: &Caller,
        hold: &Hold,
        saying: NewMessage,
        keep: Option<Keep<'_, MessageReceipt>>,
    ) -> Result<MessageReceipt, Error> {
        let people = self.people();
        let person = caller.person.as_ref().filter(|person| hold.admits(person.id(), people));
        let (Some(id), Some(person)) = (hold.session(), person) else {
            let why = "only people who may answer a hold speak to its agent";
            return Err(Refusal::NotEntitled { why: why.into() }.into());
        };
        let creator = self.session(caller, id).await?.creator.is_same(&caller.actor);
        self.speak(caller, id, Some(person).filter(|_| !creator), saying, keep).await
    }

    async fn speak(
        &self,
        caller: &Caller,
        id: SessionId,
        by: Option<&AuthenticatedPerson>,
        saying: NewMessage,
        keep: Option<Keep<'_, MessageReceipt>>,
    ) -> Result<MessageReceipt, Error> {
        caller.must_have(TokenScope::Run)?;
        if saying.files.is_empty() && saying.texts.iter().all(|text| text.trim().is_empty()) {
            return Err(Refusal::AnswerInvalid {
                field: "text".into(),
                why: AnswerFault::NothingSaid,
            }
            .into());
        }
        at_most("text", &saying.texts.concat(), MESSAGE_BYTES_MAX)?;
        let files = self.attach_files(caller, &saying.files, id).await?;
        let texts = saying.texts.into_iter().map(Part::Text);
        let now = self.now();
        let message = Message {
            id: MessageId::new(now.as_ms(), self.0.rng.bits()),
            role: Role::User,
            origin: Origin::Own,
            by: by.map(|person| person.id().clone()),
            login_makers: caller.login_makers.clone(),
            parts: texts.chain(files.into_iter().map(Part::File)).collect(),
            at: now,
        };
        let message_id = message.id;
        let run = RunId::new(now.as_ms(), self.0.rng.bits());
        let command =
            Command::Say { message: Arc::new(message), run, while_pending: saying.while_pending };
        let said = |submitted: &Submitted<Session>| match &submitted.reply {
            SessionReply::Said { run } => MessageReceipt { run: *run, message: message_id },
            _ => MessageReceipt { run, message: message_id },
        };
        let render = |submitted: &Submitted<Session>| match &keep {
            Some(keep) => (keep.render)(&said(submitted)),
            None => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let submitted = self.submit(id, &caller.actor, &command, keep.as_ref()).await?;
        self.confirm_files(&saying.files, id).await;
        Ok(said(&submitted))
    }

    /// The session of a run, if the caller may see it.
    pub async fn session_of_run(&self, caller: &Caller, run: RunId) -> Result<Arc<Session>, Error> {
        match self.0.store.session_of_run(run).await? {
            Some(id) => match self.session(caller, id).await {
                Err(Error::Refused(Refusal::NotFound { .. })) => {
                    Err(Refusal::NotFound { what: "run" }.into())
                }
                other => other,
            },
            None => Err(Refusal::NotFound { what: "run" }.into()),
        }
    }

    pub async fn cancel_run(
        &self,
        caller: &Caller,
        run: RunId,
        reason: Option<String>,
    ) -> Result<Arc<Session>, Error> {
        let session = self.session_of_run(caller, run).await?;
        self.must_steer(caller, &session)?;
        at_most("reason", reason.as_deref().unwrap_or_default(), domain::limits::REASON_BYTES_MAX)?;
        let command = Command::CancelRun { run, by: caller.actor.clone(), reason };
        Ok(self.submit(session.id, &caller.actor, &command, None).await?.state)
    }

    pub async fn retry_run(&self, caller: &Caller, run: RunId) -> Result<Arc<Session>, Error> {
        let session = self.session_of_run(caller, run).await?;
        self.must_steer(caller, &session)?;
        Ok(self.submit(session.id, &caller.actor, &Command::RetryRun { run }, None).await?.state)
    }

    fn must_steer(&self, caller: &Caller, session: &Session) -> Result<(), Error> {
        caller.must_have(TokenScope::Run)?;
        if session.creator.is_same(&caller.actor) || caller.is_admin() {
            return Ok(());
        }
        Err(Refusal::NotEntitled { why: "only its creator or an admin steers a run".into() }.into())
    }

    /// Takes a standing grant back: its giver, the session's creator or an admin may.
    pub async fn revoke_grant(&self, caller: &Caller, id: GrantId) -> Result<(), Error> {
        let grants = self.0.store.grants(caller.viewer()).await?;
        let grant = grants
            .into_iter()
            .find(|grant| grant.id == id)
            .ok_or(Refusal::NotFound { what: "grant" })?;
        let session = self.load_session(grant.session).await?;
        let own = caller.person.as_ref().is_some_and(|person| *person.id() == grant.by);
        if !own && !caller.is_admin() && !session.creator.is_same(&caller.actor) {
            return Err(Refusal::NotEntitled {
                why: "only its giver or an admin takes a grant back".into(),
            }
            .into());
        }
        let command = Command::RevokeGrant { grant: id, by: caller.actor.clone() };
        self.submit(session.id, &caller.actor, &command, None).await?;
        Ok(())
    }
}

pub(crate) fn at_most(field: &str, text: &str, bytes_max: usize) -> Result<(), Refusal> {
    if text.len() <= bytes_max {
        return Ok(());
    }
    Err(Refusal::AnswerInvalid {
        field: field.into(),
        why: AnswerFault::FieldTooLong { field: field.into(), bytes_max },
    })
}
