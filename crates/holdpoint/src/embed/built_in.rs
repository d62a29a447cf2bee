//! Tools that come with Holdpoint, each by the setting of its kind ([`crate::settings`]).

use std::sync::Arc;

use ports::tool_host::ToolHost;
use tools::BadTool;
#[cfg(feature = "process")]
use tools::process::Runner;

use super::tool::{Tool, ToolSource};

/// A tool that needs the runner, which there is only when the data folder is open.
#[cfg(feature = "process")]
pub(super) struct ProcessTool {
    pub(super) name: Arc<str>,
    open: Box<OpenOnRunner>,
}

#[cfg(feature = "process")]
type OpenOnRunner = dyn Fn(Runner) -> Result<Arc<dyn ToolHost>, BadTool> + Send + Sync;

#[cfg(feature = "process")]
impl ProcessTool {
    pub(super) fn open(&self, runner: &Runner) -> Result<Arc<dyn ToolHost>, BadTool> {
        (self.open)(runner.clone())
    }
}

#[cfg(feature = "process")]
fn on_runner(
    name: &str,
    open: impl Fn(Runner) -> Result<Arc<dyn ToolHost>, BadTool> + Send + Sync + 'static,
) -> Tool {
    let tool = ProcessTool { name: name.into(), open: Box::new(open) };
    Tool::from_source(Ok(ToolSource::OnRunner(Arc::new(tool))), true)
}

#[cfg(any(feature = "sql", feature = "http"))]
fn ready<H: ToolHost + 'static>(made: Result<H, BadTool>, reaches: bool) -> Tool {
    let source = made.map(|host| ToolSource::Ready(Arc::new(host)));
    Tool::from_source(source.map_err(|bad| bad.to_string()), reaches)
}

impl Tool {
    /// A fixed program that gets its arguments as JSON on standard input. Its traces are in the data folder
    /// ([`crate::Builder::data`]), and it is watched over by [`crate::Builder::supervisor`].
    #[cfg(feature = "process")]
    pub fn command(settings: tools::command::CommandConfig) -> Tool {
        let name = settings.name.clone();
        on_runner(&name, move |runner| {
            Ok(Arc::new(tools::command::CommandTool::new(settings.clone(), runner)?))
        })
    }

    /// Any program that a person approves. It needs what [`Tool::command`] needs.
    #[cfg(feature = "process")]
    pub fn shell_cmd(settings: tools::shell_cmd::ShellConfig) -> Tool {
        let name = settings.name.clone();
        on_runner(&name, move |runner| {
            Ok(Arc::new(tools::shell_cmd::ShellCmd::new(settings.clone(), runner)?))
        })
    }

    /// Reads SQLite databases.
    #[cfg(feature = "sql")]
    pub fn sql_query(settings: tools::sql::QueryConfig) -> Tool {
        ready(tools::sql::SqlQuery::new(settings), false)
    }

    /// Changes SQLite databases: each change is tried first, shown, and then made exactly once.
    #[cfg(feature = "sql")]
    pub fn sql_modify(settings: tools::sql::ModifyConfig) -> Tool {
        ready(tools::sql::SqlModify::new(settings), false)
    }

    /// Reads a PostgreSQL database.
    #[cfg(feature = "sql")]
    pub fn postgres_query(settings: tools::sql::postgres::PgQueryConfig) -> Tool {
        ready(tools::sql::postgres::PgQuery::new(settings), false)
    }

    /// Changes a PostgreSQL database, as [`Tool::sql_modify`] does.
    #[cfg(feature = "sql")]
    pub fn postgres_modify(settings: tools::sql::postgres::PgModifyConfig) -> Tool {
        ready(tools::sql::postgres::PgModify::new(settings), false)
    }

    /// One HTTP request, with arguments in fixed places.
    #[cfg(feature = "http")]
    pub fn http(settings: tools::http::HttpConfig) -> Tool {
        ready(tools::http::HttpTool::new(settings), true)
    }
}
