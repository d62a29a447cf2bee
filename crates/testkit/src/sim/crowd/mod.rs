//! Everybody who talks to the server: those who ask, those who answer, those who steer, programs with
//! holds of their own. They are told things, and what they are told is written down.

mod answers;
mod good;
mod whims;

use std::sync::Arc;

use domain::answer::Answer;
use domain::context::WhilePending;
use domain::digest::Digest;
use domain::hold::{Callback, Hold, Question};
use domain::id::{GrantId, HoldId, RunId, SessionId};
use domain::json::Arguments;
use domain::session::Session;
use engine::{
    Answering, Engine, Error, Keep, MessageReceipt, NewHold, NewMessage, NewSession, Reported,
};
use serde_json::{Value, json};

pub(super) use answers::answered_honestly;
pub(super) use good::{is_finished, wanted};
pub(super) use whims::whim;

use super::mark::Mark;
use super::node::NodeNo;
use super::records::{Told, Word};
use super::settings::caller;
use super::world::World;

/// An errand on its way to a server.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) errand: Errand,
    pub(super) through: Through,
    /// What is wrong with it.
    marks: Vec<Mark>,
    late_ms: u64,
}

/// Which server it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    Any,
    /// The one that the request before it went to.
    Same,
    /// Another one than that.
    Another,
}

/// What one client wants.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    Open {
        who: &'static str,
        agent: &'static str,
        key: String,
    },
    Say {
        who: String,
        session: SessionId,
        text: String,
        while_pending: Option<WhilePending>,
    },
    Answer {
        who: &'static str,
        hold: HoldId,
        digest: Option<Digest>,
        answer: Answer,
    },
    CancelHold {
        who: String,
        hold: HoldId,
    },
    Claim {
        who: &'static str,
        hold: HoldId,
        on: bool,
    },
    CancelRun {
        who: String,
        run: RunId,
    },
    RetryRun {
        who: String,
        run: RunId,
    },
    RevokeGrant {
        grant: GrantId,
    },
    Freeze,
    Thaw,
    /// A hold of an outside program, about a call to this tool.
    Ask {
        tool: &'static str,
        key: String,
    },
    /// The program says that it makes its approved call now.
    Begin {
        hold: HoldId,
    },
    Report {
        hold: HoldId,
        succeeded: bool,
    },
}

impl From<Errand> for Request {
    fn from(errand: Errand) -> Request {
        Request { errand, through: Through::Any, marks: Vec::new(), late_ms: 0 }
    }
}

impl Request {
    pub(super) async fn carry_out(self, world: Arc<World>, node: NodeNo, engine: Engine) {
        let Request { errand, marks, late_ms, .. } = self;
        if late_ms > 0 {
            world.wait(node, "request", late_ms).await;
        }
        let line = errand.line();
        let asked = {
            let mut inside = world.inside();
            inside.note(format!("n{node} ASKED {line}"));
            inside.arrived(&marks);
            if errand.key().is_some_and(|key| !inside.asked_keys.insert(key.to_owned())) {
                inside.fault("message repeated under its key");
            }
            inside.journal()
        };
        let what = Box::pin(errand.asked(&engine)).await.unwrap_or_else(word_of);
        let mut inside = world.inside();
        inside.note(format!("n{node} TELLS {line}: {}", what.name()));
        let journal = inside.journal();
        inside.records.told.push(Told { errand, asked, journal, what });
    }
}

impl Errand {
    async fn asked(&self, engine: &Engine) -> Result<Word, Error> {
        match self {
            Errand::Open { who, agent, key } => {
                let render = |session: &Session| (201, session.id.to_string().into_bytes());
                let new = NewSession {
                    agent: (*agent).to_owned(),
                    title: Some(key.clone()),
                    metadata: Value::Null,
                    home: None,
                };
                let who = caller(who);
                let keep = kept(who.stable_name(), key, &render);
                engine.open_session(&who, new, Some(keep)).await.map(|it| Word::Session(it.id))
            }
            Errand::Say { who, session, text, while_pending } => {
                let render = |said: &MessageReceipt| (202, said.message.to_string().into_bytes());
                let saying = NewMessage {
                    texts: vec![text.clone()],
                    files: Vec::new(),
                    while_pending: *while_pending,
                };
                let who = caller(who);
                let keep = kept(who.stable_name(), text, &render);
                engine.say(&who, *session, saying, Some(keep)).await.map(Word::Said)
            }
            Errand::Answer { who, hold, digest, answer } => {
                let answering = Answering { digest: *digest, answer: answer.clone() };
                engine.answer(&caller(who), *hold, answering, None).await.map(Word::Hold)
            }
            Errand::CancelHold { who, hold } => {
                engine.cancel_hold(&caller(who), *hold, None, None).await.map(Word::Hold)
            }
            Errand::Claim { who, hold, on } => {
                engine.claim(&caller(who), *hold, *on).await.map(Word::Hold)
            }
            Errand::CancelRun { who, run } => {
                engine.cancel_run(&caller(who), *run, None).await.map(|_| Word::Done)
            }
            Errand::RetryRun { who, run } => {
                engine.retry_run(&caller(who), *run).await.map(|_| Word::Done)
            }
            Errand::RevokeGrant { grant } => {
                engine.revoke_grant(&caller("root"), *grant).await.map(|()| Word::Done)
            }
            Errand::Freeze => {
                engine.freeze(&caller("root"), "an incident").await.map(|()| Word::Done)
            }
            Errand::Thaw => engine.thaw(&caller("root")).await.map(|()| Word::Done),
            Errand::Ask { tool, key } => {
                let render = |hold: &Hold| (201, hold.id.to_string().into_bytes());
                let who = caller("bot");
                let keep = kept(who.stable_name(), key, &render);
                engine.open_hold(&who, outside(tool, key), Some(keep)).await.map(Word::Hold)
            }
            Errand::Begin { hold } => {
                engine.start_outside(&caller("bot"), *hold, None).await.map(Word::Hold)
            }
            Errand::Report { hold, succeeded } => {
                let reported = Reported { succeeded: *succeeded, result: Some("it ran".into()) };
                engine.report_outcome(&caller("bot"), *hold, reported, None).await.map(Word::Hold)
            }
        }
    }

    /// The key under which it may be sent again.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Errand::Open { key, .. } | Errand::Ask { key, .. } => Some(key),
            Errand::Say { text, .. } => Some(text),
            _ => None,
        }
    }

    fn line(&self) -> String {
        match self {
            Errand::Open { who, key, .. } => format!("{who} opens {key}"),
            Errand::Say { who, session, text, while_pending } => {
                format!("{who} says {text} in {session} ({while_pending:?})")
            }
            Errand::Answer { who, hold, answer, .. } => {
                format!("{who} answers {hold}: {}", answer.name())
            }
            Errand::CancelHold { who, hold } => format!("{who} cancels {hold}"),
            Errand::Claim { who, hold, on } => format!("{who} claims {hold}: {on}"),
            Errand::CancelRun { who, run } => format!("{who} cancels {run}"),
            Errand::RetryRun { who, run } => format!("{who} retries {run}"),
            Errand::RevokeGrant { grant } => format!("root revokes {grant}"),
            Errand::Freeze => "root freezes".into(),
            Errand::Thaw => "root thaws".into(),
            Errand::Ask { tool, key } => format!("bot asks {key} about {tool}"),
            Errand::Begin { hold } => format!("bot begins {hold}"),
            Errand::Report { hold, .. } => format!("bot reports {hold}"),
        }
    }
}

fn kept<'a, T: ?Sized>(
    caller: String,
    key: &str,
    render: &'a (dyn Fn(&T) -> (u16, Vec<u8>) + Send + Sync),
) -> Keep<'a, T> {
    Keep { caller, key: key.to_owned(), request: Digest::of(key.as_bytes()), render }
}

fn outside(tool: &str, key: &str) -> NewHold {
    let arguments = Arguments::from_value(json!({"n": 1, "key": key})).expect("sound arguments");
    NewHold {
        diff: None,
        question: Question::Approve,
        title: format!("may it run {key}?"),
        call: Some((tool.to_owned(), arguments)),
        context: Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: None,
        callback: Some(Callback { url: "http://bot.test/".into(), secret_env: "S".into() }),
    }
}

fn word_of(error: Error) -> Word {
    match error {
        Error::Refused(refusal) => Word::Refused(Box::new(refusal)),
        Error::Replayed(reply) => Word::Again(reply.body),
        Error::KeyReused => panic!("no key is used for two requests"),
        Error::Unavailable(_) | Error::SealingKey(_) => Word::TryLater,
    }
}

impl Word {
    fn name(&self) -> String {
        match self {
            Word::Done => "done".into(),
            Word::Session(id) => format!("it is {id}"),
            Word::Said(said) => format!("it is {} of {}", said.message, said.run),
            Word::Hold(hold) => format!("the hold is {}", hold.state.name()),
            Word::Again(body) => format!("as before, {}", String::from_utf8_lossy(body)),
            Word::Refused(refusal) => format!("refused: {refusal}"),
            Word::TryLater => "try later".into(),
        }
    }
}
