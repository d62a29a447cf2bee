//! A vendor's model, a built-in SQL tool, and a store that the program keeps itself.
//!
//!     ANTHROPIC_API_KEY=… cargo run -p holdpoint --example own_store
//!
//! An argument is the base URL of another server that speaks the same API.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use holdpoint::prelude::*;
use holdpoint::settings::{ModifyConfig, SqlDatabases};
use holdpoint::store::{MemoryStore, NodeId};
use holdpoint::{SessionId, card};

const WISH: &str = "Make a table `visits` with a column `day`.";

fn agent(database: &std::path::Path) -> anyhow::Result<Agent> {
    let mut model = VendorModel::anthropic("claude-sonnet-4-5")
        .key_env("ANTHROPIC_API_KEY")
        .max_tokens(4_000)
        .retries(1);
    if let Some(url) = std::env::args().nth(1) {
        model = model.base_url(&url);
    }
    let mut changes = ModifyConfig::new(SqlDatabases::single("sql_modify", database)?);
    changes.allow_ddl = true;
    Ok(Agent::new("dba", model)
        .instructions("You look after a small SQLite database.")
        .tool(Tool::sql_modify(changes)))
}

/// Asks, and approves what comes of it.
async fn change(holdpoint: &Holdpoint) -> anyhow::Result<SessionId> {
    let mut out = std::io::stdout();
    let ana = holdpoint.vouch("ana", "an example has no login")?;
    let session = holdpoint.open(&ana, "dba").await?;
    let mut rest = session.ask(WISH).await?;
    while let Rest::Paused { holds } = &rest {
        for hold in holds {
            write!(out, "{}", card(hold))?;
            holdpoint.answer(&ana, hold, Answer::approve()).await?;
        }
        rest = session.wait().await?;
    }
    match rest {
        Rest::Failed { error } => anyhow::bail!("{error}"),
        rest => writeln!(out, "{}", rest.text().unwrap_or_default())?,
    }
    Ok(session.id())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("visits.db");
    std::fs::File::create(&database)?;

    // This one forgets when the process ends. Anything that implements `Store` takes its place.
    let kept = MemoryStore::new(NodeId::new(0, 0));
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let store = kept.clone();
        let holdpoint = Holdpoint::builder()
            .store(move |node| Arc::new(store.again(node)))
            .person(Person::new("ana").admin())
            .agent(agent(&database)?)
            .build()
            .await?;
        match sessions.first() {
            None => sessions.push(change(&holdpoint).await?),
            Some(session) => {
                let ana = holdpoint.vouch("ana", "an example has no login")?;
                let remembered = holdpoint.session(&ana, *session).await?.state().await?;
                let count = remembered.version;
                writeln!(std::io::stdout(), "the next Holdpoint remembers {count} events")?;
            }
        }
        holdpoint.close(Duration::from_secs(5)).await;
    }
    Ok(())
}
