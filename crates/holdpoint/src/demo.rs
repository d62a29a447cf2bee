//! The whole circle on embedded defaults: SQLite, a scripted model, a web page. No key, no account.

mod doors;
mod fresh_shop;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use domain::event::{TokenOwner, TokenScope};
use domain::person::{Actor, PersonId};
use engine::{Engine, NewToken};
use models::scripted::{DEMO_SCRIPT, ScriptedModel, demo_scenarios};
use serde_json::{Value, json};
use server::Scenario;
use tools::demo::{DeployTool, create_database};
use tools::sql::{ModifyConfig, QueryConfig, SqlDatabases, SqlModify, SqlQuery};

use fresh_shop::FreshShop;

use crate::cli::args::DemoArgs;
use crate::serve::{Serving, secure_file};
use crate::{Agent, Holdpoint, Person, Rule, Tool, Whom};

const AGENT: &str = "demo";
const PERSON: &str = "ana";

pub async fn run(args: DemoArgs) -> Result<ExitCode> {
    let listen = args.listen;
    if !listen.ip().is_loopback() {
        bail!(
            "the demo listens on this machine only; use `--listen 127.0.0.1:{}`, or `holdpoint serve`",
            listen.port()
        );
    }
    let data = match args.data {
        Some(data) => data,
        None => default_data()?,
    };
    private_folder(&data)
        .with_context(|| format!("the folder `{}` cannot be made", data.display()))?;
    crate::serve::start_logging(if args.json { "error" } else { "warn" });
    crate::serve::survive_hang_up();
    let running = holdpoint(&data).await?.running;
    let tokens = tokens(&running.engine, &data).await?;
    let scenarios: Vec<Scenario> = demo_scenarios()
        .into_iter()
        .map(|(name, say)| Scenario { name: name.into(), say: say.into() })
        .collect();
    let mut serving = Serving::new(running, listen);
    serving.demo = Some(scenarios.clone());
    let open = if args.doors { doors::demo_doors(&[AGENT], PERSON) } else { Vec::new() };
    if args.doors {
        serving.warnings.push(doors::WARNING.into());
        serving.open_doors(open.clone(), doors::demo_words());
    }
    let serving = serving.bind().await?;
    let url = serving.url();
    let code = serving.engine().new_login(&PersonId::new(PERSON)).await?;
    // The story is told there; the inbox of a new demo is empty.
    let login = format!("{url}/login?code={code}&next=/start");
    let mut ready = json!({
        "url": url,
        "login": login,
        "person": PERSON,
        "person_token": tokens.person,
        "program_token": tokens.program,
        "data": data,
        "agent": AGENT,
        "scenarios": scenarios.iter().map(|s| json!({"name": s.name, "say": s.say})).collect::<Vec<_>>(),
    });
    if args.doors {
        ready["doors"] = doors::listed(&open, &url);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{ready}")?;
    } else {
        write!(out, "{}", welcome(&ready))?;
        write!(out, "{}", doors::welcome(&ready))?;
    }
    out.flush()?;
    drop(out);
    serving.run().await
}

/// Makes the folder for its owner only. One of ours that others may look into is closed, too.
fn private_folder(data: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    // mutant: the-demo-is-open-to-all
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    let is_open = data.metadata()?.permissions().mode() & 0o077 != 0;
    // mutant: an-open-demo-stays-open
    if is_open && data.join("lock").exists() {
        std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Lines of at most 80 columns; the link and the tokens stand alone, so that they can be copied whole.
fn welcome(ready: &Value) -> String {
    let text = |key: &str| ready[key].as_str().unwrap_or_default().to_owned();
    format!(
        "
Holdpoint is running. An agent will be stopped before it does something
dangerous, and you decide.

1. Open this link (it logs you in as Ana, once):

{login}

2. Choose a scenario there, and answer what comes up. Each starts with a
   fresh shop.

The same from a second terminal, as Ana:

export HOLDPOINT_SERVER={url}
export HOLDPOINT_TOKEN={person}
holdpoint list

Programs that ask have tokens of their own, which never answer:

export HOLDPOINT_TOKEN={program}
holdpoint ask \"Which strategy?\" --option Blue-Green --option Canary

Everything is in {data}
Kill this process whenever you like, even with SIGKILL, and start it again:
nothing is lost and nothing runs twice. Ctrl-C stops it.

",
        login = text("login"),
        url = text("url"),
        person = text("person_token"),
        program = text("program_token"),
        data = text("data"),
    )
}

/// Next to other state of the user, so that a second start goes on where the first was.
fn default_data() -> Result<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let base = state.filter(|path| path.is_absolute()).or(home);
    Ok(base
        .context("there is no home folder; say where to keep the data with `--data DIR`")?
        .join("holdpoint/demo"))
}

async fn holdpoint(data: &Path) -> Result<Holdpoint> {
    let orders = data.join("orders.db");
    create_database(&orders).with_context(|| format!("`{}` cannot be made", orders.display()))?;
    let location = json!({
        "type": "object",
        "properties": {"accuracy": {"type": "string", "enum": ["city", "street"]}},
        "additionalProperties": false,
    });
    let query = SqlQuery::new(QueryConfig::new(SqlDatabases::single("sql_query", &orders)?))?;
    let modify = SqlModify::new(ModifyConfig::new(SqlDatabases::single("sql_modify", &orders)?))?;
    let whereabouts = "Where the person is, as their browser knows it.";
    let model = FreshShop { script: ScriptedModel::parse(DEMO_SCRIPT)?, orders: orders.clone() };
    let agent = Agent::new(AGENT, Arc::new(model))
        .instructions("You keep a small shop's orders in shape.")
        .tool(Tool::host(Arc::new(query)))
        .tool(Tool::host(Arc::new(modify)))
        .tool(Tool::human())
        .tool(Tool::client_by_schema("browser_location", whereabouts, location).read_only())
        .tool(Tool::host(Arc::new(DeployTool::new(data)?)));
    let holdpoint = Holdpoint::builder()
        .data(data)
        .person(Person::new(PERSON).name("Ana").admin().role("dba"))
        .agent(agent)
        .rule(Rule::allow("reading is allowed").tool("sql_query"))
        .rule(Rule::ask("changes to orders need a dba", Whom::role("dba")).tool("sql_modify"));
    Ok(holdpoint.build().await?)
}

struct Tokens {
    person: String,
    program: String,
}

/// The demo's tokens stay the same over restarts: they are kept beside the data, for its owner only.
async fn tokens(engine: &Engine, data: &Path) -> Result<Tokens> {
    let path = data.join("tokens.json");
    if let Some(tokens) =
        std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
    {
        let (person, program) = (tokens["person"].as_str(), tokens["program"].as_str());
        if let (Some(person), Some(program)) = (person, program)
            && [person, program]
                .iter()
                .all(|secret| engine.caller_by_token(secret, "api").is_some())
        {
            return Ok(Tokens { person: person.into(), program: program.into() });
        }
    }
    let tokens = mint_pair(engine, PERSON, "demo").await?;
    let body = json!({"person": tokens.0, "program": tokens.1}).to_string();
    secure_file(&path, body.as_bytes())?;
    Ok(Tokens { person: tokens.0, program: tokens.1 })
}

/// A token for a person with all scopes, and one for a program that this person answers for.
pub(crate) async fn mint_pair(
    engine: &Engine,
    person: &str,
    program: &str,
) -> Result<(String, String)> {
    let by = Actor::Person(PersonId::new(person));
    let new = |owner: TokenOwner, scopes: &[TokenScope]| NewToken {
        owner,
        scopes: scopes.to_vec(),
        expires_at: None,
        note: Some("made at the first start".into()),
    };
    let person = engine
        .mint(by.clone(), new(TokenOwner::Person(PersonId::new(person)), &TokenScope::ALL))
        .await?;
    let program = engine
        .mint(by, new(TokenOwner::Program(program.into()), &[TokenScope::Ask, TokenScope::Run]))
        .await?;
    Ok((person.secret, program.secret))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn nobody_else_looks_into_the_demo() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("state/demo");
        let mode = || data.metadata().unwrap().permissions().mode() & 0o777;
        private_folder(&data).unwrap();
        assert_eq!(mode(), 0o700);
        // As an earlier version left it.
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(data.join("lock"), "").unwrap();
        private_folder(&data).unwrap();
        assert_eq!(mode(), 0o700);
        create_database(&data.join("orders.db")).unwrap();
        let orders = data.join("orders.db").metadata().unwrap().permissions().mode();
        assert_eq!(orders & 0o777, 0o600);
    }
}
