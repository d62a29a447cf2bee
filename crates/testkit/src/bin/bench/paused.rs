//! A data folder full of paused runs, made by the real engine, and the real program serving from it.

use std::path::Path;
use std::time::{Duration, Instant};

use domain::event::{Event, HoldEvent, SessionEvent, TokenOwner, TokenScope};
use domain::id::{HoldId, SessionId};
use domain::person::{Actor, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, PolicySpec, RuleSpec, Then};
use engine::{Caller, Engine, Followed, NewMessage, NewSession, NewToken};
use testkit::served::Served;
use tokio::task::JoinSet;

use crate::cycle::{self, Bench};

const AT_ONCE: usize = 128;

/// What others wrote of each run: the message and the call's arguments, as `cycle` has them. All
/// else on disk is ours.
pub(crate) const PAYLOAD: usize = "go".len() + r#"{"table":"orders"}"#.len();

/// Of so many holds, one is for the auditor alone.
pub(crate) const RARE: usize = 1_000;

/// Ana, an admin, is asked about every second run; Bob, a dba, about the others; Carol, an auditor,
/// about a few.
pub(crate) struct Paused {
    pub(crate) served: Served,
    pub(crate) sessions: Vec<SessionId>,
    pub(crate) holds: Vec<HoldId>,
    pub(crate) ana: String,
    pub(crate) bob: String,
    pub(crate) carol: String,
}

impl Paused {
    pub(crate) async fn new(runs: usize) -> Result<Paused, Box<dyn std::error::Error>> {
        let served = Served::prepare(&config(), SCRIPT);
        let bench = open(&served.path("data")).await?;
        let token = |owner: &'static str| mint(&bench.engine, owner);
        let (bob, carol) = (token("bob").await?, token("carol").await?);
        let made = pause(&bench, runs).await?;
        bench.engine.close(Duration::from_secs(5)).await;
        bench.store.close().await;
        let (sessions, holds) = made.into_iter().unzip();
        Ok(Paused { served, sessions, holds, ana: bench.token, bob, carol })
    }

    /// Starts the server; returns how long that took.
    pub(crate) async fn up(&mut self) -> Duration {
        let start = Instant::now();
        self.served.up().await;
        start.elapsed()
    }

    /// Of the server's process, as `/proc` names it, in megabytes.
    pub(crate) fn memory(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.served.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
    }
}

async fn open(data: &Path) -> Result<Bench, Box<dyn std::error::Error>> {
    let person = |id: &str, role: &str| Person {
        id: PersonId::new(id),
        name: id.to_owned(),
        roles: [role.to_owned()].into(),
        identities: Default::default(),
    };
    let asks = |agent: &str, role: &str| RuleSpec {
        name: format!("{agent} asks a {role}"),
        matcher: MatchSpec { agent: Some(agent.to_owned()), ..MatchSpec::default() },
        then: Then::Ask,
        ask: Some(AskSpec { roles: vec![role.to_owned()], ..AskSpec::default() }),
        ..RuleSpec::default()
    };
    let rules = vec![asks("shop", "dba"), asks("rare", "auditor")];
    let policy = PolicySpec { rules, ..PolicySpec::default() };
    let others = vec![person("bob", "dba"), person("carol", "auditor")];
    cycle::open_with(data, policy, &["ops", "shop", "rare"], others).await
}

async fn mint(engine: &Engine, owner: &str) -> Result<String, engine::Error> {
    let new = NewToken {
        owner: TokenOwner::Person(PersonId::new(owner)),
        scopes: TokenScope::ALL.to_vec(),
        expires_at: None,
        note: None,
    };
    Ok(engine.mint(Actor::Runtime, new).await?.secret)
}

/// The oldest first, or nearly.
async fn pause(
    bench: &Bench,
    runs: usize,
) -> Result<Vec<(SessionId, HoldId)>, Box<dyn std::error::Error>> {
    let mut clients = JoinSet::new();
    let mut made = Vec::with_capacity(runs);
    for number in 0..runs {
        while clients.len() >= AT_ONCE {
            made.extend(clients.join_next().await.transpose()?.transpose()?);
        }
        let agent = match number {
            number if number % RARE == RARE / 2 => "rare",
            number if number % 2 == 0 => "ops",
            _ => "shop",
        };
        let (engine, caller) = (bench.engine.clone(), bench.caller.clone());
        clients.spawn(async move { paused(&engine, &caller, agent).await });
    }
    while let Some(ended) = clients.join_next().await {
        made.push(ended??);
    }
    Ok(made)
}

async fn paused(
    engine: &Engine,
    caller: &Caller,
    agent: &str,
) -> Result<(SessionId, HoldId), engine::Error> {
    let new = NewSession {
        agent: agent.into(),
        title: None,
        metadata: serde_json::Value::Null,
        home: None,
    };
    let session = engine.open_session(caller, new, None).await?.id;
    let mut follow = engine.follow_session(session, None).await?;
    let saying = NewMessage { texts: vec!["go".into()], files: Vec::new(), while_pending: None };
    engine.say(caller, session, saying, None).await?;
    let mut opened = None;
    loop {
        if let Some(Followed::Event(happening)) = follow.next().await? {
            match (happening.event(), opened) {
                (Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold })), _) => {
                    opened = Some(hold.id)
                }
                (Event::Session(SessionEvent::RunPaused { .. }), Some(hold)) => {
                    return Ok((session, hold));
                }
                _ => {}
            }
        }
    }
}

const SCRIPT: &str = "[[turn]]\nwhen = { says = \"go\" }\ntext = \"done\"\n";

/// The same set-up, as the program reads it.
fn config() -> String {
    let mut text = r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"

[models.scripted]
provider = "scripted"
script = "script.toml"

[[tools]]
name = "noop"
kind = "command"
description = "does nothing"
argv = ["true"]
input_schema = { type = "object" }

[[people]]
id = "ana"
roles = ["admin"]

[[people]]
id = "bob"
roles = ["dba"]

[[people]]
id = "carol"
roles = ["auditor"]
"#
    .to_owned();
    for agent in ["ops", "shop", "rare"] {
        text +=
            &format!("\n[[agents]]\nid = \"{agent}\"\nmodel = \"scripted\"\ntools = [\"noop\"]\n");
    }
    for (agent, role) in [("shop", "dba"), ("rare", "auditor")] {
        text += &format!(
            "\n[[policy.rules]]\nname = \"{agent} asks a {role}\"\nmatch = {{ agent = \"{agent}\" }}\n\
             then = \"ask\"\nask = {{ roles = [\"{role}\"] }}\n"
        );
    }
    text
}
