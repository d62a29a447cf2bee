//! Two agents and the web page, over a folder that keeps everything.
//!
//!     cargo run -p holdpoint --example web -- /tmp/holdpoint-web

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use holdpoint::prelude::*;
use holdpoint::{CallContext, Output, TypedTool};

#[derive(Deserialize, JsonSchema)]
struct Deploy {
    /// Which service.
    service: String,
    /// Which version.
    version: String,
}

/// A tool with a state of its own: a trait in place of a closure.
struct Releases {
    log: std::path::PathBuf,
}

impl TypedTool for Releases {
    type Arguments = Deploy;

    fn name(&self) -> &str {
        "deploy"
    }

    fn description(&self) -> &str {
        "Brings a version of a service into production."
    }

    // What people see before they decide. It looks and changes nothing.
    async fn preview(&self, deploy: Deploy) -> Result<Preview, ToolError> {
        let so_far = std::fs::read_to_string(&self.log).unwrap_or_default().lines().count();
        let Deploy { service, version } = deploy;
        Ok(Preview::new(format!("{service} {version} would be release {}", so_far + 1))
            .title(&format!("Deploy {service} {version}")))
    }

    async fn run(&self, deploy: Deploy, context: CallContext) -> Result<Output, ToolError> {
        use std::io::Write as _;
        let mut log = std::fs::OpenOptions::new().create(true).append(true).open(&self.log)?;
        let key = context.idempotency_key();
        writeln!(log, "{} {} {key}", deploy.service, deploy.version)?;
        Ok(format!("{} {} is live", deploy.service, deploy.version).into())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for.
    text: String,
}

const OPS: &str = r#"
    default = "Say: Deploy shop 4.2"

    [[turn]]
    when = { says_regex = '^Deploy (\w+) ([\w.]+)$' }
    calls = [{ tool = "deploy", arguments = { service = "{1}", version = "{2}" } }]

    [[turn]]
    when = { result_of = "deploy" }
    text = "{result}"
"#;

const CLERK: &str = r#"
    default = "Say: Find cups"

    [[turn]]
    when = { says_regex = '^Find (\w+)$' }
    calls = [{ tool = "search", arguments = { text = "{1}" } }]

    [[turn]]
    when = { result_of = "search" }
    text = "{result}"
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "holdpoint-web".into());
    let folder = std::path::PathBuf::from(folder);
    let deploy = Tool::typed(Releases { log: folder.join("releases.log") });
    let search = Tool::from_fn("search", "Finds goods.", |search: Search, _| async move {
        Ok(format!("nothing is called {}", search.text))
    })
    .read_only();

    let holdpoint = Holdpoint::builder()
        .data(&folder)
        .person(Person::new("ana").name("Ana").admin())
        .person(Person::new("bob").name("Bob").role("sre"))
        .agent(Agent::new("ops", Arc::new(ScriptedModel::parse(OPS)?)).tool(deploy))
        .agent(Agent::new("clerk", Arc::new(ScriptedModel::parse(CLERK)?)).tool(search))
        .rule(Rule::allow("looking is free").effects(Effects::ReadOnly))
        .rule(Rule::ask("production needs an sre or an admin", Whom::role("sre").or_role("admin")))
        .build()
        .await?;

    let serving = holdpoint.serve("127.0.0.1:0".parse()?).await?;
    let mut out = std::io::stdout();
    for person in ["ana", "bob"] {
        writeln!(out, "log in as {person}, once: {}", serving.login_link(person).await?)?;
    }
    serving.run_until_stopped().await;
    holdpoint.close(Duration::from_secs(10)).await;
    Ok(writeln!(out, "closed")?)
}
